"""benchctl as a process, with a fake hyperfine that answers from a script, or with the real one."""

import atexit
import contextlib
import hashlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol, Self

import pytest

from bench_framework.execution.machine.host import cache_root

ROOT = Path(__file__).parents[2]
FAKES = ROOT / "tests" / "fakes"
CALL = str(Path(__file__).with_name("unlocked.py"))
SERVER = Path(__file__).with_name("fork_server.py")
PATIENCE_S = 300
Done = subprocess.CompletedProcess[str]


def is_without(what: str) -> bool:
    """Return whether `BENCHCTL_TESTS_WITHOUT` names what this machine is known to lack."""
    return what in map(str.strip, os.environ.get("BENCHCTL_TESTS_WITHOUT", "").split(","))


@cache
def mount_namespace() -> tuple[str, ...]:
    """Return the command that runs another one where it may mount. Skip or fail without one."""
    attempts = ("unshare", "--mount"), ("unshare", "--user", "--map-root-user", "--mount")
    mount = ("sh", "-c", 'mount -t tmpfs none "$0"', tempfile.gettempdir())
    for command in attempts:
        probe = subprocess.run([*command, *mount], capture_output=True, text=True, check=False)
        if not probe.returncode:
            return command
    reason = f"no file system can be mounted here: {probe.stderr.strip()}"
    if is_without("mounts"):
        pytest.skip(reason)
    pytest.fail(f"{reason}. Where a machine is known to be without: BENCHCTL_TESTS_WITHOUT=mounts")


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def install_fake(name: str, path: Path) -> None:
    """Write a fake program for this interpreter: the first python3 on PATH may be a slow shim."""
    executable(path, f"#!{sys.executable} -IS\n" + (FAKES / name).read_text().partition("\n")[2])


@cache
def compiled_hyperfine() -> Path:
    """Return the fake hyperfine, which is compiled if its source has changed."""
    source = FAKES / "hyperfine.rs"
    name = f"fake-hyperfine-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    path = cache_root(os.environ) / "tools" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}-{os.getpid()}")
        flags = ("-O", "-C", "strip=symbols", "--edition", "2024", "-o", str(part))
        subprocess.run(["rustc", *flags, str(source)], check=True)
        part.replace(path)
    return path


def install_hyperfine(path: Path) -> None:
    """Copy the fake hyperfine."""
    shutil.copy2(compiled_hyperfine(), path)


def fake_hyperfine(folder: Path, rules: Sequence[Mapping[str, Any]], **more: Any) -> None:
    """Write the fake hyperfine and its script into a folder."""
    (folder / "script.json").write_text(json.dumps({"seed": 7, **more, "commands": rules}))
    install_hyperfine(folder / "hyperfine")


def fake_hyperfine_of_programs(folder: Path, slow_s: float) -> None:
    """Write a fake hyperfine by which a program with the text SLOWER takes longer than 50 ms."""
    rule = {"match": "", "stdout": "42\n"}
    slower = {**rule, "contains": "SLOWER", "wall_s": slow_s}
    fake_hyperfine(folder, [slower, {**rule, "wall_s": 0.05}])


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, and return its output."""
    call = ["git", "-c", "user.name=Ada", "-c", "user.email=t@t", "-C", str(folder), *words]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, subject: str = "a change", tag: str | None = None) -> str:
    """Commit all files of a folder, which becomes a repository if necessary, and return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", subject, "--allow-empty")
    if tag is not None:
        git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


def real(**more: str) -> dict[str, str]:
    """Return the environment of benchctl without the variables of CI services."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_"))}
    return {**left, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


def isolated(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of benchctl with its cache and the fake hyperfine in a folder."""
    cache, hyperfine, script = (str(folder / n) for n in ("cache", "hyperfine", "script.json"))
    given = {"BENCHCTL_CACHE": cache, "BENCHCTL_HYPERFINE": hyperfine}
    return real(**{**given, "BENCHCTL_FAKE_SCRIPT": script, **more})


@cache
def _calls() -> socket.socket:
    """Start the fork server of this test process, and return the socket for its calls."""
    calls, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with control:
        argv = [sys.executable, str(SERVER), str(control.fileno())]
        server = subprocess.Popen(
            argv, env=real(), pass_fds=[control.fileno()], stdout=subprocess.DEVNULL
        )

    def end() -> None:
        calls.close()
        server.wait()

    atexit.register(end)
    return calls


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Python or a library reads when it starts."""
    start = ("LANG", "LC_", "LD_", "MPL", "OPENBLAS", "PYTHON", "TZ")
    return {name: value for name, value in env.items() if name.startswith(start)}


class Running(Protocol):
    """A process that may have ended."""

    def poll(self) -> int | None:
        """Return the exit code, or nothing if the process runs."""


class Process:
    """A call of benchctl, in a process that the fork server has started."""

    def __init__(
        self, folder: Path, words: Sequence[str], env: Mapping[str, str], cwd: Path
    ) -> None:
        assert _read_at_start(env) == _read_at_start(real()), "this needs an interpreter of its own"
        self.args = ["benchctl", *words]
        self.returncode: int | None = None
        self.output = self.errors = ""
        self._files: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115 -- closed by `wait`
        self._answers, answers = socket.socketpair()
        call = {"argv": [CALL, str(folder), *words], "env": dict(env), "cwd": str(cwd)}
        with answers, Path(os.devnull).open() as nothing:
            opened = [nothing.fileno(), *(file.fileno() for file in self._files), answers.fileno()]
            socket.send_fds(_calls(), [json.dumps(call).encode()], opened)
        self._lines = self._answers.makefile()
        self.pid = int(self._lines.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code, or nothing if the process runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, and return its exit code."""
        if self.returncode is None:
            if not select.select([self._answers], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._lines.readline())
            self.output, self.errors = self.printed(0), self.printed(1)
            self._lines.close()
            self._answers.close()
            for file in self._files:
                file.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end of the process, and return what it has printed."""
        self.wait(timeout)
        return self.output, self.errors

    def printed(self, stream: int = 1) -> str:
        """Return what a running process has printed until now on stdout (0) or stderr (1)."""
        file = self._files[stream].fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode()

    def wait_for_text(self, text: str) -> None:
        """Wait until the process has printed a text on stderr."""
        wait_for(lambda: text in self.printed(), self, log=self.printed)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def wait_for(
    condition: Callable[[], object],
    *processes: Running,
    log: Callable[[], str] = str,
    patience_s: float = PATIENCE_S,
) -> None:
    """Wait for a condition while processes run. Fail with the log if one ends or the condition takes too long."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, log()
        assert [process.poll() for process in processes] == [None] * len(processes), log()
        time.sleep(0.005)


def count_rounds(journal: Path) -> int:
    """Return the number of rounds that have ended; 0 while the draft of a record gets its name."""
    try:
        return journal.read_text().count('"kind":"round-end"')
    except FileNotFoundError:
        return 0


def start(
    folder: Path, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Process:
    """Start benchctl, with its lock in a folder."""
    return Process(folder, words, env or isolated(folder), cwd or folder)


def benchctl(
    folder: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    code: int | None = None,
    call: Sequence[str] = (CALL,),
    patience_s: int = PATIENCE_S,
) -> Done:
    """Run benchctl, with its lock in a folder, and check its exit code if one is given."""
    env, cwd = env or isolated(folder), cwd or folder
    if tuple(call) == (CALL,) and _read_at_start(env) == _read_at_start(real()):
        with Process(folder, words, env, cwd) as process:
            try:
                output, errors = process.communicate(patience_s)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        done = Done(words, process.wait(), output, errors)
    else:
        done = subprocess.run(
            [sys.executable, *call, str(folder), *words],
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience_s,
        )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done
