"""Bytes on disk to a note: encodings (B21, B23), sizes, and files that are not what they were."""

import hashlib
import os
from pathlib import Path

import pytest

from companion_assets.contracts.records import FrontmatterState, NoteFile, NoteStatus
from companion_assets.stages.index_text import index_text
from companion_assets.stages.vault import read_note

from .note_material import read, scan, write


@pytest.mark.parametrize(
    ("raw", "body", "status", "reason"),
    [
        (b"caf\xc3\xa9 #ok", "café #ok", NoteStatus.OK, ""),
        (b"\xef\xbb\xbfcaf\xc3\xa9 #ok", "café #ok", NoteStatus.OK, ""),
        ("café #ok".encode("utf-16"), "café #ok", NoteStatus.OK, ""),
        (b"\xfe\xff" + "café #ok".encode("utf-16-be"), "café #ok", NoteStatus.OK, ""),
        ("café #ok".encode("utf-32"), "café #ok", NoteStatus.OK, ""),
        (b"caf\xe9 #ok", "café #ok", NoteStatus.PARTIAL, "byte 3 is not valid UTF-8; read as Windows-1252"),
        (b"\xc3\xa9 \xff #ok", "é \ufffd #ok", NoteStatus.PARTIAL, "byte 3 is not valid UTF-8"),
        (b"\xef\xbb\xbf\xc3\xa9 \xff #ok", "é \ufffd #ok", NoteStatus.PARTIAL, "byte 6 is not valid UTF-8"),
        (b"\xff\xfea\x00\x00\xd8 \x00#\x00o\x00k\x00", "a\ufffd #ok", NoteStatus.PARTIAL, "byte 4 is not valid UTF-16"),
        (b"ca\x00fe\x00 #ok", "cafe #ok", NoteStatus.PARTIAL, "2 NUL characters removed"),
        (b"\x00\xe9 #ok", "é #ok", NoteStatus.PARTIAL, "read as Windows-1252; 1 NUL characters removed"),
    ],
)
def test_every_encoding_gives_text_and_names_what_was_lost(
    tmp_path: Path, raw: bytes, body: str, status: NoteStatus, reason: str
) -> None:
    note = read(write(tmp_path, {"n.md": raw}), "n.md")
    assert (note.body, note.status) == (body, status)
    assert reason in note.reason
    assert note.tags == ("ok",)
    assert note.sha == hashlib.sha256(raw).hexdigest()


def test_one_bad_byte_costs_one_note_a_warning_and_no_other_note_anything(tmp_path: Path) -> None:
    write(tmp_path, {f"{number}.md": f"note {number}" for number in range(160)} | {"bad.md": b"ok \xff"})
    notes = [read_note(tmp_path, file) for file in scan(tmp_path).files]
    assert [note.path for note in notes if note.status is not NoteStatus.OK] == ["bad.md"]
    assert len(notes) == 161


def test_line_ends_become_lf_and_lines_still_count_as_on_disk(tmp_path: Path) -> None:
    note = read(write(tmp_path, {"n.md": b"---\r\ntags: [a]\r\n---\r\n# One\r\n\nTwo #b\r[[X]]\n"}), "n.md")
    assert note.body == "# One\n\nTwo #b\n[[X]]\n"
    assert note.body_line == 4
    assert note.headings[0].line == 4
    assert note.links[0].line == 7


def test_a_broken_header_and_broken_bytes_are_both_reported(tmp_path: Path) -> None:
    note = read(write(tmp_path, {"n.md": b"---\ntitle: a: b\n---\nbody \xe9"}), "n.md")
    assert note.status is NoteStatus.PARTIAL
    assert "byte 25" in note.reason
    assert "line 2" in note.reason
    assert note.frontmatter is FrontmatterState.INVALID


def test_a_note_over_the_limit_is_cut_at_a_line_and_says_so(tmp_path: Path) -> None:
    note = read(write(tmp_path, {"n.md": "one\ntwo\nthree\n"}), "n.md", max_bytes=10)
    assert note.body == "one\ntwo\n"
    assert note.status is NoteStatus.PARTIAL
    assert "10 bytes" in note.reason
    exact = read(tmp_path, "n.md", max_bytes=14)
    assert exact.status is NoteStatus.OK


def test_a_note_that_vanishes_after_the_scan_is_skipped_with_a_reason(tmp_path: Path) -> None:
    write(tmp_path, {"here.md": "x", "gone.md": "x"})
    files = scan(tmp_path).files
    (tmp_path / "gone.md").unlink()
    gone, here = (read_note(tmp_path, file) for file in files)
    assert (gone.status, gone.sha, gone.index_lines) == (NoteStatus.SKIPPED, "", ("",))
    assert "No such file" in gone.reason
    assert here.status is NoteStatus.OK


@pytest.mark.parametrize("become", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_note_that_became_something_else_neither_blocks_nor_raises(tmp_path: Path, become: object) -> None:
    write(tmp_path, {"n.md": "x"})
    (file,) = scan(tmp_path).files
    (tmp_path / "n.md").unlink()
    become(tmp_path / "n.md")
    note = read_note(tmp_path, file)
    assert note.status is NoteStatus.SKIPPED
    assert "cannot be read" in note.reason


def test_a_note_that_grows_after_the_scan_is_read_as_it_is_now(tmp_path: Path) -> None:
    write(tmp_path, {"n.md": "x"})
    (file,) = scan(tmp_path).files
    write(tmp_path, {"n.md": "x and more #tag"})
    assert read_note(tmp_path, file).tags == ("tag",)


def test_a_decomposed_name_is_opened_by_its_own_spelling(tmp_path: Path) -> None:
    note = read(write(tmp_path, {"Über Äpfel.md": "apples"}), "Über Äpfel.md")
    assert (note.title, note.body) == ("Über Äpfel", "apples")


def test_reading_never_touches_the_vault(tmp_path: Path) -> None:
    write(tmp_path, {"n.md": b"caf\xe9"})
    before = (tmp_path / "n.md").stat()
    read(tmp_path, "n.md")
    after = (tmp_path / "n.md").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    assert [path.name for path in tmp_path.iterdir()] == ["n.md"]


def test_five_megabytes_are_read_to_the_last_line(tmp_path: Path) -> None:
    paragraph = "Rain on the roof, [[Ada|her]] letter and #weather in between. " * 8
    part = f"## Part\n\n{paragraph}\n\n- [ ] call\n- item\n\n| a | b |\n|---|---|\n| 1 | [[Bo\\|b]] |\n\n"
    text = part * (5_000_000 // len(part)) + "[[The end]] ^last\n"
    note = read(write(tmp_path, {"big.md": text}), "big.md")
    repeats = 5_000_000 // len(part)
    assert note.status is NoteStatus.OK
    assert (len(note.headings), len(note.tasks), len(note.links)) == (repeats, repeats, repeats * 9 + 1)
    assert (note.links[-1].target, note.links[-1].line) == ("The end", text.count("\n"))
    assert note.blocks == ("last",)
    assert len(index_text(note)) > 4_000_000


def test_ten_thousand_notes_are_scanned_and_read(tmp_path: Path) -> None:
    notes = {
        f"{number % 40}/note {number}.md": f"---\ntags: [t{number % 7}]\n---\n[[note {number + 1}]] on 1 line.\n"
        for number in range(10_000)
    }
    found = scan(write(tmp_path, notes))
    assert len(found.files) == 10_000
    read_all = [read_note(tmp_path, file) for file in found.files]
    assert {note.status for note in read_all} == {NoteStatus.OK}
    assert len({note.sha for note in read_all}) == 10_000
    assert sum(len(note.links) for note in read_all) == 10_000


def test_a_path_of_a_record_that_was_never_there_is_skipped(tmp_path: Path) -> None:
    note = read_note(tmp_path, NoteFile("x/y.md", "x/y.md", "x", 0, 0))
    assert (note.title, note.status) == ("y", NoteStatus.SKIPPED)
