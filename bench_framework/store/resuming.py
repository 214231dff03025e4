"""The record that a run continues, and the conditions that must not have changed."""

from collections.abc import Callable, Iterable
from pathlib import Path

from bench_framework.errors import RecordError
from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.machine import format_variables
from bench_framework.model.record.run import Build, Host, PreparedInput
from bench_framework.store import layout
from bench_framework.store.finding import find_records
from bench_framework.store.records import Record, plan_sha256
from bench_framework.text.reasons import phrase_of


def find_resumable(
    root: Path, plan: Plan, damaged: Callable[[Path, RecordError], object] = lambda *_: None
) -> Record | None:
    """Return the unfinished record that this plan continues, or `None` for a new record.

    It is the newest record of this plan, unless that is finished, or in use by another process. A completed
    measurement without a manifest was interrupted during the analysis or the report, so it is unfinished. If the plan
    has no record, it is the newest record of the scenario, if that is unfinished, has a complete round, and
    confirms the same record, if any. `require_same` then reports what changed.

    `damaged` is called if the newest record of the scenario is unfinished and cannot be read.
    """
    folders = find_records(root, plan.name)[::-1]
    digest, newest = plan_sha256(plan), None
    for path in folders:
        try:
            record = Record.open(path)
        except RecordError as error:
            if path == folders[0] and not (path / layout.MANIFEST).exists():
                damaged(path, error)
            continue
        if record.contents.header.plan_sha256 == digest:
            return record if _unfinished(record) else None
        if path == folders[0]:
            newest = record
    # A record without a complete round can be discarded. Its scenario may have been fixed since.
    if newest is None or newest.plan.confirms != plan.confirms or not newest.contents.rounds:
        return None
    return newest if _unfinished(newest) else None


def _unfinished(record: Record) -> bool:
    sealed = (record.path / layout.MANIFEST).is_file()
    finished = record.contents.complete and sealed
    return record.contents.host is not None and not finished and not layout.is_in_use(record.path)


def require_same(
    record: Record,
    plan: Plan,
    host: Host,
    builds: Iterable[Build],
    inputs: Iterable[PreparedInput] = (),
) -> bool:
    """Refuse to continue a record under other conditions, as its rounds would not be comparable.

    The result is false if conditions changed before the first complete round: the record has only the warm-up of
    other programs, and can be discarded.

    Raises `RecordError`: conditions changed (BX410). The message lists the changes.
    """
    changes = list(_changes(record, plan, host, builds, inputs))
    if changes and record.contents.rounds:
        what, before, now = changes[0]
        files = (record.plan.scenario_path, plan.scenario_path)
        if what == "scenario" and files[0] != files[1]:
            raise RecordError(
                "BX410.other-scenario",
                details=(
                    (phrase_of(FaultCode.ITS_FILE), files[0]),
                    (phrase_of(FaultCode.THIS_FILE), files[1]),
                ),
                path=record.path,
                name=plan.name,
            )
        raise RecordError(
            "BX410.other-conditions",
            details=tuple((name, f"{old} → {new}") for name, old, new in changes[1:]),
            what=what,
            before=before,
            now=now,
            command=plan.command if plan.scenario_path else "",
        )
    return not changes


def _changes(
    record: Record, plan: Plan, host: Host, builds: Iterable[Build], inputs: Iterable[PreparedInput]
) -> Iterable[tuple[str, str, str]]:
    header, old = record.contents.header, record.contents.host
    if header.scenario_sha256 != plan.scenario_sha256:
        yield "scenario", header.scenario_sha256[:12], plan.scenario_sha256[:12]
    elif header.plan_sha256 != plan_sha256(plan):
        yield "plan", header.plan_sha256[:12], plan_sha256(plan)[:12]
    if old is not None:
        for name in ("host_id", "kernel", "governor", "hyperfine"):
            before, now = getattr(old, name), getattr(host, name)
            if before != now:
                yield name.removesuffix("_id"), before or "unknown", now or "unknown"
        if old.variables != host.variables:
            yield (
                "environment",
                format_variables(old.variables) or phrase_of(FaultCode.NOTHING_SET),
                format_variables(host.variables) or phrase_of(FaultCode.NOTHING_SET),
            )
    digests = {item.input_id: item.sha256 for item in record.contents.inputs}
    for item in inputs:
        if (digest := digests.get(item.input_id)) is not None and digest != item.sha256:
            label = record.plan.input(item.input_id).label
            yield phrase_of(FaultCode.OF_INPUT, label), digest[:12], (item.sha256 or "none")[:12]
    known = record.contents.builds_by_id
    for build in builds:
        sides = (known.get(build.id, build), build)
        both = [(b.program_sha256, b.preload and b.preload.sha256) for b in sides]
        for what, before, now in zip(("binary", "allocator"), *both, strict=True):
            if before != now:
                name = phrase_of(FaultCode.OF_BUILD, what, build.id)
                yield name, (before or "none")[:12], (now or "none")[:12]
