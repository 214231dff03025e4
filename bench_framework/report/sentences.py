"""Claims as sentences, and which of them lead. The text is the claim's; nothing is worded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Sentence

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData


def sentence(claim: Claim) -> Sentence:
    """A claim as it is printed everywhere."""
    return Sentence(claim.text, claim.id, claim.verdict)


def key_claim(data: ReportData, item: Input) -> Claim | None:
    """The claim under an input's table: its best group, else the first comparison that was decided."""
    for kinds in (("best-group",), ("headline",)):
        found = [c for c in data.claims(*kinds, input_label=item.label) if c.metric in {None, data.metric}]
        if found:
            return found[0]
    compared = [c for c in data.claims("comparison", input_label=item.label) if c.metric == data.metric]
    decided = [c for c in compared if c.verdict is not None and c.verdict.decided]
    return next(iter(decided or compared), None)
