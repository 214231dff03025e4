"""Checks of the worker against its Cargo.toml: folder, package, binary, cargo features."""

from collections.abc import Iterator
from pathlib import Path

from bench_framework import assets
from bench_framework.errors import Problem
from bench_framework.foreign import fault_of
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.build_spec import BUILTIN
from bench_framework.scenario import bundled
from bench_framework.scenario.crates import Crate, CrateMissing, bench_policy, enabled, read_crate
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path as Place, suggest
from bench_framework.scenario.scalars import list_names, similar


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `worker` and of the cargo features of axis values."""
    worker = scenario.spec.worker
    yield from _patches(scenario)
    program = worker.bin if worker.bench is None else worker.bench
    if worker.git is not None and program is None and "registry" not in scenario.lost:
        yield scenario.key_problem(("worker",), "BC107.git-without-bin")
    if worker.registry is not None and worker.version is None and "version" not in scenario.lost:
        axes = scenario.axes.values()
        if not any(all(s.version for s in axis.settings.values()) for axis in axes):
            yield scenario.key_problem(("worker",), "BC107.registry-without-version")
    if worker.build and not Path(scenario.resolve(sources := worker.sources or ".")).is_dir():
        place = ("worker", "sources" if worker.sources else "build")
        yield scenario.value_problem(place, "BC301.no-sources", sources=sources)
    if worker.crate is None:
        return
    if worker.crate == BUILTIN and worker.bin not in bundled.workers():
        place, key, known = ("worker", "bin"), "BC305.no-bundled-worker", bundled.workers()
        yield scenario.value_problem(place, key, bin=worker.bin, **similar(worker.bin, known))
        return
    try:
        if worker.crate == BUILTIN:
            crate = read_crate(assets.native_dir() / "crates" / str(worker.bin))
        else:
            crate = read_crate(Path(scenario.resolve(worker.crate)), worker.package)
    except CrateMissing as missing:
        yield _missing(scenario, missing)
        return
    yield from _bin(scenario, crate) if worker.bench is None else _benches(scenario, crate)
    if not any(setting.revision for _, setting in scenario.settings):
        yield from _features(scenario, crate)  # another revision may have other features


def _patches(scenario: Scenario) -> Iterator[Problem]:
    for place, setting in scenario.settings:
        if setting.patch is None:
            continue
        path = Path(scenario.resolve(setting.patch))
        if (fault := fault_of(path)) or not path.stat().st_size:
            yield scenario.value_problem(
                (*place, "patch"),
                "BC301.patch",
                patch=setting.patch,
                fault=fault or Phrase(FaultCode.EMPTY),
            )


def _missing(scenario: Scenario, missing: CrateMissing) -> Problem:
    worker = scenario.spec.worker
    if missing.package:
        place = ("worker", "package" if worker.package is not None else "crate")
        near, known = suggest(worker.package, missing.known), list_names(missing.known)
        key = "BC306.no-package" if near or known else "BC306.no-package-near"
        return scenario.value_problem(
            place, key, crate=worker.crate, missing=missing, near=near, known=known
        )
    return scenario.value_problem(
        ("worker", "crate"), "BC301.no-crate", crate=worker.crate, missing=missing
    )


def _bin(scenario: Scenario, crate: Crate) -> Iterator[Problem]:
    name = scenario.spec.worker.bin
    bins = ", ".join(crate.bins)
    if name is None and len(crate.bins) != 1:
        yield scenario.key_problem(("worker",), "BC305.choose-binary", crate=crate.name, bins=bins)
    elif name is not None and name not in crate.bins:
        near, place = suggest(name, crate.bins), ("worker", "bin")
        yield scenario.value_problem(
            place, "BC305.no-binary", crate=crate.name, bin=name, near=near, bins=bins
        )


def _benches(scenario: Scenario, crate: Crate) -> Iterator[Problem]:
    worker, place = scenario.spec.worker, ("worker", "bench")
    assert worker.bench is not None
    policy = bench_policy(scenario)
    if not crate.benches or (policy is not None and not policy.targets):
        needed = sorted({name for names in crate.benches.values() for name in names})
        bins = "" if needed else ", ".join(crate.bins)
        yield scenario.key_problem(
            place, "BC305.no-benches", crate=crate.name, needed=",".join(needed), bins=bins
        )
        return
    for name in worker.bench.target:
        if name != "all" and name not in crate.benches:
            yield scenario.value_problem(
                place,
                "BC305.no-bench",
                crate=crate.name,
                bench=name,
                **similar(name, crate.benches),
            )
        elif not enabled(worker, crate, crate.benches.get(name, ())):
            key, needed_text = "BC305.bench-without-features", ",".join(crate.benches[name])
            yield scenario.value_problem(place, key, bench=name, needed=needed_text)


def _features(scenario: Scenario, crate: Crate) -> Iterator[Problem]:
    worker = scenario.spec.worker
    folder = f"native/crates/{crate.name}" if worker.crate == BUILTIN else worker.crate
    parts: list[tuple[Place, list[str]]] = [(("worker",), worker.features)]
    parts += [(path, setting.features) for path, setting in scenario.settings]
    for path, features in parts:
        for index, name in enumerate(features):
            if name in crate.features or "/" in name:
                continue  # cargo checks `dependency/feature`
            yield scenario.value_problem(
                (*path, "features", index),
                "BC302",
                crate=crate.name,
                feature=name,
                folder=folder,
                **similar(name, crate.features),
            )
