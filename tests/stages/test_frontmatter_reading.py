"""Properties: YAML 1.2 values as written, broken headers, and headers that are none."""

import datetime as dt
import json

import pytest

from companion_assets.contracts.records import FrontmatterState, NoteStatus

from .note_material import note_of

OK, EMPTY, NONE, INVALID = FrontmatterState.OK, FrontmatterState.EMPTY, FrontmatterState.NONE, FrontmatterState.INVALID


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2026-05-24", "2026-05-24"),
        ("2022-12-06T09:05:28-06:00", "2022-12-06T09:05:28-06:00"),
        ("yes", "yes"),
        ("true", True),
        ("7:30", "7:30"),
        ("1_000", "1_000"),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("~", None),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ("!custom text", "text"),
        ("!!binary aGk=", "aGk="),
        ("👮‍♂️", "👮‍♂️"),
        ("[a, [b, {c: 1}]]", ["a", ["b", {"c": 1}]]),
        ("|\n  two\n  lines", "two\nlines\n"),
    ],
)
def test_values_are_yaml_1_2_and_can_be_written_as_json(written: str, value: object) -> None:
    note = note_of(f"---\nkey: {written}\n---\nbody")
    assert note.properties == {"key": value}
    assert json.loads(json.dumps(note.properties, allow_nan=False)) == note.properties
    assert note.status is NoteStatus.OK


@pytest.mark.parametrize(
    ("text", "state", "body", "line"),
    [
        ("---\na: 1\n---\ntext\n---\nmore", OK, "text\n---\nmore", 4),
        ("--- \na: 1\n---\t\ntext", OK, "text", 4),
        ("---\n---\ntext", EMPTY, "text", 3),
        ("---\n\n# comment\n---\ntext", EMPTY, "text", 5),
        ("---\na: 1\n---", OK, "", 4),
        ("----\nhello\n----\nworld", NONE, "----\nhello\n----\nworld", 1),
        ("---", NONE, "---", 1),
        ("---\na: 1\n", NONE, "---\na: 1\n", 1),
        ("---\na: 1\n----\n", NONE, "---\na: 1\n----\n", 1),
        (" ---\na: 1\n---\n", NONE, " ---\na: 1\n---\n", 1),
        ("# H\n---\na: 1\n---\n", NONE, "# H\n---\na: 1\n---\n", 1),
        ("\ufeff---\r\na: 1\r\n---\r\ntext", OK, "text", 4),
    ],
)
def test_only_a_closed_block_on_the_first_line_is_a_header(
    text: str, state: FrontmatterState, body: str, line: int
) -> None:
    note = note_of(text)
    assert (note.frontmatter, note.body, note.body_line) == (state, body, line)


def test_prose_between_two_rules_stays_in_the_body() -> None:
    note = note_of("---\nIt rained all day.\n\n- soup\n---\nThen it stopped.")
    assert note.frontmatter is INVALID
    assert note.body.startswith("---\nIt rained")
    assert note.body_line == 1


def test_what_is_plain_in_a_broken_header_is_salvaged_and_the_line_is_named() -> None:
    note = note_of(
        "---\ntags:\n- people\ntitle: Governance: Rootkeeper Diff\naliases:\n- @gardener\n- Mara\n"
        "created: 2024-05-01\nup: [[Seneca]], [[Letters]]\nempty:\nn: 3\nodd:\n  deep: [\n---\nBody."
    )
    assert note.frontmatter is INVALID
    assert note.status is NoteStatus.PARTIAL
    assert "line 4" in note.reason
    assert note.properties == {
        "tags": ["people"],
        "title": "Governance: Rootkeeper Diff",
        "aliases": ["@gardener", "Mara"],
        "created": "2024-05-01",
        "up": "[[Seneca]], [[Letters]]",
        "empty": None,
        "n": 3,
    }
    assert note.date == dt.date(2024, 5, 1)
    assert note.body == "Body."


@pytest.mark.parametrize(
    "header",
    [
        "date: {{date}}",
        "a: *missing",
        "a: &x [*x]",
        "\ta: 1",
        'a: "open',
        "a: [1, 2",
        "? [a, b]\n: c",
        "k: v\n...\nz: y",
        "a: " + "[" * 5000,
        "a: " + "{a: " * 2000,
        "a: @x",
        "- a\n- b: c",
        "\n".join(["a: &a [x, x, x, x, x, x, x, x, x]"]
                  + [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]),
        "a: b: c\n" * 20_000,
    ],
)  # fmt: skip
def test_no_header_stops_or_stalls_the_reading(header: str) -> None:
    note = note_of(f"---\n{header}\n---\nBody. #tag")
    assert note.frontmatter is INVALID
    assert note.status is NoteStatus.PARTIAL
    assert note.reason
    assert note.body.endswith("Body. #tag")
    assert "tag" in note.tags
    assert len(json.dumps(note.properties)) < 100_000


def test_a_key_that_comes_twice_keeps_the_last_value_that_says_something() -> None:
    assert note_of("---\na: 1\nb: 2\na: 3\nb:\n---\n").properties == {"a": 3, "b": 2}


def test_keys_are_text() -> None:
    assert note_of("---\n2024: x\ntrue: y\n---\n").properties == {"2024": "x", "true": "y"}


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("tags: [A, '#b', a]", ("A", "b")),
        ("tags: one", ("one",)),
        ("tags: '#one'", ("one",)),
        ("tags: one, two", ()),
        ("tags: one two", ()),
        ("""tags: '["a","b"]'""", ("a", "b")),
        ("tags: [#a, b/c]", ("a", "b/c")),
        ("Tags: [x]", ("x",)),
        ("tag: old", ("old",)),
        ("TAG: [no]", ()),
        ("tags: [1984, y1984, '2/3', 'a b', null, {a: b}, [c], true]", ("y1984", "2/3")),
        ("tags:", ()),
        ("other: '#no'", ()),
    ],
)
def test_tags_of_the_header(header: str, tags: tuple[str, ...]) -> None:
    assert note_of(f"---\n{header}\n---\n").tags == tags


@pytest.mark.parametrize(
    ("header", "aliases"),
    [
        ("aliases: [Ada, 'Smith, John', 7, 1.5, true, null, '', Ada]", ("Ada", "Smith, John", "7", "1.5", "true")),
        ("aliases: Ada", ("Ada",)),
        ("aliases: Ada, The Countess", ("Ada", "The Countess")),
        ("alias: Old name", ("Old name",)),
        ("aliases:\n- T4: totals", ("T4: totals",)),
        ("aliases: 1984", ("1984",)),
        ("aliases:", ()),
    ],
)
def test_aliases_are_text(header: str, aliases: tuple[str, ...]) -> None:
    assert note_of(f"---\n{header}\n---\n").aliases == aliases


def test_links_in_properties_come_with_their_lines() -> None:
    note = note_of('---\nup: "[[A#h|x]]"\nn:\n  - see [[B]] and [[C]]\nagain: "[[A#h|x]]"\nz: 1\n---\n[[D]]')
    found = [(link.kind, link.target, link.heading, link.display, link.line) for link in note.links]
    assert found == [
        ("property", "A", "h", "x", 2),
        ("property", "B", None, None, 4),
        ("property", "C", None, None, 4),
        ("property", "A", "h", "x", 5),
        ("wiki", "D", None, None, 8),
    ]


@pytest.mark.parametrize(
    ("name", "header", "day"),
    [
        ("2024-03-09", "", "2024-03-09"),
        ("2024-03-09T0830", "", "2024-03-09"),
        ("2024-03-091", "", None),
        ("2024-3-9", "", None),
        ("20240309", "", "2024-03-09"),
        ("20240309123059 id", "", "2024-03-09"),
        ("202403091", "", None),
        ("10101010 bits", "", None),
        ("on 2024-03-09", "", None),
        ("2024-02-30", "", None),
        ("2024-02-30", "date: 2024-03-01", "2024-03-01"),
        ("n", "date: 2024-3-5", "2024-03-05"),
        ("n", "date: 2024/03/05 10:00", "2024-03-05"),
        ("n", "date: 05.01.2024", None),
        ("n", "date: 1/5/2024", None),
        ("n", "date: 2024-01", None),
        ("n", "date: 20240305", "2024-03-05"),
        ("n", 'date: "[[2024-03-05]]"', "2024-03-05"),
        ("n", "Date: 2024-03-05", "2024-03-05"),
        ("n", "date: 2022-12-06T23:59:28-06:00", "2022-12-06"),  # B85
        ("n", "date: soon\ncreated: 2024-03-06", "2024-03-06"),
        ("n", "date: true\ndate created: 2024-03-07", "2024-03-07"),
        ("n", "modified: 2024-03-08\nupdated: 2024-03-08", None),
    ],
)
def test_the_day_of_a_note(name: str, header: str, day: str | None) -> None:
    note = note_of(f"---\n{header}\n---\n2020-01-01", f"Folder/{name}.md")
    assert (note.date and note.date.isoformat()) == day
