"""The pages in a browser: at any width, in light and dark, by mouse and keyboard, and on paper."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WIDTHS = (1280, 768, 375)
SCHEMES = ("light", "dark")
NAMES = ("full", "bare")
EXAMPLES = sorted((Path(__file__).parents[2] / "results" / "examples").glob("*/report.html"))
SCREENSHOTS = os.environ.get("BENCHCTL_SCREENSHOTS")
"""Folder for screenshots, to be checked by a person."""
TABLE = "#results-3-table"
LONG = "#long-table"
TIMEOUT_MS = 120_000
"""A busy machine without a graphics card draws a long page slowly."""
LINES_OF_INTERVALS = r"""() => [...document.querySelectorAll("td:not(.drawn)")].flatMap(cell => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), lines = [];
  for (let node; (node = walker.nextNode()); )
    for (const match of node.data.matchAll(/\[[^\[\],]*,[^\[\],]*\]/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      lines.push(new Set([...range.getClientRects()].map(box => box.top)).size);
    }
  return lines;
})"""
"""The number of lines of each interval in a cell of a table."""


@contextmanager
def open_page(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """Open a page, and require no network request, console message or dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    messages: list[str] = []

    def dismiss(dialog: Any) -> None:
        messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.on("console", lambda message: messages.append(f"console: {message.type}: {message.text}"))
    page.on("pageerror", lambda error: messages.append(f"error: {error}"))
    page.on("request", lambda request: messages.append(f"request: {request.url}"))
    page.goto(path.as_uri())
    assert messages.pop(0) == f"request: {path.as_uri()}"
    yield page
    assert messages == []
    context.close()


def set_width(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def open_details(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")


def column(page: Any, table: str, number: int) -> list[str]:
    """Return the visible cells of a column of a table."""
    texts: list[str] = page.locator(
        f"{table} tbody tr:visible > :nth-child({number})"
    ).all_inner_texts()
    return [text.strip() for text in texts]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*NAMES, "site"])
def test_no_page_is_wider_than_the_window(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    with open_page(browser, pages[name], color_scheme=scheme) as page:
        set_width(page, width)
        if SCREENSHOTS:
            page.screenshot(
                path=Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png",
                full_page=True,
                timeout=TIMEOUT_MS,
            )
        for _ in range(2):
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide == 0
            open_details(page)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_reader_chooses_light_or_dark(
    browser: Any, pages: dict[str, Path], scheme: str
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
    first, second = (light, dark) if scheme == "light" else (dark, light)
    with open_page(browser, pages["full"], color_scheme=scheme) as page:
        assert page.evaluate(ground) == first
        page.locator("button.theme").click()
        assert page.evaluate(ground) == second


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_tables_are_sorted_by_mouse_and_keyboard(
    browser: Any, pages: dict[str, Path], device: str
) -> None:
    with open_page(browser, pages["full"]) as page:
        before = column(page, TABLE, 1)
        head = page.locator(f"{TABLE} thead th:nth-child(2)")
        button = head.locator("button")
        for expected in ("ascending", "descending"):
            if device == "mouse":
                button.click()
            else:
                button.focus()
                page.keyboard.press("Enter")
            assert head.get_attribute("aria-sort") == expected
            texts = [text.removeprefix("≈ ") for text in column(page, TABLE, 2)]
            figures = [float(text) for text in texts if text[0].isdigit()]
            assert figures == sorted(figures, reverse=expected == "descending")
            assert len(figures) > 9
        assert sorted(column(page, TABLE, 1)) == sorted(before)
        page.locator(f"{TABLE} thead button", has_text="Variant").click()
        assert column(page, TABLE, 1) != before


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_rows_are_filtered(browser: Any, pages: dict[str, Path], device: str) -> None:
    with open_page(browser, pages["long"]) as page:
        assert page.locator(".tools").count() == 1, "short tables have no filter"
        field = page.locator(f".scroll:has({LONG}) + .tools input")
        if device == "mouse":
            field.click()
        else:
            field.focus()
        page.keyboard.type("jemalloc SMOL")
        assert column(page, LONG, 1) == ["smol+jemalloc"] * 2
        field.fill("")
        assert len(column(page, LONG, 1)) == 26


def test_a_table_is_copied_as_markdown_with_its_visible_rows(
    browser: Any, pages: dict[str, Path]
) -> None:
    with open_page(browser, pages["long"]) as page:
        page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        page.locator(f".scroll:has({LONG}) + .tools input").fill("jemalloc")
        button = page.locator(f"{LONG} .copy")
        button.click()
        page.wait_for_function("b => b.textContent === 'Copied'", arg=button.element_handle())
        head, rule, *rows = page.evaluate("window.copied").splitlines()
        visible = [" ".join(text.split()) for text in column(page, LONG, 1)]
    assert head.startswith("| Variant | Time, ms | vs baseline")
    assert set(rule.split("|")[1:-1]) == {" :-- ", " --: "}
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == visible
    assert len({line.count(" | ") for line in (head, rule, *rows)}) == 1


def test_sort_filter_and_theme_are_in_the_address(browser: Any, pages: dict[str, Path]) -> None:
    with open_page(browser, pages["long"], color_scheme="light") as page:
        page.locator(f"{LONG} thead th:nth-child(2) button").click()
        page.locator(f"{LONG} thead th:nth-child(2) button").click()
        page.locator(f".scroll:has({LONG}) + .tools input").fill("jemalloc")
        page.locator("button.theme").click()
        address, rows = page.url, column(page, LONG, 1)
        assert 1 < len(rows) < 26
    assert address.endswith("#view:long-table=1d&long-table.rows=jemalloc&theme=dark")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    page.goto(address)
    assert column(page, LONG, 1) == rows
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator(f"{LONG} thead th:nth-child(2)").get_attribute("aria-sort") == "descending"
    context.close()


@pytest.mark.parametrize(
    "hostile",
    [
        "view:theme=<b>",
        "view:results-3-table=99a&results-3-table=-1d&x.rows=y",
        "view:%zz&=&__proto__=1a",
    ],
)
def test_a_hostile_address_changes_nothing(
    browser: Any, pages: dict[str, Path], hostile: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(pages["full"].as_uri())
    before = column(page, TABLE, 1)
    page.goto(f"{pages['full'].as_uri()}#{hostile}")
    page.reload()
    assert column(page, TABLE, 1) == before
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert errors == []
    context.close()


def test_links_and_printing_unfold_the_appendix(browser: Any, pages: dict[str, Path]) -> None:
    parts = "[...document.querySelectorAll('details.part')].map(d => d.open)"
    with open_page(browser, pages["full"]) as page:
        assert not any(page.evaluate(parts))
        page.goto(f"{pages['full'].as_uri()}#control-table")
        assert page.locator("#control-table").is_visible()
        assert page.evaluate(parts).count(True) == 1
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert all(page.evaluate(parts))
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(parts).count(True) == 1


def test_on_a_phone_results_and_plot_fit_without_scrolling(
    browser: Any, pages: dict[str, Path]
) -> None:
    with open_page(browser, pages["full"]) as page:
        set_width(page, 375)
        assert "▼" in page.locator(f"{TABLE} tbody tr:first-child td").nth(1).inner_text()
        for cell in page.locator(f"{TABLE} tbody tr:first-child > *:visible").all():
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 375
        plot = page.locator("#answer-figure svg:visible")
        assert plot.get_attribute("class") == "narrow"
        assert plot.bounding_box()["x"] + plot.bounding_box()["width"] <= 375
        open_details(page)
        bounds = page.evaluate(LINES_OF_INTERVALS)
        assert len(bounds) > 10
        assert set(bounds) == {1}


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_has_its_table(browser: Any, pages: dict[str, Path], name: str) -> None:
    with open_page(browser, pages[name]) as page:
        rows = page.evaluate(
            """[...document.querySelectorAll("figure")].map((figure) => {
                const link = figure.querySelector("figcaption a[href^='#']");
                const table = figure.querySelector("details table")
                    || (link && document.querySelector("table" + link.getAttribute("href")));
                const svg = figure.querySelector("svg[role='img']");
                const titled = svg && svg.querySelector("title").textContent && svg.querySelector("desc").textContent;
                return table && titled ? table.tBodies[0].rows.length : 0;
            })"""
        )
        assert all(rows)
        assert name != "full" or len(rows) > 12


def test_the_page_is_complete_without_its_script(browser: Any, pages: dict[str, Path]) -> None:
    script = (
        "[document.querySelector('main').innerText, document.querySelectorAll('main tr').length]"
    )
    with open_page(browser, pages["full"]) as page:
        open_details(page)
        page.evaluate("document.querySelectorAll('.tools, .copy').forEach(t => t.remove())")
        text, rows = page.evaluate(script)
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    page.goto(pages["full"].as_uri())
    assert page.locator("main tr").count() == rows
    assert page.locator(".tools, button").count() == 0
    for summary in page.locator("details > summary").all():
        summary.click()  # opens without a script
    assert re.sub(r"\s+", " ", page.locator("main").inner_text()) == re.sub(r"\s+", " ", text)
    context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_on_paper_the_page_is_light_and_nothing_is_cut(
    browser: Any, pages: dict[str, Path], scheme: str, tmp_path: Path
) -> None:
    with open_page(browser, pages["full"], color_scheme=scheme) as page:
        paper = page.pdf(
            path=Path(SCREENSHOTS) / f"full-{scheme}.pdf" if SCREENSHOTS else tmp_path / "full.pdf",
            prefer_css_page_size=True,
            print_background=True,
        )
        assert paper.startswith(b"%PDF")
        page.emulate_media(media="print", color_scheme=scheme)
        set_width(page, 688)  # A4 without its margins, in CSS pixels
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
        cut = page.evaluate(
            """[...document.querySelectorAll("main table, main svg, main p, main pre")]
                .filter((e) => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 1)
                .map((e) => e.id || e.textContent.slice(0, 60))"""
        )
        assert cut == []
        assert page.locator(".tools:visible, .contents:visible, .theme:visible").count() == 0
        # Where a header is repeated on the next page, a button would be empty.
        assert (
            page.evaluate("getComputedStyle(document.querySelector('th button')).display")
            == "contents"
        )
        printed = page.evaluate(
            """[...document.querySelectorAll("main a[href]")].filter((a) => a.getClientRects().length)
                .filter((a) => !/^(#|data:)/.test(a.getAttribute("href")))
                .map((a) => getComputedStyle(a, "::after").content.includes(a.getAttribute("href")))"""
        )
        assert all(printed)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("name", [*NAMES, "site"])
def test_axe_finds_no_violation(
    browser: Any, pages: dict[str, Path], axe: str, name: str, width: int, scheme: str
) -> None:
    with open_page(browser, pages[name], color_scheme=scheme) as page:
        set_width(page, width)
        open_details(page)
        page.evaluate(axe)
        violations = [
            f"{v['id']}: {v['help']}: {node['target']} {node['html'][:200]}: {node['failureSummary']}"
            for v in page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            for node in v["nodes"][:4]
        ]
        assert violations == []


def test_the_contents_lead_to_their_sections(browser: Any, pages: dict[str, Path]) -> None:
    with open_page(browser, pages["full"]) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.url.endswith("#answer")
        for link in page.locator(".contents a").all():
            link.click()
            target = page.url.partition("#")[2]
            assert page.locator(f"[id='{target}']").is_visible()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_prints_on_two_sheets(browser: Any, path: Path) -> None:
    with open_page(browser, path) as page:
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) in {1, 2}


@pytest.mark.parametrize("size", [(1280, 800), (768, 1024)])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_summary_of_an_example_is_on_the_first_screen(
    browser: Any, path: Path, size: tuple[int, int]
) -> None:
    with open_page(browser, path) as page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        box = page.locator(".s-s02 .lines").bounding_box()
        assert box["y"] + box["height"] <= size[1]
