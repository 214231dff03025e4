"""The page of a scenario in a browser: zoom, tooltip, links and keyboard."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_pages import open_page

CHART = "svg.history >> nth=0"
BOXES = "[...document.querySelectorAll('svg.history')].map(s => s.getAttribute('viewBox'))"


def drag(page: Any, first: float, last: float) -> None:
    """Drag over a chart, from and to a fraction of its width."""
    box = page.locator(CHART).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + first * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + (first + last) / 2 * box["width"], y)
    page.mouse.move(box["x"] + last * box["width"], y)
    page.mouse.up()


def test_dragging_shows_a_range_of_records_in_all_charts(
    browser: Any, pages: dict[str, Path]
) -> None:
    with open_page(browser, pages["site"]) as page:
        whole = page.evaluate(BOXES)
        assert set(whole) == {"-0.5 0 60 100"}
        assert not page.locator("p.range").is_visible()
        drag(page, 0.5, 0.75)
        assert set(page.evaluate(BOXES)) == {"29.5 0 15 100"}
        assert page.locator("p.range").inner_text().startswith("Records 31 to 45 of 60")
        page.locator("p.range button").click()
        assert page.evaluate(BOXES) == whole
        drag(page, 0.75, 0.5)  # from right to left
        assert set(page.evaluate(BOXES)) == {"29.5 0 15 100"}
        page.locator(CHART).dblclick()
        assert page.evaluate(BOXES) == whole


def test_the_tooltip_has_the_value_and_links_of_the_nearest_record(
    browser: Any, pages: dict[str, Path]
) -> None:
    with open_page(browser, pages["site"]) as page:
        box = page.locator(CHART).bounding_box()
        page.mouse.move(box["x"] + 0.5 / 60 * box["width"], box["y"] + 20)
        tip = page.locator(".tip")
        assert tip.is_visible()
        assert "10.00 ms" in tip.inner_text()
        assert "2026-03-01 00:00" in tip.inner_text()
        page.mouse.move(5, 5)
        assert not tip.is_visible()
        page.locator(CHART).click(position={"x": box["width"] - 2, "y": 20})
        assert page.evaluate("getComputedStyle(document.querySelector('.tip')).pointerEvents") == (
            "auto"
        )
        links = [link.get_attribute("href") for link in tip.locator("a").all()]
        assert links[0].endswith("/report.html")
        assert links[1].startswith("https://git.example/a/b/commit/")
        page.keyboard.press("Escape")
        assert not tip.is_visible()


def test_a_chart_is_used_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    with open_page(browser, pages["site"]) as page:
        page.locator(CHART).focus()
        page.keyboard.press("ArrowLeft")
        assert "2026-03-03 10:00" in page.locator(".tip").inner_text()
        page.keyboard.press("+")
        assert set(page.evaluate(BOXES)) == {"29.5 0 30 100"}
        page.keyboard.press("+")
        page.keyboard.press("-")
        page.keyboard.press("-")
        assert set(page.evaluate(BOXES)) == {"-0.5 0 60 100"}
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.textContent") == "Report"


@pytest.mark.parametrize("width", [1280, 375])
def test_the_tooltip_stays_within_the_window(
    browser: Any, pages: dict[str, Path], width: int
) -> None:
    with open_page(browser, pages["site"]) as page:
        page.set_viewport_size({"width": width, "height": 900})
        chart = page.locator(CHART).bounding_box()
        for share in (0.01, 0.5, 0.99):
            page.mouse.move(chart["x"] + share * chart["width"], chart["y"] + 30)
            box = page.locator(".tip").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_without_javascript_charts_and_links_are_there(
    browser: Any, pages: dict[str, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["site"].as_uri())
    assert page.locator("svg.history .level").count() == 4
    assert page.locator("table.records a[href$='report.html']").count() == 60
    context.close()
