"""The scenario that `--bench` makes of the crate in the current folder."""

from collections.abc import Sequence
from pathlib import Path

from bench_framework.model.plan.invocation import CrateSelection
from bench_framework.model.plan.revisions import MERGE_BASE
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.workflow.scenarios.crate_scenario import crate_above
from bench_framework.workflow.scenarios.request import flow, unfit


def bench_scenario(targets: Sequence[str], only: Sequence[str], selection: CrateSelection) -> str:
    """Return a scenario with the benchmarks of a crate, which is above the current folder by default.

    Raises `UsageError` (BX124): there is no crate.
    """
    folder = selection.crate or crate_above(Path.cwd()) or Path.cwd()
    if not (folder / "Cargo.toml").is_file():
        raise unfit("BX124.not-a-crate", crate=folder)
    package = selection.package
    try:
        name = read_crate(folder, package).name
    except CrateMissing:
        name = package or folder.resolve().name  # the check of the scenario reports it
    bench = {"target": [*targets], **({"only": [*only]} if only else {})}
    worker = {"crate": str(folder), "bench": bench, **({"package": package} if package else {})}
    lines = [
        "version: 1",
        f"name: {flow(f'{name}-benches')}",
        f"question: {flow(f'Has a benchmark of {name} become slower?')}",
        f"worker: {flow(worker)}",
        f"gate: {flow({'against': MERGE_BASE})}",
    ]
    return "\n".join(lines) + "\n"
