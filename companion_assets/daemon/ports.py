"""TCP ports of this machine."""

import socket

from companion_assets.contracts.errors import CompanionError


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def http_address(host: str, port: int) -> str:
    """`http://127.0.0.1:7373`, `http://[::1]:7373`; a host may come with its brackets or without."""
    bare = host.strip("[]")
    return f"http://[{bare}]:{port}" if ":" in bare else f"http://{bare}:{port}"


def is_taken(port: int, host: str = "127.0.0.1") -> bool:
    """True when somebody listens on the port."""
    try:
        socket.create_connection((host.strip("[]"), port), timeout=1.0).close()
    except OSError:
        return False
    return True


def require_free(port: int, host: str) -> None:
    """Refuse to start on a taken port.

    Raises:
        CompanionError: Naming the port and the setting.
    """
    if is_taken(port, host):
        raise CompanionError(
            f"port {port} is taken by another program", "choose another: set api.port, or COMPANION_API__PORT"
        )
