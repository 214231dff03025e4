"""Section "Scaling": exponents of the main metric between neighbouring input sizes."""

import itertools
from typing import Final

from bench_framework.model.facts import Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Input, Variant
from bench_framework.model.result.judgement import Scaling, Summary
from bench_framework.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    KeyFinding,
    Paragraph,
    Point,
    Row,
    Table,
    left,
)
from bench_framework.report.claim_blocks import key_claim, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import metric_name
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import Scale, scale_of, titled
from bench_framework.text.numbers import DASH, shortest, show_plain

UNCLASSIFIED: Final = "not classified"
"""Word of an exponent of two sizes."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the plot of times, the medians by size, the exponents and the sentences about them."""
    exponents = [s for s in data.judgement.scaling if s.metric == data.metric]
    if not exponents:
        return ()
    inputs = _inputs(data, exponents)
    ids = {s.variant_id for s in exponents}
    variants = [variant for variant in data.plan.variants if variant.id in ids]
    times = _times(data, inputs, variants)
    # Throughput is size ÷ elapsed time, so other metrics have no plot.
    plotted = data.metric == WALL
    plots = [_figure(data, inputs, variants, exponents, times)] if plotted else []
    sentences = tuple(map(sentence, _claims_of_one_variant(data)))
    blocks: list[Block] = [*plots, times, _exponents(data, exponents)]
    blocks += [KeyFinding(first) for first in sentences[:1]]
    blocks += [Paragraph(sentences[1:])] if sentences[1:] else []
    return tuple(blocks)


def _claims_of_one_variant(data: ReportData) -> list[Claim]:
    """Return the claims of the main claim's variant or the baseline, in the order of the sizes."""
    claims = [c for c in data.claims("scaling") if c.metric == data.metric]
    mains = [c.subject for item in data.plan.inputs if (c := key_claim(data, item)) is not None]
    labels = (*reversed(mains), data.plan.baseline.label)
    by_variant = ([c for c in claims if c.subject == label] for label in labels)
    return next(filter(None, by_variant), claims[:1])


def _inputs(data: ReportData, exponents: list[Scaling]) -> list[Input]:
    ids = {i for s in exponents for i in (s.from_input_id, s.to_input_id)}
    return sorted(
        (item for item in data.plan.inputs if item.id in ids),
        key=lambda item: data.input_bytes(item.id) or 0,
    )


def _summary(data: ReportData, variant: Variant, item: Input) -> Summary | None:
    return data.summary(data.plan.cell_id(variant.id, item.id), data.metric)


def _form(data: ReportData, item: Input, variants: list[Variant]) -> Scale:
    """Return the scale of an input's column, chosen from the row of the baseline."""
    summaries = [s for v in variants if (s := _summary(data, v, item)) is not None]
    baseline = getattr(data.plan.baseline_cell(item.id), "id", None)
    size = next((s.median for s in summaries if s.cell_id == baseline), None)
    return scale_of(data, data.metric, summaries, size)


def _times(data: ReportData, inputs: list[Input], variants: list[Variant]) -> Table:
    forms = [(item, _form(data, item, variants)) for item in inputs]
    columns = (
        Column("Variant"),
        *(Column(titled(data.input_name(item), form.unit), "decimal") for item, form in forms),
    )
    rows = [
        Row.build(
            variant.label,
            *(form.cell(_summary(data, variant, item)) for item, form in forms),
            baseline=data.is_baseline(variant.id),
        )
        for variant in variants
    ]
    caption = f"{metric_name(data.metric)} by input size: median of rounds."
    return Table("scaling-times", caption, columns, tuple(rows))


def _exponents(data: ReportData, exponents: list[Scaling]) -> Table:
    rows = []
    for s in exponents:
        text = show_plain(s.exponent, s.lo, s.hi)
        ends = (data.plan.input(i) for i in (s.from_input_id, s.to_input_id))
        rows.append(
            Row.build(
                data.plan.variant(s.variant_id).label,
                *(Cell(data.input_name(item), data.input_bytes(item.id)) for item in ends),
                Cell(text.estimate, s.exponent),
                Cell(text.bounds, s.lo),
                Cell(DASH if s.word == UNCLASSIFIED else s.word, s.word),
                _rounds(data, s),
                baseline=data.is_baseline(s.variant_id),
            )
        )
    level = " to ".join(shortest(100 * level, 3) for level in sorted({s.level for s in exponents}))
    columns = (
        *left("Variant", "From", "To"),
        Column("Exponent", "decimal"),
        *left(f"{level} % interval", "Scaling"),
        Column("n", "right", drop=1),
    )
    caption = (
        "Scaling exponent between neighbouring sizes of one generator and seed: 1 is proportional. "
        f"“Linear”: the whole interval is within [0.95, 1.05]. {len(exponents)} exponents; the "
        "intervals are not adjusted for their number."
    )
    unclassified = "With two sizes the scaling is not classified: that needs a third size."
    legend = (unclassified,) if any(s.word == UNCLASSIFIED for s in exponents) else ()
    return Table("scaling-exponents", caption, columns, tuple(rows), legend)


def _rounds(data: ReportData, s: Scaling) -> str:
    arms = (cell for i in (s.from_input_id, s.to_input_id) for cell in data.arms(i))
    cells = [cell for cell in arms if cell.variant_id == s.variant_id]
    return str(min((summary.n_rounds for summary in data.summaries(cells, s.metric)), default=DASH))


def _figure(
    data: ReportData,
    inputs: list[Input],
    variants: list[Variant],
    exponents: list[Scaling],
    table: Table,
) -> Figure:
    texts = {
        (s.variant_id, s.from_input_id): show_plain(s.exponent, s.lo, s.hi).estimate
        for s in exponents
    }
    largest = {c.variant_id: c.id for c in data.arms(inputs[-1].id)}
    verdicts = {v: c.verdict for v, i in largest.items() if (c := data.comparison(i, data.metric))}
    points = tuple(
        Point(
            data.input_name(item),
            float(size),
            summary.median,
            y_lo=summary.lo,
            y_hi=summary.hi,
            verdict=verdicts.get(variant.id),
            text=texts.get((variant.id, item.id), ""),
            baseline=data.is_baseline(variant.id),
            series=variant.label,
        )
        for variant, item in itertools.product(variants, inputs)
        if (summary := _summary(data, variant, item)) is not None
        and (size := data.input_bytes(item.id))
    )
    desc = (
        "Left: time by input size, both axes logarithmic, with the exponents between neighbouring "
        "sizes; the dotted line has exponent 1. Right: throughput by input size; a horizontal line "
        "is linear scaling. Blue: better than the baseline on the largest input; orange: worse."
    )
    return Figure(
        "scaling-plot",
        "scaling",
        "Scaling with the input size",
        desc,
        points,
        table,
        (("x", "input size"), ("y", "time"), ("family", data.plan.unit_family)),
        with_table=True,
    )


SCALING = SectionKind(
    "S08",
    "scaling",
    "Scaling with the input size",
    "time and throughput by input size, with scaling exponents",
    build,
    "it needs at least three sizes of one generator and seed",
)
