"""The section about the parts of time differences: which pairs it has, and how counters are printed."""

from dataclasses import replace

import pytest
from report_sample import judged_again, sample, with_judgement

from bench_framework.compare.causes import causes
from bench_framework.compare.samples import collect
from bench_framework.features.causes import section
from bench_framework.model.facts import Claim
from bench_framework.model.facts.causes import CounterDifference, TimePart, TwoDifferences
from bench_framework.model.record.run import Block, Receipt
from bench_framework.report.blocks import Box, Bullets, Table
from bench_framework.report.claim_blocks import recommended
from bench_framework.report.context import ReportData
from bench_framework.report.sections import summary
from bench_framework.text.causes import counter_text
from bench_framework.text.write import numbered


def rows_of(data: ReportData) -> list[list[str]]:
    (table,) = section.build(data)
    assert isinstance(table, Table)
    return [[cell.text for cell in row.cells] for row in table.rows]


def test_a_counter_that_differs_is_printed_with_both_values() -> None:
    data = sample()
    labels = {cell.id: data.plan.variant(cell.variant_id).label for cell in data.plan.cells}

    def counted(block: Block) -> Block:
        faults = 3791 if labels[block.cell_id] == "tokio+system" else 349
        return replace(block, receipts=(Receipt(counts={"minor_faults": faults}),))

    samples = collect(map(counted, data.blocks))
    differing = causes(data.plan, samples, data.judgement.comparisons)
    rows = rows_of(judged_again(data, causes=differing))
    texts = {row[0]: row[4:] for row in rows}
    faults = "minor page faults 3\u202f791 instead of 349"
    # Both are hypotheses that name no counter.
    assert texts["tokio+system against rayon+system, input 10MiB"] == [
        faults,
        f"two differences at once: {faults}",
    ]
    assert texts["rayon+jemalloc against rayon+system, input 10MiB"] == ["", "no second difference"]


def test_the_unexplained_rest_counts_parts_that_are_not_listed() -> None:
    data = sample()
    (evidence, *_) = (cause.evidence for cause in data.judgement.causes)
    shares = {"generate": 0.5, "write": 0.4, "wait": 0.04}
    parts = tuple(
        TimePart(name=name, kind="phase", value=1.0, reference=0.0, difference=share)
        for name, share in shares.items()
    )
    cause = replace(
        data.judgement.causes[0], evidence=replace(evidence, difference=1.0, parts=parts)
    )
    (row,) = rows_of(judged_again(data, causes=(cause,)))
    assert row[2:4] == ["generate 50\u202f%, write 40\u202f%", "6\u202f%"]


def test_bytes_are_printed_as_sizes() -> None:
    handled = CounterDifference(metric="handled_bytes", value=3 << 20, reference=1 << 20)
    assert counter_text(handled) == (
        "bytes that the worker reports 3.00\u202fMiB instead of 1.00\u202fMiB"
    )


def test_a_record_without_contrasts_has_no_section() -> None:
    data = sample()
    assert section.build(judged_again(data, causes=())) == ()


SECOND = TwoDifferences(
    name="the queue",
    counters=(CounterDifference(metric="minor_faults", value=3791, reference=349),),
)


@pytest.mark.parametrize(
    ("kind", "warned", "in_line"),
    [("recommendation", True, False), ("contrast", False, True), ("profile", False, False)],
)
def test_a_second_difference_is_where_its_pair_is(kind: str, warned: bool, in_line: bool) -> None:
    """The first screen warns of the pairs of answer and decision; a line has that of its own pair."""
    data = sample()
    claims = [*recommended(data)[:1], *summary.lines(data)]
    pairs = {claim.kind: claim.cells for claim in claims if len(claim.cells) == 2}
    others = tuple(cell.id for cell in data.plan.cells[:2])
    assert others not in pairs.values()
    second = Claim("a", "b", "wall", cells=pairs.get(kind, others), fact=SECOND)
    more = (*data.judgement.claims, *numbered([second], letter="second"))
    blocks = summary.build(with_judgement(data, claims=more))
    warnings = [b for b in blocks if isinstance(b, Box) and b.tone == "warning"]
    (lines,) = [b for b in blocks if isinstance(b, Bullets)]
    text = "Also different: minor page faults 3\u202f791 instead of 349."
    assert any("Two differences" in s.lead for box in warnings for s in box.sentences) is warned
    assert [line.text.endswith(text) for line in lines.items].count(True) == in_line
