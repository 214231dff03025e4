"""Comparison of two records of one machine, calibrated by the cells that did not change."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell
from bench_framework.features.record_comparison.claims import record_claims
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import is_exact
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.verdict import Verdict
from bench_framework.report import blocks
from bench_framework.report.blocks import (
    Cell,
    Column,
    Document,
    MastheadLine,
    Row,
    Section,
    Table,
    left,
)
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.headline_table import metric_name
from bench_framework.report.sections.masthead import verdict_glossary
from bench_framework.report.table_cells import Scale, titled, value_cell
from bench_framework.text.builds import condition
from bench_framework.text.names import listed
from bench_framework.text.numbers import (
    DASH,
    SIZES,
    column_size,
    format_percent,
    metric_unit,
    show_comparison,
)
from bench_framework.text.reasons import phrase
from bench_framework.text.words import verdict_text
from bench_framework.units import counted

DIGITS: Final = 4
"""The significant digits of a median. The ratio has the precision of the comparison."""
_ANCHOR_VERDICTS: Final = {
    Verdict.EQUIVALENT: "≡ unchanged",
    Verdict.INCONCLUSIVE: "? inconclusive",
}
_PARTS: Final = {"unknown-code": "code not known"}
_LEGEND: Final = (
    (
        "Anchor: a configuration with the same code, command and input in both records; its "
        "ratio is the measured one."
    ),
    "Changed: in each record its ratio to the anchors, round by round; the table shows B ÷ A.",
)

_IN_ONE_RECORD: Final = (
    "The changed configurations are not compared: times of two sessions need a configuration that is the same in both "
    "records, and did not change. To compare two builds, measure both in the same rounds: `benchctl gate --base REV "
    "SCENARIO` builds two revisions, and `benchctl ab OLD NEW` compares two files."
)
_WITHOUT_ANCHOR: Final = frozenset(
    {
        ReasonCode.NO_ANCHOR,
        ReasonCode.ANCHOR_MOVED,
        ReasonCode.ANCHOR_UNCERTAIN,
        ReasonCode.ANCHOR_UNUSABLE,
    }
)


def document(bridge: Bridge, name: str, question: str, unit_family: str) -> Document:
    """Return the page of ``benchctl compare RECORD_A RECORD_B``, which is always exploratory."""
    judged = [row for row in bridge.cells if row.role == "changed"]
    refused = (Verdict.NOT_COMPARABLE, Verdict.OTHER_OUTPUT)
    nothing = all(row.comparison.verdict in refused for row in judged)
    status = "not comparable" if judged and nothing else "exploratory"
    sessions = "two machines (--force)" if bridge.forced else "two sessions"
    claims = record_claims(bridge)
    content = tuple(_blocks(bridge, claims, unit_family))
    return Document(
        title=name,
        question=question,
        status=status,
        masthead=(
            MastheadLine("Earlier", bridge.before_id),
            MastheadLine("Later", bridge.after_id),
        ),
        run_line=(
            f"{name}  {bridge.before_id} → {bridge.after_id}  {status}: {sessions}, so never a gate"
        ),
        sections=(Section("S10", "bridge", "Comparison of two records", content),),
        claims=claims,
        glossary=verdict_glossary(bridge.margin),
    )


def _blocks(bridge: Bridge, claims: Sequence[Claim], unit_family: str) -> Iterator[blocks.Block]:
    if not bridge.cells:
        yield blocks.Fallback(
            "The records have no configuration in common: there is nothing to compare."
        )
    elif written := [claim for claim in claims if claim.text]:
        yield blocks.Bullets(tuple(map(sentence, written)))
    for metric in dict.fromkeys(row.comparison.metric for row in bridge.cells):
        rows = [row for row in bridge.cells if row.comparison.metric == metric]
        yield _table(bridge, metric, rows, unit_family)
    timed = [r for r in bridge.cells if r.role == "changed" and not is_exact(r.comparison.metric)]
    reasons = {r.comparison.reason.code if r.comparison.reason else None for r in timed}
    if timed and reasons <= _WITHOUT_ANCHOR:
        yield blocks.Fallback(_IN_ONE_RECORD)
    if bridge.remarks:
        remarks = "; ".join(map(condition, bridge.remarks))
        yield blocks.Fallback(f"Also different, and corrected only by the anchors: {remarks}.")
    if bridge.unmatched:
        cells = (f"{cell.label} (only in {cell.record})" for cell in bridge.unmatched)
        yield blocks.Fallback(f"In one record only: {'; '.join(cells)}.")


def _table(bridge: Bridge, metric: str, rows: Sequence[BridgedCell], unit_family: str) -> Table:
    sizes = [v for row in rows for v in (row.before, row.after) if v]
    size = min(sizes, default=1.0)
    if metric in SIZES and sizes:
        size = column_size(max(sizes), sizes, unit_family)

    def unit_of(value: float) -> tuple[str, float]:
        return metric_unit(metric, value, unit_family)

    form = Scale(*unit_of(size), 0, unit_of, DIGITS)
    several = len({row.input for row in rows if row.input}) > 1
    columns = (
        Column("Configuration"),
        Column(titled("Record A", form.unit), "decimal", drop=2),
        Column(titled("Record B", form.unit), "decimal", drop=2),
        Column("Ratio", "decimal"),
        Column("CI", drop=1),
        *left("Role", "Verdict"),
    )
    name = metric_name(metric)
    sets = f"A is {bridge.before_id}, B is {bridge.after_id}; ratios are B ÷ A"
    caption = f"{name} of each variant's binary: {sets}. Exact values, without an interval."
    if not is_exact(metric):
        anchored = sum(row.role == "anchor" for row in rows)
        caption = (
            f"{name}, medians of rounds: {sets}. Exploratory. "
            f"{counted(anchored, 'anchor')} with unadjusted 95\u202f% CIs; "
            f"{counted(bridge.family, 'comparison')} of changed configurations, Holm-adjusted, "
            f"family-wise level {format_percent(bridge.level)}."
        )
    cells = tuple(_row(row, form, metric, several=several) for row in rows)
    legend = () if is_exact(metric) else _LEGEND
    anchor = f"bridge-{metric}"
    return Table(anchor, caption, columns, cells, legend, sortable=False, stub=name)


def _row(row: BridgedCell, form: Scale, metric: str, *, several: bool) -> Row:
    c = row.comparison
    ratio = show_comparison(c)
    name = f"{row.label}, {row.input}" if several and row.input else row.label
    change = listed(_PARTS.get(part, part) for part in row.change)
    role = f"{row.role}: {change}" if change else row.role
    verdict = verdict_text(c.verdict, metric)
    if row.role == "anchor" and c.statistic != "exact":
        verdict = _ANCHOR_VERDICTS.get(c.verdict, verdict if not c.verdict.decided else "⊘ changed")
    return Row.build(
        name,
        *(value_cell(v, form.text) for v in (row.before, row.after)),
        Cell(ratio.estimate, c.ratio.ratio if c.ratio else None) if ratio else DASH,
        ratio.bounds if ratio and c.statistic != "exact" else "",
        role,
        Cell(verdict, c.verdict.value, None, c.verdict),
        verdict=c.verdict,
        reason=phrase(c.reason),
    )
