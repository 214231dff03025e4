"""Comparison of two records of one machine, calibrated by the cells that did not change."""

from collections.abc import Sequence
from typing import Final

from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import verdict_text
from bench_framework.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Document,
    Fallback,
    Row,
    Section,
    Table,
    left,
)
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.numbers import (
    DASH,
    SIZES,
    column_size,
    metric_unit,
    show_comparison,
    significant,
)
from bench_framework.report.sections.masthead import verdict_glossary
from bench_framework.report.table_cells import titled
from bench_framework.units import counted

DIGITS: Final = 4
"""The significant digits of a median. The ratio has the precision of the comparison."""
_ANCHOR_VERDICTS: Final = {
    Verdict.EQUIVALENT: "≡ unchanged",
    Verdict.INCONCLUSIVE: "? inconclusive",
}
_NAMES: Final = {
    WALL: "Time",
    CPU: "CPU time",
    "binary_size": "Binary size",
    "stripped_size": "Size without symbols",
}


def document(bridge: Bridge, name: str, question: str, unit_family: str) -> Document:
    """Return the page of ``benchctl compare RECORD_A RECORD_B``, which is always exploratory."""
    judged = [row for row in bridge.cells if row.role == "changed"]
    refused = (Verdict.NOT_COMPARABLE, Verdict.OTHER_OUTPUT)
    nothing = all(row.comparison.verdict in refused for row in judged)
    status = "not comparable" if judged and nothing else "exploratory"
    sessions = "two machines (--force)" if bridge.forced else "two sessions"
    return Document(
        title=name,
        question=question,
        status=status,
        facts=(("Earlier", bridge.before_id), ("Later", bridge.after_id)),
        trust=(),
        run_line=(
            f"{name}  {bridge.before_id} → {bridge.after_id}  {status}: {sessions}, so never a gate"
        ),
        sections=(
            Section("S10", "bridge", "Comparison of two records", _blocks(bridge, unit_family)),
        ),
        claims=bridge.claims,
        glossary=verdict_glossary(bridge.margin),
    )


def _blocks(bridge: Bridge, unit_family: str) -> tuple[Block, ...]:
    if not bridge.cells:
        return (
            Fallback("The records have no configuration in common: there is nothing to compare."),
            *_rest(bridge),
        )
    blocks: list[Block] = []
    claims = [claim for claim in bridge.claims if claim.text]
    if claims:
        blocks.append(Bullets(tuple(sentence(claim) for claim in claims)))
    for metric in list(dict.fromkeys(row.comparison.metric for row in bridge.cells)):
        rows = [row for row in bridge.cells if row.comparison.metric == metric]
        blocks.append(_table(bridge, metric, rows, unit_family))
    return (*blocks, *_rest(bridge))


def _rest(bridge: Bridge) -> tuple[Block, ...]:
    lines = []
    if bridge.remarks:
        lines.append(
            f"Also different, and corrected only by the anchors: {'; '.join(bridge.remarks)}."
        )
    if bridge.unmatched:
        lines.append(f"In one record only: {'; '.join(bridge.unmatched)}.")
    return tuple(Fallback(line) for line in lines)


def _table(bridge: Bridge, metric: str, rows: Sequence[BridgedCell], unit_family: str) -> Table:
    sizes = [v for row in rows for v in (row.before, row.after) if v]
    size = min(sizes, default=1.0)
    if metric in SIZES and sizes:
        size = column_size(max(sizes), sizes, unit_family)
    unit, scale = metric_unit(metric, size, unit_family)
    several = len({row.input for row in rows if row.input}) > 1
    columns = (
        Column("Configuration"),
        Column(titled("Record A", unit), "decimal", drop=2),
        Column(titled("Record B", unit), "decimal", drop=2),
        Column("Ratio", "decimal"),
        Column("CI", drop=1),
        *left("Role", "Verdict"),
    )
    return Table(
        f"bridge-{metric}",
        _caption(bridge, metric, rows),
        columns,
        tuple(_row(row, scale, metric, several=several) for row in rows),
        _legend(metric),
        sortable=False,
        stub=_NAMES.get(metric, metric),
    )


def _caption(bridge: Bridge, metric: str, rows: Sequence[BridgedCell]) -> str:
    name = _NAMES.get(metric, metric)
    sets = f"A is {bridge.before_id}, B is {bridge.after_id}; ratios are B ÷ A"
    if metric in ("binary_size", "stripped_size"):
        return f"{name} of each variant's binary: {sets}. Exact values, without an interval."
    anchored = sum(row.role == "anchor" for row in rows)
    return (
        f"{name}, medians of rounds: {sets}. Exploratory. "
        f"{counted(anchored, 'anchor')} with unadjusted 95\u202f% CIs; "
        f"{counted(bridge.family, 'comparison')} of changed configurations, Holm-adjusted, "
        f"family-wise level {bridge.level * 100:g}\u202f%."
    )


def _legend(metric: str) -> tuple[str, ...]:
    if metric in ("binary_size", "stripped_size"):
        return ()
    return (
        (
            "Anchor: a configuration with the same code, command and input in both records; its "
            "ratio is the measured one."
        ),
        "Changed: in each record its ratio to the anchors, round by round; the table shows B ÷ A.",
    )


def _row(row: BridgedCell, scale: float, metric: str, *, several: bool) -> Row:
    c = row.comparison
    ratio = show_comparison(c)
    name = f"{row.label}, {row.input}" if several and row.input else row.label
    role = row.role if row.role == "anchor" or not row.change else f"changed: {row.change}"
    verdict = verdict_text(c.verdict, metric)
    if row.role == "anchor" and c.statistic != "exact":
        verdict = _ANCHOR_VERDICTS.get(c.verdict, verdict if not c.verdict.decided else "⊘ changed")
    return Row.build(
        name,
        _median(row.before, scale),
        _median(row.after, scale),
        Cell(ratio.estimate, c.shown.ratio if c.shown else None) if ratio else DASH,
        ratio.bounds if ratio and c.statistic != "exact" else "",
        role,
        Cell(verdict, c.verdict.value, None, c.verdict),
        verdict=c.verdict,
        reason=c.reason,
    )


def _median(value: float | None, scale: float) -> Cell:
    return Cell(significant(value * scale, DIGITS), value) if value is not None else Cell(DASH)
