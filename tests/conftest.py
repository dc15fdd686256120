"""Every test has a data root of its own, a clean environment, and no network but this machine's."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from companion_assets.contracts.paths import HOME_VARIABLE, MODEL_CACHE_VARIABLE
from companion_assets.contracts.settings import is_loopback

# A busy machine is no reason to fail, and a failure must come back when it is looked for.
settings.register_profile("companion", deadline=None, derandomize=True)
settings.load_profile("companion")

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """COMPANION_HOME is `tmp_path/home`; no other COMPANION_ variable, no DAGSTER_HOME and no proxy is set.

    The cache of joined weights stays the machine's own, so that a gigabyte is joined once.
    """
    for name in list(os.environ):
        ours = name.startswith("COMPANION_") and name != MODEL_CACHE_VARIABLE
        if ours or name == "DAGSTER_HOME" or name.lower() in PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


@pytest.fixture(autouse=True, scope="session")
def only_this_machine() -> Iterator[None]:
    """Connections to anything but loopback and local sockets fail at once, with the address in the message."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        yield


def _guarded(original: Any) -> Any:
    def connect(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(str(address[0])):
            raise ConnectionRefusedError(f"a test tried to reach {address!r}; only this machine is allowed")
        return original(self, address)

    return connect
