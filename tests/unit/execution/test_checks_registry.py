"""The checks of `doctor`, on this machine and on fake ones."""

from pathlib import Path

import pytest

from bench_framework.execution.machine import checks, settings
from bench_framework.execution.machine.checks import CHECKS, Machine, run_checks
from bench_framework.execution.process import Launcher
from bench_framework.text.checks import table


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for folder in ("proc", "sys"):
        (tmp_path / folder).mkdir()
    return Machine(
        Launcher(), {"PATH": ""}, tmp_path, tmp_path, tmp_path / "proc", tmp_path / "sys"
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_check_has_its_name_and_a_warning_has_an_effect(tmp_path: Path) -> None:
    with Launcher() as launcher:
        done = list(run_checks(Machine(launcher, {"PATH": "/usr/bin:/bin"}, tmp_path, tmp_path)))
    assert [check.name for check in done] == list(CHECKS)
    for check in done:
        assert check.figure
        assert check.state == "ok" or check.meaning, check.name


def test_a_check_that_raises_does_not_stop_the_others(machine: Machine) -> None:
    write(machine.proc / "loadavg", "nonsense")
    with machine.launcher:
        done = {check.name: check for check in run_checks(machine)}
    assert done["load"].state == "warn"
    assert "could not be checked" in done["load"].figure
    assert set(done) == set(CHECKS)


@pytest.mark.parametrize(
    ("text", "state"), [("performance", "ok"), ("powersave", "warn"), ("schedutil", "warn")]
)
def test_governor(machine: Machine, text: str, state: str) -> None:
    write(machine.sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor", text + "\n")
    assert checks.governor(machine).state == state


def test_an_unreadable_governor_is_ok(machine: Machine) -> None:
    assert checks.governor(machine).state == "ok"


def test_load_is_compared_with_the_number_of_cores(machine: Machine) -> None:
    write(machine.proc / "loadavg", "0.01 0.5 0.5 1/100 1")
    assert checks.load(machine).state == "ok"
    write(machine.proc / "loadavg", "900.00 0.5 0.5 1/100 1")
    assert checks.load(machine).state == "warn"


def test_pressure_may_be_absent(machine: Machine) -> None:
    assert checks.pressure(machine).state == "warn"
    write(machine.proc / "pressure/cpu", "some avg10=0.00 total=0")
    assert checks.pressure(machine).state == "ok"


@pytest.mark.parametrize(
    ("total", "free", "state"), [(0, 0, "ok"), (1000, 1000, "ok"), (1000, 400, "warn")]
)
def test_swap_in_use_is_a_warning(machine: Machine, total: int, free: int, state: str) -> None:
    write(machine.proc / "meminfo", f"SwapTotal: {total} kB\nSwapFree: {free} kB\n")
    assert checks.swap(machine).state == state


def test_little_memory_is_a_warning(machine: Machine) -> None:
    write(machine.proc / "meminfo", "MemTotal: 9 kB\nMemAvailable: 500000 kB\n")
    assert checks.free(machine).state == "warn"
    write(machine.proc / "meminfo", "MemAvailable: 5000000 kB\n")
    assert checks.free(machine).state == "ok"


def test_the_huge_page_setting_is_reported(machine: Machine) -> None:
    write(machine.sys / "kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
    assert checks.huge_pages(machine).figure == "always"


def test_a_missing_tool_is_reported_with_its_effect(machine: Machine) -> None:
    with machine.launcher:
        assert checks.tool(machine, "cargo").state == "warn"
        assert "instruction" in checks.tool(machine, "perf").meaning


def test_the_results_folder_need_not_exist(machine: Machine, tmp_path: Path) -> None:
    later = Machine(machine.launcher, {}, tmp_path / "not" / "yet", tmp_path)
    assert checks.results(later).state in {"ok", "warn"}
    assert not (tmp_path / "not").exists()


def test_each_text_of_a_check_is_used() -> None:
    files = (checks.__file__, settings.__file__)
    source = "".join(Path(file).read_text(encoding="utf-8") for file in files)
    of_folders = {"memory", "disk", "read-only"}
    for check, entries in table().items():
        cases = [name for name, texts in entries.items() if isinstance(texts, dict)]
        used = [case for case in cases if f'"{check}.{case}"' in source]
        assert used == cases or {*cases} == of_folders, check
        assert cases or check in CHECKS, check
        assert "passed" not in entries or check in CHECKS
