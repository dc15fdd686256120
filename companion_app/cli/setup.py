"""`init` and `doctor`."""

from pathlib import Path

from companion_app.cli.console import out, print_json
from companion_app.doctor import render_report, run_doctor
from companion_assets.contracts.errors import VaultError
from companion_assets.contracts.paths import WINDOWS_HINT, data_paths, is_windows_path
from companion_assets.stores.data_root import prepare_data_root
from companion_assets.stores.settings_file import load_settings, write_initial_settings


def initialise(vault: Path) -> None:
    """Write the settings file for a vault.

    Raises:
        VaultError: It is no folder, or it and the data root lie in each other.
        SettingsError: There are settings already.
    """
    paths = data_paths()
    folder = vault.expanduser().absolute()
    if not folder.is_dir():
        usual = "give the folder that you open as a vault in Obsidian"
        raise VaultError(f"{folder} is not a folder", WINDOWS_HINT if is_windows_path(vault) else usual)
    prepare_data_root(paths, folder)
    write_initial_settings(paths.settings_file, folder)
    out.print(f"Settings: {paths.settings_file}\nNext: companion index, then companion chat", markup=False)


def examine(as_json: bool) -> int:
    """Print the doctor's report; returns 1 if something is missing."""
    report = run_doctor(load_settings(), data_paths())
    if as_json:
        print_json(report.to_json())
    else:
        render_report(report, out)
    return 0 if report.healthy else 1
