"""TCP ports of this machine."""

import socket

from companion_assets.contracts.errors import CompanionError


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_taken(port: int) -> bool:
    """True when somebody listens on the port."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def require_free(port: int) -> None:
    """Refuse to start on a taken port.

    Raises:
        CompanionError: Naming the port and the setting.
    """
    if is_taken(port):
        raise CompanionError(
            f"port {port} is taken by another program", "choose another: set api.port, or COMPANION_API__PORT"
        )
