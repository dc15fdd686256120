"""The Unigram tokenizer of multilingual-e5-small, rebuilt from the pieces of its weights file.

Text is first mapped character by character (full width → half width, line breaks → spaces …), runs of spaces
become one, spaces become "▁", one "▁" is put in front; then the most probable pieces are chosen.
"""

import re
from typing import Any

from companion_assets.backends.e5_file import E5File

SPACES = re.compile(" {2,}")
SPACE = "▁"
REPLACEMENT = "\ufffd"


class UnigramTokenizer:
    """Counts, spans and ids. Safe to share between threads."""

    def __init__(self, source: E5File) -> None:
        from tokenizers import Tokenizer, models, pre_tokenizers

        self._engine: Any = Tokenizer(models.Unigram(source.pieces(), unk_id=source.unknown))
        self._engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
        # Half of a surrogate pair is no character and cannot be handed to the engine.
        self._char_map = source.char_map | dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT)

    def ids(self, text: str) -> list[int]:
        """Token ids of `text`, special tokens not included."""
        return list(self._encode(self._normalise(text)).ids)

    def count(self, text: str) -> int:
        """Tokens of `text`, special tokens not included."""
        return len(self.ids(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Character spans of the tokens in `text` as given; a token without characters is left out."""
        normal, origin = self._align(text)
        encoded = self._encode(normal)
        offsets = list(encoded.offsets)
        if encoded.tokens[:1] == [SPACE] and not normal.startswith(" "):
            del offsets[0]  # the "▁" put in front; the engine lends it the first character
        return [(origin[start], origin[end]) for start, end in offsets if origin[start] < origin[end]]

    def _encode(self, normal: str) -> Any:
        return self._engine.encode(normal, add_special_tokens=False)

    def _normalise(self, text: str) -> str:
        return SPACES.sub(" ", text.translate(self._char_map))

    def _align(self, text: str) -> tuple[str, list[int]]:
        """The normalised text, and for each border between its characters the border in `text`."""
        parts = [self._char_map.get(ord(char), char) for char in text]
        lengths = list(map(len, parts))
        mapped = "".join(parts)
        # The border before a mapped character is the border before its source, the last one the end of the text.
        origin = [at for at, length in enumerate(lengths) for _ in range(length)] + [len(text)]
        for match in reversed(list(SPACES.finditer(mapped))):
            del origin[match.start() + 1 : match.end()]
        return SPACES.sub(" ", mapped), origin
