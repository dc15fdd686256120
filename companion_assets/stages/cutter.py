"""Chunking as one run does it: the rules, the tokenizer and the window of the embedder in force."""

import datetime as dt
from functools import cache, cached_property

from companion_assets.contracts.records import Chunk, Note
from companion_assets.stages.chunk_rules import rule_for, rules_signature, sensitive_tags
from companion_assets.stages.chunking import chunk_note
from companion_assets.stages.workspace import Workspace

_SPECIAL_TOKENS = 2  # begin and end of a text, in every embedder we know


class Cutter:
    """Cuts notes by the vault's rules.

    Args:
        work: The run's workspace; its embedder is opened.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._embedder = work.embedder
        self._spec = work.embedder.spec
        self._overhead = self._embedder.tokenizer.count(self._spec.passage_prefix) + _SPECIAL_TOKENS
        self._patterns = work.security.sensitive_patterns if work.security.sensitive_content_detection else ()
        self._sensitive = sensitive_tags(self._patterns)
        self._signature_of = cache(self._signature)

    def signature(self, path: str) -> str:
        """Signature of all that decides how the note at `path` is cut, its text apart."""
        pattern, _ = rule_for(path, self._work.vault.chunking_rules)
        return self._signature_of(pattern)

    @cached_property
    def rules_signature(self) -> str:
        """Signature of all that decides how notes are cut: while it stays, every note's own signature does."""
        rules = self._work.vault.chunking_rules
        return rules_signature(rules, f"{self._spec.embedder_id}|{','.join(self._patterns)}")

    def cut(self, note: Note, modified_at: dt.datetime) -> list[Chunk]:
        """The chunks of a note whose file was modified then."""
        return chunk_note(
            note,
            rules=self._work.vault.chunking_rules,
            tokenizer=self._embedder.tokenizer,
            max_tokens=self._spec.max_tokens,
            passage_overhead=self._overhead,
            modified_at=modified_at,
            sensitive=self._sensitive,
        )

    def _signature(self, pattern: str) -> str:
        rules = self._work.vault.chunking_rules
        rule = {pattern: rules.get(pattern, rules["default"])}
        return rules_signature(rule, f"{self._spec.embedder_id}|{','.join(self._patterns)}")
