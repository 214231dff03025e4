"""The scenario of the benchmarks of a crate: that of `--bench`, and the file of `init` for a library."""

import os
from collections.abc import Sequence
from typing import Any

from bench_framework.errors import UsageError
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.revisions import MERGE_BASE
from bench_framework.scenario.crates import CrateMissing, read_crate
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.scenarios.crate_scenario import (
    BENCHES,
    Ask,
    CrateOptions,
    Draft,
    crate_folder,
)
from bench_framework.workflow.scenarios.request import flow


def bench_scenario(targets: Sequence[str], only: Sequence[str], package: str | None) -> str:
    """Return a scenario with the benchmarks of the crate that contains the current folder.

    Raises `UsageError` (BX124): there is no crate.
    """
    try:
        folder = crate_folder()
    except UsageError as error:
        error.amend("BX124.of-benches")
        raise
    try:
        name = read_crate(folder, package).name
    except CrateMissing:
        name = package or folder.resolve().name  # the check of the scenario reports it
    bench = {"target": [*targets], **({"only": [*only]} if only else {})}
    return _text(name, str(folder), bench, package)


def draft_of_benches(options: CrateOptions, ask: Ask | None = None) -> Draft | None:
    """Return a scenario for all benchmarks of a crate, `None` without benchmarks and with a command.

    If the crate has a binary, too, `ask` is called for what to measure.

    Raises `UsageError` (BX124): the folder is not a crate.
    """
    if any(v is not None for v in (options.words, options.input, options.binary, options.registry)):
        return None
    folder = crate_folder(options.crate)
    try:
        crate = read_crate(folder, options.package)
    except CrateMissing:
        return None  # `draft_scenario` reports it
    choices = BENCHES, "binary"
    if not crate.benches:
        return None
    if crate.bins and ask and ask(phrase_of(PhraseCode.MEASURED_PART), choices, BENCHES) != BENCHES:
        return None
    place = os.path.relpath(folder, options.folder.resolve())
    text = _text(crate.name, place, "all", options.package)
    guesses = [("package", crate.name), (BENCHES, ", ".join(crate.benches))]
    if crate.bins:
        guesses.append((choices[1], phrase_of(PhraseCode.BINARY_LEFT_OUT, ", ".join(crate.bins))))
    return Draft(f"{crate.name}-benches", text, guesses, ("gate",))


def _text(name: str, folder: str, bench: Any, package: str | None) -> str:
    worker = {"crate": folder, "bench": bench, **({"package": package} if package else {})}
    question = phrase_of(PhraseCode.SLOWER_BENCHMARK, name)
    lines = [
        "version: 1",
        f"name: {flow(f'{name}-benches')}",
        f"question: {flow(question)}",
        f"worker: {flow(worker)}",
        f"gate: {flow({'against': MERGE_BASE})}",
    ]
    return "\n".join(lines) + "\n"
