"""The sections of report and appendix, in the order of the page.

A new section is a file and a line here. Its `place` decides which of the two contains it.
"""

from typing import Final

from bench_framework.features.ablation.section import CONTRIBUTIONS
from bench_framework.features.effects.section import EFFECTS, TURNING
from bench_framework.features.experiments.section import (
    ADOPTED,
    BEFORE_AFTER,
    EXPERIMENTS,
    HYPOTHESES,
)
from bench_framework.features.pareto.section import TRADEOFFS
from bench_framework.features.profile.section import PROFILE
from bench_framework.features.published.section import PUBLISHED
from bench_framework.features.references.section import TWO_REFERENCES
from bench_framework.features.scaling.section import SCALING
from bench_framework.report.sections.author import LEARNINGS, NOTES
from bench_framework.report.sections.budget import BUDGET, LIMIT
from bench_framework.report.sections.headline import ALL_RESULTS, HEADLINE, PAIRS
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.memory import MEMORY
from bench_framework.report.sections.method import METHOD
from bench_framework.report.sections.metrics import OTHER_METRICS
from bench_framework.report.sections.quality import QUALITY
from bench_framework.report.sections.recommendation import RECOMMENDATION
from bench_framework.report.sections.reproduce import REPRODUCE
from bench_framework.report.sections.summary import FINDINGS, SUMMARY
from bench_framework.report.sections.technical import TECHNICAL
from bench_framework.report.sections.unmeasured import LIMITATIONS, UNMEASURED

SECTIONS: Final[tuple[SectionKind, ...]] = (
    SUMMARY,
    HEADLINE,
    FINDINGS,
    PUBLISHED,
    ADOPTED,
    EXPERIMENTS,
    LIMIT,
    RECOMMENDATION,
    LIMITATIONS,
    LEARNINGS,
    ALL_RESULTS,
    BEFORE_AFTER,
    TWO_REFERENCES,
    PAIRS,
    MEMORY,
    OTHER_METRICS,
    TURNING,
    SCALING,
    EFFECTS,
    CONTRIBUTIONS,
    BUDGET,
    HYPOTHESES,
    PROFILE,
    TRADEOFFS,
    QUALITY,
    TECHNICAL,
    REPRODUCE,
    UNMEASURED,
    NOTES,
    METHOD,
)
