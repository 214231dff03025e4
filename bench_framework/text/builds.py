"""Words of the differences between two builds."""

from collections.abc import Iterable
from typing import Final

from bench_framework.model.facts.builds import Difference, SizeChange
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.text.names import first_items
from bench_framework.text.numbers import format_size
from bench_framework.units import MINUS

MOST_PACKAGES: Final = 8
MOST_PARTS: Final = 4


def setting(change: Difference) -> str:
    """Return a setting with both values: ``rustc 1.94.0 → 1.95.0``, or ``flags none → -Ctarget-cpu=native``."""
    values = (value.removeprefix(f"{change.name} ") for value in (change.reference, change.value))
    return f"{change.name} {' → '.join(value or 'none' for value in values)}"


def package(change: Difference) -> str:
    """Return a package with both versions: ``hashbrown 0.15.0 → 0.16.0``, ``new: memmap2 0.9.5``."""
    if change.reference and change.value:
        return f"{change.name} {change.reference} → {change.value}"
    return f"{'new' if change.value else 'gone'}: {change.name} {change.value or change.reference}"


def features(spec: BuildSpec) -> str:
    """Return the features of a build; empty for the default ones."""
    return ", ".join((*([] if spec.default_features else ["no default"]), *spec.features))


def profile(spec: BuildSpec) -> str:
    """Return the profile of a build, with the keys that the scenario sets."""
    return " ".join((spec.profile, *(f"{key}={value}" for key, value in spec.profile_keys)))


def packages(changes: Iterable[Difference]) -> str:
    """Return the first packages, and the number of the others."""
    return first_items([package(change) for change in changes], MOST_PACKAGES, ", ")


def sizes(changes: Iterable[SizeChange]) -> str:
    """Return the parts of a program with the largest differences: ``.text +12.0 KiB``."""
    words = [f"{change.name} {signed_size(change.difference)}" for change in changes]
    return first_items(words, MOST_PARTS, ", ")


def signed_size(difference: int) -> str:
    """Return the difference of two sizes: ``+12.0 KiB``."""
    return f"{MINUS if difference < 0 else '+'}{format_size(abs(difference))}"
