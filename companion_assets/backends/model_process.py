"""Starts a process of ours that runs a model: lines of JSON in, lines of JSON out."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import companion_assets

# Source: notes on inference, measured: beside two busy processes decode runs at 28 tokens/s with this spin count,
# at 19 with the default, and quiet speed is the same. The second keeps a crash from hanging in a debugger.
_ENVIRONMENT = {"GOMP_SPINCOUNT": "1000", "GGML_NO_BACKTRACE": "1"}


def start_model_process(module: str, log: IO[bytes] | int) -> "subprocess.Popen[str]":
    """Start `python -m module` with pipes to its standard input and output.

    Args:
        module: Full name of the module.
        log: Where its standard error goes: an open file, or `subprocess.DEVNULL`.

    Raises:
        OSError: The process cannot be started.
    """
    package_root = str(Path(companion_assets.__file__).parent.parent)
    search_path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        # -P: the folder a person happens to be in must not be able to replace a module.
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        encoding="utf-8",
        env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": search_path},
    )
