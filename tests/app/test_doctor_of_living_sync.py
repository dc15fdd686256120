"""What the doctor says of the place of the data (B81), the services, and the system's limit of watched folders."""

from pathlib import Path

import pytest

from companion_app.doctor.file_systems import why_unfit
from companion_app.doctor.places import check_data_root
from companion_app.doctor.watching import check_services, check_watches
from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.settings import IndexingSettings, VaultSettings
from companion_assets.daemon.running import Services, announce
from companion_assets.daemon.watch_state import WatchStateFile
from companion_assets.stores.process_mark import ProcessMark

MOUNTS = (
    ("/", "ext4"),
    ("/srv", "nfs4"),
    ("/srv/disk", "ext4"),
    ("/home/me/remote", "fuse.sshfs"),
    ("/media/stick", "fuseblk"),
    ("/mnt/c", "9p"),
    ("/data", "ext4"),
    ("/data", "cifs"),
)


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("/srv/companion", "network share (nfs4)"),
        ("/data/companion", "network share (cifs)"),
        ("/mnt/c/Users/me/.companion", "network share (9p)"),
        ("/home/me/remote/deep/companion", "a program provides (fuse.sshfs)"),
        ("/home/me/Dropbox/companion", "/home/me/Dropbox, which Dropbox syncs"),
        ("/home/me/OneDrive - Work/companion", "OneDrive"),
        ("/Users/me/Library/Mobile Documents/com~apple~CloudDocs/companion", "iCloud"),
        ("/Users/me/Library/CloudStorage/Box/companion", "a cloud syncs"),
        ("/home/me/Nextcloud", "Nextcloud"),
        ("/home/me/.companion", ""),
        ("/srv/disk/companion", ""),
        ("/media/stick/companion", ""),
        ("/home/me/dropboxes/companion", ""),
    ],
)
def test_a_place_where_databases_break_is_told(folder: str, told: str) -> None:
    reason = why_unfit(Path(folder), MOUNTS)
    assert told in reason
    assert bool(reason) == bool(told)


def test_a_folder_that_syncthing_marks_is_a_warning_with_the_remedy(tmp_path: Path) -> None:
    root = tmp_path / "shared" / "home"
    root.mkdir(parents=True, mode=0o700)
    assert check_data_root(VaultSettings(), DataPaths(root)).state == "ok"
    (tmp_path / "shared" / ".stfolder").mkdir()
    check = check_data_root(VaultSettings(), DataPaths(root))
    assert check.state == "warn"
    assert "Syncthing" in check.detail
    assert "COMPANION_HOME" in check.fix


def test_more_folders_than_may_be_watched_are_a_warning_with_the_exact_setting(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for number in range(9):
        (vault / f"Folder {number}").mkdir(parents=True)
    limits = tmp_path / "limits"
    limits.mkdir()
    for limit, state in (("20", "ok"), ("19", "warn"), ("5", "warn")):
        (limits / "max_user_watches").write_text(f"{limit}\n")
        check = check_watches(VaultSettings(path=vault), limits)
        assert (check.state, check.detail) == (state, f"10 in the vault, {limit} allowed for all programs of one user")
    assert check.fix.startswith("sudo sysctl fs.inotify.max_user_watches=524288 ")
    off = VaultSettings(path=vault, indexing=IndexingSettings(watch_fs_events=False))
    assert check_watches(off, limits).state == "ok"
    assert check_watches(VaultSettings(path=vault), tmp_path / "no such system").state == "ok"


def test_services_worker_and_watcher_are_told_of(tmp_path: Path) -> None:
    paths, indexing = DataPaths(tmp_path), IndexingSettings()
    paths.locks_dir.mkdir()
    check = check_services(indexing, paths)
    assert (check.state, "companion up" in check.detail) == ("ok", True)
    own = ProcessMark.own()
    announce(paths, Services(own.pid, own.started, "http://127.0.0.1:7373", 3210))
    check = check_services(indexing, paths)
    assert (check.state, "the worker does not run" in check.detail) == ("warn", True)
    worker = f'{{"pid": {own.pid}, "started": {own.started}, "path": "x"}}'
    (paths.locks_dir / "worker.json").write_text(worker)
    check = check_services(indexing, paths)
    assert (check.state, "the watcher does not run" in check.detail) == ("warn", True)
    assert check_services(IndexingSettings(watch_fs_events=False), paths).state == "ok"
    state = WatchStateFile(paths)
    state.say("events")
    check = check_services(indexing, paths)
    assert (check.state, check.detail.endswith("the vault is watched")) == ("ok", True)
    state.say("polling", "too few watches; looked at every 5 s instead")
    check = check_services(indexing, paths)
    assert (check.state, "every 5 s" in check.detail) == ("warn", True)
