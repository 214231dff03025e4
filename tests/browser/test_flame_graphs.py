"""Flame graphs in a browser: zoom, search, narrow windows, and names that are hostile."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.build import make_profile

sys.path.insert(0, str(Path(__file__).parent))

from test_pages import open_page, set_width

from bench_framework.features.profile.flame_graph import difference_svg
from bench_framework.model.record.profile import Frame, Profile, Stack

EVIL = "x</title></g><script>window.hit=1</script>]]>"
NAMES = ("main", "parse", EVIL, "a::very::long::name::of::a::function::that::fits::nowhere")


def profile(cell: str, *counts: int) -> Profile:
    """Return a profile of one run with a stack for `parse`, for its callee and for the last name."""
    paths = ((0, 1), (0, 1, 2), (0, 3))
    stacks = tuple(Stack(1, count, path) for count, path in zip(counts, paths, strict=True))
    frames = tuple(Frame(name, "tool") for name in NAMES)
    return make_profile(cell, (sum(counts),), frames, stacks)


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "difference.svg"
    sides = profile("b", 600, 200, 200), profile("a", 200, 200, 400)
    labels = ("opt-level 1, with a long label", "the baseline, with a long label too")
    path.write_text(difference_svg(*sides, "samples", labels), encoding="utf-8")
    return path


def widths(page: Any) -> dict[str, float]:
    """Return the widths of the boxes that are visible, by the first letter of their names."""
    # The frame after the next one shows the new sizes.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    visible: dict[str, float] = page.evaluate(
        """Object.fromEntries([...document.querySelectorAll("g")]
            .filter(group => group.style.display !== "none")
            .map(group => [group.querySelector("title").textContent[0],
                group.querySelector("rect").getBoundingClientRect().width]))"""
    )
    return visible


@pytest.mark.parametrize("width", [375, 1280])
def test_a_click_enlarges_a_box_and_escape_shows_all(browser: Any, graph: Path, width: int) -> None:
    with open_page(browser, graph) as page:
        set_width(page, width)
        room = width - 20
        expected = {"a": 1, "m": 1, "p": 1200 / 1800, "x": 400 / 1800}
        visible = widths(page)
        assert visible == pytest.approx(
            {k: v * room for k, v in expected.items()} | {"a": visible["a"]}, abs=2
        )
        page.locator("g", has_text="x</title>").click()
        assert widths(page)["x"] == pytest.approx(room, abs=2)
        page.keyboard.press("Escape")
        assert widths(page) == pytest.approx(visible)
        page.locator("g", has_text="parse (").focus()
        page.keyboard.press("Enter")
        assert widths(page)["p"] == pytest.approx(room, abs=2)
        page.locator("button").click()
        assert widths(page) == pytest.approx(visible)
        assert page.evaluate("document.documentElement.getBoundingClientRect().width") <= width
        sizes = "[...document.querySelectorAll('text')].map(t => t.getBoundingClientRect().right)"
        assert max(page.evaluate(sizes)) <= width
        assert page.evaluate("window.hit") is None


def test_a_search_marks_boxes_and_adds_their_shares(browser: Any, graph: Path) -> None:
    with open_page(browser, graph) as page:
        page.locator("input").fill("PARSE")
        assert page.locator("g.found").count() == 1
        assert page.locator("[role=status]").inner_text() == "66.7 % of the width"
        page.locator("input").fill("")
        assert page.locator("g.found").count() == 0
        assert page.locator("[role=status]").inner_text() == ""
