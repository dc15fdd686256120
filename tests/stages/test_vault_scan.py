"""What a scan of a vault lists, what it leaves out and why: links and loops (B25), conflict copies (B26), what cannot
be seen (B27), long and odd names (B87), Windows paths (B88)."""

import os
import socket
from pathlib import Path

import pytest

from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.records import Link
from companion_assets.stages.vault import LeftOutReason, VaultScan
from companion_assets.stores.link_resolver import LinkResolver

from .note_material import DENY_PATTERNS, scan, write


def paths(found: VaultScan) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: VaultScan) -> dict[str, LeftOutReason]:
    return {left.path: left.reason for left in found.left_out}


def test_notes_come_sorted_with_their_top_folder(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": "x", "A/deep/er/n.md": "12345", "A/Ext.MD": "", "A/pic.png": b"\x89", "A/n.txt": ""})
    found = scan(tmp_path)
    assert [(file.path, file.folder, file.size) for file in found.files] == [
        ("A/Ext.MD", "A", 0),
        ("A/deep/er/n.md", "A", 5),
        ("b.md", "_root", 1),
    ]
    assert found.files[2].mtime_ns == (tmp_path / "b.md").stat().st_mtime_ns
    assert found.attachments == ("A/n.txt", "A/pic.png")
    assert found.complete
    assert found.left_out == ()


def test_denied_and_dot_folders_stay_out_at_any_depth(tmp_path: Path) -> None:
    write(tmp_path, {"a/zzz-Archive/n.md": "", "a/.hidden/n.md": "", ".trash/n.md": "", "a/ZZZ-archive/n.md": ""})
    found = scan(tmp_path)
    assert paths(found) == ["a/ZZZ-archive/n.md"]
    assert reasons(found) == {
        "a/zzz-Archive": LeftOutReason.DENIED_FOLDER,
        "a/.hidden": LeftOutReason.HIDDEN,
        ".trash": LeftOutReason.DENIED_FOLDER,
    }


def test_deny_patterns_meet_the_name_as_written(tmp_path: Path) -> None:
    write(tmp_path, {"Conflict resolution.md": "", "merge-conflict-1.md": "", ".dot.md": "", "draft.tmp.md": ""})
    found = scan(tmp_path, deny_patterns=(*DENY_PATTERNS, "*.tmp.md"))
    assert paths(found) == ["Conflict resolution.md"]
    assert reasons(found) == {
        "merge-conflict-1.md": LeftOutReason.DENIED_NAME,
        ".dot.md": LeftOutReason.HIDDEN,
        "draft.tmp.md": LeftOutReason.DENIED_NAME,
    }


@pytest.mark.parametrize(
    "name",
    [
        "Note.sync-conflict-20260101-120000-ABCDEFG.md",
        "Note (conflicted copy).md",
        "Note (Anna's conflicted copy 2026-01-02).md",
        "Note (Conflicted copy Laptop 202601021200).md",
        "Note (SFConflict anna@example.org 2026-01-01-12-00-00).md",
        "Note_conflict-20260101-120000.md",
    ],
)
def test_conflict_copies_stay_out_without_any_pattern(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"Note.md": "", name: "", "On conflicted copy (a memo).md": "", "conflict of interest.md": ""})
    found = scan(tmp_path, deny_patterns=())
    assert paths(found) == ["Note.md", "On conflicted copy (a memo).md", "conflict of interest.md"]
    assert reasons(found) == {name: LeftOutReason.CONFLICT_COPY}


def test_a_cloud_stub_stands_for_its_note_which_is_not_gone(tmp_path: Path) -> None:
    write(tmp_path, {"a/.Evicted.md.icloud": b"bplist", "a/.pic.png.icloud": b"bplist", "b.md": ""})
    found = scan(tmp_path)
    assert reasons(found) == {"a/Evicted.md": LeftOutReason.CLOUD_STUB}
    assert found.gone(["a/Evicted.md", "b.md", "old.md"]) == {"old.md"}


def test_links_inside_the_vault_never_list_a_note_twice_and_never_loop(tmp_path: Path) -> None:
    vault = write(tmp_path / "vault", {"a/n.md": "x"})
    (vault / "a/up").symlink_to("..")
    (vault / "a/above").symlink_to("../..")
    (vault / "self").symlink_to("self")
    (vault / "copy.md").symlink_to("a/n.md")
    (vault / "gone.md").symlink_to("nowhere.md")
    found = scan(vault)
    assert paths(found) == ["a/n.md"]
    assert reasons(found) == {
        "a/up": LeftOutReason.LINK_REPEATED,
        "a/above": LeftOutReason.LINK_OUTSIDE,
        "self": LeftOutReason.LINK_DANGLING,
        "copy.md": LeftOutReason.LINK_REPEATED,
        "gone.md": LeftOutReason.LINK_DANGLING,
    }
    assert found.complete


def test_links_out_of_the_vault_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.md": "x", "pic.png": b"x"})
    vault = write(tmp_path / "vault", {"n.md": "x"})
    (vault / "folder").symlink_to(tmp_path / "outside")
    (vault / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    (vault / "pic.png").symlink_to(tmp_path / "outside/pic.png")
    found = scan(vault)
    assert paths(found) == ["n.md"]
    assert reasons(found) == dict.fromkeys(["folder", "secret.md"], LeftOutReason.LINK_OUTSIDE)
    assert found.attachments == ("pic.png",)


def test_a_link_to_a_file_that_is_no_note_itself_is_one_note(tmp_path: Path) -> None:
    write(tmp_path, {"data/text.txt": "hello", ".trash/old.md": "x"})
    (tmp_path / "one.md").symlink_to("data/text.txt")
    (tmp_path / "two.md").symlink_to("data/text.txt")
    (tmp_path / "undead.md").symlink_to(".trash/old.md")
    found = scan(tmp_path)
    assert [(file.path, file.size) for file in found.files] == [("one.md", 5), ("two.md", 5)]
    assert reasons(found)["undead.md"] is LeftOutReason.DENIED_FOLDER


def test_the_vault_may_itself_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"n.md": "x"})
    (tmp_path / "vault").symlink_to("real")
    assert paths(scan(tmp_path / "vault")) == ["n.md"]


def test_pipes_sockets_and_folders_named_like_notes_are_no_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"folder.md/inner.md": "x"})
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # the path of a socket may have 108 characters
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        found = scan(tmp_path)
    assert paths(found) == ["folder.md/inner.md"]
    assert reasons(found) == dict.fromkeys(["pipe.md", "socket.md"], LeftOutReason.NOT_A_FILE)


def test_a_folder_that_cannot_be_read_makes_the_scan_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"open/n.md": "", "shut/a.md": "", "shut/sub/b.md": "", "shutter.md": ""})
    real = os.scandir

    def scandir(path: Path) -> object:  # root may read any folder, so that the refusal is made here
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = scan(tmp_path)
    assert paths(found) == ["open/n.md", "shutter.md"]
    assert not found.complete
    assert reasons(found) == {"shut": LeftOutReason.UNREADABLE}
    known = ["shut/a.md", "shut/sub/b.md", "open/n.md", "open/old.md", "shutters/x.md"]
    assert found.gone(known) == {"open/old.md", "shutters/x.md"}


def test_composed_and_decomposed_names_have_one_key(tmp_path: Path) -> None:
    write(tmp_path, {"Cafe\u0301.md": "nfd", "x/Über.md": "nfc"})
    found = scan(tmp_path)
    assert [(file.path, file.raw_path) for file in found.files] == [
        ("Café.md", "Cafe\u0301.md"),
        ("x/Über.md", "x/Über.md"),
    ]


def test_two_names_that_differ_only_in_composition_are_not_mixed_up(tmp_path: Path) -> None:
    write(tmp_path, {"Cafe\u0301.md": "nfd", "Café.md": "nfc"})
    found = scan(tmp_path)
    if len({entry.name for entry in os.scandir(tmp_path)}) == 2:
        assert paths(found) == ["Café.md"]
        assert reasons(found) == {"Café.md": LeftOutReason.SAME_NAME}


def test_a_name_of_broken_bytes_is_left_out_and_can_be_printed(tmp_path: Path) -> None:
    write(tmp_path, {"n.md": ""})
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    found = scan(tmp_path)
    assert paths(found) == ["n.md"]
    (left,) = found.left_out
    assert left.reason is LeftOutReason.BAD_NAME
    assert left.path.encode()


def test_long_names_and_emoji_folders_are_ordinary(tmp_path: Path) -> None:
    long = "n" * 247 + ".md"
    deep = "/".join(["🌱 garden"] * 30)
    write(tmp_path, {long: "", f"{deep}/🦔.md": ""})
    found = scan(tmp_path)
    assert paths(found) == sorted([long, f"{deep}/🦔.md"])
    assert found.files[1].folder == "🌱 garden"


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda root: root / "missing", "does not exist", "vault.path"),
        (lambda root: root, "is empty", "connected"),
        (lambda root: write(root, {"f.md": ""}) / "f.md", "is not a folder", "vault.path"),
        (lambda root: Path("C:\\Users\\me\\Vault"), "does not exist", "/mnt/c"),
    ],
)
def test_a_vault_that_cannot_be_used_says_what_to_do(tmp_path: Path, make: object, message: str, hint: str) -> None:
    with pytest.raises(VaultError, match=message) as fault:
        scan(make(tmp_path))
    assert hint in fault.value.hint


def test_a_new_vault_without_notes_is_fine(tmp_path: Path) -> None:
    write(tmp_path, {".obsidian/app.json": "{}"})
    assert scan(tmp_path).files == ()


def test_links_to_attachments_resolve_with_what_the_scan_lists(tmp_path: Path) -> None:
    write(tmp_path, {"a/Note.md": "", "img/map.png": b"x", "b/Board.canvas": "{}"})
    found = scan(tmp_path)
    resolver = LinkResolver([*paths(found), *found.attachments])
    assert [resolver.resolve(Link(target), "a/Note.md") for target in ("map.png", "Board.canvas", "note")] == [
        "img/map.png",
        "b/Board.canvas",
        "a/Note.md",
    ]
