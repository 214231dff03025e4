"""Words of functions that differ between two configurations, and of the counts of their runs."""

from typing import Final

from bench_framework.model.facts.functions import CountChange, FunctionChange
from bench_framework.model.record.functions import ALLOCATOR, UNKNOWN
from bench_framework.text.numbers import grouped, is_factor, signed_percent, significant
from bench_framework.text.words import noun
from bench_framework.units import MINUS, THIN_SPACE

MOST_CALLED: Final = 1.05
"""Smallest ratio of the calls that a sentence names."""


def function_change(change: FunctionChange) -> str:
    """Return the change of a function's own instructions: ``+31 %``, ``7.0×``, ``new`` or ``gone``."""
    if not change.reference or not change.instructions:
        return "new" if change.instructions else "gone"
    return count_change(change.instructions / change.reference)


def count_change(ratio: float) -> str:
    """Return the ratio of two counts as a change, or as a factor if it is large: ``+31 %``, ``7.0×``."""
    return f"{significant(ratio, 2)}×" if is_factor(ratio) and ratio > 1 else signed_percent(ratio)


def name_of(change: FunctionChange) -> str:
    """Return the name of a function, also the former one; a phrase for the allocator, and functions without names."""
    if change.name == ALLOCATOR:
        return "the allocator"
    if change.name != UNKNOWN:
        return f"{change.name}, in place of {change.former}," if change.former else change.name
    return f"functions without symbols{f' of {change.module}' if change.module else ''}"


def calls_of(change: FunctionChange) -> str:
    """Return how much more often a function is called: ``2.0×``; empty if it is about as often."""
    return times_as_often(change.calls, change.reference_calls)


def times_as_often(count: int, reference: int) -> str:
    """Return the ratio of two counts, such as ``2.0×``; empty if it is about 1 or one side has none."""
    ratio = count / reference if count and reference else 1.0
    return "" if 1 / MOST_CALLED < ratio < MOST_CALLED else f"{significant(ratio, 2)}×"


def growth_of(count: CountChange) -> str:
    """Return the growth of a count with its noun: ``allocations +120 000``."""
    return f"{noun(count.metric)} {signed_count(count.value - count.reference)}"


def signed_count(difference: int) -> str:
    """Return the difference of two counts: ``+120 000``."""
    return f"{MINUS if difference < 0 else '+'}{grouped(abs(difference), THIN_SPACE)}"
