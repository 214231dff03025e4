"""Environment variables of the shell: recorded, reported, and compared with a second record."""

from dataclasses import replace

import pytest

from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.machine import format_variables, variables_of
from bench_framework.workflow.setup.remarks import variable_events
from tests.unit.judging.conftest import Study


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "RUST_BACKTRACE", "RUST_MIN_STACK"),
        *("MALLOC_CONF", "MALLOC_ARENA_MAX", "_RJEM_MALLOC_CONF", "MIMALLOC_LARGE_OS_PAGES"),
        *("RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "BLOCKING_MAX_THREADS", "SMOL_THREADS"),
        *("OMP_NUM_THREADS", "RUSTFLAGS", "CARGO_PROFILE_RELEASE_LTO"),
    ],
)
def test_variables_that_change_a_program_are_recorded(name: str) -> None:
    assert variables_of({name: "x", "PATH": "/bin"}) == ((name, "x"),)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_LD_PRELOAD"),
        *("LD_PRELOAD_", "RUSTUP_HOME"),
    ],
)
def test_other_variables_are_not_recorded(name: str) -> None:
    assert variables_of({name: "secret"}) == ()


def test_variables_are_reported_by_name_and_empty_ones_are_not() -> None:
    variables = variables_of({"RUSTFLAGS": "", "RAYON_NUM_THREADS": "1", "LD_PRELOAD": "a.so"})
    assert format_variables(variables) == "LD_PRELOAD=a.so, RAYON_NUM_THREADS=1"


def with_cells(plan: Plan, *envs: tuple[tuple[str, str], ...]) -> Plan:
    cells = tuple(
        Cell(f"c{n}", "v", "i", f"arm {n}", Role.CANDIDATE, (("prog",),), env=env)
        for n, env in enumerate(envs)
    )
    return replace(plan, cells=cells)


def test_a_variable_that_reaches_all_arms_is_a_note_and_one_that_reaches_some_a_warning() -> None:
    plan = Study().plan
    four = ("RAYON_NUM_THREADS", "4")
    outside = (("RAYON_NUM_THREADS", "1"),)
    (note,) = variable_events(with_cells(plan, (), ()), outside)
    assert (note.code, note.severity) == ("BX343", "note")
    assert "RAYON_NUM_THREADS=1 is set in the shell of benchctl" in note.message
    (warning,) = variable_events(with_cells(plan, (), (four,)), outside)
    assert (warning.code, warning.severity) == ("BX343", "warning")
    assert warning.effect == "variants may differ in it: the scenario sets it for arm 1 only"
    assert not [*variable_events(with_cells(plan, (four,), (four,)), outside)]
    assert not [*variable_events(with_cells(plan, (), ()), ())]
