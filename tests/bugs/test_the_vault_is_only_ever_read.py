"""Names and texts are UTF-8 whatever the locale (B22), and nothing is ever written into the vault (B24)."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from companion_assets.backends.scripted import ScriptedGenerator
from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.watcher import watching
from tests.app.small_app import NOTES, index_vault, open_desk, running, write_vault
from tests.bugs.read_only import Traces, locked, traces, without_privileges
from tests.cli.commands import COMMAND, ROOT, Shell

C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "COMPANION_MODEL__INFERENCE__BACKEND": "none"}
GARDEN = "🌱 Gärten/Größe 🦔.md"
LATIN = b"# Caf\xe9\n\nA note of an old editor about cr\xe8me.\n"


@dataclass(frozen=True)
class Foreign:
    """A vault that was synced in a locale without UTF-8, by a process that may not write into it."""

    shell: Shell
    before: Traces

    def run(self, *arguments: str) -> str:
        command = [*without_privileges(), *COMMAND, *arguments]
        environment = self.shell.environment
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foreign]:
    room = tmp_path_factory.mktemp("foreign")
    vault = write_vault(
        room / "vault", {GARDEN: "# 🦔\n\nDer Igel fraß Äpfel in São Miguel. 李梅\n", "plain.md": "Kale.\n"}
    )
    (vault / "latin.md").write_bytes(LATIN)
    with locked(vault):
        made = Foreign(Shell(room / "home", vault, C_LOCALE), traces(vault))
        made.run("sync")
        yield made


def test_names_and_texts_of_every_script_are_read_in_any_locale(foreign: Foreign) -> None:
    (hit,) = json.loads(foreign.run("search", "Igel", "-k", "1", "--json"))["hits"]
    assert (hit["path"], "fraß Äpfel in São Miguel. 李梅" in hit["text"]) == (GARDEN, True)


def test_a_vault_that_may_not_be_written_is_synced_and_searched(foreign: Foreign) -> None:
    shown = foreign.run("status")
    assert shown.startswith("2 of 3 notes indexed, 66.7 %; 1 read in part\n")
    assert "latin.md: read in part, byte 5 is not valid UTF-8; read as Windows-1252" in shown
    assert traces(foreign.shell.vault or Path()) == foreign.before


def test_a_process_that_cannot_read_the_names_removes_nothing(foreign: Foreign) -> None:
    code = (
        "import sys; from pathlib import Path; from companion_assets.contracts.errors import VaultError;"
        "from companion_assets.stages.vault import check_vault\n"
        "try: check_vault(Path(sys.argv[1]))\n"
        "except VaultError as fault: print(fault.hint)"
    )
    command = [sys.executable, "-c", code, str(foreign.shell.vault)]
    said = subprocess.run(command, env=foreign.shell.environment, capture_output=True, text=True, check=True).stdout
    assert "PYTHONUTF8=1" in said


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_vault(tmp_path / "vault", NOTES)
    (root / "Journal/latin.md").write_bytes(LATIN)
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(root))
    monkeypatch.setenv("COMPANION_UI__WEB__ENABLED", "false")
    return root


def test_all_that_a_day_brings_leaves_no_trace_in_the_vault(vault: Path) -> None:
    """Sync, watch, search, chat, look up, rename and delete: the person's own changes are the only ones."""
    index_vault(data_paths())
    (vault / "Cello.md").rename(vault / "Journal/Old cello.md")
    (vault / "Kitchen/Soup.md").unlink()
    os.link(vault / "Journal/latin.md", vault / "Kitchen/latin.md")
    with locked(vault):
        before = traces(vault)
        runs: list[frozenset[str]] = []
        with watching(data_paths(), lambda folders: runs.append(folders) or str(len(runs)), lambda _: True):
            _wait_for_a_run(runs)
        index_vault(data_paths())
        with (
            running(open_desk(ScriptedGenerator("The top is 4.2 mm [1]."))) as address,
            httpx.Client(base_url=address, trust_env=False, timeout=60) as http,
        ):
            hits = http.get("/api/search", params={"q": "crème"}).raise_for_status().json()["hits"]
            assert {hit["path"] for hit in hits} >= {"Journal/latin.md", "Kitchen/latin.md"}
            http.post("/api/chat", json={"question": "How thick is the top of the cello?"}).raise_for_status()
            http.get("/api/passage", params={"path": "Journal/latin.md", "first": 1}).raise_for_status()
            status = http.get("/api/index/status").raise_for_status().json()
            assert status["index"]["notes"] == 4
        assert traces(vault) == before


def _wait_for_a_run(runs: list[frozenset[str]]) -> None:
    end = time.monotonic() + 30
    while not runs:
        assert time.monotonic() < end
        time.sleep(0.05)
