"""The process that starts every other process: small, alone, and the first to know that benchctl died.

Run as a script (``python -I -S -E launcher.py``) and talked to over its stdin and stdout, one JSON object
per line. It imports nothing of ours, for three reasons:

* A child inherits the peak memory of the process that it was forked from (``ru_maxrss`` survives ``exec``),
  so whoever starts the timed program must be small, and benchctl with its libraries is not.
* Forking a small process is cheap.
* When benchctl dies, even by SIGKILL, this process reads end-of-file and kills what it started.

Request ``{"argv", "env", "cwd", "stdin", "stdout", "stderr", "timeout_s", "cpus", "observe"}``, where
``observe`` lists names of getrusage(2) and /proc/PID/io to report under ``used``; answers ``{"pid"}``
and then ``{"exit_code", "signal", "timed_out", "killed", "stragglers", "seconds", "read_bytes", "used"}``, or
``{"error", "errno"}`` if the program could not be started. ``{"kill": true}`` ends the running command.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import sys
import time
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
STDIN, STDOUT = 0, 1
REAPING_PATIENCE_S = 5.0
"""How long a killed process may take to die (one that waits for a disk cannot be interrupted)."""

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Serve requests until stdin ends."""
    # Whatever the timed program leaves behind becomes our child, even if it made a session of its own:
    # without that, a daemon started by a benchmark would load the machine during the next one.
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    lines = Lines()
    while (request := lines.wait()) is not None:
        if "argv" in request:
            alive = serve(request, lines)
            if not alive:
                break
    return 0


class Lines:
    """JSON lines from stdin, readable with and without waiting."""

    def __init__(self) -> None:
        self._buffer = b""
        self.ended = False

    def wait(self) -> dict[str, Any] | None:
        """The next object; `None` at the end of the input."""
        while b"\n" not in self._buffer:
            if not self._fill():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def kill_asked(self) -> bool:
        """Read what is there; whether it asks to kill the command (its end does too)."""
        if not self._fill():
            return True
        asked = False
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            asked = asked or bool(json.loads(line).get("kill"))
        return asked

    def _fill(self) -> bool:
        part = os.read(STDIN, 1 << 16)
        self.ended = not part
        self._buffer += part
        return bool(part)


def serve(request: dict[str, Any], lines: Lines) -> bool:
    """Run one command to its end and say how it went. Returns whether benchctl is still there."""
    start = time.monotonic()
    pid, failure = spawn(request)
    if failure is not None:
        os.waitpid(pid, 0)
        say({"error": failure[1], "errno": failure[0]})
        return True
    say({"pid": pid})
    timed_out, killed = watch(pid, request.get("timeout_s"), lines)
    if timed_out or killed:
        kill_group(pid)
    wanted = request.get("observe") or []
    storage = storage_of(pid, wanted) if wanted else {}
    _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    kill_group(pid)
    stragglers = kill_stragglers()
    code = os.waitstatus_to_exitcode(status)
    say(
        {
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "timed_out": timed_out,
            "killed": killed,
            "stragglers": stragglers,
            "seconds": seconds,
            # Of it and of all children that it waited for; the kernel counts in 512 bytes whatever the device does.
            "read_bytes": used.ru_inblock * 512,
            "used": {**counts_of(used, wanted), **storage},
        }
    )
    return not lines.ended


def counts_of(used: Any, wanted: list[str]) -> dict[str, int]:
    """Return the wanted fields of getrusage(2) for a process and all children that it waited for."""
    return {name: getattr(used, name) for name in wanted if hasattr(used, name)}


def storage_of(pid: int, wanted: list[str]) -> dict[str, int]:
    """Return the wanted fields of ``/proc/PID/io`` for a process that has ended and is not waited for yet.

    The children that it waited for are included. Empty where the kernel keeps no such account, or only
    root may read it.
    """
    try:
        with open(f"/proc/{pid}/io", "rb") as file:  # noqa: PTH123 -- pathlib costs 2 MB
            pairs = [line.decode().split(": ") for line in file.read().splitlines()]
    except OSError:
        return {}
    return {name: int(value) for name, value in pairs if name in wanted}


def watch(pid: int, timeout_s: float | None, lines: Lines) -> tuple[bool, bool]:
    """Sleep until the process ends, its time is up, or it is to be killed: ``(timed_out, killed)``."""
    process = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(STDIN, select.POLLIN | select.POLLHUP)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            ready = [fd for fd, _ in poll.poll(left)]
            if process in ready:
                return False, False
            if not ready:
                return True, False
            if lines.kill_asked():
                return False, True
    finally:
        os.close(process)


def spawn(request: dict[str, Any]) -> tuple[int, tuple[int, str] | None]:
    """Fork and exec. Returns the process id and, if it could not be started, errno and words."""
    report, reporter = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            become(request, parent)
        except OSError as error:
            text = str(error.strerror)
            if error.filename:
                text += f": {os.fsdecode(error.filename)}"
            os.write(reporter, json.dumps([error.errno or 0, text]).encode())
        finally:
            os._exit(127)
    os.close(reporter)
    told = b""
    while part := os.read(report, 4096):
        told += part
    os.close(report)
    if not told:
        return pid, None
    number, text = json.loads(told)
    return pid, (int(number), str(text))


def become(request: dict[str, Any], parent: int) -> None:
    """In the child: a session of its own, its files, its CPUs; then the program. Does not return."""
    os.setsid()
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died between fork and prctl
        os._exit(127)
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGPIPE,
        signal.SIGXFSZ,
    ):
        signal.signal(number, signal.SIG_DFL)
    if request.get("cpus"):
        confine(request["cpus"])
    if request.get("cwd"):
        os.chdir(request["cwd"])
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    redirect(0, request.get("stdin") or os.devnull, os.O_RDONLY)
    redirect(1, request.get("stdout") or os.devnull, append)
    redirect(2, request.get("stderr") or os.devnull, append)
    argv = [os.fsencode(word) for word in request["argv"]]
    env = {os.fsencode(key): os.fsencode(value) for key, value in request["env"].items()}
    os.execvpe(argv[0], argv, env)  # noqa: S606 -- starting programs is what this is for


def confine(cpus: list[int]) -> None:
    """Run on these CPUs and on no others. Raises `OSError` if one of them is not to be had.

    The kernel silently takes what a cpuset leaves of the list: then the plan would say what is not so.
    """
    os.sched_setaffinity(0, cpus)
    found = os.sched_getaffinity(0)
    if missing := sorted(set(cpus) - found):
        words = f"no CPU {', '.join(map(str, missing))} for us; there are {', '.join(map(str, sorted(found)))}"
        raise OSError(errno.EINVAL, words)


def redirect(target: int, path: str, flags: int) -> None:
    """Make descriptor `target` the file at `path`, inheritable."""
    source = os.open(os.fsencode(path), flags, 0o644)
    os.dup2(source, target, inheritable=True)
    if source != target:
        os.close(source)


def kill_group(pid: int) -> None:
    """SIGKILL to the group that `pid` leads, if anything of it is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_stragglers() -> int:
    """Kill and reap every process that the command left behind; how many there were."""
    count = 0
    deadline = time.monotonic() + REAPING_PATIENCE_S
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count
        if pid:
            count += 1
            continue
        for child in children():
            kill_group(child)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return count


def children() -> list[int]:
    """Our living children, from /proc: a kernel need not have ``task/*/children``."""
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- pathlib costs 2 MB
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 -- likewise
                text = file.read()
            # The name in parentheses may hold anything, also ") 1 2"; fields count from its end.
            if int(text[text.rindex(b")") + 2 :].split()[1]) == me:
                found.append(int(name))
    return found


def say(answer: dict[str, Any]) -> None:
    """One line to benchctl; if it is gone, the main loop finds out by itself."""
    with contextlib.suppress(BrokenPipeError):
        os.write(STDOUT, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
