"""The crate of a scenario, read from Cargo.toml without cargo, and what is built of it."""

import contextlib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.benches import BenchPolicy
from bench_framework.model.plan.build_spec import BUILTIN, BuildSpec
from bench_framework.model.plan.command_build import CommandBuild
from bench_framework.scenario import feature_groups, template
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.schema.worker import Pgo, Setting, Worker
from bench_framework.text.reasons import phrase

_DEPENDENCY_TABLES = ("dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Crate:
    """A package: name, features and binaries."""

    name: str
    features: tuple[str, ...]
    """Sorted names, with ``default`` and the implicit features of optional dependencies."""
    bins: tuple[str, ...]
    """Sorted names of the binary targets."""
    benches: Mapping[str, tuple[str, ...]]
    """Names of the bench targets, sorted, each with the features that it requires."""
    enables: Mapping[str, tuple[str, ...]]
    """Each feature of the manifest with what it enables."""


class CrateMissing(Exception):  # noqa: N818 -- checks turn it into a problem
    """A crate or package that does not exist. The reason states what is missing."""

    def __init__(
        self, reason: Phrase, *, package: bool = False, known: tuple[str, ...] = ()
    ) -> None:
        super().__init__(phrase(reason))
        self.package = package
        """True if the folder is a workspace and only the package is missing."""
        self.known = known
        """Packages of the workspace."""


def read_crate(folder: Path, package: str | None = None) -> Crate:
    """Return the crate in `folder`, or that package of its workspace. Raises `CrateMissing`."""
    manifest = _manifest(folder)
    try:
        name = manifest.get("package", {}).get("name")
        if name is None or package not in {None, name}:
            members = dict(_members(folder, manifest))
            if package not in members:
                reason = Phrase(FaultCode.SEVERAL_PACKAGES)
                if package:
                    reason = Phrase(FaultCode.NO_PACKAGE, package)
                raise CrateMissing(reason, package=True, known=tuple(sorted(members)))
            name, (folder, manifest) = package, members[package]
        features, bins = _features(manifest), _bins(folder, name, manifest)
        benches = dict(sorted(_benches(folder, manifest).items()))
        enables = {
            key: tuple(map(str, names)) for key, names in manifest.get("features", {}).items()
        }
        return Crate(name, tuple(sorted(features)), tuple(sorted(bins)), benches, enables)
    except (AttributeError, TypeError, ValueError) as error:  # such as `package = 3`
        raise CrateMissing(Phrase(FaultCode.MANIFEST_DAMAGED, str(error))) from None


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "Cargo.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        code = FaultCode.NO_MANIFEST if folder.is_dir() else FaultCode.NO_FOLDER
        raise CrateMissing(Phrase(code)) from None
    except (OSError, ValueError) as error:
        raise CrateMissing(Phrase(FaultCode.MANIFEST_DAMAGED, str(error))) from None


def _members(
    folder: Path, manifest: dict[str, Any]
) -> Iterator[tuple[str, tuple[Path, dict[str, Any]]]]:
    """Yield the name, folder and manifest of each package of a workspace."""
    for pattern in manifest.get("workspace", {}).get("members", []):
        for member in sorted(folder.glob(pattern)):
            with contextlib.suppress(CrateMissing):
                inner = _manifest(member)
                if name := inner.get("package", {}).get("name"):
                    yield name, (member, inner)


def _features(manifest: dict[str, Any]) -> set[str]:
    declared = manifest.get("features", {})
    tables = [
        table.get(key, {})
        for table in (manifest, *manifest.get("target", {}).values())
        for key in _DEPENDENCY_TABLES
    ]
    optional = {
        name
        for table in tables
        for name, spec in table.items()
        if isinstance(spec, dict) and spec.get("optional") is True
    }
    # A dependency that a feature lists as `dep:name` has no implicit feature.
    listed = {item for items in declared.values() for item in items}
    return {"default", *declared, *(name for name in optional if f"dep:{name}" not in listed)}


def _bins(folder: Path, name: str, manifest: dict[str, Any]) -> set[str]:
    entries = manifest.get("bin", [])
    names = {str(entry["name"]) for entry in entries if "name" in entry}
    if manifest["package"].get("autobins") is False:
        return names
    main = folder / "src" / "main.rs"
    if main.is_file() and not any(entry.get("path") == "src/main.rs" for entry in entries):
        names.add(name)
    names |= {path.stem for path in (folder / "src" / "bin").glob("*.rs")}
    names |= {path.parent.name for path in (folder / "src" / "bin").glob("*/main.rs")}
    return names


def _benches(folder: Path, manifest: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    entries = [entry for entry in manifest.get("bench", []) if "name" in entry]
    benches = {str(e["name"]): tuple(map(str, e.get("required-features", ()))) for e in entries}
    if manifest["package"].get("autobenches") is False:
        return benches
    paths = {str(entry.get("path")) for entry in entries}
    files = [*(folder / "benches").glob("*.rs"), *(folder / "benches").glob("*/main.rs")]
    for file in files:
        name = file.parent.name if file.parent.name != "benches" else file.stem
        if str(file.relative_to(folder)) not in paths:
            benches.setdefault(name, ())
    return benches


def bench_policy(scenario: Scenario) -> BenchPolicy | None:
    """Return the bench targets of a scenario, `None` without `bench`.

    `all` are those of the crate in its folder whose required features are enabled.
    """
    worker = scenario.spec.worker
    if worker.bench is None:
        return None
    targets = tuple(dict.fromkeys(worker.bench.target))
    if "all" in targets and worker.crate is not None:
        crate = read_crate(Path(scenario.resolve(worker.crate)), worker.package)
        targets = tuple(n for n, needed in crate.benches.items() if enabled(worker, crate, needed))
    measure = scenario.spec.measure
    unlimited = measure.budget is None and measure.rounds.max is None
    return BenchPolicy(targets, tuple(worker.bench.only), calculated=unlimited)


def enabled(worker: Worker, crate: Crate, needed: Collection[str]) -> bool:
    """Return whether a worker enables these features of its crate."""
    given = [*worker.features, *(["default"] if worker.default_features else [])]
    return set(needed) <= set(feature_groups.closure(crate.enables, given))


def bin_name(scenario: Scenario) -> str:
    """Return the given binary target or the crate's only one, empty without a crate.

    Of several bench targets, it is the first one.
    """
    worker = scenario.spec.worker
    if worker.bench is not None:
        try:
            policy = bench_policy(scenario)
        except CrateMissing:
            return ""
        return policy.targets[0] if policy and policy.targets else ""
    if worker.bin is not None or worker.registry is not None or worker.crate is None:
        return worker.bin or worker.registry or ""
    try:
        bins = read_crate(Path(scenario.resolve(worker.crate)), worker.package).bins
    except CrateMissing:
        return ""
    return bins[0] if len(bins) == 1 else ""


def build_of(
    scenario: Scenario, binary: str, settings: Sequence[Setting], values: Mapping[str, str]
) -> BuildSpec | None:
    """Return the build of a variant, or its own program; `None` for the program of the plan.

    `values` are those of the placeholders in `worker.build`.
    """
    worker = scenario.spec.worker
    allocators = [s.preload_allocator for s in settings if s.preload_allocator is not None]
    preload = allocators[-1] if allocators and allocators[-1] != "system" else ""
    preload = scenario.resolve(preload) if "/" in preload else preload
    if worker.command is not None:
        if not any(a.changes(("command", "preload_allocator")) for a in scenario.axes.values()):
            return None
        words = next((s.command for s in settings if s.command), worker.command)
        return BuildSpec(crate="", bin=scenario.resolve_program(words[0]), preload=preload)
    patches = tuple(scenario.resolve(s.patch) for s in settings if s.patch)
    if worker.build:

        def filled(text: str) -> str:
            return template.fill_text(text, values)

        return BuildSpec(
            crate=scenario.resolve(worker.sources or "."),
            bin=filled(str(worker.program)),
            revision=next((s.revision for s in reversed(settings) if s.revision), None),
            preload=preload,
            patches=patches,
            by_commands=CommandBuild(
                tuple(tuple(map(filled, words)) for words in worker.build),
                tuple(sorted((name, filled(text)) for name, text in worker.build_env.items())),
                tuple(map(filled, worker.runtime)),
            ),
        )
    profile, keys = "release", dict[str, str]()
    bench = worker.bench is not None
    default, toolchain, revision = worker.default_features, worker.toolchain, worker.rev
    features, flags, version = set(worker.features), list(worker.rustflags), worker.version
    dependencies: dict[str, str] = {}
    pgo: Pgo | None = None
    given = "bench" if bench and "profile" not in worker.model_fields_set else worker.profile
    for change in (given, *(setting.profile for setting in settings)):
        if isinstance(change, dict):
            keys |= change
        elif isinstance(change, str):
            profile = change
    for setting in settings:
        default = default and not setting.no_default_features
        toolchain, revision = setting.toolchain or toolchain, setting.revision or revision
        version = setting.version or version
        pgo = setting.pgo if "pgo" in setting.model_fields_set else pgo
        features |= set(setting.features)
        dependencies |= setting.dependencies
        flags += setting.rustflags
        flags += [f"-Ctarget-cpu={setting.target_cpu}"] if setting.target_cpu else []
        flags += [f"-Clink-arg=-fuse-ld={setting.linker}"] if setting.linker else []
    crate = worker.crate or ""
    return BuildSpec(
        crate=crate if crate in {"", BUILTIN} else scenario.resolve(crate),
        bin=binary,
        git=worker.git,
        package=worker.package,
        features=tuple(sorted(features)),
        default_features=default,
        profile=profile,
        profile_keys=tuple(sorted(keys.items())),
        rustflags=tuple(flags),
        toolchain=toolchain,
        revision=revision,
        registry=worker.registry or "",
        version=version or "",
        preload=preload,
        dependencies=tuple(sorted(dependencies.items())),
        patches=patches,
        pgo=pgo is not None,
        train=template.fill_words((pgo and pgo.train) or (), {}),
        bench=bench,
    )
