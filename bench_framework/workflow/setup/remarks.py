"""Remarks about the builds of a run and about the variables of the shell."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.machine import Variables
from bench_framework.model.record.run import Build, Event, Training
from bench_framework.text.builds import evidence, proof
from bench_framework.text.errors import new_event
from bench_framework.text.numbers import format_size
from bench_framework.text.reasons import phrase_of


def build_events(plan: Plan, builds: Sequence[Build]) -> Iterator[Event]:
    """Yield the remarks about each build, and the proof that its preloaded allocator was used."""
    for build in builds:
        uncopied = bool(build.files_sha256) and plan.measure.control
        if uncopied and build.id == plan.baseline.build_id:
            name = Path(str(build.path)).name
            reason = Phrase(FaultCode.USES_FOLDER)
            yield new_event("BX332", "note", program=name, reason=reason)
        labels = ", ".join(v.label for v in plan.variants if v.build_id == build.id)
        for remark in build.remarks:
            yield new_event("BX337", labels=labels, remark=remark)
        if (training := build.training) is not None:
            spec = next((s for s in plan.builds if s.id == build.id), None)
            plain = {s.id for s in plan.builds if spec and s == replace(spec, pgo=False, train=())}
            without = next((other for other in builds if other.id in plain), None)
            yield _trained(build, training, labels, without)
        if (preload := build.preload) is None:
            continue
        least = format_size(preload.least_peak_bytes)
        details = (("library", preload.path), ("sha256", preload.sha256), ("proof", proof(preload)))
        yield new_event(
            "BX336", "note", details=details, labels=labels, preload=preload, least=least
        )


def _trained(build: Build, training: Training, labels: str, plain: Build | None) -> Event:
    """Return the event of a build with PGO: a warning if its code is that of `plain`."""
    first, *others = training.commands
    more = len(others) or ""
    details = (
        *(("training", command) for command in training.commands),
        *(
            (phrase_of(PhraseCode.NOT_RUN), f"{command}: {reason}")
            for command, reason in training.skipped
        ),
        ("profile", phrase_of(PhraseCode.MERGED_BY, training.sha256, training.tool)),
        ("functions", evidence(training)),
    )
    if plain is not None and build.code_sha256 and build.code_sha256 == plain.code_sha256:
        return new_event("BX338.equal", details=details, labels=labels, first=first, more=more)
    return new_event("BX338", "note", details=details, labels=labels, first=first, more=more)


def variable_events(plan: Plan, variables: Variables) -> Iterator[Event]:
    """Yield event BX343 per shell variable: a note if it reaches all cells, else a warning."""
    for name, value in variables:
        cells = [cell for cell in plan.cells if name in dict(cell.env)]
        if len(cells) == len(plan.cells):
            continue
        if not cells:
            yield new_event("BX343.for-all", "note", name=name, value=value)
        else:
            labels = ", ".join(dict.fromkeys(cell.label for cell in cells))
            yield new_event("BX343.for-others", name=name, value=value, labels=labels)
