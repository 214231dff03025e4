"""The checks whether a server is ready: connections and HTTP responses."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from bench_framework.execution import server
from bench_framework.execution.server import free_port

OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def answer(listener: socket.socket, response: bytes, *, closes: bool = True) -> str:
    """Answer one request in another thread, and return its URL."""

    def run() -> None:
        connection, _ = listener.accept()
        with connection:
            request = connection.recv(4096)
            assert request.startswith(b"GET /health?now HTTP/1.1\r\nHost: 127.0.0.1:")
            connection.sendall(response)
            if not closes:
                connection.recv(1)  # until the client closes it

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/health?now"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (OK, True),
        (b"HTTP/1.0 302 Found\r\n\r\n", True),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", False),
        (b"HTTP/1.1 503 Later\r\n\r\n", False),
        (b"SSH-2.0\r\n", False),
        (b"", False),
    ],
)
def test_a_response_with_a_status_below_400_shows_that_a_server_is_ready(
    listener: socket.socket, response: bytes, *, expected: bool
) -> None:
    assert server._responds(answer(listener, response)) is expected


def test_a_server_that_keeps_the_connection_open_is_ready(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "CONNECT_S", 0.2)
    assert server._responds(answer(listener, OK, closes=False))


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nye", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\ncontent-length: 0", False),
    ],
)
def test_a_response_is_complete_if_it_has_the_length_that_its_head_states(
    response: bytes, *, expected: bool
) -> None:
    """Such a response needs no waiting for a server that ignores ``Connection: close``."""
    assert server.is_complete(response) is expected


def test_a_stream_of_events_is_ready_at_the_time_limit(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stream() -> None:
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            for _ in range(500):
                connection.sendall(b": ping\n\n")
                if ended.wait(0.02):
                    return
            ended.set()

    ended = threading.Event()
    threading.Thread(target=stream, daemon=True).start()
    monkeypatch.setattr(server, "CONNECT_S", 0.2)
    assert server._responds(f"http://127.0.0.1:{listener.getsockname()[1]}/events")
    assert not ended.is_set()
    ended.set()


def test_a_connection_shows_that_a_server_is_ready(listener: socket.socket) -> None:
    host, port = listener.getsockname()
    assert server._accepts(host, port)
    assert not server._accepts(host, free_port())


def test_a_connection_of_a_port_with_itself_is_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.connect(one.getsockname())
        monkeypatch.setattr(socket, "create_connection", lambda *_, **__: one)
        assert not server._accepts(*one.getsockname())
