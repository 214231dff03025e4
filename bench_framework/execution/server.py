"""Servers: each is started before the command of its cell, measured around it, and ended after it.

A server has a launcher of its own, so that it ends with benchctl, even after ``kill -9``, with all
processes that it started. See docs/servers.md.
"""

import contextlib
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench_framework.errors import CellError, MeasureError
from bench_framework.execution.machine import processes
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.process import MOST_CAPTURED, Command, Finished, Launcher
from bench_framework.execution.target import ServerTarget, Target
from bench_framework.foreign import in_one_line, read_regular, text_of
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.server import Server
from bench_framework.model.record.run import Block
from bench_framework.text.numbers import shortest
from bench_framework.text.reasons import phrase_of

SERVER_LOG: Final = ".server"
"""End of the name of the file of what a server prints."""
STOP_S: Final = 10.0
"""Time that a server has to end after the signal or the command that ends it."""
POLL_S: Final = 0.005
"""Interval of the checks whether a server is ready, or has ended."""
CONNECT_S: Final = 1.0
"""Time limit of one connection, and of one HTTP response."""
FIRST_ERROR: Final = 400
"""First status of HTTP that is an error."""
NOT_READY: Final = {
    "tcp": "BX207.not-ready-tcp",
    "http": "BX207.not-ready-http",
    "line": "BX207.not-ready-line",
}
"""Error of a server that is not ready in time, by the kind of `ready`."""
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+ ([0-9]{3})")
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})", re.IGNORECASE)


def free_port() -> int:
    """Return a port of 127.0.0.1 at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


class RunningServer:
    """A server at a free port. `target` is its cell's, with that port."""

    def __init__(self, launcher: Launcher, target: Target, log: Path) -> None:
        """Start the server and wait until it is ready. `log` is the file of what it prints.

        Raises:
            CellError: BX207, it is not ready in time, it ended, or another program has its address.
            MachineError: its program cannot be started.
            Interrupted: a stop was requested.
        """
        self.target = target = target.at_port(free_port())
        assert target.server is not None
        assert target.cell.server is not None
        self._words: ServerTarget = target.server
        self._spec: Server = target.cell.server
        self._launcher, self._log = launcher, log
        self._before, self._peak_is_known = processes.Usage(0.0, 0, 0, 0), False
        self.last_sample = False
        """True if it must not be used for another sample."""
        if self._spec.ready != "line" and self._is_taken():
            raise CellError("BX207.in-use", address=self._words.awaited)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        command = Command(
            self._words.argv,
            target.env,
            target.cwd,
            stdout=str(log),
            stderr=str(log),
            cpus=self._words.cpus,
            most_stdout=MOST_CAPTURED,
        )
        launcher.start(command)
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def _wait_until_ready(self) -> None:
        deadline = seconds() + self._spec.ready_s
        while not self._answers():
            self.require_alive(PhraseCode.BEFORE_READY)
            if seconds() >= deadline:
                self.kill()
                limit, what = shortest(self._spec.ready_s), self._words.awaited
                key = NOT_READY[self._spec.ready]
                raise CellError(key, details=self._printed(), limit=limit, awaited=what)
            if self._launcher.check_stop is not None:
                self._launcher.check_stop()
            time.sleep(POLL_S)
        # Another program may have taken the port between `free_port` and the start.
        self.require_alive(PhraseCode.BEFORE_READY)

    def _is_taken(self) -> bool:
        """Return whether another program has the address. Raises `CellError`, BX207: it is not an address."""
        try:
            return self._answers()
        except (ValueError, OverflowError) as error:
            raise CellError("BX207.no-address", address=self._words.awaited) from error

    def _answers(self) -> bool:
        """Return whether what `ready` awaits is there."""
        awaited = self._words.awaited
        if self._spec.ready == "line":
            with contextlib.suppress(OSError):
                text = read_regular(self._log, 2 * MOST_CAPTURED).decode(errors="replace")
                return re.search(awaited, text, re.MULTILINE) is not None
            return False
        if self._spec.ready == "http":
            return _responds(awaited)
        host, _, port = awaited.rpartition(":")
        return _accepts(host.strip("[]"), int(port))

    def require_alive(self, when: PhraseCode) -> None:
        """Check that the server still runs. Raises `CellError`, BX207: it ended."""
        if self._launcher.ended:
            how = self._wait().how
            raise CellError("BX207.ended", details=self._printed(), when=Phrase(when), how=how)

    def begin(self) -> None:
        """Mark the begin of a sample, for `usage`."""
        self._peak_is_known = processes.reset_peaks(self._launcher.pid or 0)
        self._before = processes.usage_below(self._launcher.pid or 0)

    def usage(self) -> processes.Usage:
        """Return what the server used since `begin`. `peak_bytes` is 0 if it is not known."""
        before, now = self._before, processes.usage_below(self._launcher.pid or 0)
        return processes.Usage(
            max(0.0, now.cpu_s - before.cpu_s),
            max(0, now.user_ticks - before.user_ticks),
            max(0, now.sys_ticks - before.sys_ticks),
            now.peak_bytes if self._peak_is_known else 0,
        )

    def stop(self) -> None:
        """End the server. It is killed if this fails.

        Raises:
            CellError: BX207, its command failed, or it did not end in time.
            MachineError: BX231, its command cannot be started.
        """
        deadline = seconds() + STOP_S
        self.ask_to_end(deadline)
        self.await_end(deadline)

    def ask_to_end(self, deadline: float) -> None:
        """Send the signal, or run the command, that ends the server. Raises as `stop`."""
        if self._words.stop:
            with self._killed_on_error():
                self._run_stop_command(max(POLL_S, deadline - seconds()))
        elif self._launcher.running is not None and not self._launcher.ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._launcher.running, getattr(signal, f"SIG{self._spec.signal}"))

    def await_end(self, deadline: float) -> None:
        """Wait for the end of the server. Raises as `stop`."""
        if self._launcher.running is None:  # it was killed
            return
        with self._killed_on_error():
            while not self._launcher.ended:
                if seconds() >= deadline:
                    name, limit = self._spec.signal, shortest(STOP_S)
                    what = f"SIG{name}" if name else Phrase(PhraseCode.STOP_COMMAND)
                    raise CellError(
                        "BX207.not-stopped", details=self._printed(), what=what, limit=limit
                    )
                time.sleep(POLL_S)
            self._wait()

    @contextlib.contextmanager
    def _killed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.kill()
            raise

    def _run_stop_command(self, limit_s: float) -> None:
        stopper = self._launcher.other("stop")
        argv, target = self._words.stop, self.target
        output = stopper.capture(argv, target.env, cwd=target.cwd, timeout_s=limit_s)
        if not output.ok:
            printed = in_one_line(output.stderr)
            details = (("stderr", printed),) if printed else ()
            raise CellError("BX207.stop-failed", details=details, how=output.finished.how)

    def kill(self) -> None:
        """Kill the server with all processes that it started."""
        if self._launcher.running is not None:
            self._launcher.kill_now()
            with contextlib.suppress(MeasureError):
                self._wait()

    def _wait(self) -> Finished:
        return self._launcher.wait(self._words.argv[0], STOP_S)

    def _printed(self) -> tuple[tuple[str, str], ...]:
        printed = in_one_line(text_of(self._log))
        return ((phrase_of(PhraseCode.IT_PRINTED), printed),) if printed else ()


def of_server(block: Block, usage: processes.Usage, runs: int) -> Block:
    """Return a block with CPU time and memory of the server in place of those of its client.

    The ticks of the kernel give the part of the exact CPU time that was spent in user code.
    """
    ticks = usage.user_ticks + usage.sys_ticks
    user_s = usage.cpu_s * (usage.user_ticks / ticks if ticks else 1.0) / runs
    sys_s = usage.cpu_s / runs - user_s
    peak = usage.peak_bytes or None
    # The source is that of the CPU time, too, also if the memory is not known.
    return replace(block, user_s=user_s, sys_s=sys_s, peak_rss_bytes=peak, peak_rss_source="server")


class Servers:
    """The servers of a runner of commands. `log_of` returns the file of what a cell's server prints.

    Only with `keep`, a server with ``restart: session`` is left running until `close`.
    """

    def __init__(
        self, launcher: Launcher, log_of: Callable[[str], Path], *, keep: bool = False
    ) -> None:
        self._launcher, self._log_of, self._keep = launcher, log_of, keep
        self._running: dict[str, RunningServer] = {}

    @contextlib.contextmanager
    def around(self, target: Target) -> Iterator[tuple[Target, RunningServer | None]]:
        """Run the server of a target, if it has one, and give the target with the server's port.

        Raises `CellError` (BX207) and `MachineError` (BX231): the server cannot be started, ended too
        early, or cannot be ended.
        """
        spec, name = target.cell.server, target.cell.id
        if spec is None:
            yield target, None
            return
        keep = self._keep and spec.restart == "session"
        server = self._running.pop(name, None)
        if server is None:
            launcher = self._launcher.other(name if keep else "server")
            launcher.check_stop = self._launcher.check_stop
            server = RunningServer(launcher, target, self._log_of(name))
        try:
            server.require_alive(PhraseCode.BETWEEN_SAMPLES)
            yield server.target, server
            server.require_alive(PhraseCode.WITH_CLIENT)
        except BaseException:
            server.kill()
            raise
        if keep and not server.last_sample:
            self._running[name] = server
        else:
            server.stop()

    def close(self) -> None:
        """End all servers, in the time that one has."""
        deadline = seconds() + STOP_S
        for step in (RunningServer.ask_to_end, RunningServer.await_end):
            for server in self._running.values():
                with contextlib.suppress(MeasureError):
                    step(server, deadline)
        self._running.clear()


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=CONNECT_S) as connection:
            # If nothing listens at a free port, a connection from this port reaches itself.
            return bool(connection.getsockname() != connection.getpeername())
    except OSError:
        return False


def _responds(url: str) -> bool:
    """Return whether a URL has a response with a status below 400, also if the response has no end."""
    parts = urlsplit(url)
    path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
    request = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
    address, response = (parts.hostname or "", parts.port or 80), b""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(address, timeout=CONNECT_S) as connection,
    ):
        deadline = seconds() + CONNECT_S
        connection.sendall(request.encode())
        # A server may report a connection that is closed before the whole response was read. One that
        # does not close it, and states no length, such as a stream of events, ends this by the time limit.
        while len(response) < MOST_CAPTURED and (left := deadline - seconds()) > 0:
            if is_complete(response):
                break
            connection.settimeout(left)
            if not (part := connection.recv(1 << 16)):
                break
            response += part
    status = _STATUS.match(response)
    return status is not None and int(status[1]) < FIRST_ERROR


def is_complete(response: bytes) -> bool:
    """Return whether a response of HTTP has a body of the length that its head states."""
    head, end, body = response.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return bool(end) and length is not None and len(body) >= int(length[1])
