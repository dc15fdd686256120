"""The most specific glob decides; what was cut by other rules must be cut anew; sensitive tags."""

import hashlib

import pytest

from companion_assets.contracts.settings import ChunkingRule
from companion_assets.stages.chunk_rules import CHUNKER_VERSION, rule_for, rules_signature, sensitive_tags
from companion_assets.stores.search_text import indexed

GLOBS = [
    "default",
    "**",
    "Journal/**",
    "Journal/2024/**",
    "Journal/*.md",
    "*/Work/**",
    "Straße/**",
    "Recipes",
    "**/*.draft.md",
]
RULES = {glob: ChunkingRule(chunk_size=100 + at, chunk_overlap=0) for at, glob in enumerate(GLOBS)}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Journal/2024/05/a.md", "Journal/2024/**"),
        ("Journal/2023/a.md", "Journal/**"),
        ("Journal/a.md", "Journal/*.md"),
        ("journal/a.md", "**"),
        ("Projects/Work/deep/er/a.md", "*/Work/**"),
        ("Stra\u00dfe/a.md", "Straße/**"),
        ("Recipes/Soups/Beet.md", "Recipes"),
        ("Recipes.md", "**"),
        ("Ideas/one.draft.md", "**/*.draft.md"),
        ("a.md", "**"),
        (".hidden/a.md", "**"),
    ],
)
def test_the_most_specific_glob_wins(path: str, expected: str) -> None:
    assert rule_for(path, RULES) == (expected, RULES[expected])


def test_order_of_the_rules_does_not_matter() -> None:
    turned = dict(reversed(RULES.items()))
    assert rule_for("Journal/2024/a.md", turned) == rule_for("Journal/2024/a.md", RULES)


def test_default_comes_last_and_stands_in_when_nothing_matches() -> None:
    rules = {"default": ChunkingRule(chunk_size=64, chunk_overlap=0), "Journal/**": ChunkingRule()}
    assert rule_for("Notes/a.md", rules) == ("default", rules["default"])
    assert rule_for("Notes/a.md", {"Journal/**": ChunkingRule()}) == ("default", ChunkingRule())


def test_composed_and_decomposed_names_are_the_same() -> None:
    rules = {"Caf\u00e9/**": ChunkingRule(chunk_size=64, chunk_overlap=0)}
    assert rule_for("Cafe\u0301/a.md", rules)[0] == "Caf\u00e9/**"


def test_signature_changes_with_anything_that_moves_a_border() -> None:
    rule = ChunkingRule(chunk_size=300, chunk_overlap=50)
    signatures = {
        rules_signature({"default": rule}, "e5"),
        rules_signature({"default": rule}, "mxbai"),
        rules_signature({"default": rule}, "e5", version="0"),
        rules_signature({"Journal/**": rule}, "e5"),
        rules_signature({"default": rule.model_copy(update={"chunk_size": 301})}, "e5"),
        rules_signature({"default": rule.model_copy(update={"chunk_overlap": 51})}, "e5"),
        rules_signature({"default": rule.model_copy(update={"strategy": "section"})}, "e5"),
        rules_signature({"default": rule.model_copy(update={"section_tags": ("#x",)})}, "e5"),
    }
    assert len(signatures) == 8
    assert rules_signature({"default": rule}, "e5") == rules_signature({"default": rule.model_copy()}, "e5")


SPOKEN = (
    "Jean-Luc's state-of-the-art parser is C++, C# and .NET; he paid 4,200 on 2026-03-02, by e-mail 😀.",
    "Heute habe ich drei Häuser in der Vorstadt besichtigt.",
    "L'été dernier, nous avons visité deux châteaux.",
    "Вчера мы с Леной купили красные велосипеды.",
    "ذهبتُ اليوم مع أختي إلى المكتبة واشترينا ثلاثة كُتُب.",
    "डॉक्टर ने कहा कि घुटने को चार हफ़्ते आराम चाहिए।",
    "周末骑自行车去水库，茶。リンゴを三箱もらった。오늘 학교에서 동생이 다쳤다. 집",
    "แมวของฉันป่วย หมอฉีดยาให้สองเข็ม",
)


def test_other_search_terms_are_another_version() -> None:
    """Whoever changes what words are counted as raises the version, and writes both down here."""
    terms = hashlib.sha256("\n".join(map(indexed, SPOKEN)).encode()).hexdigest()[:16]
    assert (CHUNKER_VERSION, terms) == ("3", "b75003f269edb044")


@pytest.mark.parametrize(
    ("tags", "expected"),
    [(["finance"], True), (["Finance/Rent"], True), (["financed"], False), (["work", "garden"], False), ([], False)],
)
def test_sensitive_tags_cover_nested_ones_and_ignore_case(tags: list[str], expected: bool) -> None:
    assert sensitive_tags(["#finance", "health"])(tags) is expected
