"""Calls of allocators and grouped functions, as read from files of callgrind."""

import re

import pytest

from bench_framework.execution.benches import HARNESSES
from bench_framework.execution.counting.callgrind import FunctionCosts, differing
from bench_framework.execution.symbols import grouped_name
from bench_framework.model.record.functions import CallCount, FunctionCost
from tests.build import require

HEAD = "events: Ir sysCount sysTime\nsummary: 9670 7 1\n"
PROGRAM = """
ob=(1) /bin/tool
fn=(1) tool::main
1 500
cfn=(2) __rustc::__rust_alloc
calls=300 0
1 9000
cob=(2) /lib/libc.so.6
cfn=(3) free
calls=290 0
1 600
cob=(2)
cfn=(4) write
calls=7 0
1 70 7 1
fn=(2)
1 3000
cob=(2)
cfn=(5) malloc
calls=300 0
1 6000
fn=(6) <tool::Map<u8>>::get::{closure#3}
1 40
fn=(7) <tool::Map<u16>>::get::{closure#0}
1 60
"""
ITERATION = """
ob=(1) /bin/bench
fn=(1) bench::main
1 700
cfn=(2) tool::prepare
calls=1 0
1 4000
cfn=(3) criterion::bencher::Bencher<M>::iter
calls=1 0
1 1500
fn=(2)
1 4000
fn=(3)
1 20
cfn=(4) tool::parse
calls=3 0
1 1480
cfn=(6) criterion::time::now
calls=2 0
1 9000
fn=(6)
1 9000
fn=(4)
1 500
cob=(2) /lib/libc.so.6
cfn=(5) malloc
calls=3 0
1 980
"""
LIBC = """
ob=(2)
fn=(5)
1 6000
fn=(8) getdelim
1 5
cfn=(9) realloc
calls=4 0
1 40
fn=(4)
1 63 7 1
"""
JEMALLOC = """
ob=(1) /bin/tool
fn=(1) tool::main
1 500
cfn=(2) _rjem_malloc
calls=20 0
1 9000
fn=(2)
1 20
cfn=(3) _rjem_je_arena_malloc
calls=19 0
1 9000
cfn=(4) _rjem_calloc
calls=5 0
1 50
"""


def costs_of(text: str) -> FunctionCosts:
    costs = FunctionCosts()
    costs.read((HEAD + text).splitlines(keepends=True))
    return costs


def test_misses_and_cycles_are_estimated_from_the_events_of_all_processes() -> None:
    """The weights are those of KCachegrind's CEst: 10 for a first-level miss, 100 for one of the last level."""
    head = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw sysCount sysTime\n"
    costs = FunctionCosts()
    for _ in range(2):
        costs.read([head, "summary: 1000 300 200 5 30 20 4 3 2 7 1\n", "fn=(1) main\n", "1 1000\n"])
    assert costs.counters() == {
        "system_calls": 14.0,
        "d1_misses": 100.0,
        "ll_misses": 18.0,
        "estimated_cycles": 2000.0 + 10 * 110 + 100 * 18,
    }
    assert costs_of(PROGRAM).counters().keys().isdisjoint({"d1_misses", "estimated_cycles"})


def test_calls_by_the_program_count_and_those_within_the_allocator_and_libc_do_not() -> None:
    assert costs_of(PROGRAM + LIBC).counters() == {
        "allocations": 300.0,
        "reallocations": 0.0,
        "deallocations": 290.0,
        "system_calls": 7.0,
    }
    assert costs_of(JEMALLOC).counters()["allocations"] == 20.0


def test_an_allocator_that_is_not_visible_is_unknown_and_not_zero() -> None:
    # Only libc calls its allocator: that of the program has no symbols, or is inlined.
    hidden = PROGRAM.replace("__rustc::__rust_alloc", "0x00001000").replace("free", "0x00002000")
    hidden = hidden.replace("cfn=(5) malloc", "cfn=(5) tool::inlined")
    assert costs_of(hidden + LIBC).counters() == {"system_calls": 7.0}


def test_the_functions_of_an_iteration_are_those_below_the_functions_of_the_harness() -> None:
    costs = FunctionCosts()
    costs.read((HEAD + ITERATION).splitlines())
    harness = re.compile("criterion::bencher::")
    counted = require(costs.of_iteration("c", 1, "bench", harness, "criterion"))
    assert counted.functions == (
        FunctionCost("tool::parse", "", 500, 3),
        FunctionCost("criterion::bencher::Bencher::iter", "", 20, 1),
    )
    # The iteration calls malloc. What the harness does in it, or before it, is not in the record.
    assert counted.left_out == 980
    assert costs.of_iteration("c", 1, "bench", re.compile("divan::"), "divan") is None


def test_the_function_of_divan_into_which_an_iteration_is_inlined_is_counted() -> None:
    iterates = HARNESSES["divan"].iterates
    assert iterates.match("divan::thread_pool::TaskShared::new::call")
    assert not iterates.match("divan::thread_pool::ThreadPool::drop_threads")


def test_copies_of_a_generic_function_are_one_and_the_program_has_no_module() -> None:
    counts = costs_of(PROGRAM + LIBC).counted("a", 1, "tool")
    by_name = {cost.name: cost for cost in counts.functions}
    assert by_name["tool::Map::get::{closure}"] == ("tool::Map::get::{closure}", "", 100, 0, 0)
    assert by_name["write"] == FunctionCost("write", "libc.so.6", 63, 7, 7)
    names = [cost.name for cost in counts.functions]
    edge = CallCount(names.index("tool::main"), names.index("__rustc::__rust_alloc"), 300, 9000)
    assert edge in counts.calls
    assert sum(c.instructions for c in counts.functions) + counts.left_out == 9668
    again = costs_of((PROGRAM + LIBC).replace("\n1 500\n", "\n1 501\n")).counted("a", 2, "tool")
    assert [cost.name for cost in differing(again, counts).functions] == ["tool::main"]


@pytest.mark.parametrize(
    ("name", "grouped"),
    [
        (
            "<alloc::raw_vec::RawVec<alloc::vec::Vec<u8>>>::grow_one",
            "alloc::raw_vec::RawVec::grow_one",
        ),
        ("alloc::vec::Vec<T,A>::push", "alloc::vec::Vec::push"),
        ("<a::B<u8> as core::ops::Fn<(u8,)>>::call::<x::Y<z>>", "<a::B as core::ops::Fn>::call"),
        ("<T as a::Tr>::f::{closure#1}::{{closure}}", "<T as a::Tr>::f::{closure}::{closure}"),
        ("core::ptr::drop_in_place<dyn core::ops::Fn(u8) -> u8>", "core::ptr::drop_in_place"),
        ("__memmove_avx_unaligned_erms", "memmove"),
        ("grow.part.0", "grow"),
        ("std::operator<< <char>(std::ostream&)", "std::operator<< <char>(std::ostream&)"),
        ("a < b", "a < b"),
    ],
)
def test_a_grouped_name_has_no_generic_parameters(name: str, grouped: str) -> None:
    assert grouped_name(name) == grouped
