"""Accepts the confirmed regressions of a gated record, in the file of accepted changes."""

import datetime as dt
import difflib
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bench_framework import errors
from bench_framework.execution.machine.host import utc_now
from bench_framework.execution.machine.lock import locked
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.gate_policy import accepted_text, selected, with_entries
from bench_framework.store import finding, layout
from bench_framework.store.records import Record, read_gate
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.gate import first_pass_folder

NEVER = "never"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Entries that were added to the file of accepted changes."""

    file: Path
    """The file of accepted changes."""
    entries: tuple[Mapping[str, str], ...]
    """The entries that were added."""
    diff: str
    """Unified diff of the file."""
    option: str
    """Value of `-S` by which a gate reads the file; empty if the scenario names one."""


def accept(
    results: Path,
    record: str = "@last",
    *,
    reason: str,
    until: str,
    only: str | None = None,
    metric: str | None = None,
    file: Path | None = None,
) -> Acceptance:
    """Accept the confirmed regressions of a gated record, up to the size that was measured.

    An entry of the same configurations and metric is replaced.

    Args:
        results: folder of the records.
        record: record with the files of a gate, or the record of its second measurement.
        reason: reason for accepting, which the gate prints.
        until: last day of the acceptance, such as ``2026-12-31``, or ``never``.
        only: selection of configurations, in the syntax of ``-k``.
        metric: metric of the regressions; `None`: all metrics.
        file: file of accepted changes; `None`: the one that the scenario names.

    Raises:
        UsageError: BX100, no reason, or `until` is not a date after today; BX112, the file cannot be
            read; BX120, there is nothing to accept, or no file is named.
        ScenarioError: BC113, `only` cannot be read.
        RecordError: BX413, the gate was not applied to the record.
    """
    if not reason.strip():
        raise errors.UsageError("BX100.reason-empty")
    _require_date(until, utc_now()[:10])
    folder = first_pass_folder(finding.resolve_measured(results, record))
    with Record.open(folder) as opened:
        plan = opened.plan
    proposed = _proposals(results, folder)
    chosen = None if only is None else set(selected(plan, only))
    entries = tuple(
        entry | {"reason": reason} | ({} if until == NEVER else {"until": until})
        for entry in proposed
        if metric in (None, entry["metric"])
        and (chosen is None or chosen.intersection(selected(plan, entry["cell"])))
    )
    if not entries:
        known = tuple(
            ("worse", phrase_of(PhraseCode.METRIC_OF, e["metric"], e["cell"])) for e in proposed[:5]
        )
        raise errors.UsageError(
            "BX120.no-regression",
            details=known,
            others=bool(proposed),
            folder=folder,
        )
    path = _file(plan, file)
    target = layout.output_path(path)
    # Without the lock, another process could write between reading and writing, and lose its entries.
    with layout.writing(target), locked(target.parent):
        before = accepted_text(path) if path.exists() else ""
        after = with_entries(before, path, plan, entries)
        layout.write_whole(target, after)
    name, old, new = os.path.relpath(path), before.splitlines(), after.splitlines()
    diff = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
    # A path in a scenario, also one given by -S, starts at the scenario's folder.
    from_scenario = os.path.relpath(path, Path(plan.scenario_path).parent)
    option = "" if plan.judge.gate.accepted else shlex.quote(f"gate.accepted={from_scenario}")
    return Acceptance(path, entries, "".join(f"{line}\n" for line in diff), option)


def _require_date(until: str, today: str) -> None:
    try:
        valid = until == NEVER or dt.date.fromisoformat(until).isoformat() == until >= today
    except ValueError:
        valid = False
    if not valid:
        raise errors.UsageError("BX100.not-a-date", until=until)


def _proposals(results: Path, folder: Path) -> list[dict[str, str]]:
    """Return the entries that ``gate.json`` proposes, without reason and last day."""
    document = read_gate(folder)
    if document is None:
        # The newest record is often of another scenario, or was measured without a gate.
        others = (f for f in reversed(finding.find_records(results)) if (f / layout.GATE).is_file())
        other = next((f"{f.parent.name}/{f.name}" for f in others if f != folder), "")
        raise errors.RecordError("BX413.no-gate", folder=folder, other=other)
    return [asdict(entry) for entry in document.accept]


def _file(plan: Plan, file: Path | None) -> Path:
    if file is not None:
        return file
    path = Path(plan.judge.gate.accepted)
    if not plan.judge.gate.accepted:
        raise errors.UsageError("BX120.no-accepted-file")
    if not path.parent.is_dir():
        raise errors.UsageError("BX120.accepted-file-elsewhere", path=path)
    return path
