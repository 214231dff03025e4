"""The gate policy of a plan: margins, selected cells, budgets, and the file of accepted changes."""

import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import ScenarioError, UsageError
from bench_framework.foreign import ABSENT, MAX_SCENARIO_BYTES, fault_of, read_regular
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import METRICS
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.declared_metrics import UNITS
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import BENCH_MARGINS, Accepted, Budget, GatePolicy
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Unreadable, YamlFile, is_null, parse
from bench_framework.scenario.scalars import Refused
from bench_framework.scenario.selection import BENCH_NAMES, meets_selection, select_cells
from bench_framework.units import parse_duration, parse_percent, parse_size

KEYS: Final = ("cell", "metric", "level", "reason", "until")
_ITEM: Final = re.compile(r"( *)- ")
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.%-]*")


def gate_policy(scenario: Scenario, plan: Plan, *, whole: bool = True) -> GatePolicy:
    """Return the gate policy of a scenario, with the cells of its plan.

    A plan that is not `whole`, but a selection of ``-k``, has the budgets of its cells only.
    """
    policy = scenario.spec.gate
    budgets = (
        replace(b, most=budget_limit(scenario, b), cell_ids=selected(plan, b.cells))
        for b in policy.budgets
    )
    return replace(
        policy,
        chosen=selected(plan, policy.cells) if policy.cells else None,
        budgets=tuple(b for b in budgets if whole or b.cell_ids),
        accepted=scenario.resolve(policy.accepted) if policy.accepted else "",
        usual=policy.usual if plan.benches is None else BENCH_MARGINS,
    )


def selected(plan: Plan, words: str) -> tuple[str, ...]:
    """Return the ids of the compared cells that a selection matches. Raises `ScenarioError` (BC113).

    Before the benchmarks of a plan are known, the conditions about them select all of its cells.
    """
    unknown = plan.benches is not None and not plan.benches.expanded
    cells = select_cells(plan, words, later=BENCH_NAMES if unknown else ())
    return tuple(cell.id for cell in cells if cell.role.compared)


def with_selected_benches(plan: Plan) -> Plan:
    """Return a plan with known benchmarks whose gate has only those that its selections match."""
    policy, given = plan.judge.gate, plan.benches

    def meeting(words: str, cell_ids: Sequence[str]) -> tuple[str, ...]:
        inputs = {id_: plan.input(plan.cell(id_).input_id) for id_ in cell_ids}
        return tuple(
            id_
            for id_, item in inputs.items()
            if item.bench is not None and meets_selection(words, item.bench, item.label)
        )

    chosen = None if policy.chosen is None else meeting(policy.cells or "", policy.chosen)
    budgets = (replace(b, cell_ids=meeting(b.cells, b.cell_ids)) for b in policy.budgets)
    whole = given is None or not given.selection
    limits = tuple(b for b in budgets if whole or b.cell_ids)
    gate = replace(policy, chosen=chosen, budgets=limits)
    return replace(plan, judge=replace(plan.judge, gate=gate))


def unit_of(scenario: Scenario, metric: str) -> str | None:
    """Return the unit of a metric, such as s or bytes, or `None` if it cannot have a budget."""
    if metric in METRICS:
        kind = METRICS[metric]
        return kind.unit if kind.judged != "shown" else None
    declared = scenario.spec.metrics.get(metric)
    return UNITS[declared.unit][0] if declared is not None else None


def budget_limit(scenario: Scenario, budget: Budget) -> float:
    """Return a limit in the metric's unit. Raises `Refused`: another unit, or not above zero."""
    unit, text = unit_of(scenario, budget.metric), budget.text
    try:
        if unit == "s":
            limit = parse_duration(text)
        elif unit == "bytes":
            limit = float(parse_size(text))
        else:
            limit = float(text.replace("_", ""))
    except ValueError:
        example = {"s": "1.2s", "bytes": "200MiB"}.get(unit or "", "12000000")
        raise Refused(
            "BC102.not-a-limit", text=text, metric=budget.metric, example=example
        ) from None
    if not 0 < limit < float("inf"):
        raise Refused("BC102.limit-not-positive", text=text)
    return limit


def read_accepted(path: Path, plan: Plan) -> tuple[Accepted, ...]:
    """Return the entries of a file, each with the cells of the plan that it selects.

    A name that the plan does not have is stored in `Accepted.unknown` and is not an error, because
    a scenario may change before the file does.

    A missing file of an existing folder has no entries: `baseline accept` creates it.

    Raises `UsageError` (BX112): the file cannot be read, its folder does not exist, or an entry is invalid.
    """
    if path.parent.is_dir() and fault_of(path) == ABSENT:
        return ()
    return _parsed(path, accepted_text(path), plan)


def accepted_text(path: Path) -> str:
    """Return the text of a file of accepted changes. Raises `UsageError` (BX112): unreadable."""
    try:
        return read_regular(path, MAX_SCENARIO_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or Phrase(FaultCode.NOT_UTF_8)
        raise _fault("BX112.not-readable", path, reason=reason) from error


def _parsed(path: Path, text: str, plan: Plan) -> tuple[Accepted, ...]:
    try:
        document = parse(text, str(path))
        problems = document.problems
    except Unreadable as unreadable:
        problems = [unreadable.problem]
    for problem in problems:
        line = problem.at.line if problem.at else None
        raise _fault("BX112.not-yaml", path, line, problem=problem.message)
    return tuple(
        _entry(path, item, document.place.at(("accepted", index)).value.line, plan)
        for index, item in enumerate(_items(path, document))
    )


def with_entries(text: str, path: Path, plan: Plan, entries: Sequence[Mapping[str, str]]) -> str:
    """Return the text of a file with these entries, which replace those of equal cells and metric.

    `text` is empty for a new file. Lines and comments of a list in block style are kept; one in flow
    style is written in block style. Raises `UsageError` (BX112): the text is invalid.
    """
    replaced = {(entry["cell"], entry["metric"]) for entry in entries}
    old = _parsed(path, text, plan) if text.strip() else ()
    others = [_fields(entry) for entry in old if (entry.cells, entry.metric) not in replaced]
    edited = _edited(text, old, replaced, entries)
    try:
        if [_fields(entry) for entry in _parsed(path, edited, plan)] == [*others, *entries]:
            return edited
    except UsageError:
        pass  # such as a list in flow style, or a line after the list
    key = re.search("^accepted:", text, re.MULTILINE)
    head = (text[: key.start()] if key else "") + "accepted:\n"
    written = head + "".join(_written(entry, "  ") for entry in (*others, *entries))
    _parsed(path, written, plan)
    return written


def _edited(
    text: str,
    old: Sequence[Accepted],
    replaced: set[tuple[str, str]],
    entries: Sequence[Mapping[str, str]],
) -> str:
    """Return a text with a list in block style, with these entries at its end."""
    lines = text.splitlines(keepends=True)
    starts = [int(entry.place.rpartition(":")[2]) - 1 for entry in old]
    match = _ITEM.match(lines[starts[0]]) if old else None
    indent = match[1] if match else "  "
    remaining = lines[: starts[0]] if old else lines
    for entry, start, end in zip(old, starts, [*starts, len(lines)][1:], strict=True):
        part = lines[start:end]
        if (entry.cells, entry.metric) in replaced:
            part = [line for line in part if line.lstrip().startswith("#")]
        remaining += part
    head = "".join(remaining).rstrip("\n") + "\n"
    return head + "".join(_written(entry, indent) for entry in entries)


def _fields(entry: Accepted) -> dict[str, str]:
    texts = (entry.cells, entry.metric, f"{entry.level * 100:.10g}%", entry.reason, entry.until)
    return {key: text for key, text in zip(KEYS, texts, strict=True) if text}


def _written(entry: Mapping[str, str], indent: str) -> str:
    """Return an entry in block style. Words and numbers need no quotes."""
    rows = (
        f"{key}: {text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)}\n"
        for key, text in entry.items()
    )
    return f"{indent}- " + f"{indent}  ".join(rows)


def _items(path: Path, document: YamlFile) -> list[Any]:
    data = document.data
    if not isinstance(data, dict) or set(data) != {"accepted"}:
        raise _fault("BX112.other-keys", path, 1)
    entries = data["accepted"]
    if is_null(entries):
        return []
    if not isinstance(entries, list):
        line = document.place.at(("accepted",)).value.line
        raise _fault("BX112.not-a-list", path, line)
    return entries


def _entry(path: Path, item: Any, line: int, plan: Plan) -> Accepted:
    if not isinstance(item, dict):
        raise _fault("BX112.not-a-mapping", path, line)
    texts = {key: str(text) for key, text in item.items() if isinstance(text, str) and text.strip()}
    for key in (key for key in item if key not in KEYS):
        raise _fault("BX112.unknown-key", path, line, key=key)
    for key in (key for key in KEYS[:4] if key not in texts):
        raise _fault("BX112.missing-key", path, line, key=key)
    until = item.get("until", "")
    try:
        level = parse_percent(texts["level"])
        if until and dt.date.fromisoformat(until).isoformat() != until:
            raise ValueError(until)  # noqa: TRY301 -- 20261231 is a date, too, but it is compared as text
    except (ValueError, TypeError):
        raise _fault("BX112.level-or-date", path, line) from None
    unknown = ""
    try:
        ids = selected(plan, texts["cell"])
    except ScenarioError as error:
        ids, unknown = (), error.problems[0].message
    place = f"{path.name}:{line}"
    metric, reason = texts["metric"], texts["reason"]
    return Accepted(texts["cell"], metric, level, reason, str(until), place, ids, unknown)


def _fault(key: str, path: Path, line: int | None = None, /, **values: Any) -> UsageError:
    file = f"{path}:{line}" if line else str(path)
    return UsageError(key, details=(("file", file),), **values)
