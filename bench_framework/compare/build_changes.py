"""Differences between the builds of two programs (docs/method.md#builds-that-differ)."""

from collections.abc import Mapping, Sequence
from typing import Final

from bench_framework.model.facts.builds import BuildChanges, SizeChange
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.reasons import Difference
from bench_framework.model.record.run import Build
from bench_framework.text import builds as words

LEAST_BYTES: Final = 256
"""Smallest difference of a section or crate that is named; alignment alone can change a size by less."""


def changes_between(
    build: Build, spec: BuildSpec | None, reference: Build, ref_spec: BuildSpec | None
) -> BuildChanges | None:
    """Return what differs between two programs; `None` if they are one program, or one was not built.

    A side without a list of packages, sections or crates gives no difference in them.
    """
    program, ref_program = ((b.program_sha256, b.preload) for b in (build, reference))
    if not (build.ok and reference.ok) or program == ref_program:
        return None
    old, new = reference.stripped_bytes, build.stripped_bytes
    before, after = _packages(reference), _packages(build)
    return BuildChanges(
        settings=_differences(words.settings(reference, ref_spec), words.settings(build, spec)),
        packages=() if before is None or after is None else _differences(before, after),
        sections=_sizes(reference.sections, build.sections),
        crates=_sizes(reference.crates, build.crates),
        size=None if old is None or new is None else SizeChange("file", old, new),
    )


def _packages(build: Build) -> dict[str, str] | None:
    """Return the versions of the packages of a build; `None` if they are not known."""
    return dict(build.packages) if build.packages or build.dependencies == 0 else None


def _differences(
    reference: Mapping[str, str], changed: Mapping[str, str]
) -> tuple[Difference, ...]:
    """Return the names whose values differ, those of the reference first."""
    pairs = ((n, reference.get(n, ""), changed.get(n, "")) for n in {**reference, **changed})
    return tuple(Difference(*pair) for pair in pairs if pair[1] != pair[2])


def _sizes(
    reference: Sequence[tuple[str, int]], changed: Sequence[tuple[str, int]]
) -> tuple[SizeChange, ...]:
    """Return the parts whose sizes differ, the largest difference first; none if one side has no parts."""
    if not (reference and changed):
        return ()
    old, new = dict(reference), dict(changed)
    changes = (SizeChange(name, old.get(name, 0), new.get(name, 0)) for name in old | new)
    large = (change for change in changes if abs(change.difference) >= LEAST_BYTES)
    return tuple(sorted(large, key=lambda change: (-abs(change.difference), change.name)))
