"""The asset graph, as one reads it."""

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg

from companion_assets.contracts.paths import DataPaths
from companion_assets.daemon.instance import prepare_dagster_home
from companion_assets.definitions import defs

GRAPH = """\
notes · knowledge
chunks ← notes · knowledge
embeddings ← chunks · knowledge
vault_index ← embeddings · knowledge · checks: full_text_covers_all, no_null_vectors, no_orphans, \
retrieval_golden, row_counts
"""
ROOT = Path(__file__).parents[2]


def test_the_graph() -> None:
    graph = defs.resolve_asset_graph()
    lines = []
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        parents = ", ".join(parent.to_user_string() for parent in sorted(node.parent_keys))
        checks = ", ".join(sorted(check.name for check in node.check_keys))
        lines.append(
            key.to_user_string()
            + (f" ← {parents}" if parents else "")
            + f" · {node.group_name}"
            + (f" · checks: {checks}" if checks else "")
        )
    assert "\n".join(lines) + "\n" == GRAPH


def test_every_asset_is_described_owned_and_partitioned() -> None:
    graph = defs.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        assert node.description
        assert node.owners
        assert isinstance(node.partitions_def, dg.DynamicPartitionsDefinition)


def test_dagster_itself_validates_the_code_location(paths: DataPaths) -> None:
    environment = {**os.environ, "DAGSTER_HOME": str(prepare_dagster_home(paths))}
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "-w", str(ROOT / "workspace.yaml")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
