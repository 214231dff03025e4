"""The launcher: sessions, timeouts and stragglers."""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution import process
from bench_framework.execution.inputs.pagecache import InputPages
from bench_framework.execution.machine import host
from bench_framework.execution.process import MOST_CAPTURED, Command, Launcher
from tests.build import require
from tests.integration.processes import executable, wait_for

ENV = {"PATH": "/usr/bin:/bin"}


def sh(script: str, **options: object) -> Command:
    return Command(["/bin/sh", "-c", script], ENV, **options)  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    """Check that a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pids: Sequence[int]) -> None:
    wait_for(lambda: not any(map(alive, pids)), patience_s=20)


def test_exit_codes_and_signals_are_distinguished(launcher: Launcher) -> None:
    assert launcher.run(sh("exit 0")).ok
    assert launcher.run(sh("exit 3")).exit_code == 3
    killed = launcher.run(sh("kill -SEGV $$"))
    assert (killed.exit_code, killed.signal) == (None, signal.SIGSEGV)


def test_output_goes_to_files_and_is_appended(launcher: Launcher, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for word in ("one", "two"):
        launcher.run(Command(["/bin/echo", word], ENV, stdout=str(out)))
    assert out.read_text() == "one\ntwo\n"


def test_stdin_is_a_file_or_empty(launcher: Launcher, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("words")
    given = Command(["/bin/cat"], ENV, stdin=str(tmp_path / "in"), stdout=str(tmp_path / "out"))
    assert launcher.run(given).ok
    assert (tmp_path / "out").read_text() == "words"
    assert launcher.run(
        Command(["/bin/cat"], ENV, timeout_s=10)
    ).ok  # /dev/null, never the terminal


def test_arguments_environment_and_folder_are_passed_unchanged(
    launcher: Launcher, tmp_path: Path
) -> None:
    folder = tmp_path / "größe; $(x) 'y' \"z\" %<b>"
    folder.mkdir()
    words = ["it's", "a b", "", "\n", "ü", "$(id)", "\udcff"]
    output = launcher.capture(
        ["/bin/sh", "-c", 'pwd; printf "[%s]" "$@" "$V"', "sh", *words],
        {**ENV, "V": "1;2"},
        cwd=str(folder),
    )
    assert output.stdout.startswith(str(folder) + "\n")
    assert output.stdout.endswith("[it's][a b][][\n][ü][$(id)][\N{REPLACEMENT CHARACTER}][1;2]")


def test_a_program_that_does_not_exist_is_an_error_and_the_next_one_runs(
    launcher: Launcher,
) -> None:
    with pytest.raises(MachineError, match="cannot start /no/such") as caught:
        launcher.run(Command(["/no/such"], ENV))
    assert caught.value.code == "BX231"
    with pytest.raises(MachineError, match="cannot start"):
        launcher.run(Command(["/bin/true"], ENV, cwd="/no/such"))
    assert launcher.run(sh("exit 0")).ok


def test_a_timeout_kills_the_whole_group(launcher: Launcher, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    finished = launcher.run(sh(f"sleep 60 & echo $! >{pids}; sleep 60", timeout_s=0.3))
    assert finished.timed_out
    assert finished.how == "timed out"
    wait_for_end([int(pids.read_text())])


def test_stragglers_are_killed_even_in_another_session(launcher: Launcher, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    finished = launcher.run(
        sh(
            f"sleep 60 & echo $! >{pids}; setsid sh -c 'echo $$ >>{pids}; sleep 60' & sleep 0.2; exit 4"
        )
    )
    assert finished.exit_code == 4
    assert finished.stragglers >= 2
    wait_for_end([int(line) for line in pids.read_text().split()])


def test_the_cpu_time_includes_children_and_stragglers(launcher: Launcher, tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < {}: pass\n"
    straggler = burn.format(0.2) + f"open({str(tmp_path / 'done')!r}, 'w').close(); time.sleep(60)"
    assert launcher.run(sh("exec sleep 0.1")).cpu_s == pytest.approx(0, abs=0.05)
    child = Command([sys.executable, "-c", burn.format(0.1)], ENV)
    script = (
        f"'{sys.executable}' -c \"$BURN\" & while ! [ -e '{tmp_path}/done' ]; do sleep 0.01; done"
    )
    left = Command(["/bin/sh", "-c", f"({script})"], {**ENV, "BURN": straggler})
    for command, least in ((child, 0.1), (left, 0.2)):
        used = require(launcher.run(command).cpu_s)
        assert used >= least


def test_a_timed_process_has_its_own_session(launcher: Launcher, tmp_path: Path) -> None:
    out = tmp_path / "stat"
    launcher.run(Command(["/bin/cat", "/proc/self/stat"], ENV, stdout=str(out)))
    pid, _, _, _, group, session = out.read_text().split()[:6]
    assert pid == group == session
    assert int(session) not in {os.getsid(0), launcher.pid}


def test_cpus_are_pinned(launcher: Launcher) -> None:
    cpu = min(os.sched_getaffinity(0))
    out = launcher.capture(["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"], ENV)
    assert out.ok
    pinned = Command(
        ["/bin/sh", "-c", f'grep -q "Cpus_allowed_list:.{cpu}$" /proc/self/status'],
        ENV,
        cpus=(cpu,),
    )
    assert launcher.run(pinned).ok


def test_a_program_reads_its_own_affinity(launcher: Launcher, tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    program = "import os; print(*sorted(os.sched_getaffinity(0)))"
    for number, cpus in enumerate(((mine[-1],), tuple(mine))):
        out = tmp_path / f"{number}"
        launcher.run(Command([sys.executable, "-c", program], ENV, stdout=str(out), cpus=cpus))
        assert out.read_text().split() == [str(cpu) for cpu in cpus]


def test_a_missing_cpu_is_an_error(launcher: Launcher) -> None:
    """The kernel would ignore the missing CPUs of the list."""
    available = min(os.sched_getaffinity(0))
    for cpus in ((available, 8000), (8000,)):
        with pytest.raises(MachineError) as caught:
            launcher.run(Command(["/bin/true"], ENV, cpus=cpus))
        assert caught.value.code == "BX231"
    assert launcher.run(Command(["/bin/true"], ENV, cpus=(available,))).ok


def test_bytes_read_from_the_device_are_reported(launcher: Launcher, disk: Path) -> None:
    path = disk / "data"
    path.write_bytes(os.urandom(4 << 20))
    copy = Command(["/bin/sh", "-c", f"cat {path} >/dev/null"], ENV)
    launcher.run(copy)  # its programs may be on the device only
    assert launcher.run(copy).read_bytes == 0
    InputPages(path).drop()
    read_bytes = require(launcher.run(copy).read_bytes)
    assert 4 << 20 <= read_bytes <= 5 << 20  # read by a grandchild


def test_children_receive_sigpipe(launcher: Launcher) -> None:
    """Python ignores SIGPIPE; its children must not inherit that."""
    assert launcher.capture(["/bin/sh", "-c", "yes | head -1"], ENV, timeout_s=10).stdout == "y\n"


def test_a_callback_is_called_about_five_times_a_second(launcher: Launcher) -> None:
    calls: list[int] = []
    start = time.monotonic()
    launcher.run(sh("sleep 1"), lambda: calls.append(1))
    assert 1 <= len(calls) <= (time.monotonic() - start) / 0.2 + 1


def test_a_callback_that_raises_ends_the_command(launcher: Launcher, tmp_path: Path) -> None:
    def give_up() -> None:
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        launcher.run(sh(f"echo $$ >{tmp_path}/pid; sleep 60"), give_up)
    assert time.monotonic() - start < 10
    wait_for_end([int((tmp_path / "pid").read_text())])
    assert launcher.run(sh("exit 0")).ok


def test_kill_now_ends_the_running_command(launcher: Launcher) -> None:
    timer = threading.Timer(0.3, launcher.kill_now)
    timer.start()
    finished = launcher.run(sh("sleep 60"))
    timer.join()
    assert finished.killed
    assert not finished.timed_out
    assert launcher.run(sh("exit 0")).ok


def test_a_tool_that_the_user_killed_has_no_output(launcher: Launcher) -> None:
    timer = threading.Timer(0.3, launcher.kill_now)
    timer.start()
    with pytest.raises(Interrupted):
        launcher.capture(["sleep", "60"], ENV)
    timer.join()


def test_kill_now_without_a_command_does_nothing(launcher: Launcher) -> None:
    launcher.kill_now()
    assert launcher.run(sh("exit 0")).ok
    launcher.kill_now()
    assert not launcher.run(sh("exit 0")).killed


def test_close_ends_the_launcher(tmp_path: Path) -> None:
    launcher = Launcher()
    launcher.run(sh("exit 0"))
    pid = require(launcher.pid)
    launcher.close()
    wait_for_end([pid])
    launcher.close()


def test_the_command_of_a_killed_launcher_is_killed(tmp_path: Path) -> None:
    launcher = Launcher()
    launcher.run(sh("exit 0"))
    pids = tmp_path / "pids"

    def kill() -> None:
        os.kill(require(launcher.pid), signal.SIGKILL)

    timer = threading.Timer(0.5, kill)
    timer.start()
    with pytest.raises(MachineError, match="launcher process was killed") as caught:
        launcher.run(sh(f"echo $$ >{pids}; sleep 60 & echo $! >>{pids}; wait"))
    timer.join()
    assert caught.value.code == "BX232"
    wait_for_end([int(line) for line in pids.read_text().split()])
    assert launcher.run(sh("exit 0")).ok  # a new one is started
    launcher.close()


def test_a_dead_launcher_is_no_defect_of_the_tool_whose_version_is_read(tmp_path: Path) -> None:
    """Ctrl-C can reach the launcher before it has a session of its own."""

    def stop() -> None:
        raise Interrupted("BX130.command", argv="tool")

    tool = tmp_path / "tool"
    executable(tool, "#!/bin/sh\nkill -KILL $PPID; sleep 5\n")
    with Launcher() as launcher:
        with pytest.raises(MachineError) as caught:
            host.version_of(launcher, str(tool), {})
        assert caught.value.code == "BX232"
        launcher.check_stop = stop
        with pytest.raises(Interrupted):
            host.version_of(launcher, str(tool), {})


def test_the_launcher_is_small(launcher: Launcher) -> None:
    """Children inherit its peak memory, so it must be far smaller than any measured program."""
    launcher.run(sh("exit 0"))
    status = Path(f"/proc/{launcher.pid}/status").read_text()
    peak_kib = int(status.split("VmHWM:")[1].split()[0])
    assert peak_kib < 16 * 1024


def test_of_a_long_output_the_first_and_last_bytes_are_kept(launcher: Launcher) -> None:
    script = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last; echo bad >&2"
    output = launcher.capture(["/bin/sh", "-c", script], ENV)
    assert output.ok
    assert output.stdout.startswith("first\nxxx")
    assert output.stdout.endswith("xxx\nlast\n")
    assert output.stderr == "bad\n"
    assert len(output.stdout) < MOST_CAPTURED + 100
    left_out = 50_000_012 - MOST_CAPTURED
    assert f"\n[{left_out} bytes are left out here]\n" in output.stdout


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.slow
def test_an_endless_output_takes_no_space_and_ends_with_its_time_limit(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    redirect = ">&2" if stream == "stderr" else ""
    sizes = []

    def measure() -> None:
        sizes.append(sum(path.stat().st_size for path in tmp_path.rglob("std*")))

    words = ["/bin/sh", "-c", f"exec yes {redirect}"]
    output = launcher.capture(words, ENV, timeout_s=1.0, on_poll=measure)
    assert output.finished.timed_out
    notice = 100  # the line about the bytes left out, which is stored when the process has ended
    assert 0 < max(sizes) <= MOST_CAPTURED + notice
    assert launcher.run(sh("exit 0")).ok


def test_an_output_that_cannot_be_stored_is_an_error(launcher: Launcher) -> None:
    with pytest.raises(MachineError, match="No space left") as caught:
        launcher.run(sh("echo words >&2", stderr="/dev/full"))
    assert caught.value.code == "BX235"
    with pytest.raises(MachineError, match="cannot start") as caught:
        launcher.run(sh("exit 0", stderr="/no/such/folder/file"))
    assert caught.value.code == "BX231"
    assert launcher.run(sh("exit 0")).ok


def test_a_command_is_killed_if_its_output_grows_too_large(
    launcher: Launcher, tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    finished = launcher.run(sh("exec yes", stdout=out, limited=(out, 1 << 20), timeout_s=60))
    assert finished.overflowed
    assert not finished.timed_out
    assert not finished.killed
    assert finished.how == "killed, because its output is too large"
    assert launcher.run(sh("echo a", stdout=out, limited=(f"{out}2", 0))).ok


@pytest.mark.parametrize("name", ["fifo", "/dev/zero"])
def test_an_endless_stdin_is_an_error(launcher: Launcher, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(MachineError, match="cannot start") as caught:
        launcher.run(sh("cat", stdin=str(tmp_path / name)))
    assert dict(caught.value.details)["cause"].startswith("not a regular file")
    assert launcher.run(sh("exit 0")).ok


@pytest.mark.parametrize("callback", [None, lambda: None], ids=["timed", "untimed"])
@pytest.mark.slow
def test_a_program_that_stops_its_launcher_does_not_stop_benchctl(
    callback: Callable[[], None] | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "PATIENCE_S", 0.5)
    script = f"echo $$ > {tmp_path}/pid; kill -STOP $PPID; sleep 100"
    with Launcher() as launcher:
        with pytest.raises(MachineError) as error:
            launcher.run(sh(script, timeout_s=0.5), callback)
        assert error.value.code == "BX232"
        wait_for_end([int((tmp_path / "pid").read_text())])
        assert launcher.run(sh("exit 0")).ok  # a new launcher


def test_a_drain_discards_what_a_program_and_its_children_print(launcher: Launcher) -> None:
    start = time.monotonic()
    script = "sleep 100 > $0 & seq 1000000 > $0; test -p $0 || exit 3; echo more > $0"
    done = launcher.run(Command(["/bin/sh", "-c", script, "DRAIN"], ENV, drain="DRAIN"))
    assert (done.exit_code, done.stragglers) == (0, 1)
    assert time.monotonic() - start < 50
