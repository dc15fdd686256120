import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion_app.serve import main
from tests.app.api.conftest import Start


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:7373", "", "["])
def test_other_host_names_are_refused(start: Start, host: str) -> None:
    response = start(index=False).http.get("/api/health", headers={"Host": host})
    assert response.status_code == 400


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:7373", "[::1]:7373", "LOCALHOST:80"])
def test_names_of_this_machine_are_served(start: Start, host: str) -> None:
    assert start(index=False).http.get("/api/health", headers={"Host": host}).status_code == 200


def test_other_sites_cannot_change_anything(start: Start) -> None:
    http = start(index=False).http
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        assert http.post("/api/index/trigger", headers={"Origin": origin}).status_code == 403
    assert http.get("/api/index/status").json()["syncing"] is False


def test_configured_origins_may_call_and_others_get_no_permission(start: Start) -> None:
    http = start().http
    allowed = http.post("/api/search", json={"q": "cello"}, headers={"Origin": "http://localhost:5173"})
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:5173"
    other = http.get("/api/search", params={"q": "cello"}, headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_long_bodies_are_refused_announced_or_not(start: Start) -> None:
    http = start(index=False).http

    def pieces() -> Iterator[bytes]:
        yield b'{"q": "'
        for _ in range(30):
            yield b"x" * 100_000

    for content in (b"x" * 2_100_000, pieces()):
        response = http.post("/api/search", content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 413
        assert set(response.json()) == {"error", "hint"}


def test_every_answer_forbids_other_hosts(start: Start) -> None:
    http = start(index=False).http
    for path in ("/api/health", "/api/nothing", "/nowhere"):
        policy = http.get(path).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "connect-src 'self'" in policy
        assert "http" not in policy


def test_unknown_paths_and_broken_json_are_answered_in_the_same_form(start: Start) -> None:
    http = start(index=False).http
    assert http.get("/api/nothing").status_code == 404
    assert set(http.get("/api/nothing").json()) == {"error", "hint"}
    broken = http.post("/api/search", content=b"{", headers={"Content-Type": "application/json"})
    assert broken.status_code == 422
    assert set(broken.json()) == {"error", "hint"}


def test_a_fault_of_ours_shows_no_traceback(start: Start) -> None:
    app = start()
    app.desk.__dict__["catalog"] = object()
    response = app.http.get("/api/index/status")
    assert response.status_code == 500
    assert set(response.json()) == {"error", "hint"}
    assert "Traceback" not in response.text


def test_the_schema_is_served_and_no_page_with_foreign_scripts(start: Start) -> None:
    http = start(index=False).http
    paths = http.get("/api/openapi.json").json()["paths"]
    assert {"/api/chat", "/api/search", "/api/index/trigger", "/index/trigger", "/api/passage"} <= set(paths)
    assert http.get("/docs").status_code == 404


def test_a_taken_port_is_named(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("COMPANION_API__PORT", str(port))
        assert main([]) == 1
    told = capsys.readouterr().err
    assert f"127.0.0.1:{port}" in told
    assert "hint:" in told


def test_settings_that_cannot_be_used_are_told_plainly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "bad.yaml"
    config.write_text("api:\n  port: many\n")
    assert main(["--config", str(config)]) == 1
    told = capsys.readouterr().err
    assert "bad.yaml:2" in told
    assert "Traceback" not in told
