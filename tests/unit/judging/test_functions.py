"""Functions that differ between two counted configurations, and what is named as their cause."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench_framework.compare.functions import changes_between
from bench_framework.model.facts.functions import FunctionChanges
from bench_framework.model.record.functions import (
    CallCount,
    FunctionCost,
    FunctionCounts,
    is_of_allocator,
)
from bench_framework.model.record.run import Observation
from bench_framework.text.write import render
from tests.build import require

Rows = Sequence[tuple[str, str, int, int]]
PLAIN: Rows = (
    ("tool::main", "", 100_000, 1),
    ("tool::parse", "", 700_000, 1000),
    ("alloc::vec::Vec::push", "", 100_000, 1000),
    ("malloc", "libc.so.6", 100_000, 1000),
)


def counts(
    cell: str, rows: Rows, run: int = 1, calls: Sequence[tuple[str, str, int]] = ()
) -> FunctionCounts:
    names = [row[0] for row in rows]
    edges = tuple(CallCount(names.index(a), names.index(b), n, 90 * n) for a, b, n in calls)
    return FunctionCounts(cell, run, tuple(FunctionCost(*row) for row in rows), edges)


def compared(
    new: Rows,
    old: Rows = PLAIN,
    *,
    later: Sequence[FunctionCounts] = (),
    new_calls: Sequence[tuple[str, str, int]] = (),
    old_calls: Sequence[tuple[str, str, int]] = (),
    allocations: tuple[int, int] = (1000, 1000),
) -> FunctionChanges:
    functions = [counts("new", new, calls=new_calls), counts("old", old, calls=old_calls), *later]
    observations = [
        Observation(cell, "instructions", 1, "", "valgrind", values={"allocations": float(number)})
        for cell, number in zip(("new", "old"), allocations, strict=True)
    ]
    return require(changes_between("new", "old", functions, observations))


def changed(**costs: tuple[int, int]) -> Rows:
    return [(n, m, *costs.get(n.split("::")[-1], (i, c))) for n, m, i, c in PLAIN]


def test_a_function_that_costs_more_is_named_with_its_share_of_the_difference() -> None:
    changes = compared(changed(parse=(900_000, 2000), main=(150_000, 1)))
    assert changes.ratio == 1.25
    assert [(c.name, c.difference, c.share) for c in changes.functions] == [
        ("tool::parse", 200_000, 0.8),
        ("tool::main", 50_000, 0.2),
    ]
    assert changes.rest == 0


def test_equal_programs_name_nothing_although_a_function_has_another_name() -> None:
    renamed = [("tool::read" if n == "tool::parse" else n, m, i, c) for n, m, i, c in PLAIN]
    changes = compared([*renamed, ("tool::tiny", "", 900, 3)])
    assert changes.same
    assert changes.rest == 900


def test_a_function_that_was_renamed_and_became_slower_is_one() -> None:
    new = [("tool::read" if n == "tool::parse" else n, m, i, c) for n, m, i, c in PLAIN]
    new = [(n, m, 2 * i if n == "tool::read" else i, c) for n, m, i, c in new]
    calls = {name: [("tool::main", f"tool::{name}", 1000)] for name in ("parse", "read")}
    changes = compared(new, new_calls=calls["read"], old_calls=calls["parse"])
    (change,) = changes.functions
    assert (change.name, change.former, change.difference) == ("tool::read", "tool::parse", 700_000)
    assert render("function_changes", changes) == (
        "instructions +70\u202f%: tool::read, in place of tool::parse, +100\u202f% (100\u202f% of the difference)"
    )
    # Functions that are called more often, or by others, or that several others resemble, are not one.
    for others in (
        [("tool::main", "tool::read", 1001)],
        [("alloc::vec::Vec::push", "tool::read", 1000)],
        [*calls["read"], ("tool::main", "tool::scan", 1000)],
    ):
        different = compared(
            [*new, ("tool::scan", "", 50_000, 1000)], new_calls=others, old_calls=calls["parse"]
        )
        assert {"tool::read", "tool::parse"} <= {c.name for c in different.functions}
        assert not any(c.former for c in different.functions)


def test_a_share_that_rounds_to_all_of_the_difference_has_no_remainder() -> None:
    changes = compared(changed(parse=(900_000, 1000), main=(99_500, 1)))
    assert changes.functions[0].share == pytest.approx(1.0025, abs=1e-4)
    assert render("function_changes", changes).endswith("(100\u202f% of the difference)")


def test_the_functions_of_an_iteration_have_no_share_because_those_of_libraries_are_left_out() -> (
    None
):
    functions = [
        replace(counts(cell, [("tool::parse", "", number, 1)]), left_out=left_out)
        for cell, number, left_out in (("new", 3800, 100), ("old", 1000, 2300))
    ]
    changes = require(changes_between("new", "old", functions, (), iteration=True))
    assert changes.iteration
    assert [(c.name, c.share) for c in changes.functions] == [("tool::parse", None)]
    assert render("function_changes", changes).startswith("in one iteration, instructions +18")
    same = require(changes_between("old", "old", functions, (), iteration=True))
    assert render("function_changes", same).startswith("one iteration executes the same")


def test_a_difference_within_what_repeated_counts_vary_is_not_named() -> None:
    varying = counts("old", [("tool::parse", "", 790_000, 1000)], run=2)
    new = changed(parse=(800_000, 1000), main=(130_000, 1))
    changes = compared(new, later=[varying, counts("new", (), run=2)])
    assert [c.name for c in changes.functions] == ["tool::main"]
    assert changes.rest == 100_000


def test_more_calls_of_a_library_come_from_the_function_of_the_program() -> None:
    old_calls = [
        ("tool::main", "alloc::vec::Vec::push", 1000),
        ("alloc::vec::Vec::push", "malloc", 1000),
    ]
    new_calls = [
        ("tool::main", "alloc::vec::Vec::push", 1000),
        ("tool::parse", "alloc::vec::Vec::push", 5000),
        ("alloc::vec::Vec::push", "malloc", 6000),
    ]
    new = changed(malloc=(600_000, 6000), push=(600_000, 6000))
    changes = compared(new, new_calls=new_calls, old_calls=old_calls, allocations=(6000, 1000))
    assert {(c.name, c.caller) for c in changes.functions} == {
        ("[allocator]", "tool::parse"),
        ("alloc::vec::Vec::push", "tool::parse"),
    }
    (count,) = changes.counts
    assert (count.metric, count.value, count.reference) == ("allocations", 6000, 1000)
    assert count.caller == "tool::parse"


def test_the_functions_of_the_allocator_are_one_in_a_sentence() -> None:
    inside = [("_int_malloc", "libc.so.6", 20_000, 1000), ("free", "libc.so.6", 30_000, 1000)]
    more = [("_int_malloc", "libc.so.6", 120_000, 3000), ("free", "libc.so.6", 90_000, 3000)]
    arena = [("je_arena_malloc_hard", "", 50_000, 10)]
    new = [*changed(malloc=(300_000, 3000), main=(250_000, 1)), *more, *arena]
    changes = compared(new, [*PLAIN, *inside], allocations=(3000, 1000))
    assert [(c.name, c.difference, c.module) for c in changes.functions] == [
        ("[allocator]", 410_000, "libc.so.6"),
        ("tool::main", 150_000, ""),
    ]
    assert render("function_changes", changes) == (
        "instructions +53\u202f%: the allocator 3.7× (73\u202f% of the difference), called 3.0× as often, and "
        "tool::main 2.5× (27\u202f% of the difference); allocations +2\u202f000"
    )


def test_a_crate_whose_name_begins_like_an_allocator_is_not_one() -> None:
    key = ("mi_file::read", "")
    assert not is_of_allocator(key)
    assert is_of_allocator(("mi_malloc", "libmimalloc.so"))
    assert is_of_allocator(
        ("<tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::alloc", "")
    )
    changes = compared([*PLAIN, (*key, 90_000, 1)])
    assert [c.name for c in changes.functions] == [key[0]]


INLINED: Rows = (*PLAIN, ("tool::put", "", 500_000, 1000))


def test_functions_that_cancel_are_not_named_if_others_explain_the_difference() -> None:
    split = [*changed(parse=(900_000, 2000)), ("tool::put_one", "", 490_000, 9000)]
    changes = compared(split, INLINED)
    assert {c.name: c.counterpart for c in changes.functions} == {
        "tool::put": "tool::put_one",
        "tool::put_one": "tool::put",
        "tool::parse": "",
    }
    assert sum(c.difference for c in changes.functions) == changes.instructions - changes.reference
    assert render("function_changes", changes) == (
        "instructions +13\u202f%: tool::parse +29\u202f% (105\u202f% of the difference), called 2.0× as often; "
        "other functions changed in the other direction"
    )


def test_functions_that_cancel_are_named_if_nothing_else_explains_the_difference() -> None:
    changes = compared([*PLAIN, ("tool::put_one", "", 550_000, 9000)], INLINED)
    assert not any(c.counterpart for c in changes.functions)
    assert "tool::put_one new" in render("function_changes", changes)
    # Two costs that are not almost the same are a difference, too.
    other = compared(
        [*changed(parse=(1_200_000, 2000)), ("tool::put_one", "", 400_000, 9)], INLINED
    )
    assert not any(c.counterpart for c in other.functions)


def test_a_function_cancels_with_its_caller_into_which_it_was_inlined() -> None:
    new = changed(main=(590_000, 1), parse=(900_000, 1000))
    called = [("tool::main", "tool::put", 1000)]
    names = {c.name for c in compared(new, INLINED, old_calls=called).net_functions}
    assert names == {"tool::parse"}
    without_call = {c.name for c in compared(new, INLINED).net_functions}
    assert without_call == {"tool::parse", "tool::main", "tool::put"}


def test_a_few_allocations_more_do_not_matter() -> None:
    assert compared(PLAIN, allocations=(1009, 1000)).same


def test_a_side_that_was_not_counted_gives_no_result() -> None:
    assert changes_between("new", "old", [counts("new", PLAIN)], []) is None
