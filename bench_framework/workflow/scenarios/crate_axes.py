"""The axes of the scenario that ``benchctl init`` writes for a crate: one to measure, others to propose."""

import contextlib
import json
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench_framework.execution.build.messages import Package
from bench_framework.execution.build.platforms import platform_of
from bench_framework.foreign import read_regular
from bench_framework.model.phrases import PhraseCode
from bench_framework.scenario import feature_groups
from bench_framework.scenario.feature_groups import Group
from bench_framework.text.reasons import phrase, phrase_of
from bench_framework.workflow.scenarios.release import Release
from bench_framework.workflow.scenarios.request import flow

Guesses = list[tuple[str, str]]
"""Subject and text of each guess about a crate."""
Settings = Mapping[str, Mapping[str, Any]]
"""The values of an axis; the first one is the baseline's."""
FAST: Final = {"lto": "off", "codegen-units": 16}
SLOW: Final = {"lto": "fat", "codegen-units": 1}
_LARGEST: Final = 1 << 20
"""Largest source file that is searched for `cfg`, in bytes."""
_MOST_FEATURES: Final = 8
"""Values of the proposed axis of further features."""
_PRELOADED: Final = ("system", "jemalloc", "mimalloc")
"""Values of the proposed axis of allocators that replace that of the program."""


def axes_of(
    package: Package, binary: str, release: Release | None, guesses: Guesses
) -> tuple[str, dict[str, Settings]]:
    """Return the question and the axes: one to measure, and others to propose as comments."""
    features = package.features
    absent = _absent_allocators(package)
    without_effect = {name for name in features if _enables_only(absent, features, name)}
    varied = {n: items for n, items in features.items() if n not in without_effect}
    groups = feature_groups.groups(varied, _sources(package.folder / "src"))
    axes: dict[str, Settings] = {}
    if release is not None and release.compared:
        axes["version"] = _versions(release)
    axes |= _alternatives(groups, features, guesses)
    allocators = _required_allocators(package, absent)
    texts = [phrase_of(PhraseCode.IS_DEPENDENCY, allocator) for allocator in allocators]
    texts += [phrase_of(PhraseCode.OTHER_PLATFORM, *item) for item in absent.items()]
    guesses += [(feature_groups.ALLOCATOR, text) for text in texts]
    question = phrase_of(PhraseCode.LINK_TIME, binary)
    if axes:
        question = phrase_of(PhraseCode.WHICH_VALUE, next(iter(axes)), binary)
    axes["profile"] = _profiles(package, guesses)
    grouped = {name for group in groups for name in group.features.values()}
    included = feature_groups.closure(features, ["default"]) | without_effect
    included |= {item for items in features.values() for item in items}
    included |= {n for n in features if feature_groups.closure(features, [n]) & grouped}
    if rest := [name for name in features if name not in included][:_MOST_FEATURES]:
        axes["features"] = {"default": {}, **{name: {"features": [name]} for name in rest}}
    if release is not None and release.given and release.earlier:
        axes["version"] = _versions(release)
    if not allocators and all(group.axis != feature_groups.ALLOCATOR for group in groups):
        axes[feature_groups.ALLOCATOR] = {n: {"preload-allocator": n} for n in _PRELOADED}
    measured, *proposed = axes
    baseline, *others = axes[measured]
    text = ", ".join((f"{baseline} (baseline)", *others))
    guesses.append(("axis", phrase_of(PhraseCode.WITH_VALUES, measured, text)))
    if proposed:
        code = PhraseCode.MORE_AXIS if len(proposed) == 1 else PhraseCode.MORE_AXES
        guesses.append(("more", phrase_of(code, ", ".join(proposed))))
    return question, axes


def _alternatives(
    groups: Sequence[Group], features: Mapping[str, Sequence[str]], guesses: Guesses
) -> dict[str, Settings]:
    """Return the axes of groups of features, and add a guess about each group."""
    axes: dict[str, Settings] = {}
    for group in groups:
        values = feature_groups.settings(group, features)
        names = ", ".join(values or group.features)
        text = phrase_of(PhraseCode.ALTERNATIVES, names, phrase(group.reason))
        if values:
            axes[group.axis] = values
        else:
            text = phrase_of(PhraseCode.NEEDED_ALTERNATIVES, text)
        guesses.append((group.axis, text))
    return axes


def _profiles(package: Package, guesses: Guesses) -> Settings:
    """Return the axis of profiles, and add a guess about the release profile."""
    given = _profile(package.root / "Cargo.toml")
    keys = {key: given[key] for key in SLOW if key in given}
    text = ", ".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    text = text or phrase_of(PhraseCode.DEFAULT_SETTINGS)
    guesses.append(("profile", phrase_of(PhraseCode.RELEASE_WITH, text)))
    slow = given.get("lto") in {True, "fat"} or given.get("codegen-units") == 1
    other = {"fast-build": {"profile": FAST}} if slow else {"fat-lto": {"profile": SLOW}}
    return {"release": {}, **other}


def _versions(release: Release) -> Settings:
    return {version: {"version": version} for version in (*release.earlier, release.version)}


def _absent_allocators(package: Package) -> dict[str, str]:
    """Return the dependencies with an allocator that only other platforms have, with their conditions."""
    allocators = [d for d in package.dependencies if feature_groups.allocator_of(d.name)]
    platform = platform_of(package.folder) if any(d.condition for d in allocators) else None
    present = {
        d.name
        for d in allocators
        if not d.condition or platform is None or platform.meets(d.condition)
    }
    return {d.name: d.condition for d in allocators if d.name not in present}


def _required_allocators(package: Package, absent: Collection[str]) -> list[str]:
    """Return the allocators that every build of a package has on this platform."""
    needed = (d.name for d in package.dependencies if not d.optional and d.name not in absent)
    return [name for name in map(feature_groups.allocator_of, needed) if name]


def _enables_only(
    dependencies: Collection[str], features: Mapping[str, Sequence[str]], name: str
) -> bool:
    """Return whether a feature enables some of these dependencies, directly or not, and nothing else."""
    reached = feature_groups.closure(features, [name])
    items = [item for feature in reached for item in features[feature] if item not in features]
    names = {item.removeprefix("dep:").partition("/")[0].removesuffix("?") for item in items}
    # A feature without items is for `cfg` in the sources.
    return bool(names) and names <= {*dependencies} and all(features[f] for f in reached)


def _profile(manifest: Path) -> dict[str, Any]:
    """Return the profile `release`; it is empty if Python cannot read the manifest, unlike cargo."""
    release: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        profiles = tomllib.loads(manifest.read_text(encoding="utf-8-sig")).get("profile", {})
        release = profiles.get("release", release)
    return release


def _sources(folder: Path) -> Iterable[str]:
    for path in sorted(folder.rglob("*.rs")):
        with contextlib.suppress(OSError):
            yield read_regular(path, _LARGEST).decode(errors="replace")


def lines_of(name: str, values: Settings) -> list[str]:
    """Return the lines of an axis."""
    return [f"{name}:", *(f"  {flow(key)}: {flow(value)}" for key, value in values.items())]
