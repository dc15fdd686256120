"""Levelling of spellings that a person does not tell apart when looking for something."""

import unicodedata

_DIGITS = (
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0x1040, 0x17E0,
)  # fmt: skip
_INVISIBLE = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFE0E, 0xFE0F, 0xFEFF])
_MARKS = frozenset(
    [
        *range(0x300, 0x370),  # accents of Latin, Greek and Cyrillic
        *range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7,  # Hebrew points
        *range(0x610, 0x61B), 0x640, *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6EE),  # Arabic vowels, tatweel
        0x93C, 0x9BC, 0xA3C,  # nukta
    ]
)  # fmt: skip
# With a stroke they do not decompose. Turkish ı: its capital, I, is lowered to i. Russian й is no accented и.
_LATIN = {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th"}
# Written one for the other, and those of Persian keyboards.
_ARABIC = {"ٱ": "ا", "ى": "ي", "ة": "ه", "ی": "ي", "ک": "ك"}
_NUMBERS = {chr(start + value): str(value) for start in _DIGITS for value in range(10)}
_LETTERS = _LATIN | _ARABIC | _NUMBERS | {"й": "й", "ँ": "ं"}


class _Levelled(dict[int, str]):
    """Code point → what stands for it; worked out when first met."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if sign not in _LETTERS:
            kept = "".join(part for part in unicodedata.normalize("NFD", sign) if ord(part) not in _MARKS)
            sign = unicodedata.normalize("NFC", kept)
        self[code] = _LETTERS.get(sign, sign)
        return self[code]


_LEVELLED = _Levelled()


def lower(text: str) -> str:
    """Compatibility forms and letter case levelled, invisible signs removed; always valid UTF-8."""
    if text.isascii():
        return text.lower()
    lowered = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return lowered.translate(_INVISIBLE).encode("utf-8", "replace").decode()


def fold(text: str) -> str:
    """`lower`, and accents and vowel points levelled as well ("Ünïcödé ﬁ" → "unicode fi").

    Marks that carry meaning (Indic vowels, Thai tones, Japanese voicing) stay.
    """
    lowered = lower(text)
    return lowered if lowered.isascii() else unicodedata.normalize("NFC", lowered.translate(_LEVELLED))
