"""Where the services listen, and that this machine is spoken to directly."""

import os
import socket
from pathlib import Path

import pytest
from requests.utils import should_bypass_proxies

from companion_assets.contracts.paths import data_paths
from companion_assets.daemon.instance import open_instance
from companion_assets.daemon.ports import http_address, is_taken


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:7373"), ("::1", "http://[::1]:7373"), ("[::1]", "http://[::1]:7373")],
)
def test_an_address_is_written_as_a_browser_takes_it(host: str, address: str) -> None:
    assert http_address(host, 7373) == address


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_port_is_taken_where_it_is_listened_on(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with socket.socket(family) as door:
        try:
            door.bind((host, 0))
        except OSError:
            pytest.skip(f"this machine has no {host}")
        door.listen()
        port = door.getsockname()[1]
        assert is_taken(port, host)
    assert not is_taken(port, host)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "intranet.example.org")
    monkeypatch.setenv("NO_PROXY", "intranet.example.org")
    with open_instance(data_paths()):
        assert should_bypass_proxies("http://127.0.0.1:3000/graphql", no_proxy=None)
        assert should_bypass_proxies("http://intranet.example.org/", no_proxy=None)
        assert not should_bypass_proxies("http://elsewhere.example.org/", no_proxy=None)
    with open_instance(data_paths()):
        assert os.environ["NO_PROXY"].count("127.0.0.1") == 1
