"""`init` and `doctor`."""

from pathlib import Path

from companion_app.cli.console import out, print_json
from companion_app.doctor import render_report, run_doctor
from companion_assets.contracts.paths import data_paths
from companion_assets.stores.settings_file import load_settings, write_initial_settings


def initialise(vault: Path) -> None:
    """Write the settings file for a vault."""
    target = data_paths().settings_file
    write_initial_settings(target, vault)
    out.print(f"Settings: {target}\nNext: companion index, then companion chat or companion up", markup=False)


def examine(as_json: bool) -> int:
    """Print the doctor's report; returns 1 if something is missing."""
    report = run_doctor(load_settings(), data_paths())
    if as_json:
        print_json(report.to_json())
    else:
        render_report(report, out)
    return 0 if report.healthy else 1
