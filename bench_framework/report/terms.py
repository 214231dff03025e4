"""The glossary of a report: verdicts and other terms, with one line each."""

from typing import Final

from bench_framework.model.words import MEANINGS, WORDS
from bench_framework.report.context import ReportData
from bench_framework.report.numbers import margin_text

_TERMS: Final = {
    "[a, b]": "the confidence interval of the value before it: true values that agree with the data",
    "vs baseline, ÷": "the variant's value ÷ the baseline's, paired within rounds: 1 is equal, "
    "below 1 is less",
    "rounds × runs, n": "a round measures each configuration once, in random order; runs: runs per "
    "sample",
    "configuration, sample": "a configuration is a variant with an input; a sample is one hyperfine "
    "call of one configuration in one round",
    "margin": "the largest difference that counts as equivalent, here {margin}; the scenario sets it",
    "best group": "the variants for which no other variant of the same input is shown to be better",
    "minimum detectable effect (MDE)": "the smallest difference that this number of rounds detects "
    "in most cases, given the noise",
    "Holm-adjusted, interim analyses": "an interim analysis judges the rounds so far; verdicts are "
    "corrected for the number of comparisons (Holm's procedure) and of interim analyses",
}
_CONTROL: Final = {
    "A/A control": "a copy of the baseline that runs in every round; if the A/A check finds a "
    "difference, the other verdicts of its input become inconclusive",
    "noise floor": "the largest difference that the 95 % confidence interval of the A/A control "
    "leaves possible: smaller differences can remain undetected",
}
"""Terms of a report whose plan has an A/A control."""


def verdict_glossary(margin: float) -> tuple[tuple[str, str], ...]:
    """Return the verdicts with their signs, each with its meaning."""
    text = margin_text(margin)
    return tuple(
        (f"{w.glyph} {w.time}", MEANINGS[verdict].format(margin=text))
        for verdict, w in WORDS.items()
    )


def terms(data: ReportData) -> tuple[tuple[str, str], ...]:
    """Return the terms that the report uses, each with its meaning."""
    margin = margin_text(data.plan.judge.margin_of(data.metric))
    control = any(data.plan.control_cell(item.id) for item in data.plan.inputs)
    listed = _TERMS | _CONTROL if control else _TERMS
    return tuple((name, meaning.format(margin=margin)) for name, meaning in listed.items())
