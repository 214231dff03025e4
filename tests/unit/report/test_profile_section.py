"""The profile section and its files: escaped names, reproducible bytes, and no statement beyond shares."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from report_sample import HOSTILE, SVG, with_contents

from bench_framework import assets
from bench_framework.features.document import build_document
from bench_framework.features.profile import flame_graph
from bench_framework.features.profile.compute import attach, shares_of
from bench_framework.model.record.profile import Frame, Profile, Stack
from bench_framework.model.record.run import Event
from bench_framework.report.blocks import Document, Facts, Section, Table
from bench_framework.report.charts import DARK, LIGHT
from bench_framework.report.context import ReportData
from bench_framework.report.render import html, markdown, terminal
from bench_framework.report.render.templates import Templates
from tests.build import make_profile, require

SCRIPT = assets.template_dir() / flame_graph.SCRIPT
EVIL = "a;b</title><script>alert(1)</script>\x1b[31m\u202e\nsecond line"
FRAMES = (
    Frame("main", "prog"),
    Frame(EVIL, "li<b>.so"),
    Frame("größe::{{closure}}", "prog"),
    Frame("schedule", "[kernel.kallsyms]", kernel=True),
)


def profile(cell: str, runs: int = 2, **change: Any) -> Profile:
    """Return 100 samples per run: 60 in the evil function, 30 in its child, 10 in the kernel."""
    stacks = tuple(
        stack
        for run in range(1, runs + 1)
        for stack in (Stack(run, 60, (0, 1)), Stack(run, 30, (0, 1, 2)), Stack(run, 10, (0, 3)))
    )
    buckets = {"sizes <i>": "größe"}
    profiled = make_profile(cell, (100,) * runs, FRAMES, stacks, buckets=buckets)
    return replace(profiled, **change)


def with_profiles(data: ReportData, *profiles: Profile) -> ReportData:
    return replace(data, profiles=profiles, judgement=attach(data.judgement, data.plan, profiles))


def profile_document(data: ReportData) -> Document:
    return build_document(data, only=("S15",))


def profile_section(data: ReportData) -> Section:
    return require(profile_document(data).section("S15"))


def arms(data: ReportData) -> list[str]:
    return [cell.id for cell in data.arms(data.plan.inputs[0].id)]


def test_a_report_without_a_profile_says_why(data: ReportData) -> None:
    text = markdown.render(profile_document(data), Templates(), "appendix")
    assert "Not shown: profile and remaining bottlenecks (no profile was recorded)." in text
    failed = with_contents(
        data, events=(Event("BX350", "nothing was profiled: perf is not installed"),)
    )
    assert "(Nothing was profiled: perf is not installed)" in markdown.render(
        profile_document(failed), Templates(), "appendix"
    )


def test_the_table_has_symbol_self_inclusive_samples_and_runs(data: ReportData) -> None:
    profiled = with_profiles(data, profile(arms(data)[0]))
    section = profile_section(profiled)
    table = next(b for b in section.blocks if isinstance(b, Table))
    assert [c.title for c in table.columns] == [
        "Symbol",
        "Self %",
        "95\u202f% CI",
        "Inclusive %",
        "95\u202f% CI",
        "Samples, self",
        "Runs",
        "In",
        "Bucket",
    ]
    first = [cell.value for cell in table.rows[0].cells]
    assert first[1] == 0.6
    assert first[3] == 0.9
    assert first[5:7] == [120, 2]
    assert "200 samples (cpu-clock) in 2 runs" in table.caption
    assert "not a possible saving" in " ".join(table.legend)
    claims = {c.id: c for c in profiled.judgement.claims}
    assert claims[str(table.rows[0].cells[1].claim)].estimate == 0.6
    facts = dict(next(b for b in section.blocks if isinstance(b, Facts)).pairs)
    assert facts["Binary"].startswith("a build with symbols (bbbb")
    assert "not the measured binary (aaaa" in facts["Binary"]
    assert facts["Runs"] == "2 of 5, untimed; 100, 100"


def test_a_profile_of_the_measured_binary_names_it_as_such(data: ReportData) -> None:
    measured = profile(arms(data)[0], profiled_sha256="aa" * 32)
    section = profile_section(with_profiles(data, measured))
    facts = dict(next(b for b in section.blocks if isinstance(b, Facts)).pairs)
    assert facts["Binary"] == f"the measured binary ({'aa' * 8})"


def test_a_profile_adds_a_line_to_the_summary_and_changes_no_result(data: ReportData) -> None:
    profiled = with_profiles(data, profile(arms(data)[0]))
    before, after = build_document(data), build_document(profiled)
    for code in ("S03", "S19", "S21"):
        assert before.section(code) == after.section(code)
    assert "Where the time goes" not in str(before.section("S02"))
    assert "Where the time goes" in str(after.section("S02"))
    assert "Where the time goes" in terminal.render(after, full=True)


def test_too_few_samples_show_a_sentence_and_no_table(data: ReportData) -> None:
    few = replace(
        profile(arms(data)[0]), runs=(9, 9), stacks=(Stack(1, 9, (0,)), Stack(2, 9, (0, 1)))
    )
    section = profile_section(with_profiles(data, few))
    assert not [b for b in section.blocks if isinstance(b, Table)]
    assert "too few samples of rayon+system to rank functions: 18 samples, 2 runs" in str(
        section.blocks
    )


def test_pages_print_hostile_names_as_text(data: ReportData) -> None:
    profiled = with_profiles(data, profile(arms(data)[0]), profile(arms(data)[-1]))
    document = profile_document(profiled)
    page = html.render(document, profiled, Templates(), {})
    assert "<script>alert(1)" not in page
    text = markdown.render(document, Templates(), "appendix")
    assert "\x1b" not in page + text
    assert f'href="profiles/{arms(data)[0]}/flame.svg"' in page
    assert f"[flame graph](profiles/{arms(data)[0]}/flame.svg)" in text
    full = terminal.render(document, width=80, full=True)
    assert "\x1b" not in full
    assert "Sampled by" in full
    assert f"profiles/{arms(data)[0]}/flame.svg" in full


def test_a_flame_graph_is_well_formed_safe_and_the_same_each_time(data: ReportData) -> None:
    sampled = profile(arms(data)[0])
    svg = flame_graph.flame_svg(sampled, shares_of(sampled), HOSTILE)
    assert svg == flame_graph.flame_svg(
        replace(sampled, stacks=sampled.stacks[::-1]), shares_of(sampled), HOSTILE
    )
    root = ET.fromstring(svg)
    (script,) = root.iter(f"{SVG}script")
    assert (script.text or "").strip() == SCRIPT.read_text(encoding="utf-8").strip()
    assert "\x1b" not in svg
    titles = [g.findtext(f"{SVG}title") or "" for g in root.iter(f"{SVG}g")]
    assert titles[0] == "all: 100.00 % of 200 samples (inclusive)"
    assert len(titles) == 5
    evil = next(t for t in titles if t.startswith("a;b"))
    assert (
        "(li<b>.so): 90.00 % of 200 samples (inclusive), 60.00 % at this place itself (self)"
        in evil
    )
    assert "\\u202e" in evil
    boxes = {
        t.partition(" ")[0]: g.find(f"{SVG}rect")
        for t, g in zip(titles, root.iter(f"{SVG}g"), strict=True)
    }
    width = {name: float(rect.attrib["width"]) for name, rect in boxes.items() if rect is not None}
    assert width["schedule"] == pytest.approx(0.1 * width["all:"], abs=1)
    kinds = {name: rect.attrib["class"] for name, rect in boxes.items() if rect is not None}
    assert kinds["schedule"] == "kernel"
    assert kinds["größe::{{closure}}"] == "series-3", "the colour of its bucket"
    assert LIGHT["ground"] in svg
    assert DARK["ground"] in svg
    assert "prefers-color-scheme: dark" in svg
    assert set(re.findall('http[^"]*', svg)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xhtml",
    }


def test_the_graph_of_a_difference_shows_its_direction_and_both_sides(data: ReportData) -> None:
    base, other = (cell for cell in arms(data)[:2])
    assert base == data.plan.baseline_cell(data.plan.inputs[0].id).id  # type: ignore[union-attr]
    slower = tuple(
        replace(stack, count=stack.count * (2 if len(stack.frames) == 3 else 1))
        for stack in profile(other, runs=4).stacks
        if stack.frames != (0, 3)
    )
    changed = replace(profile(other), runs=(120,) * 4, stacks=slower)
    profiled = with_profiles(data, profile(base, runs=4), changed)
    name = f"profiles/{other}/difference.svg"
    files = flame_graph.profile_files(profiled)
    assert [path for path in files if path.endswith("difference.svg")] == [name]
    root = ET.fromstring(files[name])
    boxes = {
        (group.findtext(f"{SVG}title") or "").partition(" ")[0]: group
        for group in root.iter(f"{SVG}g")
    }
    kinds = {
        name: rect.attrib["class"]
        for name, group in boxes.items()
        if (rect := group.find(f"{SVG}rect")) is not None
    }
    assert kinds["größe::{{closure}}"] == "alert"
    assert kinds["schedule"] == "accent", "a function of the reference only is drawn"
    assert kinds["all:"] == "user"
    title = boxes["größe::{{closure}}"].findtext(f"{SVG}title") or ""
    assert "60.0 samples per run against 30.0 (inclusive), +100" in title
    assert "; 60.0 against 30.0 at this place itself (self)" in title
    section = profile_document(profiled).section("S15")
    assert name in str(section)
    alike = flame_graph.difference_svg(profile(other), profile(base), "samples", ("b", "a"))
    drawn = {rect.get("class") for rect in ET.fromstring(alike).iterfind(f"{SVG}g/{SVG}rect")}
    assert drawn == {"user"}, "nothing differs"
    for unlike in (
        replace(changed, frequency_hz=99),
        replace(changed, event="cycles"),
        replace(changed, runs=(9,), stacks=(Stack(1, 9, (0, 1)),)),
    ):
        files = flame_graph.profile_files(with_profiles(data, profile(base, runs=4), unlike))
        assert name not in files


@pytest.mark.parametrize(
    ("counts", "mean", "error"),
    [([9], 9, 3), ([8, 10], 9, 3 / 2**0.5), ([0, 18], 9, 9), ([4, 4, 4, 4], 4, 1)],
)
def test_the_error_of_a_mean_is_at_least_that_of_a_poisson_count(
    counts: list[int], mean: float, error: float
) -> None:
    by_run = Counter(dict(enumerate(counts, start=1)))
    assert flame_graph.means(by_run, len(counts)) == pytest.approx((mean, error))


def test_folded_stacks_are_valid_with_any_names(data: ReportData) -> None:
    lines = flame_graph.folded_text(profile(arms(data)[0])).splitlines()
    assert len(lines) == 3
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 200
    deepest = next(line for line in lines if "größe" in line)
    assert deepest.rpartition(" ")[0].count(";") == 2, "the semicolon of a name separates no frames"
    assert any(line.startswith("main;schedule_[k] ") for line in lines)


def test_the_table_as_csv_has_the_figures_of_the_judgement(data: ReportData) -> None:
    shares = shares_of(profile(arms(data)[0]))
    rows = list(csv.DictReader(io.StringIO(flame_graph.top_csv(shares))))
    assert [row["self_samples"] for row in rows] == ["120", "60", "20", "0"]
    assert [float(row["inclusive_share"]) for row in rows] == [0.9, 0.3, 0.1, 1.0]
    assert float(rows[0]["self_lo"]) == shares.functions[0].own.share.lo


def test_callgrind_has_no_flame_graph_and_no_inclusive_shares(data: ReportData) -> None:
    counted = profile(
        arms(data)[0],
        runs=1,
        sampler="callgrind",
        tool="valgrind-3.19.0",
        event="Ir",
        frequency_hz=None,
        unwinding=None,
        stacks=(Stack(1, 70, (1,)), Stack(1, 30, (2,))),
    )
    profiled = with_profiles(data, counted)
    files = flame_graph.profile_files(profiled)
    assert {name.rpartition("/")[2] for name in files} == {"folded.txt", "top.csv"}
    assert len(files) == 2
    section = profile_section(profiled)
    table = next(b for b in section.blocks if isinstance(b, Table))
    assert "instructions (Ir)" in table.caption
    assert "no interval" in table.caption
    assert not [c for c in table.columns if c.title.startswith("Inclusive")]
    assert "flame" not in str(section.blocks[-1])
