"""The errors a person may see, drawn as a tree.

    CompanionError            what was being done and with which value; `hint` says what to do next
    ├── SettingsError         all faults of all settings at once, each with file and line
    ├── VaultError            the vault as a whole cannot be read (missing, not a folder, inside the data root)
    ├── StoreError            a file of the data root is missing, locked or damaged
    │   ├── IndexMissing      nothing has been indexed yet
    │   └── IndexMismatch     the index was made by another embedder
    └── BackendUnavailable    an engine, its server or its weights cannot be used
        └── EmbeddingFailed   single texts that no retry could embed

Expected outcomes (nothing found, a skipped note) are values, not errors.
"""


class CompanionError(Exception):
    """A fault with a plain message and, where one is known, the exact remedy.

    Args:
        message: What was being done, with which value. One sentence, no traceback words.
        hint: What the person can do next; a command where there is one.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint, for places that keep only one text: Dagster's run log, a model's state."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


class SettingsError(CompanionError):
    """One or more settings cannot be used; the message lists every one of them.

    Args:
        faults: One line per fault: where it stands, the key, what is wrong.
    """

    def __init__(self, message: str, hint: str = "", faults: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.faults = faults


class VaultError(CompanionError):
    """The vault as a whole cannot be read."""


class StoreError(CompanionError):
    """Something under the data root is missing, locked or damaged."""


class IndexMissing(StoreError):
    """Nothing has been indexed yet."""


class IndexMismatch(StoreError):
    """The index was made by another embedder than the one in force."""


class BackendUnavailable(CompanionError):
    """An engine, its server or its weights cannot be used."""


class EmbeddingFailed(BackendUnavailable):
    """Some texts could not be embedded, not even alone.

    Args:
        failures: Position in the batch → reason.
    """

    def __init__(self, message: str, failures: dict[int, str], hint: str = "") -> None:
        super().__init__(message, hint)
        self.failures = failures
