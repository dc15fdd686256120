"""Bytes of a note to text. Never fails: what cannot be read is replaced and named with its byte offset.

Order: a byte order mark decides (UTF-8, UTF-16, UTF-32), else UTF-8. Bytes that are not UTF-8 are read as
Windows-1252 when the file holds no valid UTF-8 beyond ASCII (an old 8-bit note: its accents come out right),
and become U+FFFD when it does (a damaged UTF-8 note).
"""

import codecs
from dataclasses import dataclass

_MARKS = (  # the longer marks first: the UTF-32 mark starts with the UTF-16 one
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without byte order mark and NUL; `fault` says what was lost, "" when nothing was."""

    text: str
    fault: str = ""


def decode_note(raw: bytes) -> Decoded:
    """The text of a note's bytes.

    Args:
        raw: The file's bytes, byte order mark included.
    """
    mark, encoding = next(((m, e) for m, e in _MARKS if raw.startswith(m)), (b"", "utf-8"))
    try:
        decoded = Decoded(raw[len(mark) :].decode(encoding))
    except UnicodeDecodeError as fault:
        decoded = _decode_lossy(raw[len(mark) :], encoding, len(mark), fault.start)
    return _without_nul(decoded)


def _decode_lossy(payload: bytes, encoding: str, mark_length: int, bad: int) -> Decoded:
    where = f"byte {bad + mark_length} is not valid {encoding.upper()}"
    holds_utf8 = not payload.decode("utf-8", "ignore").isascii()
    if encoding != "utf-8" or holds_utf8:
        return Decoded(payload.decode(encoding, "replace"), f"{where}; such bytes were replaced")
    return Decoded(payload.decode("cp1252", "replace"), f"{where}; read as Windows-1252")


def _without_nul(decoded: Decoded) -> Decoded:
    count = decoded.text.count("\0")
    if not count:
        return decoded
    fault = f"{count} NUL characters removed"
    return Decoded(decoded.text.replace("\0", ""), f"{decoded.fault}; {fault}" if decoded.fault else fault)
