"""Markdown, HTML and terminal: no active content, and the same bytes as in the approval files."""

import ast
import base64
import hashlib
import json
import os
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from report_sample import HOSTILE, sample
from rich.cells import cell_len

from bench_framework import report
from bench_framework.features.document import build_document
from bench_framework.report.blocks import (
    AuthorNote,
    Cell,
    Code,
    Column,
    Document,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from bench_framework.report.context import ReportData
from bench_framework.report.render import html, markdown, terminal
from bench_framework.report.render.markdown import code_span, escape, escape_start
from bench_framework.report.render.templates import Templates
from bench_framework.report.render.widths import visible
from tests.build import require

GOLDEN = Path(__file__).parents[2] / "golden"


ENDS = {
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tr": ("td", "th", "tr"),
    "/thead": ("td", "th", "tr"),
    "/tbody": ("td", "th", "tr"),
}
"""Elements that each tag ends without an end tag."""


class Balance(HTMLParser):
    """A parser that counts open elements.

    Void elements are ignored, and the next row or cell ends the previous one, as in HTML.
    """

    VOID = frozenset({"meta", "input", "br", "hr", "img", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.wrong: list[str] = []
        self.headings: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.end_implied(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def end_implied(self, tag: str) -> None:
        """End the rows and cells that a tag ends implicitly."""
        for inner in ENDS.get(tag, ()):
            if self.open and self.open[-1] == inner:
                self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        self.end_implied(f"/{tag}")
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_report_code_contains_no_verdict_words() -> None:
    forbidden = re.compile(
        r"\b(significant(ly)?|negligible|identical|faster|slower|regression|no overhead)\b",
        re.IGNORECASE,
    )
    # The verdict words themselves, and reasons that contain them.
    allowed = {"verdicts.py", "experiments.py"}
    for path in sorted(Path(report.__file__).parent.rglob("*.py")):
        if path.name in allowed:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        described = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in described
            ):
                assert forbidden.search(node.value) is None, f"{path.name}: {node.value}"


# -- no active content ---------------------------------------------------------------------------


def test_a_hostile_name_is_only_text_in_html(page: str) -> None:
    assert "<script>alert" not in page
    assert HOSTILE in unescape(page)
    assert "{{7*7}}" in page
    assert "49}}" not in page


def test_html_is_well_formed_with_unique_ids_and_ordered_headings(page: str) -> None:
    parser = Balance()
    parser.feed(page)
    assert parser.wrong == []
    assert parser.open == []
    assert len(parser.ids) == len(set(parser.ids))
    assert parser.headings[0] == 1
    assert parser.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(parser.headings, parser.headings[1:], strict=False))


def test_html_loads_nothing(page: str) -> None:
    assert re.findall(r"<(?:img|link|iframe|object|embed|base)\b", page) == []
    assert re.findall(r"\b(?:src|srcset|action|formaction|ping)\s*=", page) == []
    assert all(target.startswith("#") for target in re.findall(r'\bhref="([^"]*)"', page))
    assert "@import" not in page
    assert re.findall(r"url\((?!#)", page) == []
    assert (
        re.findall(r"\son[a-z]+\s*=", page[: page.index('<script type="application/json"')]) == []
    )


def test_every_link_has_a_target(data: ReportData, page: str) -> None:
    for one in (page, html.render(build_document(data, only=("S03",)), data, Templates(), {})):
        parser = Balance()
        parser.feed(one)
        assert {target[1:] for target in re.findall(r'\bhref="(#[^"]+)"', one)} <= set(parser.ids)


def test_only_our_script_may_run(page: str) -> None:
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    assert len(script[0].encode()) <= 6 * 1024
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    policy = require(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page))
    assert unescape(policy[1]) == (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    )


def test_embedded_json_can_be_read_back_and_cannot_end_its_element(
    page: str, data: ReportData
) -> None:
    bodies = dict(
        re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', page, re.DOTALL)
    )
    assert all("<" not in body for body in bodies.values())
    assert json.loads(bodies["env"])["host"]["cpu"] == "AMD EPYC 7B13"
    assert json.loads(bodies["scenario"]) == data.scenario_text


def test_json_escapes_what_would_end_a_script() -> None:
    assert (
        html.safe_json({"a": "</script>\u2028&"}) == '{"a":"\\u003c/script\\u003e\\u2028\\u0026"}'
    )


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("<b>", "\\<b\\>"),
        ("*x* _y_ `z`", "\\*x\\* \\_y\\_ \\`z\\`"),
        ("[a](javascript:x)", "[a]\\(javascript:x)"),
        ("line\nbreak", "line break"),
        ("[0.893, 0.926]", "[0.893, 0.926]"),
        ("run `benchctl report a_b`, *then*", "run `benchctl report a_b`, \\*then\\*"),
        ("`benchctl a|b`", "\\`benchctl a\\|b\\`"),
    ],
)
def test_markdown_prints_names_as_they_are(raw: str, escaped: str) -> None:
    assert escape(raw) == escaped


def test_backticks_of_a_question_are_code(document: Document, data: ReportData) -> None:
    with_code = replace(document, question="Is `a <b>` faster than `c_d`, or `e?")
    text = markdown.render(with_code, Templates())
    assert "\n# Is `a <b>` faster than `c_d`, or \\`e?\n" in text
    page = html.render(with_code, data, Templates(), {})
    assert "<h1>Is <code>a &lt;b&gt;</code> faster than <code>c_d</code>, or `e?</h1>" in page


def test_markdown_lines_cannot_begin_a_block() -> None:
    assert escape_start("# title") == "\\# title"
    assert escape_start("1. item") == "1\\. item"
    assert escape_start("- item") == "\\- item"
    assert code_span("a`b") == "`` a`b ``"


def test_control_characters_are_escaped(document: Document) -> None:
    assert visible("a\x1b[31mb\u202ec\nd") == "a\\x1b[31mb\\u202ec d"
    assert "\x1b" not in terminal.render(document, width=80, color=False)


def document_of_names(document: Document, names: list[str]) -> Document:
    """Return a document in which each section has one of these names in all its texts."""
    parts = tuple(
        Section(
            "S03",
            f"results-{number}",
            name,
            (
                Table(
                    f"t-{number}",
                    name,
                    (Column("Variant"), Column(name)),
                    (Row((Cell(name, 1.0), Cell(name, code=True)), reason=name),),
                ),
                Paragraph((Sentence(name),)),
                AuthorNote(name, name),
                Code(name),
            ),
            terminal="all",
        )
        for number, name in enumerate(names)
    )
    return replace(document, title=names[0], sections=parts, claims=())


def _outside_fences(page: str) -> list[str]:
    """Return the lines outside code blocks. Within code, a bar is a plain character."""
    lines: list[str] = []
    fence = ""
    for line in page.splitlines():
        mark = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == fence else fence
        elif len(mark) >= 3:
            fence = mark
        else:
            lines.append(line)
    return lines


def test_no_name_breaks_a_page(document: Document, data: ReportData) -> None:
    """Each page has several names, because the templates take longer than the names."""

    # The fixtures are no arguments of this function, because Hypothesis would print them.
    @given(st.lists(st.text(max_size=40), min_size=1, max_size=24))
    @example(["]]></script><!--", "|", "a\\|b", "\x1b[31m|`\n# x\u202e"])
    @settings(max_examples=12)
    def check(names: list[str]) -> None:
        crowded = document_of_names(document, names)
        parser = Balance()
        parser.feed(html.render(crowded, data, Templates(), {}))
        assert (parser.open, parser.wrong) == ([], [])
        lines = _outside_fences(markdown.render(crowded, Templates()))
        rows = [line for line in lines if line.startswith("|")]
        assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in rows} == {3}
        assert "\x1b" not in terminal.render(crowded, width=80)

    check()


# -- terminal ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(document: Document, width: int) -> None:
    for line in terminal.render(document, width=width).splitlines():
        assert cell_len(line) <= width or line.startswith((" " * 9, "Rerun", "Report")), (
            "commands stay whole"
        )


def test_two_names_are_never_cut_to_the_same_one(document: Document) -> None:
    first = require(document.section("S03"))
    table = next(b for b in first.blocks if isinstance(b, Table))
    names = [
        f"tokio-worker-pool + {p}-json + {a}"
        for p in ("simd", "serde")
        for a in ("mimalloc", "jemalloc")
    ]
    rows = tuple(
        replace(row, cells=(Cell(name), *row.cells[1:]))
        for name, row in zip(names, table.rows, strict=False)
    )
    section = replace(first, blocks=(replace(table, rows=rows),))
    screen = terminal.render(
        replace(document, sections=(section,)), width=70, color=False, unicode=True
    )
    shortened = [line for line in screen.splitlines() if "…" in line and " = " not in line]
    cut = [line.strip().split("  ")[0] for line in shortened]
    assert len(set(cut)) == len(cut) == len(names)
    flat = " ".join(screen.split())
    assert [flat.count(f"= {name}") for name in names] == [1] * len(names)


def test_a_number_stays_with_its_unit_where_only_ascii_can_be_shown(document: Document) -> None:
    for width in range(60, 121):
        screen = terminal.render(document, width=width, color=False, unicode=False)
        assert not re.search(r"^ *(%|ms|MiB)(?![\w])", screen, re.MULTILINE), width
        assert "\ue000" not in screen


def test_colour_changes_no_character(document: Document) -> None:
    coloured = terminal.render(document, width=100, color=True)
    assert "\x1b[" in coloured
    assert [
        line.rstrip() for line in re.sub(r"\x1b\[\d+m", "", coloured).splitlines()
    ] == terminal.render(document, width=100).splitlines()


# -- the same bytes ------------------------------------------------------------------------------


def test_equal_records_give_equal_bytes(page: str, text: str, data: ReportData) -> None:
    from bench_framework.report import figures  # noqa: PLC0415 -- matplotlib takes half a second

    sample.cache_clear()
    again = sample()
    assert again is not data
    assert again.judgement == data.judgement
    document = build_document(again)
    drawn = figures.drawings(document)
    inline = {f.anchor: figures.inline(drawn[f.anchor], f) for f in document.figures()}
    assert html.render(document, again, Templates(), inline) == page
    both = (markdown.render(document, Templates(), place) for place in ("report", "appendix"))
    assert "".join(both) == text


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing: run with UPDATE_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), (
        f"{name} differs: check the difference, then run with UPDATE_GOLDEN=1"
    )


def test_markdown_is_as_it_was(text: str) -> None:
    report, title, appendix = text.partition("# search-matrix: appendix")
    golden("report.md", report)
    golden("appendix.md", title + appendix)


def test_html_is_as_it_was(document: Document, data: ReportData) -> None:
    # Figures are excluded, because their bytes depend on the installed matplotlib. They have
    # separate tests.
    golden("report.html", html.render(document, data, Templates(), {}))


@pytest.mark.parametrize(("width", "unicode"), [(80, True), (120, True), (80, False)])
def test_the_terminal_is_as_it_was(document: Document, width: int, unicode: bool) -> None:
    name = f"report-{width}.txt" if unicode else f"report-{width}-ascii.txt"
    golden(name, terminal.render(document, width=width, unicode=unicode))


def test_a_record_without_results_renders_everywhere(empty: ReportData) -> None:
    document = build_document(empty)
    assert "No result: " in markdown.render(document, Templates())
    assert "No result: " in html.render(document, empty, Templates(), {})
    assert "No result: " in terminal.render(document, width=80)
