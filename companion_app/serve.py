"""`python -m companion_app.serve`: page and API in one process, on the address of the settings."""

import argparse
import socket
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from companion_app.api import create_api
from companion_app.bootstrap import open_companion
from companion_app.desk import Desk
from companion_assets.contracts.errors import CompanionError
from companion_assets.daemon.ports import http_address

# Open event streams would otherwise hold the process up.
_SECONDS_TO_FINISH = 3


def create_app(desk: Desk) -> FastAPI:
    """API and, where the settings want it, the page."""
    app = create_api(desk)
    if desk.companion.settings.ui.web.enabled:
        from companion_app.ui import mount_page  # loads Gradio

        mount_page(app, desk)
    return app


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, so that a taken port is known before anything is loaded.

    Raises:
        CompanionError: The address cannot be used.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as fault:
        raise CompanionError(
            f"{host}:{port} cannot be used: {fault.strerror or fault}", "set api.host or api.port"
        ) from fault


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m companion_app.serve", description=__doc__)
    parser.add_argument("--config", type=Path, help="settings file; the usual one otherwise")
    chosen = parser.parse_args(arguments)
    try:
        companion = open_companion(chosen.config)
        api = companion.settings.api
        door = listen(api.host, api.port)
        app = create_app(Desk(companion))
    except CompanionError as fault:
        sys.stderr.write(f"error: {fault.message}\n" + (f"hint:  {fault.hint}\n" if fault.hint else ""))
        return 1
    sys.stdout.write(f"Companion is at {http_address(api.host, door.getsockname()[1])}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=_SECONDS_TO_FINISH)
    uvicorn.Server(config).run(sockets=[door])
    return 0


if __name__ == "__main__":
    sys.exit(main())
