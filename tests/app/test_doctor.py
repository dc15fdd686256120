"""The doctor: what is in force and from where, what is missing and how to mend it; it changes nothing."""

import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

from companion_app.doctor import Check, Report, Setting, render_report, run_doctor
from companion_assets.contracts.manifests import EmbedderSpec, IndexManifest
from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.catalog import Catalog
from companion_assets.stores.index_table import write_manifest
from companion_assets.stores.settings_file import LoadedSettings, load_settings
from tests.app.small_app import index_vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Journal").mkdir(parents=True)
    (folder / "Journal" / "2026-03-01.md").write_text("# Day\nRain.\n")
    (folder / "Loose.md").write_text("A loose note.\n")
    return folder


def loaded_with(tmp_path: Path, text: str, env: dict[str, str] | None = None) -> LoadedSettings:
    file = tmp_path / "companion.yaml"
    file.write_text(text)
    return load_settings(file, env or {})


def examined(loaded: LoadedSettings, root: Path) -> dict[str, Check]:
    return {check.name: check for check in run_doctor(loaded, DataPaths(root)).checks}


def test_a_first_look_names_the_command_for_each_missing_thing(tmp_path: Path) -> None:
    checks = examined(load_settings(env={"COMPANION_HOME": str(tmp_path / "none")}), tmp_path / "none")
    assert (checks["vault"].state, checks["vault"].fix) == ("fail", "companion init --vault PATH")
    assert (checks["index"].state, checks["index"].fix) == ("warn", "companion index")
    assert checks["data root"].state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_the_vault_is_counted_and_nothing_is_written(tmp_path: Path, vault: Path) -> None:
    loaded = loaded_with(tmp_path, f"vault:\n  path: {vault}\n")
    before = sorted(tmp_path.rglob("*"))
    checks = examined(loaded, tmp_path / "home")
    assert checks["vault"].detail == f"{vault}: 2 notes in 2 top-level folders"
    assert checks["vault"].state == "ok"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("path", ["absent", "vault/Loose.md"])
def test_a_vault_that_is_none_fails_without_stopping_the_rest(tmp_path: Path, vault: Path, path: str) -> None:
    checks = examined(loaded_with(tmp_path, f"vault:\n  path: {tmp_path / path}\n"), tmp_path / "home")
    assert checks["vault"].state == "fail"
    assert str(tmp_path / path) in checks["vault"].detail
    assert len(checks) == 12


def test_a_vault_without_a_note_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"x")
    checks = examined(loaded_with(tmp_path, f"vault:\n  path: {tmp_path / 'pictures'}\n"), tmp_path / "home")
    assert checks["vault"].state == "warn"


def test_a_data_root_inside_the_vault_fails(tmp_path: Path, vault: Path) -> None:
    loaded = loaded_with(tmp_path, f"vault:\n  path: {vault}\n")
    check = examined(loaded, vault / ".companion")["data root"]
    assert check.state == "fail"
    assert "COMPANION_HOME" in check.fix


def test_a_data_root_that_others_can_read_is_a_warning_with_its_fix(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.mkdir(mode=0o755)
    root.chmod(0o755)
    loaded = loaded_with(tmp_path, "")
    assert examined(loaded, root)["data root"].fix == f"chmod 700 {root}"
    root.chmod(0o700)
    assert examined(loaded, root)["data root"].state == "ok"


def test_settings_in_force_are_shown_with_their_place(tmp_path: Path) -> None:
    text = "companion:\n  name: SAN\napi:\n  port: 7373\nlearning:\n  max_rows: 7\n"
    report = run_doctor(loaded_with(tmp_path, text, {"COMPANION_LOGGING__LEVEL": "DEBUG"}), DataPaths(tmp_path / "h"))
    file = tmp_path / "companion.yaml"
    assert report.settings == (
        Setting("companion.name", "SAN", f"{file}:2"),
        Setting("api.port", 7373, f"{file}:4", is_default=True),
        Setting("logging.level", "DEBUG", "COMPANION_LOGGING__LEVEL"),
        Setting("learning.max_rows", 7, f"{file}:6", waits_for="learning"),
    )
    found = {check.name: check for check in report.checks}
    assert found["keys not active yet"].state == "warn"
    assert "learning.max_rows (learning)" in found["keys not active yet"].detail
    assert "3 of" in found["settings"].detail


def test_a_missing_model_file_is_named(tmp_path: Path) -> None:
    text = f"model:\n  inference:\n    model_path: {tmp_path / 'none.gguf'}\n"
    check = examined(loaded_with(tmp_path, text), tmp_path / "home")["answerer"]
    assert check.state == "fail"
    assert "none.gguf" in check.detail


def test_an_absent_server_is_named_with_its_fix(tmp_path: Path) -> None:
    text = (
        "rag:\n  embedding:\n    provider: ollama\n    model: mxbai-embed-large\n    base_url: http://127.0.0.1:1\n"
        "model:\n  inference:\n    backend: ollama\n    model: llama3\n    base_url: http://127.0.0.1:1\n"
    )
    checks = examined(loaded_with(tmp_path, text), tmp_path / "home")
    for name in ("embedder", "answerer"):
        assert checks[name].state == "fail"
        assert checks[name].fix


def test_the_embedded_embedder_is_found_where_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    check = examined(loaded_with(tmp_path, ""), tmp_path / "home")["embedder"]
    assert check.state == "ok", check.detail


REPORT = Report(
    (Check("vault", "fail", "no vault [red]", "companion init --vault PATH"), Check("disk", "ok", "3 GB")),
    (Setting("vault.path", Path("/notes"), "/h/companion.yaml:2"),),
)


def test_without_a_terminal_there_is_one_line_per_finding() -> None:
    shown = io.StringIO()
    render_report(REPORT, Console(file=shown, width=40))
    assert shown.getvalue().splitlines() == [
        "fail vault: no vault [red]",
        "     fix: companion init --vault PATH",
        "ok   disk: 3 GB",
        'set  vault.path = "/notes"  (/h/companion.yaml:2)',
    ]


def test_in_a_terminal_it_is_a_table() -> None:
    shown = io.StringIO()
    render_report(REPORT, Console(file=shown, width=100, force_terminal=True, no_color=True))
    assert "no vault [red]" in shown.getvalue()
    assert "companion init --vault PATH" in shown.getvalue()
    assert "/h/companion.yaml:2" in shown.getvalue()


def test_the_json_form_is_plain(tmp_path: Path, vault: Path) -> None:
    report = run_doctor(loaded_with(tmp_path, f"vault:\n  path: {vault}\n"), DataPaths(tmp_path / "home"))
    plain = json.loads(json.dumps(report.to_json()))
    assert plain["state"] == report.state
    assert {"name", "state", "detail", "fix"} == set(plain["checks"][0])
    assert plain["settings"][0]["value"] == str(vault)
    assert REPORT.healthy is False


def publish(paths: DataPaths, model: str = "multilingual-e5-small") -> None:
    spec = EmbedderSpec("embedded", model, "d1", 3, 512)
    paths.index_dir.mkdir(parents=True)
    write_manifest(paths, IndexManifest("t1", spec, None, chunks=7, notes=2, version=1, published_at="2026-11-30"))


def test_a_published_index_is_shown_with_its_figures(tmp_path: Path, vault: Path) -> None:
    publish(DataPaths(tmp_path / "home"))
    check = examined(loaded_with(tmp_path, f"vault:\n  path: {vault}\n"), tmp_path / "home")["index"]
    assert check == Check("index", "ok", "2 notes in 7 chunks, published 2026-11-30")


def test_an_index_of_another_embedder_is_a_warning(tmp_path: Path, vault: Path) -> None:
    publish(DataPaths(tmp_path / "home"), model="some-model")
    check = examined(loaded_with(tmp_path, f"vault:\n  path: {vault}\n"), tmp_path / "home")["index"]
    assert (check.state, check.fix) == ("warn", "companion index")
    assert "made by some-model, the settings name multilingual-e5-small" in check.detail


def test_an_index_behind_the_vault_names_the_folders(tmp_path: Path, vault: Path) -> None:
    paths = DataPaths(tmp_path / "home")
    publish(paths)
    Catalog(paths.catalog_db)
    for note in vault.rglob("*.md"):
        os.utime(note, (1_700_000_000, 1_700_000_000))
    check = examined(loaded_with(tmp_path, f"vault:\n  path: {vault}\n"), paths.root)["index"]
    assert (check.state, check.fix) == ("warn", "companion sync")
    assert check.detail.endswith("behind the vault in: Journal, _root")


def test_a_damaged_manifest_is_named_with_its_fix(tmp_path: Path) -> None:
    paths = DataPaths(tmp_path / "home")
    publish(paths)
    (paths.index_dir / "current.json").write_text("{")
    check = examined(loaded_with(tmp_path, ""), paths.root)["index"]
    assert check.state == "fail"
    assert "companion reindex" in check.fix


def test_notes_that_are_held_are_told_with_both_ways_on(
    tmp_path: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPANION_VAULT__PATH", str(vault))
    paths = DataPaths(tmp_path / "home")
    index_vault(paths)
    for note in vault.rglob("*.md"):
        note.unlink()
    (vault / "Day.png").write_bytes(b"x")
    check = examined(loaded_with(tmp_path, f"vault:\n  path: {vault}\n"), paths.root)["index"]
    assert check.state == "warn"
    assert "2 notes vanished at once and are kept" in check.detail
    assert "--confirm-removals" in check.fix
