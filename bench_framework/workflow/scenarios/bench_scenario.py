"""The scenario that `--bench` makes of the crate in the current folder."""

from collections.abc import Sequence

from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.revisions import MERGE_BASE
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.scenarios.crate_scenario import crate_folder
from bench_framework.workflow.scenarios.request import flow


def bench_scenario(targets: Sequence[str], only: Sequence[str], package: str | None) -> str:
    """Return a scenario with the benchmarks of the crate that contains the current folder.

    Raises `UsageError` (BX124): there is no crate.
    """
    folder = crate_folder()
    try:
        name = read_crate(folder, package).name
    except CrateMissing:
        name = package or folder.resolve().name  # the check of the scenario reports it
    bench = {"target": [*targets], **({"only": [*only]} if only else {})}
    worker = {"crate": str(folder), "bench": bench, **({"package": package} if package else {})}
    question = phrase_of(PhraseCode.SLOWER_BENCHMARK, name)
    lines = [
        "version: 1",
        f"name: {flow(f'{name}-benches')}",
        f"question: {flow(question)}",
        f"worker: {flow(worker)}",
        f"gate: {flow({'against': MERGE_BASE})}",
    ]
    return "\n".join(lines) + "\n"
