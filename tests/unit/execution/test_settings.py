"""The settings of `doctor --tune` on fake machines."""

import json
import os
import re
import shutil
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import MachineError
from bench_framework.execution.machine import checks, cpus, host, pinning, settings
from bench_framework.execution.machine.checks import Machine
from bench_framework.execution.machine.settings import MachineSetting, QuietMachine
from bench_framework.execution.process import Launcher
from bench_framework.extensions.doctor.command import ASCII, settings_page
from tests.documents import valid

CPU = "sys/devices/system/cpu"
INTERRUPTS = """           CPU0       CPU1       CPU2       CPU3
 24:       9000          0          1          0   IO-APIC   5-edge      disk
 25:          0          7          0          0   PCI-MSIX  1-edge      net
 26:          0          0          0          0   PCI-MSIX  2-edge      unused
 27:          0          0        200          0   PCI-MSIX  3-edge      nvme0q2
LOC:    6503200    6467838    6467838    6467838   Local timer interrupts
ERR:          0
"""


class FakeLauncher(Launcher):
    """A launcher that starts nothing; every command succeeds if `works`."""

    works: bool | None = True

    def capture(self, *_: Any, **__: Any) -> Any:
        if self.works is None:
            raise MachineError.from_texts("BX231", "setarch is missing")
        return SimpleNamespace(ok=self.works)


@pytest.fixture(autouse=True)
def bare_metal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "virtualisation", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "proc").mkdir()
    (tmp_path / "sys").mkdir()
    return Machine(FakeLauncher(), {}, tmp_path, tmp_path, tmp_path / "proc", tmp_path / "sys")


def write(machine: Machine, **texts: str) -> None:
    """Write files whose paths are relative to the root of the fake machine."""
    for name, text in texts.items():
        path = machine.results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


def read(machine: Machine, cpus: Collection[int] = (2,)) -> dict[str, MachineSetting]:
    return {setting.name: setting for setting in settings.read_settings(machine, frozenset(cpus))}


def relative(machine: Machine, commands: Collection[str]) -> list[str]:
    return [command.replace(f"{machine.results}/", "/") for command in commands]


def desktop(machine: Machine) -> None:
    """Two cores with two threads each: CPU 0 and 2, CPU 1 and 3."""
    write(
        machine,
        **{f"{CPU}/online": "0-3", f"{CPU}/isolated": "", "proc/interrupts": INTERRUPTS},
        **{f"{CPU}/cpu{n}/topology/thread_siblings_list": f"{n % 2},{n % 2 + 2}" for n in range(4)},
        **{f"{CPU}/cpu{n}/online": "1" for n in range(1, 4)},
        **{f"{CPU}/cpu{n}/cpufreq/scaling_governor": "powersave" for n in range(4)},
        **{f"{CPU}/intel_pstate/no_turbo": "0"},
        **{"proc/sys/kernel/randomize_va_space": "2", "proc/self/personality": "00000000"},
        **{
            f"proc/irq/{irq}/{name}": text
            for irq, allowed, effective in ((24, "0-3", "0"), (25, "1,3", "1"), (27, "2", "2"))
            for name, text in (
                ("smp_affinity_list", allowed),
                ("effective_affinity_list", effective),
            )
        },
        **{"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never"},
        **{"proc/meminfo": "SwapTotal: 1000 kB\nSwapFree: 400 kB"},
        **{
            "proc/swaps": "Filename Type Size Used Priority\n/dev/sda2 partition 9 6 -2\n"
            "/swap\\040file file 9 0 5"
        },
    )


def test_the_words_of_a_check_change_no_command(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(machine)
    names = ("frequency governor", "huge pages")
    before = read(machine)
    monkeypatch.setattr(checks, "texts_of", lambda *_, **__: ("other words", "", ""))
    after = read(machine)
    for name in names:
        assert (after[name].set, after[name].restore) == (before[name].set, before[name].restore)
        assert after[name].set
        assert after[name].value == "other words"


def test_every_setting_of_a_desktop_has_commands_that_set_and_restore_it(machine: Machine) -> None:
    desktop(machine)
    by_name = read(machine, {3})
    assert [relative(machine, s.set) for s in by_name.values()] == [
        [f"echo performance | sudo tee /{CPU}/cpu3/cpufreq/scaling_governor"],
        [f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo"],
        [f"echo 0 | sudo tee /{CPU}/cpu1/online"],
        [],
        ["setarch -R benchctl run SCENARIO"],
        [],
        ["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"],
        ["sudo swapoff /dev/sda2", "sudo swapoff '/swap file'"],
    ]
    assert [relative(machine, s.restore) for s in by_name.values()] == [
        [f"echo powersave | sudo tee /{CPU}/cpu3/cpufreq/scaling_governor"],
        [f"echo 0 | sudo tee /{CPU}/intel_pstate/no_turbo"],
        [f"echo 1 | sudo tee /{CPU}/cpu1/online"],
        [],
        [],
        [],
        ["echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"],
        ["sudo swapon /dev/sda2", "sudo swapon -p 5 '/swap file'"],
    ]
    assert by_name["interrupts"].state == "quiet"
    assert all(s.meaning for s in by_name.values() if s.state == "noisy")


def test_root_needs_no_sudo(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    desktop(machine)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    commands = [c for s in read(machine).values() for c in (*s.set, *s.restore)]
    assert commands
    assert not any("sudo " in command for command in commands)


def test_different_governors_are_restored_separately(machine: Machine) -> None:
    desktop(machine)
    write(machine, **{f"{CPU}/cpu1/cpufreq/scaling_governor": "schedutil"})
    write(machine, **{f"{CPU}/cpu2/cpufreq/scaling_governor": "performance"})
    setting = read(machine, {1, 2, 3})["frequency governor"]
    folder = f"/{CPU}/cpu{{}}/cpufreq/scaling_governor"
    assert relative(machine, setting.restore) == [
        f"echo schedutil | sudo tee {folder.format(1)}",
        f"echo powersave | sudo tee {folder.format(3)}",
    ]
    write(machine, **{f"{CPU}/cpu3/cpufreq/scaling_available_governors": "powersave ondemand"})
    setting = read(machine, {3})["frequency governor"]
    assert (setting.set, setting.obstacle) == ((), "the driver does not offer `performance`")
    assert read(machine, {2})["frequency governor"].state == "quiet"


@pytest.mark.parametrize(
    ("file", "value", "state"),
    [
        ("intel_pstate/no_turbo", "1", "quiet"),
        ("intel_pstate/no_turbo", "0", "noisy"),
        ("cpufreq/boost", "0", "quiet"),
        ("cpufreq/boost", "1", "noisy"),
        ("cpufreq/boost", "odd", "unknown"),
    ],
)
def test_turbo(machine: Machine, file: str, value: str, state: str) -> None:
    write(machine, **{f"{CPU}/{file}": value})
    assert read(machine)["turbo"].state == state


@pytest.mark.parametrize("name", ["KVM", "container", None])
def test_without_cpufreq_no_command_is_shown(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    monkeypatch.setattr(host, "virtualisation", lambda: name)
    for setting in (read(machine)["frequency governor"], read(machine)["turbo"]):
        assert (setting.state, setting.set) == ("unknown", ())
        where = "container" if name == "container" else "virtual machine" if name else "firmware"
        assert where in setting.obstacle


def test_files_that_cannot_be_written_have_no_command(machine: Machine) -> None:
    desktop(machine)
    (machine.sys / "kernel/mm/transparent_hugepage/enabled").chmod(0o444)
    setting = read(machine)["huge pages"]
    assert (setting.state, setting.set, setting.restore) == ("noisy", (), ())
    assert "cannot be written here" in setting.obstacle


@pytest.mark.parametrize("user", [0, 1000])
def test_a_read_only_file_system_has_no_command(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    desktop(machine)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert "cannot be written here" in read(machine)["turbo"].obstacle


def test_siblings(machine: Machine) -> None:
    desktop(machine)
    assert read(machine, {3})["SMT siblings"].value == "CPU 1 shares a core with CPU 3"
    # x86 cannot take CPU 0 offline: it has no file `online`.
    assert "cannot take this CPU offline" in read(machine, {2})["SMT siblings"].obstacle
    assert read(machine, {0, 2})["SMT siblings"].value == "the chosen CPUs share cores"
    write(machine, **{f"{CPU}/cpu3/topology/thread_siblings_list": "3"})
    assert read(machine, {3})["SMT siblings"].state == "quiet"
    write(machine, **{f"{CPU}/cpu3/topology/thread_siblings_list": "(null)"})
    assert read(machine, {3})["SMT siblings"].state == "unknown"


@pytest.mark.parametrize(
    ("cgroup", "warned"),
    [
        ("4:memory:/a\n3:cpuset:/\n0::/", True),
        ("7:cpuset,cpu:/a", True),
        ("0::/", False),
        ("nonsense\n:", False),
    ],
)
def test_cpusets_of_cgroup_v1_lose_an_offline_cpu(
    machine: Machine, cgroup: str, *, warned: bool
) -> None:
    desktop(machine)
    write(machine, **{"proc/self/cgroup": cgroup})
    assert ("cgroup v1" in read(machine, {3})["SMT siblings"].meaning) == warned


def test_isolation_needs_a_boot_loader_and_another_cpu_than_0(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(machine)
    options = "isolcpus=managed_irq,domain,2 nohz_full=2 rcu_nocbs=2"
    assert options in read(machine)["isolated CPUs"].obstacle
    assert "needs CPU 0" in read(machine, {0})["isolated CPUs"].obstacle
    assert "for programs with one thread" in read(machine, {1, 2})["isolated CPUs"].obstacle
    monkeypatch.setattr(shutil, "which", lambda name, **_: name == "grubby" and "/sbin/grubby")
    expected = (f'sudo grubby --update-kernel=ALL --args="{options}"', "sudo reboot")
    assert read(machine)["isolated CPUs"].set == expected
    monkeypatch.setattr(shutil, "which", lambda name, **_: name == "update-grub" and "/sbin/it")
    setting = read(machine)["isolated CPUs"]
    assert options in setting.set[0]
    assert setting.restore[0] == ("sudo rm /etc/default/grub.d/benchctl.cfg && sudo update-grub")
    write(machine, **{"proc/cmdline": "quiet nohz_full=3", f"{CPU}/nohz_full": "3"})
    setting = read(machine)["isolated CPUs"]
    assert setting.value == ("isolated: none; without ticks: 3; kernel command line: nohz_full=3")
    assert setting.set == ()
    write(machine, **{f"{CPU}/isolated": "2-3"})
    assert read(machine)["isolated CPUs"].state == "quiet"
    write(machine, **{f"{CPU}/isolated": "", f"{CPU}/online": "2", "proc/cmdline": ""})
    assert "no CPU would be left" in read(machine)["isolated CPUs"].obstacle


def test_aslr(machine: Machine) -> None:
    assert read(machine)["ASLR"].state == "unknown"
    desktop(machine)
    assert "no confidence interval includes" in read(machine)["ASLR"].meaning
    assert isinstance(machine.launcher, FakeLauncher)
    for machine.launcher.works in (False, None):
        setting = read(machine)["ASLR"]
        file = "/proc/sys/kernel/randomize_va_space"
        assert relative(machine, setting.set) == [f"echo 0 | sudo tee {file}"]
        assert relative(machine, setting.restore) == [f"echo 2 | sudo tee {file}"]
    write(machine, **{"proc/self/personality": "00040000"})
    assert read(machine)["ASLR"].state == "quiet"
    write(machine, **{"proc/self/personality": "odd", "proc/sys/kernel/randomize_va_space": "0"})
    assert read(machine)["ASLR"].state == "quiet"


def test_interrupts_are_moved_to_the_other_cpus_and_back(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop(machine)
    setting = read(machine, {0, 1})["interrupts"]
    assert setting.value == "2 of 3 are handled by CPU 0-1"
    first, second = (f"/proc/irq/{number}/smp_affinity_list" for number in (24, 25))
    assert relative(machine, setting.set) == [f"echo 2-3 | sudo tee {first} {second}"]
    expected = [f"echo 0-3 | sudo tee {first}", f"echo 1,3 | sudo tee {second}"]
    assert relative(machine, setting.restore) == expected

    write(machine, **{"proc/irq/24/smp_affinity_list": "2-3"})
    assert read(machine, {0})["interrupts"].state == "quiet"  # from the next interrupt on
    write(machine, **{"proc/irq/24/smp_affinity_list": "0-3"})

    (machine.proc / "irq/25/smp_affinity_list").chmod(0o444)
    setting = read(machine, {0, 1})["interrupts"]
    assert "1 interrupt cannot be moved" in setting.meaning
    assert relative(machine, setting.set) == [f"echo 2-3 | sudo tee {first}"]
    assert "does not let them move" in read(machine, {1})["interrupts"].obstacle
    assert "no other CPU" in read(machine, {0, 1, 2, 3})["interrupts"].obstacle

    write(machine, **{"proc/77/comm": "irqbalance"})
    setting = read(machine, {0})["interrupts"]
    assert setting.set[0] == "sudo service irqbalance stop"
    assert setting.restore[-1] == "sudo service irqbalance start"
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "/bin/systemctl")
    # Without an interrupt to move, irqbalance might still move one here.
    assert read(machine, {3})["interrupts"].set == ("sudo systemctl stop irqbalance",)


def test_swap_that_is_not_listed_cannot_be_set(machine: Machine) -> None:
    desktop(machine)
    write(machine, **{"proc/swaps": "Filename Type Size Used Priority"})
    assert "its files are not listed" in read(machine)["swap"].obstacle
    write(machine, **{"proc/swaps": "Filename\n\nodd"})
    assert read(machine)["swap"].set == ()


def test_an_empty_machine_and_odd_contents_stop_nothing(machine: Machine) -> None:
    names = list(settings.SETTINGS)
    assert [*read(machine)] == names
    assert pinning.choose(machine, {0, 1}).one_thread == "1"
    for text in ("", "\0\xff", "-", "0-", "²", "CPU0\n1: ² x\n 2:\n:", "[", "\n\n"):
        desktop(machine)
        for path in sorted(machine.results.rglob("*")):
            if path.is_file():
                path.write_text(text)
        assert [*read(machine)] == names
        assert pinning.choose(machine, {1}).one_thread == "1"
        for setting in read(machine).values():
            assert setting.value
            assert setting.state != "noisy" or setting.set or setting.obstacle, setting
    for folder in ("proc/interrupts", "proc/swaps", "proc/meminfo", f"{CPU}/isolated"):
        (machine.results / folder).unlink()
        (machine.results / folder).mkdir()
    assert [*read(machine)] == names


def test_the_chosen_cpus_are_one_per_core_and_away_from_interrupts(machine: Machine) -> None:
    desktop(machine)
    chosen = pinning.choose(machine, {0, 1, 2, 3})
    assert (chosen.one_thread, chosen.several_threads) == ("3", "2-3")
    shares = "CPU 3 handled 0 % of the device interrupts since boot, CPU 2 2 %"
    assert " ".join(chosen.reason.split()) == shares
    # Only these CPUs are in the cpuset or the affinity of benchctl.
    assert pinning.choose(machine, {0, 1}).one_thread == "1"
    assert pinning.choose(machine, {0}).one_thread == "0"
    assert pinning.choose(machine, {0, 1}).several_threads is None


def test_cpu_0_is_chosen_only_if_another_one_has_more_than_twice_its_interrupts(
    machine: Machine,
) -> None:
    for others, chosen in ((199, "1"), (201, "0")):
        write(machine, **{"proc/interrupts": f" CPU0 CPU1\n 1: 100 {others} disk"})
        assert pinning.choose(machine, {0, 1}).one_thread == chosen


def test_from_three_cores_on_the_busiest_one_stays_free(machine: Machine) -> None:
    write(machine, **{"proc/interrupts": INTERRUPTS})
    chosen = pinning.choose(machine, {0, 1, 2, 3})
    assert (chosen.one_thread, chosen.several_threads) == ("3", "1-3")
    assert chosen.reason.endswith("; CPU 0 stays free for interrupts and other programs")


def test_isolated_cpus_are_for_one_thread_only(machine: Machine) -> None:
    write(machine, **{"proc/interrupts": INTERRUPTS, f"{CPU}/isolated": "2"})
    chosen = pinning.choose(machine, {0, 1, 2, 3})
    assert (chosen.one_thread, chosen.several_threads) == ("2", "1,3")
    assert "it is isolated" in chosen.reason


def test_slower_kinds_of_cores_are_not_chosen(machine: Machine) -> None:
    capacities = {0: 446, 1: 1024, 2: 1000, 3: 446}
    write(machine, **{f"{CPU}/cpu{n}/cpu_capacity": str(c) for n, c in capacities.items()})
    chosen = pinning.choose(machine, {0, 1, 2, 3})
    assert (chosen.one_thread, chosen.several_threads) == ("1", "1-2")
    write(machine, **{"sys/devices/cpu_atom/cpus": "1"})
    assert pinning.choose(machine, {0, 1, 2, 3}).one_thread == "2"


@pytest.mark.parametrize(
    ("numbers", "text"), [((), ""), ((3,), "3"), ((0, 1, 2), "0-2"), ((5, 0, 1, 7, 8), "0-1,5,7-8")]
)
def test_lists_of_cpus(numbers: tuple[int, ...], text: str) -> None:
    assert cpus.format_cpus(numbers) == text
    assert cpus.parse_cpus(text) == tuple(sorted(numbers))


def test_the_page_shows_lines_to_copy_unbroken(machine: Machine) -> None:
    desktop(machine)
    chosen = pinning.choose(machine, {0, 1, 2, 3})
    quiet = QuietMachine(chosen, tuple(settings.read_settings(machine, frozenset({3}))))
    page = settings_page(quiet, ASCII, 60)
    lines = page.splitlines()
    assert "    scenario, one thread:      measure: {cpus: 3}" in lines
    assert "    scenario, several threads: measure: {cpus: 2-3}" in lines
    assert "! ASLR: on (randomize_va_space 2)" in lines
    assert "    restore: nothing; it ends with the command" in lines
    for setting in quiet.settings:
        for command in setting.set:
            assert f"    set:     {command}" in lines
    assert "Nothing was changed. 6 settings can be set here." in " ".join(page.split())
    assert json.loads(json.dumps(asdict(quiet)))["settings"][0]["name"] == "frequency governor"


def test_a_list_with_a_comma_is_quoted_in_the_scenario(machine: Machine) -> None:
    for several, line in (("0,2", 'measure: {cpus: "0,2"}'), (None, "without `cpus`")):
        page = settings_page(QuietMachine(pinning.PinnedCpus("0", several, ""), ()), ASCII, 80)
        assert f"    scenario, several threads: {line}" in page.splitlines()


def test_the_settings_of_this_machine_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["doctor", "--json"]) == 0
    assert valid("doctor", capsys.readouterr().out)["checks"]
    assert run_command_line(["doctor", "--tune", "--json"]) == 0
    document = valid("doctor", capsys.readouterr().out)
    assert re.fullmatch(r"\d+", document["cpus"]["one_thread"])
    assert [setting["name"] for setting in document["settings"]] == list(settings.SETTINGS)
    cpu = str(min(os.sched_getaffinity(0)))
    assert run_command_line(["doctor", "--tune", "--cpus", cpu]) == 0
    assert f"scenario: measure: {{cpus: {cpu}}}" in capsys.readouterr().out
    with pytest.raises(MachineError, match="contains CPU 8000") as raised:
        settings.examine_settings(tmp_path, "8000")
    assert raised.value.code == "BX238"
