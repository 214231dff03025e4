"""Every section of the catalogue with its data, where it prints what they support, and without.

The true sentence is next to the false one, which a report like those of the seed documents would
have printed for the same figures. The false one must be absent.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from report_sample import (
    bare,
    judged_again,
    sample,
    with_contents,
    with_judgement,
    with_plan,
    with_sign_change,
)
from test_metrics_section import with_counts

from bench_framework.claims.factory import Names
from bench_framework.compare.stopping import CONCLUSIVE
from bench_framework.features.document import build_document, sections
from bench_framework.features.functions.claims import function_claims
from bench_framework.features.profile.compute import attach
from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell, UnmatchedCell
from bench_framework.features.record_comparison.section import document as bridged
from bench_framework.model.facts.functions import (
    CountChange,
    FunctionChange,
    FunctionChanges,
    FunctionsOfPair,
)
from bench_framework.model.plan.plan import Role
from bench_framework.model.plan.published import Published, PublishedClaim
from bench_framework.model.record.profile import Frame, Stack
from bench_framework.model.record.run import Look
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.result.structure import Structure
from bench_framework.model.verdict import Interval, SessionRatios, Verdict
from bench_framework.report.blocks import Document, Fallback
from bench_framework.report.context import ReportData
from bench_framework.report.render import terminal
from bench_framework.text.write import numbered
from tests.build import make_comparison, make_profile, require

FILE = Path(__file__).parents[2] / "fixtures" / "report_sections.txt"


@cache
def counted() -> ReportData:
    return with_counts(sample())


@cache
def document_of(make: Callable[[], ReportData]) -> Document:
    return build_document(make())


def everything(node: object) -> str:
    """Return every text in a tree of blocks, one per line."""
    if isinstance(node, str):
        return node
    if isinstance(node, tuple):
        return "\n".join(everything(part) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        return "\n".join(everything(getattr(node, f.name)) for f in fields(node))
    return ""


def section_text(document: Document, code: str) -> str:
    if code == "S01":
        return everything((document.facts, document.status, document.run_line))
    section = document.section(code)
    assert section is not None, f"{code} is not in the report"
    assert not any(isinstance(block, Fallback) for block in section.blocks), f"{code} fell back"
    return everything(section.blocks)


def without_text(document: Document, code: str) -> str:
    """Return a section without its data, or the reason for the omitted section; else nothing."""
    if code == "S01":
        return everything((document.facts, document.status))
    section = document.section(code)
    if section is not None:
        lines = [block.text for block in section.blocks if isinstance(block, Fallback)]
        return "\n".join(lines) or everything(section.blocks)
    kind = next(kind for kind in sections() if kind.code == code)
    return dict(document.missing).get(kind.title, "")


# -- records in which a section has its data ----------------------------------------------------


def sign_change() -> ReportData:
    return with_sign_change(sample())


def paired() -> ReportData:
    """Return a record in which two variants that are no reference were compared."""
    data = sample()
    item = data.plan.inputs[-1]
    references = {data.plan.baseline_id, *data.plan.further_baselines}
    one, other, *_ = (c for c in data.measured(item.id) if c.variant_id not in references)
    given = require(data.comparison(one.id, data.metric))
    comparisons = (*data.judgement.comparisons, replace(given, ref_cell_id=other.id, family="best"))
    return with_judgement(data, comparisons=comparisons)


def profiled() -> ReportData:
    data = sample()
    frames = (
        Frame("main", "prog"),
        Frame("parse", "prog"),
        Frame("read", "[kernel.kallsyms]", kernel=True),
    )
    stacks = [s for run in (1, 2) for s in (Stack(run, 60, (0, 1)), Stack(run, 40, (0, 2)))]
    cell = data.arms(data.plan.inputs[0].id)[0]
    profiles = (make_profile(cell.id, (100, 100), frames, stacks),)
    return replace(data, profiles=profiles, judgement=attach(data.judgement, data.plan, profiles))


def inconclusive() -> ReportData:
    """Return a record in which all comparisons of time are inconclusive, so that no variant leads."""
    data = sample()
    everyone = tuple(
        replace(group, cell_ids=tuple(c.id for c in data.arms(group.input_id)))
        for group in data.judgement.best
    )
    claims = tuple(c for c in data.judgement.claims if c.kind != "recommendation")
    return with_judgement(data, best=everyone, claims=claims)


def all_measured() -> ReportData:
    """Return a record in which every planned configuration was measured, without holes."""
    data = sample()
    states = tuple(replace(s, state="measured", reason=None) for s in data.judgement.states)
    return judged_again(with_plan(data, holes=()), states=states)


def one_reference() -> ReportData:
    data = sample()
    others = tuple(c for c in data.judgement.comparisons if c.family != "reference")
    plan = replace(data.plan, further_baselines=())
    structure = replace(data.judgement.structure, replacements=())
    changes = {"comparisons": others, "gaps": (), "structure": structure}
    return judged_again(replace(data, plan=plan), **changes)


def with_published() -> ReportData:
    """Return the record with published claims about its variants, and with next steps."""
    data = sample()
    ids = {v.label: v.id for v in data.plan.variants}
    inputs = tuple(item.id for item in data.plan.inputs)

    def statement(text: str, figure: str, label: str = "rayon+jemalloc") -> PublishedClaim:
        return PublishedClaim(text, figure, "variant", "", ids[label], inputs, "wall")

    claims = (
        statement("rayon is 2x faster with jemalloc", "2x faster"),
        statement("jemalloc slows rayon down", "slower"),
        PublishedClaim("it runs on other systems", "", "not-testable", "one system was measured"),
    )
    plan = replace(
        data.plan,
        published=Published("An earlier report", "", "2026-01-09", claims),
        next_steps=("Try jemalloc: {experiment: gone}.",),
    )
    return judged_again(replace(data, plan=plan))


def bare_structure() -> ReportData:
    return judged_again(sample(), structure=Structure(), derived=(), scaling=())


def bridge(verdict: Verdict, bounds: Interval, *, cells: bool = True) -> Document:
    """Return the report of two records with an anchor and a changed configuration.

    Without `cells`, the records have no configuration in common.
    """

    def compared(cell: str, verdict: Verdict, interval: Interval) -> Comparison:
        given: dict[str, Any] = {"shown": interval, "rounds": 20, "statistic": "typical"}
        return make_comparison(cell * 12, cell * 12, "wall", "bridge", verdict, **given)

    anchor = compared("a", Verdict.EQUIVALENT, Interval(1.002, 0.995, 1.009, 0.95))
    changed = compared("b", verdict, bounds)
    rows = (
        BridgedCell("plain", "", "anchor", anchor, 0.05, 0.0501),
        BridgedCell("edited", "", "changed", changed, 0.05, 0.054, ("code",)),
    )
    rest = () if cells else (UnmatchedCell("edited", "B"),)
    comparison = Bridge("A", "B", (), (), rows if cells else (), rest, 1, 0.05, 0.02)
    return bridged(comparison, "demo", "Which?", "iec")


# -- the catalogue ------------------------------------------------------------------------------


@cache
def with_sessions() -> ReportData:
    """Return the record as if its rounds were those of three sessions."""
    data = sample()
    measure = replace(data.plan.measure, sessions=3, rounds_max=36)
    ratios = tuple(Interval(r, r - 0.02, r + 0.02, 0.95) for r in (0.80, 0.75, 0.85))
    sessions = SessionRatios(ratios, Interval(0.8, 0.7, 0.9, 0.95), differ=True)
    comparisons = tuple(
        replace(c, sessions=sessions) if c.shown and c.family == "headline" else c
        for c in data.judgement.comparisons
    )
    data = with_plan(data, measure=measure)
    return judged_again(data, comparisons=comparisons)


def by_function() -> ReportData:
    """Return the record as if a function of the first candidate cost more."""
    data = sample()
    arms = data.measured(data.plan.inputs[0].id)
    base = next(c for c in arms if c.role is Role.BASELINE)
    pair = next(c for c in arms if c is not base).id, base.id
    grown = FunctionChange(
        name="tool::parse", instructions=900, reference=600, calls=20, reference_calls=10, share=1.2
    )
    zero = FunctionChange(name="", instructions=0, reference=0, calls=0, reference_calls=0)
    gone = replace(zero, name="tool::put", reference=99, counterpart="tool::put_one")
    new = replace(zero, name="tool::put_one", instructions=98, counterpart="tool::put")
    memory = replace(zero, name="[allocator]", module="libc.so.6", instructions=30, reference=20)
    written = CountChange(metric="system_calls", value=300, reference=100, function="write")
    changes = FunctionChanges(
        instructions=1250,
        reference=1000,
        functions=(grown, gone, new, memory),
        counts=(written,),
        rest=-59,
    )
    pairs = (FunctionsOfPair(*pair, changes),)
    names = Names(data.plan)
    claims = (*data.judgement.claims, *numbered(function_claims(names, pairs)))
    return with_judgement(data, functions=pairs, claims=claims)


def with_packages() -> ReportData:
    """Return the record as if the last program had another version of a package, and more code."""
    data = sample()
    *others, last = data.contents.builds
    first, *rest = [replace(b, packages=(("itoa", "1.0.1"),)) for b in others]
    first = replace(first, crates=(("itoa", 1_024), ("tool", 9_000)), sections=((".text", 10_024),))
    last = replace(
        last,
        packages=(("itoa", "1.0.2"),),
        crates=(("itoa", 3_072), ("tool", 9_100)),
        sections=((".text", 12_172),),
    )
    return with_contents(data, builds=(first, *rest, last))


RECORDS = (
    sample,
    by_function,
    with_packages,
    bare,
    bare_structure,
    counted,
    paired,
    profiled,
    inconclusive,
    all_measured,
    one_reference,
    sign_change,
    with_published,
    with_sessions,
)


@dataclass(frozen=True)
class Pair:
    """A section with its data, and without.

    Attributes:
        real: a record that has the data.
        says: text that the section then contains.
        never: text that it must not contain for the same figures.
        without: a record that lacks the data.
        line: the line that replaces the section.
    """

    real: Callable[[], ReportData]
    says: tuple[str, ...]
    never: tuple[str, ...]
    without: Callable[[], ReportData]
    line: str


def catalogue() -> dict[str, Pair]:
    """Return the sections of report_sections.txt. S10 needs two records and has tests below."""
    records = {record.__name__: record for record in RECORDS}
    pairs = {}
    for part in FILE.read_text(encoding="utf-8").replace("\n\n", "\n").split("\n=== ")[1:]:
        title, *lines = part.rstrip("\n").split("\n")
        code, real, _, without = title.split(" ")
        says, never, replaced = (
            tuple(line[2:].replace("␊", "\n") for line in lines if line[0] == mark)
            for mark in "+-0"
        )
        pairs[code] = Pair(records[real], says, never, records[without], "".join(replaced))
    return pairs


CATALOGUE = catalogue()


def test_the_catalogue_is_complete() -> None:
    assert set(CATALOGUE) == {"S01", *(kind.code for kind in sections())}


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_section_states_only_what_its_data_support(code: str) -> None:
    pair = CATALOGUE[code]
    assert pair.says
    assert pair.never
    text = section_text(document_of(pair.real), code)
    for words in pair.says:
        assert words in text, words
    for words in pair.never:
        assert words.casefold() not in text.casefold(), words


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_section_without_its_data_is_omitted_or_says_so(code: str) -> None:
    pair = CATALOGUE[code]
    text = without_text(document_of(pair.without), code)
    assert pair.line in text
    for words in pair.says:
        assert words not in text, words


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_shows_published_figures_with_their_outcomes(width: int) -> None:
    page = terminal.render(document_of(with_published), width=width, full=True)
    rows = [line for line in page.splitlines() if line.endswith("✕ opposite here")]
    # The appendix has it with its quotes.
    assert len(rows) == 2
    assert "slower" in rows[0]
    short = terminal.render(document_of(with_published), width=width)
    assert "An earlier report" not in short


def test_a_published_figure_of_a_single_change_is_in_the_table_of_changes() -> None:
    data = with_published()
    experiment, item = data.plan.experiments[1], data.plan.inputs[-1]
    report = require(data.plan.published)
    slower, other = (replace(c, input_ids=(item.id,)) for c in report.claims[1:])

    def document(*claims: PublishedClaim) -> Document:
        published = replace(report, claims=(*claims, other))
        return build_document(
            judged_again(replace(data, plan=replace(data.plan, published=published)))
        )

    one = document(slower)
    changed = section_text(one, "S11")
    assert f"{experiment.decision}: slower" in changed
    assert "✕ opposite here" in changed
    assert (
        section_text(one, "S18").strip() == "1 more statement not tested; quotes in the appendix."
    )
    assert "✕ opposite here" in section_text(one, "S36")
    # A change has room for one figure.
    two = document(slower, replace(slower, text="at most 1 % slower", figure="at most 1% slower"))
    assert "opposite here" not in section_text(two, "S11")
    assert "slower" in section_text(two, "S18")


def test_two_records_are_compared_relative_to_their_anchors() -> None:
    report = bridge(Verdict.WORSE, Interval(1.08, 1.06, 1.1, 0.99))
    text = everything(report.sections)
    assert "Exploratory, relative to the anchors of each record: edited (B) is 8.0" in text
    assert "Anchor plain changed by" in text
    assert report.status == "exploratory"
    assert "faster" not in text


def test_two_records_with_nothing_in_common_are_not_compared() -> None:
    report = bridge(Verdict.WORSE, Interval(1.08, 1.06, 1.1, 0.99), cells=False)
    (section,) = report.sections
    assert isinstance(section.blocks[0], Fallback)
    assert (
        section.blocks[0].text
        == "The records have no configuration in common: there is nothing to compare."
    )
    assert "needs" not in everything(report.sections)


def test_a_range_of_sessions_says_how_many_were_measured_and_the_reason_of_the_end() -> None:
    data = with_sessions()
    measure = replace(data.plan.measure, sessions=5, sessions_min=2, rounds_max=60)
    here = data.plan.inputs[0].id
    looks = (
        Look(here, 0, 24, stopped=False, dropped=(data.plan.cells[1].id,)),
        Look(here, 1, 36, stopped=True, reason=CONCLUSIVE),
    )
    data = with_contents(with_plan(data, measure=measure), looks=looks)
    text = section_text(build_document(data), "S35")
    rounds = max(state.rounds for state in data.judgement.states)
    assert f"Ratios in {-(-rounds // 12)} sessions of 12 rounds (2 to 5 were planned). " in text
    assert "Measuring ended because every comparison is conclusive. " in text
    assert "in every fourth round of later sessions" in text
    one = section_text(build_document(with_sessions()), "S35")
    assert "planned" not in one
    assert "fourth" not in one
