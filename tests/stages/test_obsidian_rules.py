"""The two sets of known answers: small notes with one oddity each, and what Obsidian itself cached for its notes."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from companion_assets.contracts.records import Link, Note
from companion_assets.stages.index_text import index_text
from companion_assets.stages.markdown import resolve_links
from companion_assets.stages.vault import read_note, scan_vault
from companion_assets.stages.vault_walk import vault_rules
from companion_assets.stores.link_resolver import LinkResolver

from .note_material import address, note_of

DATA = Path(__file__).parents[1] / "data"


def check_module(folder: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"check_{folder}", DATA / folder / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(note: Note) -> dict[str, Any]:
    def written(link: Link) -> dict[str, Any]:
        names = ("target", "heading", "block", "display", "size", "embed", "kind", "resolved")
        return {name: getattr(link, name) for name in names}

    return {
        "title": note.title,
        "state": note.frontmatter.value,
        "properties": note.properties,
        "aliases": note.aliases,
        "tags": note.tags,
        "headings": [[heading.level, heading.text] for heading in note.headings],
        "links": [written(link) for link in note.links if link.kind != "property"],
        "property_links": [link.target for link in note.links if link.kind == "property"],
        "blocks": note.blocks,
        "tasks": [[task.mark, task.text] for task in note.tasks],
        "date": note.date and note.date.isoformat(),
        "body": note.body,
        "index_text": index_text(note),
    }


def test_every_case_of_a_real_vaults_oddities_is_read_rightly() -> None:
    root = DATA / "vault_cases" / "vault"
    expected = json.loads((DATA / "vault_cases" / "expected.json").read_text(encoding="utf-8"))
    found = scan_vault(root, vault_rules(file_patterns=["*.md"], deny_dirs=[], deny_patterns=[]))
    resolver = LinkResolver([file.path for file in found.files] + list(found.attachments))
    notes = {file.path: fields(resolve_links(read_note(root, file), resolver)) for file in found.files}
    assert len(expected["notes"]) == len(notes) == 56
    assert check_module("vault_cases").compare(expected, notes) == []


def test_the_case_checker_sees_a_wrong_parser() -> None:
    expected = json.loads((DATA / "vault_cases" / "expected.json").read_text(encoding="utf-8"))
    wrong = {path: {"tags": ["never"], "title": "?"} for path in expected["notes"]}
    assert len(check_module("vault_cases").compare(expected, wrong)) > 56


def test_every_sample_is_read_as_obsidian_cached_it() -> None:
    def read(text: str, name: str) -> dict[str, Any]:
        note = note_of(text, name)
        body = [link for link in note.links if link.kind != "property"]
        return fields(note) | {
            "links": [[address(link), link.display] for link in body if not link.embed],
            "embeds": [address(link) for link in body if link.embed],
            "tasks": [task.mark for task in note.tasks],
            "property_links": [address(link) for link in note.links if link.kind == "property"],
        }

    count, differences = check_module("obsidian_cache_samples").run(read)
    assert differences == []
    assert count == 60


def sample_notes() -> list[tuple[str, dict[str, Any]]]:
    return [
        (file.name, json.loads(file.read_text(encoding="utf-8")))
        for file in sorted((DATA / "obsidian_cache_samples" / "data").glob("*.json"))
    ]


@pytest.mark.parametrize(("name", "sample"), sample_notes(), ids=[name for name, _ in sample_notes()])
def test_lines_of_links_headings_and_tasks_are_obsidians(name: str, sample: dict[str, Any]) -> None:
    note = note_of(sample["fileContents"])
    cached = sample["cachedMetadata"]
    if name != "link_in_task_wikilink.json":  # Obsidian takes "[[|x]]" for a link there
        lines = [link["position"]["start"]["line"] + 1 for link in cached.get("links", [])]
        assert [link.line for link in note.links if link.kind != "property" and not link.embed] == lines
    headings = [heading["position"]["start"]["line"] + 1 for heading in cached.get("headings", [])]
    assert [heading.line for heading in note.headings] == headings
    tasks = [item["position"]["start"]["line"] + 1 for item in cached.get("listItems", []) if "task" in item]
    assert [task.line for task in note.tasks] == tasks


def test_links_resolve_as_obsidian_resolved_them() -> None:
    answers = {
        (source["filePath"], written, found)
        for _, source in sample_notes()
        for written, found in (source.get("resolveLinkToPath") or {}).items()
    }
    paths = {sample["filePath"] for _, sample in sample_notes()} | {found for _, _, found in answers if found}
    resolver = LinkResolver(paths)
    wrong = [
        (source, written, found, got)
        for source, written, found in answers
        for got in [resolver.resolve(Link(written.partition("#")[0]), source)]
        if got != found
    ]
    assert wrong == []
    assert len(answers) > 30
