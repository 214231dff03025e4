"""The launcher: a small process that starts all other processes of benchctl.

It runs as a script (``python -I -S -E launcher.py``) and communicates over stdin and stdout, one
JSON object per line. It imports no module of the package, for three reasons:

* A child inherits the peak memory of the process that forked it (``ru_maxrss`` survives
  ``exec``), so the parent of a timed program must be small. benchctl with its libraries is large.
* Forking a small process is cheap.
* If benchctl dies, even by SIGKILL, this process reads end-of-file and kills its children.

Request: ``{"argv", "env", "cwd", "stdin", "stdout", "stderr", "timeout_s", "cpus", "observe",
"most", "limited", "drain"}``, where ``observe`` lists names of getrusage(2) and /proc/PID/io to report under
``used``, ``most`` gives the bytes that are kept of ``stdout`` and ``stderr``, as `Excerpt` does, and
``limited`` is a file with the size at which the command is killed. ``drain`` is a word of ``argv``
that is replaced by the path of a `Drain`. Answers:
``{"pid"}``, then ``{"exit_code", "signal", "timed_out", "killed", "stragglers", "seconds",
"read_bytes", "cpu_s", "used", "overflowed"}``; or ``{"error", "errno"}`` if the program could not be started.
``{"kill": true}`` ends the running command.
"""

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import stat
import sys
import time
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
STDIN, STDOUT = 0, 1
REAPING_PATIENCE_S = 5.0
"""Time that a killed process has to die; one that waits for a disk cannot be interrupted."""
TAIL_BYTES = 1 << 16
"""Bytes that are kept of the end of an output. They are in memory, which must stay small."""
SIZE_CHECK_MS = 1000.0
"""Interval of the check of a file that must not grow beyond its limit. It costs about 2 µs."""
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Serve requests until stdin ends."""
    # Processes that the timed program leaves behind become children of this one, also those in
    # another session. Otherwise a daemon of one benchmark would load the machine during the next.
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    lines = Lines()
    while (request := lines.wait()) is not None:
        if "argv" in request and not serve(request, lines):
            break
    return 0


class Lines:
    """JSON lines from stdin, read with or without waiting."""

    def __init__(self) -> None:
        self._buffer = b""
        self.ended = False

    def wait(self) -> dict[str, Any] | None:
        """Return the next object; `None` at the end of the input."""
        while b"\n" not in self._buffer:
            if not self.fill():
                return None
        line, _, self._buffer = self._buffer.partition(b"\n")
        request: dict[str, Any] = json.loads(line)
        return request

    def fill(self) -> bool:
        """Read the available input, or wait for some. Return False at its end."""
        part = os.read(STDIN, 1 << 16)
        self.ended = not part
        self._buffer += part
        return bool(part)


def serve(request: dict[str, Any], lines: Lines) -> bool:
    """Run one command to its end and send the result. Return True if benchctl is still alive."""
    start = time.monotonic()
    excerpts: dict[str, Excerpt] = {}
    failure = drain = None
    try:
        if request.get("drain"):
            drain = Drain()
            request["argv"] = [drain.path if w == request["drain"] else w for w in request["argv"]]
        for name, most in (request.get("most") or {}).items():
            excerpts[name] = Excerpt(request[name], most)
        pid = spawn(request, {name: e.writer for name, e in excerpts.items()})
    except OSError as error:
        failure = {"error": text_of(error), "errno": error.errno or 0}
    readers: list[Excerpt | Drain] = [*excerpts.values(), *([drain] if drain else [])]
    for excerpt in excerpts.values():
        os.close(excerpt.writer)
    if failure is not None:
        for reader in readers:
            reader.close()
        send(failure)
        return True
    send({"pid": pid})
    began = time.process_time()
    end = watch(pid, request, lines, readers)
    drained_s = time.process_time() - began
    if end:
        kill_group(pid)
    counters = request.get("observe") or []
    storage = storage_of(pid, counters)
    _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    kill_group(pid)
    stragglers, left_s = kill_stragglers()
    if drain is not None:
        drain.close()
    code = os.waitstatus_to_exitcode(status)
    refused = [excerpt.close() for excerpt in excerpts.values()]
    if any(refused):
        send({"error": next(filter(None, refused))})
        return not lines.ended
    send(
        {
            "exit_code": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            **{reason: end == reason for reason in ("timed_out", "killed", "overflowed")},
            "stragglers": stragglers,
            "seconds": seconds,
            # Includes all children that it waited for. The kernel counts in units of 512 bytes.
            "read_bytes": used.ru_inblock * 512,
            # What was read for a program is part of its work, and not of that of other programs.
            "cpu_s": used.ru_utime + used.ru_stime + left_s + (drained_s if drain else 0.0),
            "used": {n: getattr(used, n) for n in counters if hasattr(used, n)} | storage,
        }
    )
    return not lines.ended


def storage_of(pid: int, names: list[str]) -> dict[str, int]:
    """Return the named fields of ``/proc/PID/io`` of a process that has ended, before it is reaped.

    The children that it waited for are included. The result is empty if the kernel does not have
    these counters or only root may read them.
    """
    try:
        with open(f"/proc/{pid}/io", "rb") as file:  # noqa: PTH123 -- pathlib costs 2 MB
            pairs = [line.decode().split(": ") for line in file.read().splitlines()]
    except OSError:
        return {}
    return {name: int(value) for name, value in pairs if name in names}


class Excerpt:
    """The reader of an output that stores its first and last bytes in a file.

    A program may print without end. Only a pipe limits what it stores without a limit on the files
    that it writes.
    """

    def __init__(self, path: str, most: int) -> None:
        self._file = os.open(os.fsencode(path), APPEND | os.O_CLOEXEC, 0o644)
        self._room = most - TAIL_BYTES
        self._tail = b""
        self._dropped = 0
        self._error: str | None = None
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)

    def read(self) -> bool:
        """Store what the pipe contains. Return False if it is empty."""
        try:
            part = os.read(self.reader, TAIL_BYTES)
        except BlockingIOError:
            return False
        self._write(part[: self._room])
        rest = self._tail + part[self._room :]
        self._room -= min(self._room, len(part))
        self._tail = rest[-TAIL_BYTES:]
        self._dropped += len(rest) - len(self._tail)
        return bool(part)

    def close(self) -> str | None:
        """Store the rest. Return the error of the operating system if something was not stored."""
        while self.read():
            pass
        if self._dropped:
            self._write(f"\n[{self._dropped} bytes are left out here]\n".encode())
        self._write(self._tail)
        os.close(self.reader)
        os.close(self._file)
        return self._error

    def _write(self, part: bytes) -> None:
        try:
            while part and self._error is None:
                part = part[os.write(self._file, part) :]
        except OSError as error:
            self._error = str(error.strerror)


class Drain:
    """A pipe whose content is discarded, with a path that other processes can open.

    hyperfine would wait until each process has closed a pipe of its own, so the time of a program
    that leaves a child behind would be that of the child. It does not wait for a path. Programs
    behave as with any other pipe; with /dev/null as stdout, grep stops at the first match.
    """

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()  # the writer here keeps the reader from its end
        self._null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        os.set_blocking(self.reader, False)
        self.path = f"/proc/{os.getpid()}/fd/{self._writer}"

    def read(self) -> bool:
        """Discard what the pipe contains. Return True: it never ends."""
        with contextlib.suppress(BlockingIOError):
            os.splice(self.reader, self._null, TAIL_BYTES)
        return True

    def close(self) -> None:
        """Close the pipe. A process that still writes to it gets SIGPIPE."""
        for number in (self.reader, self._writer, self._null):
            os.close(number)


def watch(
    pid: int, request: dict[str, Any], lines: Lines, excerpts: "list[Excerpt | Drain]"
) -> str:
    """Wait until the process ends or must be killed.

    The result is the reason to kill it, ``timed_out``, ``killed`` or ``overflowed``, or empty.
    """
    process = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(STDIN, select.POLLIN | select.POLLHUP)
    for excerpt in excerpts:
        poll.register(excerpt.reader, select.POLLIN)
    timeout_s, limited = request.get("timeout_s"), request.get("limited")
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            if limited and (left is None or left > SIZE_CHECK_MS):
                left = SIZE_CHECK_MS
            ready = [fd for fd, _ in poll.poll(left)]
            if process in ready:
                return ""
            # A program that prints without end keeps the pipe ready.
            if deadline is not None and time.monotonic() >= deadline:
                return "timed_out"
            if limited and size_of(limited[0]) > limited[1]:
                return "overflowed"
            if STDIN in ready:  # no other request comes before the answer to this one
                lines.fill()
                return "killed"
            for excerpt in excerpts:
                if excerpt.reader in ready and not excerpt.read():
                    poll.unregister(excerpt.reader)  # every writer closed it
    finally:
        os.close(process)


def size_of(path: str) -> int:
    """Return the size of a file, 0 for a missing one."""
    try:
        return os.stat(os.fsencode(path)).st_size  # noqa: PTH116 -- pathlib costs 2 MB
    except OSError:
        return 0


def text_of(error: OSError) -> str:
    """Return the message of an error, with the file if it has one."""
    place = f": {os.fsdecode(error.filename)}" if error.filename else ""
    return f"{error.strerror}{place}"


def spawn(request: dict[str, Any], pipes: dict[str, int]) -> int:
    """Fork and exec. Return the process id. Raises `OSError`; `pipes` replace paths."""
    report, reporter = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            exec_program(request, pipes, parent)
        except OSError as error:
            os.write(reporter, json.dumps([error.errno or 0, text_of(error)]).encode())
        finally:
            os._exit(127)
    os.close(reporter)
    failure = b""
    while part := os.read(report, 4096):
        failure += part
    os.close(report)
    if failure:
        os.waitpid(pid, 0)
        raise OSError(*json.loads(failure))
    return pid


def exec_program(request: dict[str, Any], pipes: dict[str, int], parent: int) -> None:
    """Set session, files and CPUs in the child and execute the program. Does not return."""
    os.setsid()
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent died between fork and prctl
        os._exit(127)
    for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if request.get("cpus"):
        set_cpus(request["cpus"])
    if request.get("cwd"):
        os.chdir(request["cwd"])
    # Opening a FIFO would wait for its writer, and this process for the child.
    redirect(0, request.get("stdin") or os.devnull, os.O_RDONLY | os.O_NONBLOCK)
    if request.get("stdin") and not stat.S_ISREG(os.fstat(0).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", request["stdin"])
    os.set_blocking(0, True)
    for target, name in ((1, "stdout"), (2, "stderr")):
        if name in pipes:
            os.dup2(pipes[name], target, inheritable=True)
        else:
            redirect(target, request.get(name) or os.devnull, APPEND)
    argv = [os.fsencode(word) for word in request["argv"]]
    env = {os.fsencode(key): os.fsencode(value) for key, value in request["env"].items()}
    os.execvpe(argv[0], argv, env)  # noqa: S606 -- this function starts programs


def set_cpus(cpus: list[int]) -> None:
    """Pin to CPUs. Raises `OSError` if one is absent, which the kernel silently ignores."""
    os.sched_setaffinity(0, cpus)
    usable = os.sched_getaffinity(0)
    if missing := sorted(set(cpus) - usable):
        absent, present = (", ".join(map(str, cpus)) for cpus in (missing, sorted(usable)))
        raise OSError(errno.EINVAL, f"CPU {absent} is not available; available: {present}")


def redirect(target: int, path: str, flags: int) -> None:
    """Open the file at `path` as the inheritable descriptor `target`."""
    source = os.open(os.fsencode(path), flags, 0o644)
    os.dup2(source, target, inheritable=True)
    if source != target:
        os.close(source)


def kill_group(pid: int) -> None:
    """Send SIGKILL to the process group of `pid`, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_stragglers() -> tuple[int, float]:
    """Kill and reap every process that the command left behind; return their number and CPU seconds."""
    count, cpu_s = 0, 0.0
    deadline = time.monotonic() + REAPING_PATIENCE_S
    while time.monotonic() < deadline:
        try:
            pid, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid:
            count += 1
            cpu_s += used.ru_utime + used.ru_stime
            continue
        for child in children():
            kill_group(child)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return count, cpu_s


def children() -> list[int]:
    """Return the living children of this process from /proc: ``task/*/children`` is optional."""
    me, pids = os.getpid(), []
    for name in os.listdir("/proc"):  # noqa: PTH208 -- pathlib costs 2 MB
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 -- pathlib costs 2 MB
                text = file.read()
            # The name in parentheses may contain any text, so fields are counted from its end.
            if int(text[text.rindex(b")") + 2 :].split()[1]) == me:
                pids.append(int(name))
    return pids


def send(answer: dict[str, Any]) -> None:
    """Send one line to benchctl. If it has died, the main loop notices the end of the input."""
    with contextlib.suppress(BrokenPipeError):
        os.write(STDOUT, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
