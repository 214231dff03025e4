"""Child processes: one launcher (`machine.launcher`) starts all others."""

import contextlib
import dataclasses
import json
import math
import os
import select
import shutil
import signal
import subprocess  # noqa: TID251 -- only this module starts processes
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Self

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution.machine.processes import exists
from bench_framework.execution.machine.system import require_linux
from bench_framework.foreign import text_of
from bench_framework.masking import revealed
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.reasons import ReasonCode
from bench_framework.text.reasons import phrase_of

POLL_S: Final = 0.2
"""Default interval of the callback `on_poll` while a command runs."""
SETTLE_S: Final = 10.0
"""Time that the launcher has to end after its input is closed."""
PATIENCE_S: Final = 30.0
"""Time after the limit of a command in which the launcher must report its end."""
SCRATCH: Final = "benchctl-"
"""Start of the names of temporary folders, before the process id of their owner."""
MOST_CAPTURED: Final = 1 << 20
"""Bytes that are kept of the output of a tool or a setup command, and of the stderr of any command."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command to start. Paths are absolute; a stream without a path is /dev/null.

    Attributes:
        argv: program and arguments; the program is searched on the PATH of `env`.
        cwd: working directory; that of benchctl if `None`.
        stdout: file to which stdout is appended; `stderr` works in the same way.
        timeout_s: time after which the process group is killed.
        cpus: CPU numbers that it may use; all if empty.
        observe: names of getrusage(2) and proc(5) to report in `Finished.used`.
        most_stdout: bytes of stdout to keep, first and last ones; all if `None`.
        limited: a file, and the size in bytes at which the command is killed.
        drain: a word of `argv` that is replaced by the path of a pipe whose content is discarded.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str | None = None
    stdin: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    timeout_s: float | None = None
    cpus: tuple[int, ...] = ()
    observe: tuple[str, ...] = ()
    most_stdout: int | None = None
    most_stderr: int | None = MOST_CAPTURED
    limited: tuple[str, int] | None = None
    drain: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. Either `exit_code` or `signal` is set.

    Attributes:
        timed_out: it was killed after its time limit.
        killed: `Launcher.kill_now` ended it.
        overflowed: it was killed, because a file became larger than `Command.limited`.
        stragglers: number of processes that it left behind; all were killed.
        seconds: time from the request to its end; not a measurement.
        read_bytes: bytes that it and its children read from storage (getrusage(2)).
        cpu_s: CPU time of it, of its children and of the processes that it left behind.
        used: the counters of `Command.observe`; those that the kernel does not have are absent.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    killed: bool
    stragglers: int
    seconds: float
    read_bytes: int | None = None
    cpu_s: float | None = None
    used: Mapping[str, int] = field(default_factory=dict)
    overflowed: bool = False

    @property
    def ok(self) -> bool:
        """True if it ended by itself with exit status 0."""
        return self.exit_code == 0

    @property
    def how(self) -> str:
        """Return a text such as ``exit status 101``, ``killed by SIGSEGV``, ``timed out``."""
        if self.timed_out:
            return phrase_of(ReasonCode.TIMED_OUT, "")
        if self.overflowed:
            return phrase_of(PhraseCode.PRINTED_TOO_MUCH)
        if self.signal is not None:
            return phrase_of(PhraseCode.KILLED_BY, signal_name(self.signal))
        return phrase_of(
            PhraseCode.EXIT_STATUS, "unknown" if self.exit_code is None else self.exit_code
        )


def signal_name(number: int) -> str:
    """Return ``SIGSEGV`` for 11; ``signal 64`` for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return phrase_of(PhraseCode.SIGNAL, number)


@dataclass(frozen=True, slots=True)
class Captured:
    """Output of a command, and how it ended."""

    finished: Finished
    stdout: str
    stderr: str

    @property
    def ok(self) -> bool:
        """True if it ended by itself with exit status 0."""
        return self.finished.ok


class Launcher:
    """Runner of one command at a time, killed at its exit; `kill_now` may be called anywhere.

    A command that runs next to others, such as a server, has a launcher of its own (`other`).
    """

    def __init__(self) -> None:
        self.check_stop: Callable[[], None] | None = None
        """Raises `Interrupted` if the user requested a stop: `on_poll` of untimed commands."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self.running: int | None = None
        """Process id of the running command, which also names its session and group."""
        self._others: dict[str, Launcher] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Return the process id of the launcher; `None` before the first command."""
        return self._process.pid if self._process else None

    def run(
        self, command: Command, on_poll: Callable[[], None] | None = None, poll_s: float = POLL_S
    ) -> Finished:
        """Start a command and wait for its end; `on_poll` is called about every `poll_s`.

        Raises `MachineError` (BX231): the program cannot be started; BX232, the launcher died;
        BX235, the output of the command cannot be stored; BC410, this is not Linux.
        """
        with self._lock:
            self.start(command)
            late_s = None if command.timeout_s is None else command.timeout_s + PATIENCE_S
            return self.wait(command.argv[0], late_s, on_poll, poll_s)

    def start(self, command: Command) -> None:
        """Start a command whose end `wait` awaits. Raises `MachineError` (BX231, BX232, BC410)."""
        assert self.running is None
        self._send(_request(command))
        first = self._answer(None, late_s=PATIENCE_S)  # the program can stop it at once
        if "error" in first:
            details = (("cause", first["error"]),)
            raise MachineError("BX231.program", details=details, argv=command.argv[0])
        self.running = int(first["pid"])

    @property
    def ended(self) -> bool:
        """True if the started command has ended, so that `wait` returns at once."""
        process = self._process
        if process is None or b"\n" in self._buffer:
            return True
        return bool(select.select([_open(process.stdout)], [], [], 0)[0])

    def wait(
        self,
        program: str,
        late_s: float | None,
        on_poll: Callable[[], None] | None = None,
        poll_s: float = POLL_S,
    ) -> Finished:
        """Wait for the end of the started command. Raises `MachineError` (BX232, BX235)."""
        try:
            last = self._answer(on_poll, poll_s, late_s)
        except BaseException:
            # The callback raised: the command must not continue without the caller.
            self.kill_now()
            if self._process is not None:
                with contextlib.suppress(MachineError):
                    self._answer(None, late_s=PATIENCE_S)
            raise
        finally:
            self.running = None
        if "error" in last:
            raise MachineError("BX235.output", argv=program, last=last["error"])
        return Finished(**last)

    def other(self, name: str) -> "Launcher":
        """Return a second launcher of this name, whose commands end with this one at the latest."""
        return self._others.setdefault(name, Launcher())

    def capture(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        cwd: str | None = None,
        timeout_s: float | None = 60.0,
        stdin: str | None = None,
        most: int = MOST_CAPTURED,
        on_poll: Callable[[], None] | None = None,
    ) -> Captured:
        """Run a tool to its end and return its output; bytes that are not UTF-8 are replaced.

        Of a stdout of more than `most` bytes (1 MiB), the first and the last bytes are kept.

        Raises `MachineError` (BX231): the program cannot be started; `Interrupted`: the user killed it.
        """
        with scratch_folder() as folder:
            out, err = Path(folder, "stdout"), Path(folder, "stderr")
            streams = (stdin, str(out), str(err))
            command = Command(argv, env, cwd, *streams, timeout_s, most_stdout=most)
            finished = self.run(command, on_poll)
            if finished.killed:
                raise Interrupted("BX130.command", argv=argv[0])
            return Captured(finished, text_of(out), text_of(err))

    def kill_now(self) -> None:
        """Kill the running command with all its processes; `run` then returns with `killed` set."""
        if self.running is None or self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError, ValueError):
            os.write(self._process.stdin.fileno(), b'{"kill": true}\n')

    def close(self) -> None:
        """End the launcher and those of `other`; a running command is killed."""
        for launcher in self._others.values():
            launcher.close()
        self._others.clear()
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                _open(pipe).close()
        try:
            process.wait(SETTLE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _send(self, request: bytes) -> None:
        if self._process is None:
            require_linux("BC410.starting")
            self._process = subprocess.Popen(  # noqa: S603 -- a script of this package
                script("machine/launcher.py"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                # Ctrl-C goes to the foreground group and must not reach a timed process.
                start_new_session=True,
            )
        pipe = _open(self._process.stdin)
        view = memoryview(request)
        try:
            while view:
                view = view[pipe.write(view) :]
        except BrokenPipeError:
            self._handle_death()

    def _answer(
        self,
        on_poll: Callable[[], None] | None,
        poll_s: float = POLL_S,
        late_s: float | None = None,
    ) -> dict[str, Any]:
        """Return the next answer. A launcher that gives none within `late_s` was stopped, and is killed."""
        assert self._process is not None
        pipe = _open(self._process.stdout)
        end = math.inf if late_s is None else time.monotonic() + late_s
        while b"\n" not in self._buffer:
            # Without a callback, nothing here runs while a program is timed.
            wait_s = poll_s if on_poll is not None else late_s
            while wait_s is not None and not select.select([pipe], [], [], wait_s)[0]:
                if on_poll is not None:
                    on_poll()
                if time.monotonic() >= end:
                    self._process.kill()
            part = pipe.read(1 << 16)
            if not part:
                self._handle_death()
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _handle_death(self) -> None:
        """Kill the command's group after the launcher died; PDEATHSIG kills only the command.

        Raises `Interrupted` if the user requested a stop, else `MachineError` (BX232).
        """
        if self.running is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.running, signal.SIGKILL)
        self.running = None
        self._buffer = b""
        self.close()
        if self.check_stop is not None:
            self.check_stop()  # Ctrl-C can reach the launcher before it has a session of its own
        raise MachineError("BX232")


def script(name: str) -> list[str]:
    """Return the command of a script below this folder, which imports no module of the package."""
    return [sys.executable, "-I", "-S", "-E", str(Path(__file__).parent / name)]


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """Create a temporary folder and remove it. Raises `MachineError`, BX235, on failure."""
    try:
        folder = tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-")
    except OSError as error:
        raise MachineError("BX235.temporary-folder", strerror=error.strerror) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def left_scratch_folders() -> list[Path]:
    """Return the temporary folders of this user whose process was killed."""
    folders = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{SCRATCH}*-*")):
        owner = folder.name.split("-")[1]
        with contextlib.suppress(OSError):
            mine = folder.is_dir() and folder.stat().st_uid == os.getuid()
            if mine and owner.isdigit() and not exists(int(owner)):
                folders.append(folder)
    return folders


def with_secrets(words: Iterable[str]) -> list[str]:
    """Return words of a plan for a program. Raises `MachineError`, BX240: a secret is not known."""
    try:
        return [revealed(word) for word in words]
    except LookupError as error:
        raise MachineError("BX240", error=error) from error


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _request(command: Command) -> bytes:
    # Names that are not UTF-8 contain lone surrogates; the \u escapes of JSON preserve them.
    fields = {field.name: getattr(command, field.name) for field in dataclasses.fields(command)}
    limits = {"stdout": fields.pop("most_stdout"), "stderr": fields.pop("most_stderr")}
    most = {name: limit for name, limit in limits.items() if fields[name] and limit is not None}
    env = dict(zip(command.env, with_secrets(command.env.values()), strict=True))
    request = fields | {"argv": with_secrets(command.argv), "env": env, "most": most}
    return json.dumps(request).encode() + b"\n"
