"""What the gate writes for CI: a comment for a pull request, a step summary, JUnit XML, and lines for a terminal."""

from __future__ import annotations

import json
import math
import re
import textwrap
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: TID251 -- the door

from bench_framework.errors import EXIT_DONE, EXIT_NOT_MEASURED, EXIT_WORSE
from bench_framework.model import words
from bench_framework.model.words import WORDS
from bench_framework.report.render.characters import visible
from bench_framework.report.render.markdown import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from bench_framework.model.gate import BudgetFinding, GatedPair, Gating
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Block

MOST_COMMENT: Final = 60_000
"""Characters. GitHub takes 65 536 and drops what is longer."""
MOST_SUMMARY_BYTES: Final = 900_000
"""Of 1 024 k, above which GitHub drops the whole summary."""
FULL_ROWS: Final = ("worse", "suspicious", "failed", "not-comparable", "not-judged", "accepted")
STATE_WORDS: Final = {
    "passed": "passed",
    "accepted": "worse, and accepted",
    "worse": "worse",
    "suspicious": "looks worse",
    "not-judged": "not judged",
    "failed": "failed",
    "not-comparable": "not comparable",
}
_ANSWERS: Final = {
    EXIT_DONE: "≡ Benchmarks: passed",
    EXIT_WORSE: "▲ Benchmarks: worse than is tolerated: please look",
    EXIT_NOT_MEASURED: "✕ Benchmarks: something could not be measured: please look",
}

BOTH_SIDES: Final = "Baseline and candidates"


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gated pair in words."""

    cell: str
    metric: str
    state: str
    glyph: str
    ascii: str
    sentence: str
    """What was found, and what the gate makes of it."""
    seconds: float
    """Spent on measuring the cell."""
    own_word: str = ""
    """In place of the state's, for what is no comparison."""

    @property
    def word(self) -> str:
        """The state in words."""
        return self.own_word or STATE_WORDS[self.state]


@dataclass(frozen=True, slots=True)
class GatePage:
    """The gate's answer without a format."""

    scenario: str
    record_id: str
    confirmation: str | None
    answer: str
    exit_code: int
    reasons: tuple[str, ...]
    rows: tuple[GateRow, ...]
    how: str
    """Level, family, looks and rounds."""
    remarks: tuple[str, ...] = ()
    """What the reader should know beside the answer."""
    arms: str = BOTH_SIDES
    """What ran interleaved."""
    accept: tuple[str, ...] = ()
    """Lines for the file of accepted changes, one for each row that is worse."""

    @property
    def full(self) -> tuple[GateRow, ...]:
        """What needs eyes."""
        return tuple(row for row in self.rows if row.state in FULL_ROWS)

    @property
    def passed(self) -> tuple[GateRow, ...]:
        """What does not."""
        return tuple(row for row in self.rows if row.state not in FULL_ROWS)


def page_of(plan: Plan, gating: Gating, blocks: Iterable[Block], record_id: str) -> GatePage:
    """The answer in words.

    Args:
        plan: of the record.
        gating: the answer.
        blocks: of the record, for the seconds that each cell took.
        record_id: of the record.
    """
    seconds = defaultdict[str, float](float)
    for block in blocks:
        seconds[block.cell_id] += math.fsum(block.wall_s)
    rows = tuple(_row(plan, pair, seconds[pair.cell_id]) for pair in gating.pairs)
    rows += tuple(_budget_row(plan, found, seconds[found.cell_id]) for found in gating.budgets)
    order = {state: number for number, state in enumerate((*FULL_ROWS, "passed"))}
    level = f"{gating.level * 100:g} %"
    family = f"{gating.family} timed comparison{'s' if gating.family != 1 else ''}"
    how = (
        f"{gating.rounds} rounds; chance of any false finding in the first pass at most {level}, shared by {family}"
        f" and {gating.looks} look{'s' if gating.looks != 1 else ''}"
    )
    answer = _ANSWERS.get(gating.exit_code, "? Benchmarks: not judged: please look")
    accepted = len(gating.of("accepted"))
    if gating.exit_code == EXIT_DONE and accepted:
        answer += f", with {accepted} accepted change{'s' if accepted != 1 else ''} for the worse"
    arms = " and ".join(plan.revisions.names) if plan.revisions else BOTH_SIDES
    return GatePage(
        plan.name,
        record_id,
        gating.confirmation,
        answer,
        gating.exit_code,
        gating.reasons,
        tuple(sorted(rows, key=lambda row: order[row.state])),
        how,
        gating.remarks,
        arms,
        tuple(_acceptance(plan, pair) for pair in gating.of("worse")),
    )


def _place(plan: Plan, cell_id: str) -> str:
    """A cell in words: variant and input; where the two arms of an input are two revisions, the input says all."""
    cell = plan.cell(cell_id)
    item, name = plan.input(cell.input_id), plan.variant(cell.variant_id).label
    where = item.label if item.dataset or item.values else ""
    if plan.revisions is not None and where:
        return where
    return f"{name}, {where}" if where else name


def _acceptance(plan: Plan, pair: GatedPair) -> str:
    """The line of the file of accepted changes that lets a pair pass, for its reason to be written in."""
    cell = plan.cell(pair.cell_id)
    values = dict((*plan.variant(cell.variant_id).values, *plan.input(cell.input_id).values))
    arms = {axis.name for axis in plan.axes[:1]} if plan.revisions else set[str]()
    words = " ".join(f"{n}={_quoted(v)}" for n, v in values.items() if n not in arms)
    words = words or f"variant={_quoted(plan.variant(cell.variant_id).label)}"
    shown = pair.comparison.shown
    percent = math.ceil((shown.ratio - 1) * 100) if shown is not None else 0
    return json.dumps(
        {
            "cell": words,
            "metric": pair.metric,
            "level": f"{percent}%",
            "reason": "…",
            "until": "YYYY-MM-DD",
        },
        ensure_ascii=False,
    )


def _quoted(value: str) -> str:
    """A value as a selection takes it."""
    if not re.search(r"[\s,|'\"]", value):
        return value
    return f'"{value}"' if "'" in value else f"'{value}'"


_BUDGET_ROWS: Final = {
    "over": ("worse", "▲", "^", "over budget"),
    "kept": ("passed", "≡", "~", "within budget"),
    "not-judged": ("not-judged", "?", "?", "not judged"),
    "failed": ("failed", "✕", "x", "failed"),
}


def _budget_row(plan: Plan, found: BudgetFinding, seconds: float) -> GateRow:
    state, glyph, plain, word = _BUDGET_ROWS[found.state]
    metric = f"budget of {words.noun(found.budget.metric)}"
    return GateRow(
        _place(plan, found.cell_id), metric, state, glyph, plain, found.text, seconds, word
    )


def _row(plan: Plan, pair: GatedPair, seconds: float) -> GateRow:
    said = [pair.text] if pair.text else []
    said += [f"again: {pair.again_text}"] if pair.again_text else []
    said += [pair.why] if pair.why and pair.why not in pair.text else []
    glyphs = WORDS[(pair.again or pair.comparison).verdict]
    return GateRow(
        _place(plan, pair.cell_id),
        words.noun(pair.metric),
        pair.state,
        glyphs.glyph,
        glyphs.ascii,
        "; ".join(said) or STATE_WORDS[pair.state],
        seconds,
    )


def comment(page: GatePage, templates: Path) -> str:
    """Markdown for a pull request, at most `MOST_COMMENT` characters: what passed is left out first."""
    return _fitting("comment.md.j2", page, templates, lambda text: len(text) <= MOST_COMMENT)


def summary(page: GatePage, templates: Path) -> str:
    """Markdown for a step summary, at most `MOST_SUMMARY_BYTES`."""
    return _fitting(
        "summary.md.j2", page, templates, lambda text: len(text.encode()) <= MOST_SUMMARY_BYTES
    )


def _fitting(name: str, page: GatePage, templates: Path, fits: Callable[[str], bool]) -> str:
    environment = Environment(
        loader=FileSystemLoader(str(templates)),
        autoescape=False,  # noqa: S701 -- Markdown; its filters escape
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = _cell
    environment.filters["code"] = _line
    template = environment.get_template(name)
    full, passed = list(page.full), list(page.passed)
    while True:
        cut = len(page.rows) - len(full) - len(passed)
        text = template.render(page=page, full=full, passed=passed, cut=cut)
        if fits(text) or not (full or passed):
            return text
        # What passed goes before what needs eyes; of that the last, which is never what is worse.
        shorter = passed or full
        del shorter[len(shorter) // 2 :]


def _cell(text: str) -> str:
    """Text within a table of Markdown."""
    return escape(" ".join(text.split()))


def _line(text: str) -> str:
    """Text within a fenced block of Markdown: one line, which cannot close the fence."""
    return visible(" ".join(text.split())).replace("```", "` ` `")


def junit(page: GatePage) -> str:
    """JUnit XML as Jenkins' schema has it: `time` is what measuring took, the figures stand in the message."""
    rows = page.rows
    failed = [row for row in rows if row.state == "worse"]
    broken = [row for row in rows if row.state == "failed"]
    open_ = [row for row in rows if row.state in ("suspicious", "not-judged", "not-comparable")]
    suite = ET.Element(
        "testsuite",
        name=visible(page.scenario),
        tests=str(len(rows)),
        failures=str(len(failed)),
        errors=str(len(broken)),
        skipped=str(len(open_)),
        time=f"{math.fsum(row.seconds for row in rows):.3f}",
    )
    for row in rows:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=visible(f"{page.scenario}.{row.metric}"),
            name=visible(row.cell),
            time=f"{row.seconds:.3f}",
        )
        message = visible(row.sentence)
        if row in failed:
            ET.SubElement(case, "failure", type="PerformanceRegression", message=message)
        elif row in broken:
            ET.SubElement(case, "error", type="NotMeasured", message=message)
        elif row in open_:
            ET.SubElement(case, "skipped", message=message)
        ET.SubElement(case, "system-out").text = f"{row.word}: {message}"
    ET.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"
    )


def terminal(page: GatePage, width: int, *, unicode: bool, most: int = 40) -> str:
    """Lines for a terminal: the answer, what needs eyes, and how many passed."""
    lines = [page.answer if unicode else page.answer.partition(" ")[2]]
    lines += [f"  {reason}" for reason in page.reasons]
    for remark in page.remarks:
        lines += _wrapped(remark, width, "  ")
    for row in page.full[:most]:
        glyph = row.glyph if unicode else row.ascii
        head = f"{glyph} {row.cell}, {row.metric}: {row.word}"
        lines += ["", *_wrapped(head, width, ""), *_wrapped(row.sentence, width, "    ")]
    if len(page.full) > most:
        lines += ["", f"and {len(page.full) - most} more; gate.json has all of them"]
    if page.passed:
        lines += ["", f"passed: {len(page.passed)} of {len(page.rows)}"]
    again = f"; measured again in {page.confirmation}" if page.confirmation else ""
    lines += _wrapped(page.how + again, width, "")
    return "\n".join(visible(line) for line in lines)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=indent or "  ",
        break_on_hyphens=False,
    )
