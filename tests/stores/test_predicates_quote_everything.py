import datetime as dt
import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion_assets.contracts.paths import DataPaths
from companion_assets.contracts.searching import SearchFilters
from companion_assets.stores import predicates
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from tests.stores.samples import SPEC, chunk, question, rows

NAMES = [
    "it's mine/a.md",
    "x' OR 1=1 --.md",
    'say "hi".md',
    "100%/a_b\\c.md",
    "new\nline/tab\t.md",
    "[2024] (draft) {x}+$^|.md",
    "a*b?.md",
    "数据库/笔记.md",
    "Ünïcödé/ñ.md",
    "Journal/2026/03/04.md",
    "Journal/2026.md",
    "JournalOld/x.md",
    "loose.md",
    "';DROP TABLE x;--/n.md",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    paths = DataPaths(tmp_path_factory.mktemp("predicates"))
    chunks = [
        chunk(
            unicodedata.normalize("NFC", name),
            f"text {i}",
            date=dt.date(2026, 1, i + 1) if i % 2 else None,
            tags=(("Project/Alpha", "x") if i < 3 else ("project-x", "it's")),
            source_kind="shelf" if i == 5 else "vault",
        )
        for i, name in enumerate(NAMES)
    ]
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
        writer.publish()
    return ChunkIndex.open(paths)


def _paths(index: ChunkIndex, predicate: str) -> list[str]:
    return sorted(one.source_file for one in index._chunks(predicate))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_finds_itself_only(index: ChunkIndex, name: str) -> None:
    assert _paths(index, predicates.among("source_file", [name])) == [name]
    if not re.search(r"[*?]", name):
        assert _paths(index, predicates.under(name)) == [name]
        assert _paths(index, predicates.under(name.upper())) == [name]
        assert name in _paths(index, predicates.under(name[:-3] + "*"))


def test_an_empty_list_finds_nothing(index: ChunkIndex) -> None:
    assert _paths(index, predicates.among("source_file", [])) == []
    assert predicates.where(SearchFilters()) is None


names = st.text(alphabet=st.sampled_from("ab/'\"%_\\*?[](){}.^$|+-;, \n\t\0é数🙂\ud800"), max_size=12) | st.text(
    max_size=8
)
fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@fuzz
@given(value=names)
def test_any_value_is_only_a_value(index: ChunkIndex, value: str) -> None:
    assert _paths(index, predicates.among("source_file", [value])) == [name for name in NAMES if name == value]
    assert index.count(predicates.among("source_file", [*NAMES, value])) == len(NAMES)
    assert index.count(predicates.has_tag(value)) in range(len(NAMES) + 1)


def _matches(pattern: str, path: str) -> bool:
    """What `under` should find, said another way: character by character."""
    written = unicodedata.normalize("NFC", pattern.encode("utf-8", "replace").decode().strip())
    pattern = written
    while pattern in (".", "/") or pattern.startswith(("/", "./")):
        pattern = pattern[1:] if pattern[0] == "/" else pattern[2:]
    pattern = pattern.rstrip("/")
    if not pattern:
        return bool(written)
    last = pattern.split("/")[-1]
    folder = written.endswith("/") or not set(last) & set("*?")
    rests = {rest.lower() for rest in _rests(pattern.lower(), path.lower())}
    return any(rest in ("", ".md") or (folder and rest.startswith("/")) for rest in rests)


def _rests(pattern: str, text: str) -> Iterator[str]:
    if not pattern:
        yield text
    elif pattern.startswith("**/"):
        yield from _rests(pattern[3:], text)
        for position, sign in enumerate(text):
            if sign == "/":
                yield from _rests(pattern[3:], text[position + 1 :])
    elif pattern.startswith("**"):
        for position in range(len(text) + 1):
            yield from _rests(pattern[2:], text[position:])
    elif pattern[0] == "*":
        for position in range(len(text) + 1):
            if "/" in text[:position]:
                break
            yield from _rests(pattern[1:], text[position:])
    elif text and (pattern[0] == text[0] or (pattern[0] == "?" and text[0] != "/")):
        yield from _rests(pattern[1:], text[1:])


@fuzz
@given(
    pattern=names
    | st.sampled_from(["Journal", "journal", "Journal/**", "*/*.md", "**/*.md", "**", "Journal/*", "*", "J*/**"])
)
def test_globs_find_what_they_say(index: ChunkIndex, pattern: str) -> None:
    assert _paths(index, predicates.under(pattern)) == sorted(name for name in NAMES if _matches(pattern, name))


def test_a_bare_folder_is_everything_in_it(index: ChunkIndex) -> None:
    inside = ["Journal/2026.md", "Journal/2026/03/04.md"]
    assert _paths(index, predicates.under("Journal")) == _paths(index, predicates.under("Journal/")) == inside
    assert _paths(index, predicates.under("Journal/*")) == ["Journal/2026.md"]
    assert _paths(index, predicates.under("Journal/**")) == inside
    assert _paths(index, predicates.under("./journal/2026")) == inside
    assert _paths(index, predicates.under("*/2026/")) == inside
    assert (
        _paths(index, predicates.under("**/03/*"))
        == _paths(index, predicates.under("/Journal/2026/03/04"))
        == inside[1:]
    )
    assert len(_paths(index, predicates.under("/"))) == len(NAMES)
    assert _paths(index, predicates.under(unicodedata.normalize("NFD", "Ünïcödé"))) == ["Ünïcödé/ñ.md"]


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("project", 3),
        ("#PROJECT/alpha", 3),
        ("project/*", 3),
        ("#project/", 3),
        ("project-x", 11),
        ("it's", 11),
        ("proj", 0),
        ("", 0),
        ("%", 0),
    ],
)
def test_a_tag_matches_what_is_nested_in_it(index: ChunkIndex, tag: str, found: int) -> None:
    assert index.count(predicates.has_tag(tag)) == found


def test_all_filters_apply_together(index: ChunkIndex) -> None:
    filters = SearchFilters(after=dt.date(2026, 1, 4), before=dt.date(2026, 1, 10), tags=("project-x", "it's"))
    assert index.count(predicates.where(filters)) == 4  # every second note from the 4th to the 10th; undated ones never
    shelf = SearchFilters(source_kind="shelf")
    assert _paths(index, predicates.where(shelf) or "") == [NAMES[5]]
    both = SearchFilters(after=dt.date(2026, 1, 1), folder="Journal", source_kind="vault")
    assert _paths(index, predicates.where(both) or "") == ["Journal/2026/03/04.md"]


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("text 4", 1),
        ("TEXT", 14),
        ("4 text", 0),
        ("' OR 1=1 --", 1),
        ("数据库", 0),
        ("", 0),
        ("it's mine", 0),
        ("ext", 0),
    ],
)
def test_a_phrase_is_words_in_a_row(index: ChunkIndex, phrase: str, found: int) -> None:
    assert index.count(predicates.containing(phrase)) == found
    assert index.count(index.holding(phrase)) == found
