from pathlib import Path
from typing import Any

import pytest

from companion_assets.contracts.paths import data_paths
from tests.app.api.conftest import RunningApp, Start
from tests.app.small_app import index_vault


def chunk_of(app: RunningApp, path: str) -> str:
    return app.desk.companion.engines.index().neighbours(path)[0].chunk_id


def passage(app: RunningApp, **params: Any) -> dict[str, Any]:
    response = app.http.get("/api/passage", params=params)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def cited(document: dict[str, Any]) -> str:
    return "\n".join(line["text"] for line in document["context"] if line["cited"])


def test_a_chunk_opens_at_its_lines_with_the_note_around_it(start: Start) -> None:
    app = start()
    document = passage(app, chunk_id=chunk_of(app, "Cello.md"))
    assert (document["path"], document["title"], document["date"]) == ("Cello.md", "Cello", "2026-03-01")
    assert document["state"] == "same"
    assert "Regraduated the top of the cello to 4.2 mm." in cited(document)
    assert document["context"][0] == {"number": 1, "text": "---", "cited": False}
    assert document["obsidian_url"] == "obsidian://open?vault=My%20vault&file=Cello"


@pytest.mark.parametrize(
    "edited", ["One.\nTwo.\nThree.\nFour.\n\n# Cello\n", "# Cello\n\nA new first line.\nAnd another.\n"]
)
def test_a_passage_that_moved_is_found_again(start: Start, edited: str) -> None:
    app = start()
    chunk_id = chunk_of(app, "Cello.md")
    note = app.vault / "Cello.md"
    note.write_text(note.read_text().replace("# Cello\n", edited))
    document = passage(app, chunk_id=chunk_id)
    assert document["state"] == "moved"
    assert "Regraduated the top of the cello to 4.2 mm." in cited(document)


def test_a_passage_that_was_rewritten_is_shown_as_it_was_cited(start: Start) -> None:
    app = start()
    chunk_id = chunk_of(app, "Cello.md")
    (app.vault / "Cello.md").write_text("All of this is new.\n")
    document = passage(app, chunk_id=chunk_id)
    assert document["state"] == "changed"
    assert cited(document) == ""
    assert "4.2 mm" in document["text"]


def test_lines_of_a_note_can_be_opened_without_a_chunk(start: Start) -> None:
    document = passage(start(), path="Kitchen/Soup.md", first=3, last=3)
    assert cited(document).startswith("Kale, potatoes")
    assert document["lines"] == [3, 3]


def test_lines_beyond_the_end_of_a_note_are_no_fault(start: Start) -> None:
    document = passage(start(), path="Kitchen/Soup.md", first=900, last=950)
    assert document["lines"][1] <= 6


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "Journal/../../outside.md",
        "/etc/passwd",
        "..\\outside.md",
        "Cello.md\0",
        "C:/x.md",
        "./Cello.md",
    ],
)
def test_paths_that_lead_out_of_the_vault_are_refused(start: Start, path: str) -> None:
    app = start()
    (app.vault.parent / "outside.md").write_text("secret")
    response = app.http.get("/api/passage", params={"path": path})
    assert response.status_code == 400
    assert "secret" not in response.text
    assert "leads out" in response.json()["error"]


def test_a_note_replaced_by_a_link_out_of_the_vault_is_refused(start: Start) -> None:
    app = start()
    outside = app.vault.parent / "outside.md"
    outside.write_text("secret")
    (app.vault / "Cello.md").unlink()
    (app.vault / "Cello.md").symlink_to(outside)
    response = app.http.get("/api/passage", params={"path": "Cello.md"})
    assert response.status_code == 400
    assert "secret" not in response.text


def test_files_of_the_vault_that_are_no_notes_are_not_shown(start: Start) -> None:
    app = start()
    (app.vault / ".obsidian").mkdir()
    (app.vault / ".obsidian" / "token.json").write_text("secret")
    for path in (".obsidian/token.json", "Nowhere.md"):
        response = app.http.get("/api/passage", params={"path": path})
        assert response.status_code == 404
        assert "secret" not in response.text


def test_a_note_with_decomposed_accents_on_disk_opens_by_its_key(start: Start, vault: Path) -> None:
    (vault / "Cafe\u0301.md").write_text("Espresso at eleven.\n")
    app = start()
    index_vault(data_paths())
    assert cited(passage(app, path="Caf\u00e9.md", first=1)) == "Espresso at eleven."


def test_an_unknown_chunk_is_not_found(start: Start) -> None:
    response = start().http.get("/api/passage", params={"chunk_id": "nothing"})
    assert response.status_code == 404
    assert response.json()["hint"]


def test_a_passage_needs_a_chunk_or_a_path(start: Start) -> None:
    assert start(index=False).http.get("/api/passage").status_code == 404
