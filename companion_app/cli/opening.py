"""Opens the app for a command of the terminal."""

from companion_app.bootstrap import Companion, open_companion
from companion_app.cli.console import be_plain
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.records import LONGEST_QUESTION


def open_here() -> Companion:
    """The app, with the terminal as `ui.cli` wants it.

    Raises:
        CompanionError: The settings cannot be used, or switch the terminal off.
    """
    companion = open_companion()
    cli = companion.settings.ui.cli
    if not cli.enabled:
        raise CompanionError("search and conversations in the terminal are switched off", "set ui.cli.enabled: true")
    if not cli.rich_output:
        be_plain()
    return companion


def checked(text: str, what: str, example: str) -> str:
    """What was asked, stripped; half of a surrogate pair, which no UTF-8 can carry, becomes a question mark.

    Raises:
        CompanionError: It is empty, or a whole text rather than a question.
    """
    asked = text.encode("utf-8", "replace").decode().strip()
    if not asked:
        raise CompanionError(f"no {what} was given", example)
    if len(asked) > LONGEST_QUESTION:
        raise CompanionError(
            f"the {what} has {len(asked):,} characters; {LONGEST_QUESTION:,} are the most", "shorten it"
        )
    return asked
