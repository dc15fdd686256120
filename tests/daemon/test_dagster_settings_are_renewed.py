"""`dagster.yaml` in the data root: made, kept if the person changed it, renewed if it is an older one of ours."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from companion_assets.contracts.paths import DataPaths, data_paths
from companion_assets.daemon import instance
from companion_assets.daemon.instance import open_instance, prepare_dagster_home
from companion_assets.daemon.launcher import LocalRunCoordinator, LocalRunLauncher

FIRST_RELEASED = Path(__file__).parents[1] / "data" / "dagster-1.yaml"


@pytest.fixture
def paths() -> DataPaths:
    return data_paths()


def settings(paths: DataPaths) -> str:
    return (prepare_dagster_home(paths) / "dagster.yaml").read_text(encoding="utf-8")


def ship(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    """A later version of Companion, with other settings."""
    (tmp_path / "shipped").mkdir(exist_ok=True)
    (tmp_path / "shipped" / "dagster.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(instance, "_template", lambda: tmp_path / "shipped" / "dagster.yaml")


def test_what_we_ship_is_what_dagster_uses(paths: DataPaths) -> None:
    with open_instance(paths) as opened:
        assert isinstance(opened.run_launcher, LocalRunLauncher)
        assert isinstance(opened.run_coordinator, LocalRunCoordinator)
        assert opened.run_coordinator.dequeue_interval_seconds == 1
        assert opened.scheduler is not None
        assert opened.scheduler.max_catchup_runs == 1  # type: ignore[attr-defined]
        limits = opened.get_concurrency_config()
        assert limits.run_queue_config is not None
        assert limits.run_queue_config.max_concurrent_runs == 4


def test_the_ones_of_the_first_version_are_renewed(paths: DataPaths) -> None:
    paths.dagster_home.mkdir(parents=True)
    (paths.dagster_home / "dagster.yaml").write_bytes(FIRST_RELEASED.read_bytes())
    assert "LocalRunLauncher" in settings(paths)


def test_ours_follow_from_version_to_version(paths: DataPaths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings(paths)
    for text in ("nux: {enabled: false}\n", "nux: {enabled: true}\n"):
        ship(monkeypatch, tmp_path, text)
        assert settings(paths) == text


def test_a_changed_one_is_kept(paths: DataPaths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = settings(paths) + "# mine\n"
    (paths.dagster_home / "dagster.yaml").write_text(own, encoding="utf-8")
    assert settings(paths) == own
    ship(monkeypatch, tmp_path, "nux: {enabled: false}\n")
    assert settings(paths) == own


def test_a_removed_one_is_made_anew(paths: DataPaths) -> None:
    before = settings(paths)
    (paths.dagster_home / "dagster.yaml").unlink()
    assert settings(paths) == before


def test_killed_while_it_is_renewed_nothing_is_taken_for_the_persons(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings(paths)
    ship(monkeypatch, tmp_path, "nux: {enabled: false}\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            settings(paths)
    assert settings(paths) == "nux: {enabled: false}\n"
    ship(monkeypatch, tmp_path, "nux: {enabled: true}\n")
    assert settings(paths) == "nux: {enabled: true}\n"


def test_all_dagster_processes_can_load_it_without_our_settings() -> None:
    """The launcher is loaded by name in processes that know nothing of Companion but its installation."""
    shipped = yaml.safe_load((Path(instance.__file__).parent / "dagster.yaml").read_text(encoding="utf-8"))
    named = [(part["module"], part["class"]) for part in (shipped["run_launcher"], shipped["run_coordinator"])]
    code = "; ".join(f"from {module} import {name}" for module, name in named)
    subprocess.run([sys.executable, "-c", code], check=True)
