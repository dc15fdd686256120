"""`up` and `demo`: the running product."""

import os
import shutil
import sys
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

from companion_app.cli.asking import answer_once
from companion_app.cli.console import interactive, out
from companion_app.cli.indexing import sync_vault
from companion_assets.contracts.errors import CompanionError
from companion_assets.contracts.paths import HOME_VARIABLE, data_paths
from companion_assets.contracts.searching import SearchFilters
from companion_assets.stores.settings_file import load_settings

DEMO_QUESTION = "When was Elsa born, and how much did she weigh?"


def serve(port: int | None) -> int:
    """Run all services until they are told to stop; returns the exit status."""
    settings = load_settings().settings
    if settings.vault.path is None:
        raise CompanionError("no vault is configured", "companion init --vault PATH, or try: companion demo")
    from companion_assets.daemon.log_rotation import LogLimits
    from companion_assets.daemon.ports import free_port
    from companion_assets.daemon.supervisor import Supervisor

    chosen = (settings.api.port if port is None else port) or free_port()
    os.environ["COMPANION_API__PORT"] = str(chosen)
    command = [sys.executable, "-m", "companion_app.serve"]
    say = partial(out.print, markup=False)
    logs = LogLimits(settings.logging.max_size_mb * 1_000_000, settings.logging.backup_count)
    return Supervisor(data_paths(), command, settings.api.host, chosen, logs, say).run()


def run_demo(question: str | None, stay: bool | None, port: int | None) -> int:
    """Index the demo vault, answer a question from it, then serve the page if somebody is there to look."""
    vault = open_demo()
    out.print(f"The demo vault is at {vault}: eight months of Nora, a luthier in Porto. Invented, all of it.")
    sync_vault(as_json=False, reason="companion demo")
    asked = question or DEMO_QUESTION
    out.print(f"\n› {asked}", markup=False, style="bold")
    answer_once(asked, SearchFilters(), as_json=False)
    if stay if stay is not None else interactive():
        out.print()
        return serve(port)
    out.print('\nAsk your own: companion demo --no-serve --ask "…" · the page: companion demo --serve', style="dim")
    return 0


def open_demo() -> Path:
    """Point this process at the demo: its own vault and data root, apart from the person's.

    Returns:
        The vault, a copy the person may edit in Obsidian.
    """
    home = data_paths().root
    room = home.with_name(f"{home.name}-demo")
    vault = room / "vault"
    if not vault.exists():
        partial = room / f".vault-{os.getpid()}"
        with as_file(files("companion_app.demo") / "vault") as shipped:
            shutil.copytree(shipped, partial)
        partial.rename(vault)
    os.environ[HOME_VARIABLE] = str(room / "data")
    os.environ["COMPANION_VAULT__PATH"] = str(vault)
    return vault
