"""The day a note is about: its file name first, then its properties.

Properties are tried in the order `date`, `created`, `date created`, in any case. Only year-first dates count, since
05.01.2024 and 1/5/2024 mean different days to different people. The day is taken as written, without time zone
arithmetic: a note at 00:19 in +08:00 belongs to that day.
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)|(\d{4})_(\d\d)_(\d\d)(?!\d)")
# Without separators only a plausible year counts, so that a name such as "10101010 bits" is no day.
_COMPACT = re.compile(r"((?:1[89]|20|21)\d\d)(\d\d)(\d\d)(?:\d{4}(?:\d\d)?)?(?!\d)")
_PROPERTY = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?![\d/-])")
_KEYS = ("date", "created", "date created")


def note_date(title: str, properties: Mapping[str, Any]) -> dt.date | None:
    """The day a note is about, or None.

    Args:
        title: File name without ending.
        properties: Frontmatter with dates as text.
    """
    named = _NAME.match(title) or _COMPACT.match(title)
    if named and (day := _day(*(part for part in named.groups() if part))):
        return day
    folded = {key.casefold(): value for key, value in properties.items()}
    return next((day for key in _KEYS if (day := _property_day(folded.get(key)))), None)


def _property_day(value: object) -> dt.date | None:
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    text = str(value).strip().removeprefix("[[")  # a link to the day's note is a common way to write it
    if found := _PROPERTY.match(text):
        return _day(found[1], found[3], found[4])
    found = _COMPACT.match(text)
    return _day(found[1], found[2], found[3]) if found else None


def _day(year: str, month: str, day: str) -> dt.date | None:
    try:
        return dt.date(int(year), int(month), int(day))
    except ValueError:
        return None
