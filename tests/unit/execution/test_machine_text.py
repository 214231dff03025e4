"""Texts of the kernel about the machine, and the environment of children."""

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.execution.block import failure_of
from bench_framework.execution.inputs import folders
from bench_framework.execution.machine import host, sensors
from bench_framework.execution.process import Finished
from bench_framework.model.record import contention
from bench_framework.model.record.run import Block, PreparedInput
from bench_framework.model.record.sensors import Sensors
from tests.build import make_block, require

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /proc rw,nosuid shared:1 - proc proc rw
30 22 0:30 / /mnt/my\\040disk rw - xfs /dev/sdb rw
31 22 0:31 / /tmp rw master:3 shared:9 - tmpfs tmpfs rw
32 31 0:32 / /tmp rw - ext4 /dev/sdc rw
garbage
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"),
        ("/proc/1", "proc"),
        ("/mnt/my disk/x", "xfs"),
        ("/mnt/my diskette", "ext4"),
        ("/tmp/x", "ext4"),
    ],
)
def test_a_path_is_on_the_longest_and_last_mount(path: str, kind: str) -> None:
    assert host.kind_of(Path(path), MOUNTS) == kind


def test_steal_is_the_eighth_figure_of_the_first_line() -> None:
    assert sensors.steal_of(b"cpu  10 20 30 40 50 60 70 80 90 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n") == 80
    assert sensors.steal_of(b"cpu  10 20 30 40\n") is None
    assert sensors.steal_of(b"") is None


STAT = b"""\
cpu  900 5 60 400 30 1 2 70 9 0
cpu0 300 5 20 100 10 1 0 40 9 0
cpu1 600 0 40 300 20 0 2 31 0 0
intr 12 0 7
"""


@pytest.mark.parametrize(
    ("text", "cpus", "expected"),
    [
        (STAT, {0, 1, 9}, (2, 400 + 30 + 1 + 2 + 70)),
        (STAT, {1}, (1, 300 + 20 + 2 + 31)),
        (STAT, {5}, None),
        (b"", {0}, None),
        (b"cpu  10 20 30 40\n", {0}, None),
        (b"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n", {0}, None),
        (STAT[:60], {0}, None),
    ],
    ids=["all", "some", "offline", "missing", "short", "zeros", "truncated"],
)
def test_time_without_a_process_is_read_for_the_cpus_of_a_block(
    text: bytes, cpus: set[int], expected: tuple[int, int] | None
) -> None:
    assert sensors.without_process(text, cpus) == expected


@pytest.mark.parametrize(
    ("own_s", "idle_s", "others_s"),
    [
        (1.99, 0.01, 0.0),  # four threads on two cores, which are busy all the time
        (1.2, 0.0, 0.8),  # the same next to a busy loop of another process
        (0.98, 0.02, 1.0),  # one thread next to a busy loop
        (2.02, 0.0, 0.0),  # more than the counters say, because they are truncated
    ],
)
def test_the_program_itself_is_not_other_load(own_s: float, idle_s: float, others_s: float) -> None:
    before = Sensors(cpu_capacity_us=10_000_000, other_cpu_us=6_000_000, psi_cpu_us=0)
    after = Sensors(
        cpu_capacity_us=12_000_000,
        other_cpu_us=8_000_000 - round(idle_s * 1e6),
        psi_cpu_us=1_000_000,
    )
    values = sensors.between(before, after, own_s)
    assert values.cpu_capacity_us == 2_000_000
    assert values.other_cpu_us == round(others_s * 1e6)
    assert ("cpu" in contention.flags(sample(values))) is (others_s > 0.2)
    assert sensors.between(before, after).other_cpu_us is None
    assert sensors.between(replace(before, other_cpu_us=None), after, 1.0).other_cpu_us is None


def sample(values: Sensors) -> Block:
    return make_block(wall_s=(1.0,), sensors=values)


def test_sensors_are_growths_and_levels() -> None:
    before = Sensors(5, 100, None, 0.5, 1 << 30, 3000.0)
    values = sensors.between(before, Sensors(7, 150, 9, 0.7, 1 << 29, 3100.0))
    assert (values.steal_ticks, values.psi_cpu_us, values.psi_io_us) == (2, 50, None)
    assert (values.load1, values.mem_available_bytes, values.cpu_mhz) == (0.5, 1 << 30, 3100.0)
    expected = (None, None, None)
    assert (values.psi_memory_us, values.swap_in_pages, values.throttle_events) == expected


def machine(root: Path, **texts: str) -> Path:
    """Create the files that a gauge reads; `__` in a name means a slash."""
    for name, text in texts.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_gauge_reads_swap_pressure_and_heat(tmp_path: Path) -> None:
    heat = "sys__devices__system__cpu__cpu{}__thermal_throttle__{}_throttle_count"
    root = machine(
        tmp_path,
        proc__vmstat="nr_free_pages 12\npgpgin 5\npswpin 30\npswpout 40\nzswpin 7\n",
        proc__pressure__memory="some avg10=0.00 avg60=0.00 avg300=0.00 total=55\nfull avg10=0.00 total=44\n",
        proc__pressure__cpu="some avg10=1.00 avg60=0.00 avg300=0.00 total=66\n",
        **{
            heat.format(0, "core"): "3\n",
            heat.format(1, "core"): "4\n",
            heat.format(0, "package"): "10\n",
            heat.format(1, "package"): "10\n",
        },
    )
    with closing(sensors.Gauge(root)) as gauge:
        reading = gauge.read()
    assert (reading.swap_in_pages, reading.swap_out_pages) == (30, 40)
    assert (reading.psi_memory_us, reading.psi_cpu_us) == (55, 66)
    assert (
        reading.throttle_events == 3 + 4 + 10
    )  # the package counts once, though both CPUs report it
    assert reading.load1 is None


def test_a_gauge_subtracts_idle_time_from_the_capacity_of_the_cpus(tmp_path: Path) -> None:
    with closing(sensors.Gauge(machine(tmp_path, proc__stat=STAT.decode()))) as gauge:
        reading = gauge.read((1,))
    assert reading.other_cpu_us == require(reading.cpu_capacity_us) - (300 + 20 + 2 + 31) * 10_000


def test_missing_files_give_no_values(tmp_path: Path) -> None:
    with closing(sensors.Gauge(tmp_path)) as gauge:
        assert gauge.read() == Sensors()
    assert sensors.between(Sensors(), Sensors()) == Sensors()


def test_between_subtracts_the_counters() -> None:
    before = Sensors(psi_memory_us=10, swap_in_pages=3, swap_out_pages=5, throttle_events=7)
    after = Sensors(psi_memory_us=15, swap_in_pages=3, swap_out_pages=9, throttle_events=8)
    growth = sensors.between(before, after)
    assert (growth.psi_memory_us, growth.swap_in_pages, growth.swap_out_pages) == (5, 0, 4)
    assert growth.throttle_events == 1


def test_a_gauge_reads_this_machine() -> None:
    with closing(sensors.Gauge()) as gauge:
        reading = gauge.read()
    assert require(reading.mem_available_bytes) > 1 << 20
    assert reading.load1 is not None


@pytest.mark.parametrize(
    ("env", "root"),
    [
        ({"BENCHCTL_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/benchctl"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/benchctl"),
        ({"HOME": "/h"}, "/h/.cache/benchctl"),
    ],
)
def test_the_cache_folder_follows_the_xdg_specification(env: Mapping[str, str], root: str) -> None:
    assert host.cache_root(env) == Path(root)


def test_the_cpu_has_a_name_and_the_numbers_of_its_design() -> None:
    both = [
        host.cpu_model(f"model name\t: AMD EPYC\ncpu family\t: {family}\nmodel\t\t: {model}\n")
        for family, model in ((25, 1), (26, 2))
    ]
    assert both == ["AMD EPYC family 25 model 1", "AMD EPYC family 26 model 2"]
    arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    assert host.cpu_model(arm) == f"{os.uname().machine} implementer 0x41 part 0xd0c"
    assert host.cpu_model("model name\t: Fast CPU @ 3GHz\n") == "Fast CPU @ 3GHz"
    assert host.cpu_model("processor\t: 0\n") == os.uname().machine


def test_the_host_id_depends_on_each_of_its_parts() -> None:
    ids = {
        host.host_id("cpu", 2, 100, "m"),
        host.host_id("cpu2", 2, 100, "m"),
        host.host_id("cpu", 4, 100, "m"),
        host.host_id("cpu", 2, 200, "m"),
        host.host_id("cpu", 2, 100, "n"),
    }
    assert len(ids) == 5
    assert all(len(text) == 12 for text in ids)


@pytest.mark.parametrize(
    ("codes", "allowed", "message", "signal"),
    [
        ((101,), (0,), "exit status 101", None),
        ((0, 2), (0,), "exit status 2 in run 2 of 2", None),
        ((139,), (0,), "killed by SIGSEGV", "SIGSEGV"),
        ((137, 0), (0,), "killed by SIGKILL in run 1 of 2", "SIGKILL"),
        ((None,), (0,), "exit status unknown", None),
        ((255,), (0,), "exit status 255", None),
    ],
)
def test_the_message_of_a_bad_exit_code(
    codes: tuple[int | None, ...], allowed: tuple[int, ...], message: str, signal: str | None
) -> None:
    assert failure_of(codes, allowed) == {"message": message, "signal": signal}


def test_declared_exit_codes_are_good() -> None:
    assert failure_of((0, 1), (0, 1)) is None
    assert failure_of((139,), (139,)) is None


def test_the_text_of_how_a_command_ended() -> None:
    def how(code: int | None, number: int | None, *, timed_out: bool = False) -> str:
        return Finished(code, number, timed_out, killed=False, stragglers=0, seconds=0.0).how

    assert how(3, None) == "exit status 3"
    assert how(None, 11) == "killed by SIGSEGV"
    assert how(None, 9, timed_out=True) == "timed out"


def test_an_input_that_changes_is_noticed_by_size_time_or_digest(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("abc")
    good = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    guard = folders.Guard({"i": PreparedInput("i", str(path), 3, good, "f", None)})
    assert guard.changed("i") is None
    assert not list(guard.other_inputs(lambda: None))
    stat = path.stat()
    path.write_text("abd")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert guard.changed("i") is None  # same size and time …
    [(_, event)] = guard.other_inputs(lambda: None)  # … but another digest
    assert event.code == "BX420"
    path.write_text("longer")
    event = require(guard.changed("i"))
    assert event.severity == "error"
    path.unlink()
    assert guard.changed("i") is not None


def test_children_get_the_path_of_benchctls_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.PYTHON, "/somewhere/else/python")
    monkeypatch.setenv("KEPT", "as it is")
    env = host.environment()
    assert env[host.PYTHON] == sys.executable
    assert Path(env[host.PYTHON]).is_absolute()
    assert env["KEPT"] == "as it is"
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.delenv(host.PYTHON)
    assert host.PYTHON not in host.environment()


def test_children_do_not_inherit_the_repository_of_a_git_hook(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    env = host.environment()
    assert "GIT_DIR" not in env
    assert env["GIT_SSH_COMMAND"] == "ssh -i key"
