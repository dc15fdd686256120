"""Which chunking rule holds for a note, and what counts as sensitive."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from wcmatch import glob

from companion_assets.contracts.settings import ChunkingRule

CHUNKER_VERSION = "3"
"""Raised whenever the same note would give other chunks or search terms; every note is then chunked anew."""

DEFAULT_RULE = "default"

SensitivePredicate = Callable[[Sequence[str]], bool]
"""Says of a chunk's tags (without "#") whether they mark it as sensitive."""

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.CASE | glob.FORCEUNIX
_WILDCARDS = frozenset("*?[")


def rule_for(path: str, rules: Mapping[str, ChunkingRule]) -> tuple[str, ChunkingRule]:
    """The most specific rule whose glob matches `path`, with that glob.

    More literal folder names win, then more literal characters; `default` comes last. A pattern also matches
    everything below a folder that it names. Letter case counts.

    Args:
        path: Relative to the vault, "/" between parts.
        rules: Glob → rule. Without `default` the built-in rule stands in.
    """
    wanted = _nfc(path)
    matching = [pattern for pattern in rules if pattern != DEFAULT_RULE and _matches(wanted, _nfc(pattern))]
    if not matching:
        return DEFAULT_RULE, rules.get(DEFAULT_RULE) or ChunkingRule()
    best = max(matching, key=_specificity)
    return best, rules[best]


def rules_signature(rules: Mapping[str, ChunkingRule], tokenizer_id: str, version: str = CHUNKER_VERSION) -> str:
    """Hash of all that decides how notes are cut, apart from the notes: another value, other chunks.

    Args:
        rules: Glob → rule; for a single note what `rule_for` gave will do.
        tokenizer_id: Identity of the tokenizer and its window (the embedder's id will do).
        version: Of the code that cuts.
    """
    plain = {
        pattern: [rule.strategy, rule.chunk_size, rule.chunk_overlap, list(rule.section_tags)]
        for pattern, rule in rules.items()
    }
    blob = json.dumps([version, tokenizer_id, plain], sort_keys=True).encode()
    return hashlib.sha256(blob).hexdigest()[:16]


def sensitive_tags(patterns: Iterable[str]) -> SensitivePredicate:
    """A predicate that is true if one of the tags is one of `patterns` or nested in it; letter case is ignored.

    Args:
        patterns: Tags with or without "#", as in `security.sensitive_patterns`.
    """
    marked = frozenset(tag for pattern in patterns if (tag := tag_key(pattern)))

    def predicate(tags: Sequence[str]) -> bool:
        return any(part in marked for tag in tags for part in tag_lineage(tag))

    return predicate


def tag_key(tag: str) -> str:
    """The form in which tags are compared: no "#", NFC, case folded."""
    return _nfc(tag.strip().lstrip("#")).casefold()


def tag_lineage(tag: str) -> list[str]:
    """Keys of a tag and of the tags that it is nested in: `a/b` gives `a/b` and `a`."""
    parts = tag_key(tag).split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _matches(path: str, pattern: str) -> bool:
    folder = pattern.rstrip("/")
    return bool(glob.globmatch(path, [folder, f"{folder}/**"], flags=_FLAGS))


def _specificity(pattern: str) -> tuple[int, int, str]:
    segments = pattern.split("/")
    literal = sum(1 for segment in segments if segment and not _WILDCARDS & set(segment))
    characters = sum(1 for character in pattern if character not in _WILDCARDS)
    return literal, characters, pattern


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
