"""What a reader must know of the words that a page prints beside its verdicts: one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.numbers import margin_text

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def terms(data: ReportData) -> tuple[tuple[str, str], ...]:
    """Word and meaning, in the order in which a page uses them; what the record has nothing of is left out."""
    margin = margin_text(data.plan.judge.margin_of(data.metric))
    found = [
        (
            "[a, b]",
            "the interval of the figure before it: between which values the true one lies, as far as the runs tell",
        ),
        (
            "vs baseline, ÷",
            "the variant's figure divided by the other's, paired within rounds: 1 is equal, below 1 is less",
        ),
        (
            "rounds × runs, n",
            "a round takes every variant once, in a fresh random order; the runs are those of one turn",
        ),
        (
            "margin",
            f"the change that the scenario calls too small to care about, here {margin}; no data widen it",
        ),
        (
            "best group",
            "the variants that no other one of the same input is shown to beat; of several it is open which is first",
        ),
        (
            "would have been found",
            "the smallest difference that so many rounds, with this much noise, decide in most cases",
        ),
        (
            "Holm-adjusted, looks",
            "the more is compared, and the more often the data are looked at, the more evidence a verdict needs",
        ),
        (
            "fastest third",
            "the geometric mean of a variant's fastest third of rounds: a busy machine adds time and takes none away",
        ),
    ]
    if any(data.plan.control_cell(item.id) for item in data.plan.inputs):
        found += [
            (
                "control",
                "the baseline once more, run blind in every round: a verdict on it withdraws the others of its input",
            ),
            (
                "noise floor",
                "how far the control's interval reaches from 1: smaller differences may go unseen",
            ),
        ]
    return tuple(found)
