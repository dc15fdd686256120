"""Small JSON files by which a process says that it is there, and what others must know of it.

Replaced as a whole, so that a reader finds all of one or nothing. One whose process has ended counts for nothing.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from companion_assets.stores.process_mark import ProcessMark


def put_sign(file: Path, facts: Mapping[str, Any]) -> None:
    """Put up a sign.

    Args:
        file: Its folder exists.
        facts: Plain values; `pid` and `started` among them say whose sign it is (see `ProcessMark`).

    Raises:
        OSError: It cannot be written; an earlier sign stays.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(facts), encoding="utf-8")
        beside.replace(file)
    except OSError:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def read_sign(file: Path, *, alive: bool = True) -> dict[str, Any] | None:
    """The facts of a sign; None if there is none.

    Args:
        file: Where it hangs.
        alive: Only if the process that put it up has not ended.
    """
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return facts if not alive or ProcessMark(facts["pid"], facts["started"]).is_alive else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
