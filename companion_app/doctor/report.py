"""What the doctor found, for a person and for a machine."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from rich.console import Console
from rich.markup import escape
from rich.table import Table

State = Literal["ok", "warn", "fail"]

_COLOURS: dict[State, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@dataclass(frozen=True, slots=True)
class Check:
    """One finding.

    Attributes:
        state: `fail` keeps Companion from working, `warn` makes it work less well.
        fix: The command or step that mends it; "" where nothing is to be done.
    """

    name: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key that somebody set.

    Attributes:
        where: File and line, or the variable.
        is_default: Set to what it would be anyway.
        waits_for: The feature without which the key does nothing; "" for an active key.
    """

    key: str
    value: object
    where: str
    is_default: bool = False
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Findings in the order they were made, and the settings in force that somebody set."""

    checks: tuple[Check, ...]
    settings: tuple[Setting, ...] = ()

    @property
    def state(self) -> State:
        """The worst of all states."""
        states = {check.state for check in self.checks}
        return "fail" if "fail" in states else "warn" if "warn" in states else "ok"

    @property
    def healthy(self) -> bool:
        """Nothing keeps Companion from working."""
        return self.state != "fail"

    def to_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        plain = {
            "state": self.state,
            "checks": [asdict(check) for check in self.checks],
            "settings": [asdict(setting) for setting in self.settings],
        }
        return cast("dict[str, Any]", json.loads(json.dumps(plain, default=_plain)))


def render_report(report: Report, console: Console) -> None:
    """Print tables in a terminal and one line per finding elsewhere."""
    if console.is_terminal:
        _show_tables(report, console)
    else:
        _show_lines(report, console)


def _show_lines(report: Report, console: Console) -> None:
    for check in report.checks:
        _line(console, f"{check.state:<4} {check.name}: {check.detail}")
        if check.fix:
            _line(console, f"     fix: {check.fix}")
    for setting in report.settings:
        _line(console, f"set  {setting.key} = {_text(setting.value)}  ({setting.where})")


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _show_tables(report: Report, console: Console) -> None:
    checks = Table(box=None, pad_edge=False, show_header=False)
    checks.add_column(no_wrap=True)
    checks.add_column(no_wrap=True)
    checks.add_column(overflow="fold")
    for check in report.checks:
        fix = f"\n[dim]fix:[/] [bold]{escape(check.fix)}[/]" if check.fix else ""
        state = f"[{_COLOURS[check.state]}]{check.state}[/]"
        checks.add_row(state, check.name, escape(check.detail) + fix)
    console.print(checks)
    if not report.settings:
        return
    settings = Table("key", "value", "set in", box=None, pad_edge=False, title="Settings", title_justify="left")
    for setting in report.settings:
        where = setting.where + (" (the default)" if setting.is_default else "")
        settings.add_row(escape(setting.key), escape(_text(setting.value)), escape(where))
    console.print()
    console.print(settings)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    """Settings sections as their fields, paths as text."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if dump else str(value)
