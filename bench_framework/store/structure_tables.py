"""``effects.csv`` and ``contributions.csv``: effects of axes and contributions of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bench_framework.store.columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bench_framework.model.judgement import Claim
    from bench_framework.model.structure import Contrast, Contribution, Effect
    from bench_framework.store.rows import Row, Source

_JUDGED: Final = (
    Column("ratio", "number", "typical ratio; empty if no mean is reported", nullable=True),
    Column("lo", "number", "lower end of its interval", nullable=True),
    Column("hi", "number", "upper end of its interval", nullable=True),
    Column(
        "level",
        "number",
        "level of the interval, adjusted for interim analyses and by Holm",
        nullable=True,
    ),
    Column("p", "number", "exact signed-rank p-value over rounds", nullable=True),
    Column(
        "p_adjusted", "number", "p-value adjusted for interim analyses and by Holm", nullable=True
    ),
    Column("rounds", "integer", "rounds that have every cell of the row", nullable=True),
    Column("verdict", "string", "code of the verdict", nullable=True),
    Column("reason", "string", "reason if it is inconclusive", nullable=True),
)
_CLAIM_COLUMNS: Final = (
    Column("claim_id", "string", "id of the claim that reports the row", nullable=True),
    Column("text", "string", "sentence of the claim", nullable=True),
)
_PLACE: Final = (
    Column("input_id", "string", "twelve hex digits of the input"),
    Column("input", "string", "label of the input"),
    Column("metric", "string", "metric that is compared"),
)
EFFECTS: Final[tuple[Column, ...]] = (
    *_PLACE,
    Column(
        "kind",
        "string",
        "main or interaction: the mean over the cells; …-cell: one combination of the other axes",
    ),
    Column(
        "axis", "string", "axis that is changed; several that advance together are joined by “and”"
    ),
    Column("value", "string", "its value"),
    Column("reference", "string", "the baseline's value"),
    Column("axis_2", "string", "second axis of an interaction", nullable=True),
    Column("value_2", "string", "its value", nullable=True),
    Column("reference_2", "string", "the baseline's value", nullable=True),
    Column("where", "string", "values of the other axes, for one combination", nullable=True),
    Column(
        "pooled",
        "boolean",
        "false if the effect changes sign between cells, so that there is no mean",
        nullable=True,
    ),
    Column("cells", "integer", "combinations of the other axes", nullable=True),
    Column(
        "better",
        "integer",
        "combinations in which the value is significantly better",
        nullable=True,
    ),
    Column(
        "worse", "integer", "combinations in which the value is significantly worse", nullable=True
    ),
    *_JUDGED,
    *_CLAIM_COLUMNS,
)
CONTRIBUTIONS: Final[tuple[Column, ...]] = (
    *_PLACE,
    Column("design", "string", "ladder, alone or shapley"),
    Column("start", "string", "variant without the changes"),
    Column("end", "string", "variant with all of them", nullable=True),
    Column("step", "string", "1, 2 …; beyond; interaction; total"),
    Column("change", "string", "what the step changes", nullable=True),
    Column(
        "cell_id", "string", "cell after the step; empty where orders are averaged", nullable=True
    ),
    Column(
        "share",
        "number",
        "log step ÷ log total; empty if the total is inconclusive",
        nullable=True,
    ),
    *_JUDGED,
    *_CLAIM_COLUMNS,
)


def effect_rows(source: Source) -> Iterator[Row]:
    """Yield one row per effect, followed by the rows of its cells."""
    assert source.judgement is not None
    found = source.judgement.structure.effects
    for effect, claim in _with_claims(found, source, "effect", "interaction"):
        head = {**_place(source, effect.input_id, effect.metric), **_changed(effect)}
        kind = "main" if len(effect.changes) == 1 else "interaction"
        yield {
            **head,
            "kind": kind,
            "pooled": effect.pooled,
            "cells": len(effect.cells),
            "better": effect.better,
            "worse": effect.worse,
            **_judged(effect.mean),
            **_claim(claim),
        }
        for cell in effect.cells:
            yield {
                **head,
                "kind": f"{kind}-cell",
                "where": cell.where or None,
                **_judged(cell.contrast),
            }


def contribution_rows(source: Source) -> Iterator[Row]:
    """Yield one row per step, then the remainder if there is one, and the total."""
    assert source.judgement is not None
    for table, claim in _with_claims(
        source.judgement.structure.contributions, source, "contributions"
    ):
        yield from _table_rows(source, table, claim)


def _table_rows(source: Source, table: Contribution, claim: Claim | None) -> Iterator[Row]:
    def label(cell_id: str | None) -> str | None:
        return source.plan.variant(source.plan.cell(cell_id).variant_id).label if cell_id else None

    head = {
        **_place(source, table.input_id, table.metric),
        "design": table.design,
        "start": label(table.start_cell_id),
        "end": label(table.end_cell_id),
    }
    places = [(str(n), s) for n, s in enumerate(table.steps, 1)] + [
        ("beyond", s) for s in table.beyond
    ]
    for place, step in places:
        change = ", ".join(c.text for c in step.changes)
        own = {"step": place, "change": change, "cell_id": step.cell_id, "share": step.share}
        yield {**head, **own, **_judged(step.contrast)}
    if table.remainder is not None:
        yield {
            **head,
            "step": "interaction",
            "share": table.unexplained,
            **_judged(table.remainder),
        }
    if table.total is not None:
        share = 1.0 if table.unexplained is not None else None
        total = {"step": "total", "cell_id": table.end_cell_id, "share": share}
        yield {**head, **total, **_judged(table.total), **_claim(claim)}


def _place(source: Source, input_id: str, metric: str) -> Row:
    return {"input_id": input_id, "input": source.plan.input(input_id).label, "metric": metric}


def _changed(effect: Effect) -> Row:
    first, *more = effect.changes
    row: Row = {"axis": first.axis, "value": first.after, "reference": first.before}
    for second in more:
        row |= {"axis_2": second.axis, "value_2": second.after, "reference_2": second.before}
    return row


def _judged(contrast: Contrast) -> Row:
    shown = contrast.shown
    figures = {
        name: getattr(shown, name) if shown else None for name in ("ratio", "lo", "hi", "level")
    }
    return {
        **figures,
        "p": contrast.p,
        "p_adjusted": contrast.p_adjusted,
        "rounds": contrast.rounds,
        "verdict": contrast.verdict.value,
        "reason": contrast.reason or None,
    }


def _claim(claim: Claim | None) -> Row:
    return {"claim_id": claim.id, "text": claim.text} if claim is not None else {}


def _with_claims(
    items: Sequence[Any], source: Source, *kinds: str
) -> list[tuple[Any, Claim | None]]:
    """Return the items with their claims. Both are in the order of the judgement."""
    assert source.judgement is not None
    claims = [c for c in source.judgement.claims if c.kind in kinds]
    return (
        list(zip(items, claims, strict=True))
        if len(claims) == len(items)
        else [(i, None) for i in items]
    )


def tables(source: Source) -> Mapping[str, tuple[Column, ...]]:
    """Return the tables that have rows, by name."""
    if source.judgement is None:
        return {}
    found = source.judgement.structure
    effects = {"effects": EFFECTS} if found.effects else {}
    return effects | ({"contributions": CONTRIBUTIONS} if found.contributions else {})
