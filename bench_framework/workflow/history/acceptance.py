"""Acceptance of regressions that a gate confirmed: new entries in the file that people review."""

import datetime as dt
import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_framework.errors import RecordError, UsageError
from bench_framework.execution.machine.host import utc_now
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.plan import Plan
from bench_framework.scenario.gate_policy import accepted_text, selected, with_entries
from bench_framework.store import finding, layout
from bench_framework.store.records import Record
from bench_framework.workflow.gate import first_pass_folder

NOTHING = "nothing was written"
NEVER = "never"
MISSING = "BX120"
"""Code: there is nothing to accept, or it is not known where to write it."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Entries that were added to the file of accepted changes."""

    file: Path
    entries: tuple[Mapping[str, str], ...]
    diff: str
    """Unified diff of the file."""


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
        raise UsageError("--reason is empty", effect=NOTHING, fix="write why it is accepted")
    _require_date(until, utc_now()[:10])
    folder = first_pass_folder(finding.resolve_measured(results, record))
    with Record.open(folder) as opened:
        plan = opened.plan
    proposed = _proposals(folder)
    chosen = None if only is None else {cell.id for cell in selected(plan, only)}
    entries = tuple(
        entry | {"reason": reason} | ({} if until == NEVER else {"until": until})
        for entry in proposed
        if metric in (None, entry["metric"])
        and (chosen is None or chosen & {cell.id for cell in selected(plan, entry["cell"])})
    )
    if not entries:
        known = tuple(("worse", f"{e['metric']} of {e['cell']}") for e in proposed[:5])
        message = f"{'no such' if proposed else 'no'} confirmed regression in the gate of {folder}"
        raise UsageError(message, code=MISSING, details=known, effect=NOTHING)
    path = _file(plan, file)
    target = layout.output_path(path)
    # Without the lock, another process could write between reading and writing, and lose its entries.
    with layout.writing(target), layout.locked(target.parent):
        before = accepted_text(path) if path.exists() else ""
        after = with_entries(before, path, plan, entries)
        layout.write_whole(target, after)
    name = os.path.relpath(path)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return Acceptance(path, entries, "".join(lines))


def _require_date(until: str, today: str) -> None:
    try:
        valid = until == NEVER or dt.date.fromisoformat(until).isoformat() == until >= today
    except ValueError:
        valid = False
    if not valid:
        message = f"--until {until} is not a date from today on"
        raise UsageError(
            message, effect=NOTHING, fix="write the last day as 2027-03-31, or `never`"
        )


def _proposals(folder: Path) -> list[dict[str, str]]:
    """Return the entries that ``gate.json`` proposes, without reason and last day."""
    try:
        document: Any = parse_json(read_regular(folder / "gate.json"))
        return [
            {key: str(item[key]) for key in ("cell", "metric", "level")}
            for item in document["accept"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(
            f"{folder} has no result of a gate of this version",
            code="BX413",
            effect=NOTHING,
            fix=f"apply the gate with `benchctl gate {folder}`",
        ) from error


def _file(plan: Plan, file: Path | None) -> Path:
    """Return the file to write. Raises `UsageError` (BX120): it is not known."""
    if file is not None:
        return file
    path = Path(plan.judge.gate.accepted)
    if not plan.judge.gate.accepted:
        message = "the scenario of the record names no file of accepted changes"
        fix = "add `gate: {accepted: accepted.yaml}` to the scenario, and write it with --file"
    elif not path.parent.is_dir():
        message = f"the file of accepted changes is on another machine: {path}"
        fix = "name the file of this checkout with --file"
    else:
        return path
    raise UsageError(message, code=MISSING, effect=NOTHING, fix=fix)
