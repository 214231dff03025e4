"""Words of builds and of the differences between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.reasons import Difference
from bench_framework.model.record.run import Build, Preload, Training
from bench_framework.text.names import first_items
from bench_framework.text.numbers import format_size
from bench_framework.units import MINUS, counted

if TYPE_CHECKING:
    from bench_framework.model.facts.builds import SizeChange

MOST_PACKAGES: Final = 8
MOST_PARTS: Final = 4
_FACTS: Final = {
    "data_filesystem": "filesystem of the data",
    "results_filesystem": "filesystem of the records",
}
_MISSING: Final = {"environment": "nothing set", "virtualisation": "none"}


def setting(change: Difference) -> str:
    """Return a setting with both values: ``rustc 1.94.0 → 1.95.0``, or ``flags none → -Ctarget-cpu=native``."""
    values = (value.removeprefix(f"{change.name} ") for value in (change.reference, change.value))
    return f"{change.name} {' → '.join(value or 'none' for value in values)}"


def condition(change: Difference) -> str:
    """Return a fact of a machine with both values: ``kernel: 6.1.0 → 6.8.0``."""
    name, missing = _FACTS.get(change.name, change.name), _MISSING.get(change.name, "unknown")
    return f"{name}: {change.reference or missing} → {change.value or missing}"


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


def proof(preload: Preload) -> str:
    """Return what a run outside timing showed about a preloaded library."""
    return f"at least {counted(preload.allocations, 'allocation')} of the program reached it"


def evidence(training: Training) -> str:
    """Return what is known about a profile. It does not show that the compiler used it."""
    missing = "" if training.missing is None else f" and none for {training.missing}"
    return (
        f"the profile counts {training.functions} functions, one of them {training.largest} times; "
        "in local packages, the compiler found one that does not fit for "
        f"{training.mismatches} functions{missing}"
    )


def settings(build: Build, spec: BuildSpec | None) -> dict[str, str]:
    """Return the settings of a build that can change a program whose sources are the same."""
    settings = {
        **dict(build.tools),
        **dict(build.settings),
        "rustc": build.rustc,
        "compiler wrapper": build.wrapper,
        "linker": build.linker,
        "preloaded library": str(build.preload) if build.preload else None,
    }
    if spec is not None:
        commands = spec.by_commands
        settings |= {
            "features": features(spec),
            "profile": profile(spec),
            "flags": " ".join(spec.rustflags),
            "patches": ", ".join(PurePath(path).name for path in spec.patches),
            "profile-guided optimisation": "yes" if spec.pgo else None,
            "build commands": "; ".join(commands.lines) if commands is not None else None,
        }
    return {name: value for name, value in settings.items() if value}


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
