"""The `companion` command. Commands import what they need when they run: `--help` loads nothing heavy."""

from companion_app.cli.commands import main

__all__ = ["main"]
