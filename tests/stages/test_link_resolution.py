"""Which file a link means."""

import pytest

from companion_assets.contracts.records import Link
from companion_assets.stores.link_resolver import LinkResolver

PATHS = [
    "Note.md",
    "a/Note.md",
    "a/b/Note.md",
    "zzzz/Note.md",
    "a/Only.md",
    "deep/er/Twin.md",
    "deep/er/still/Twin.md",
    "bb/Twin.md",
    "aa/Twin.md",
    "Sub/My Note.md",
    "img/map.png",
    "img/map.png.md",
    "doc/paper.pdf",
    "v/note.v2.md",
    "v/Plan",
    "w/Plan.md",
    "Café.md",
    "x/Ext.MD",
    "Maße.md",
    "c/Time.md",
    "c/time.md",
    "t/Işık.md",
]


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Note", "q/s.md", "Note.md"),  # a path from the root wins
        ("Note", "a/b/s.md", "Note.md"),  # even over the own folder
        ("Twin", "deep/er/still/s.md", "deep/er/still/Twin.md"),  # then the own folder
        ("Twin", "deep/s.md", "aa/Twin.md"),  # then the shortest path; folders above do not count
        ("er/Twin", "q.md", "deep/er/Twin.md"),  # the end of a path
        ("a/Note", "q.md", "a/Note.md"),
        ("b/Note", "a/s.md", "a/b/Note.md"),
        ("/Note", "a/s.md", "Note.md"),
        ("./Note", "a/s.md", "a/Note.md"),
        ("../Note", "a/b/s.md", "a/Note.md"),
        ("../../Note", "a/b/s.md", "Note.md"),
        ("../img/map.png", "a/s.md", "img/map.png"),
        ("../../../Note", "a/s.md", None),
        ("only", "q.md", "a/Only.md"),
        ("ONLY.MD", "q.md", "a/Only.md"),
        ("Ext", "q.md", "x/Ext.MD"),
        ("My Note.md", "q/s.md", "Sub/My Note.md"),
        ("My\u00a0Note", "q/s.md", "Sub/My Note.md"),
        ("map.png", "q.md", "img/map.png"),
        ("map.png.md", "q.md", "img/map.png.md"),
        ("paper", "q.md", None),
        ("note.v2", "q.md", "v/note.v2.md"),
        ("Plan", "v/s.md", "w/Plan.md"),  # Obsidian knows no files without an ending
        ("Cafe\u0301", "q.md", "Café.md"),
        ("CAFÉ", "q.md", "Café.md"),
        ("Masse", "q.md", None),  # no wrong merge
        ("MASSE", "q.md", None),
        ("Time", "q.md", "c/Time.md"),
        ("time", "q.md", "c/time.md"),
        ("Işık", "q.md", "t/Işık.md"),
        ("IŞIK", "q.md", None),  # the known limit
        ("ışık", "q.md", None),
        ("", "a/s.md", "a/s.md"),
        ("Nobody", "q.md", None),
        ("https://x.org/Note", "q.md", None),
        ("img", "q.md", None),
    ],
)
def test_a_link_means_the_file_obsidian_opens(target: str, source: str, path: str | None) -> None:
    assert LinkResolver(PATHS).resolve(Link(target), source) == path
    assert LinkResolver(reversed(PATHS)).resolve(Link(target), source) == path


def test_an_alias_is_a_weaker_edge_and_only_when_it_is_clear() -> None:
    resolver = LinkResolver(
        ["ada.md", "bo.md", "Both.md"], {"ada.md": ["The Countess", "Friend"], "bo.md": ["friend", "Both"]}
    )
    assert resolver.resolve(Link("The Countess"), "x.md") is None
    assert resolver.resolve_alias(Link("the countess")) == "ada.md"
    assert resolver.resolve_alias(Link("Friend")) is None
    assert resolver.resolve(Link("Both"), "x.md") == "Both.md"
    assert resolver.resolve_alias(Link("nobody")) is None


def test_a_hundred_thousand_paths_are_looked_up() -> None:
    paths = [f"folder {number % 500}/index.md" for number in range(500)]
    paths += [f"folder {number % 500}/note {number}.md" for number in range(100_000)]
    resolver = LinkResolver(paths)
    assert resolver.resolve(Link("note 99999"), "x.md") == "folder 499/note 99999.md"
    found = {resolver.resolve(Link("index"), f"folder {number}/note.md") for number in range(500)}
    assert found == {f"folder {number}/index.md" for number in range(500)}
