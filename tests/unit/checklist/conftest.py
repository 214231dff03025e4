"""Statements of five published reports that their data did not support, as records or imports.

There is at least one test per statement, named by the number of the document and the statement.
Each test checks that no claim and no page contains the statement, and what the data do support.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from bench_framework.extensions.importers.compute import judge_imported
from bench_framework.extensions.importers.model import Imported, plan_of
from bench_framework.extensions.importers.record_kind import ImportedFigures
from bench_framework.features.document import build_document
from bench_framework.features.judge import judge
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Block, Build
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.report.blocks import Document
from bench_framework.report.context import ReportData
from bench_framework.report.render import markdown
from bench_framework.report.render.templates import Templates
from bench_framework.store.records import record_of_figures
from bench_framework.store.sessions import read_session
from tests.unit.judging.conftest import Study
from tests.unit.report.report_sample import contents

THIN = re.compile("[\u202f\u2009\u00a0]")


@dataclass(frozen=True)
class JudgedReport:
    """A judgement with all its text: every claim, and the whole report."""

    judgement: Judgement
    page: str

    @property
    def claims(self) -> str:
        return plain("\n".join(claim.text for claim in self.judgement.claims))

    @property
    def everything(self) -> str:
        return f"{self.claims}\n{self.page}"

    def claims_of(self, kind: str) -> list[str]:
        """Return the texts of all claims of a kind."""
        return [plain(claim.text) for claim in self.judgement.claims if claim.kind == kind]

    def section(self, title: str) -> str:
        """Return the text of one section of the page.

        Raises:
            KeyError: the page has no section with this title.
        """
        parts = re.split(r"^## (.*)$", self.page, flags=re.MULTILINE)
        return dict(zip(parts[1::2], parts[2::2], strict=True))[title]

    def never_says(self, *patterns: str) -> None:
        for pattern in patterns:
            match = re.search(pattern, self.everything, flags=re.IGNORECASE)
            assert match is None, f"{pattern!r} is printed: …{_around(self.everything, match)}…"


def _around(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - 60) : match.end() + 60]


def plain(text: str) -> str:
    """Return a text with ordinary spaces and without the backslashes of Markdown."""
    return THIN.sub(" ", text).replace("\\", "")


def judge_and_report(
    study: Study,
    blocks: Sequence[Block],
    *,
    plan: Plan | None = None,
    builds: Mapping[str, Build] = MappingProxyType({}),
) -> JudgedReport:
    """Judge and report a record, as `benchctl run` does at its end."""
    plan = plan or study.plan
    blocks = [
        replace(b, started_at=f"2026-03-02T17:{b.seq // 60 % 60:02d}:{b.seq % 60:02d}.000Z")
        for b in blocks
    ]
    judged = judge(plan, blocks, builds, study.inputs(), study.looks())
    data = ReportData(
        plan=plan,
        judgement=judged,
        contents=contents(
            "2026-03-02T17:04:00Z",
            "2026-03-02T17:22:00Z",
            builds=tuple(builds.values()),
            inputs=tuple(study.inputs()),
            blocks=blocks,
        ),
    )
    return JudgedReport(judged, _page(build_document(data)))


def _page(document: Document) -> str:
    """Return the report in Markdown, without the glossary, which contains every verdict word."""
    templates = Templates()
    appendix = markdown.render(document, templates, "appendix").rpartition("\n## Glossary")[0]
    return plain(markdown.render(document, templates) + appendix)


def import_tables(*tables: str, baseline: str | None = None) -> JudgedReport:
    """Judge and report published figures, as `benchctl import` does."""
    sessions = tuple(
        read_session(t.encode(), f"session-{n}.csv", n) for n, t in enumerate(tables, 1)
    )
    first = baseline if baseline is not None else sessions[0].commands[0].label
    imported = Imported(1, "r", "published", "2026-03-02T17:04:00Z", "0.1.0", first, sessions)
    data = report_of(imported)
    return JudgedReport(data.judgement, _page(build_document(data)))


def report_of(imported: Imported) -> ReportData:
    """Judge imported figures."""
    plan, record = plan_of(imported), record_of_figures(Path("r"), ImportedFigures(imported))
    return ReportData(plan, judge_imported(plan, imported), record.contents)


def draw(arm: str, where: str, number: int, spread: float = 0.005) -> float:
    """Return the time of one run of a program that takes at least one second."""
    return 1 + abs(random.Random(f"{arm}/{where}/{number}").gauss(0, spread))


@dataclass
class Scales(Study):
    """A study whose arms differ by a factor from a noisy second."""

    factors: Mapping[str, float] = field(default_factory=dict)

    def run(self, spread: float = 0.005) -> list[Block]:
        return self.blocks(lambda a, i, r: draw(a, i, r, spread) * self.factors.get(a, 1.0))


def headline(report: JudgedReport, label: str, metric: str = "wall") -> Comparison:
    """Return the headline comparison whose claim has this subject."""
    cells = {
        c.cells[0]
        for c in report.judgement.claims
        if c.subject == label and c.cells and c.metric == metric
    }
    return next(
        c
        for c in report.judgement.comparisons
        if c.cell_id in cells and c.metric == metric and c.family in {"headline", "memory"}
    )
