"""Tests of the pages of a site: charts, changes, links and names that contain HTML."""

import json
import re
from dataclasses import replace

import pytest

from bench_framework.extensions.history.model import History, HistoryPoint, HistorySeries, Shift
from bench_framework.extensions.history.site_pages import (
    Commits,
    SiteRecord,
    render_index,
    render_scenario,
)
from bench_framework.model.record.machine import Fingerprint
from bench_framework.report.render.templates import Templates
from tests.build import require

TEMPLATES = Templates()
HOSTILE = '<script>alert("1")</script>'
COMMITS = Commits("https://git.example/a/b")


def site_record(number: int, **given: object) -> SiteRecord:
    record = SiteRecord(
        "parse",
        f"202603{number + 1:02}T1200Z",
        f"2026-03-{number + 1:02}T12:00:00.000Z",
        "Is it fast?",
        "conclusive",
        "fast takes 10 % less time than plain",
        [f"{number:x}" * 40],
        "f" * 12,
        ["report.html"],
    )
    return replace(record, **given)  # type: ignore[arg-type]


def series(values: list[float], *changes: Shift, label: str = "fast, 1MiB") -> HistorySeries:
    points = tuple(
        HistoryPoint(
            n,
            site_record(n).id,
            site_record(n).started,
            f"{n:x}" * 40,
            False,
            value,
            value * 0.98,
            value * 1.02,
            f"p{n}",
            "t",
            value,
            value,
        )
        for n, value in enumerate(values)
    )
    return HistorySeries(label, label, {"way": "fast"}, points, changes, noise=0.01)


def history(*all_series: HistorySeries) -> History:
    machine = Fingerprint("f" * 12, {"CPU": "EPYC", "cores": "4"})
    count = max(len(one.points) for one in all_series)
    return History("parse", "wall", "iec", "revision", machine, count, 0.05, all_series)


SLOWER = Shift(2, 3, 3, 1.3, 1.27, 1.33, 0.9999, confirmed=True)
VALUES = [0.010, 0.0101, 0.0099, 0.013, 0.0131, 0.0129]


def page(*all_series: HistorySeries, commits: Commits = COMMITS) -> str:
    records = [site_record(n) for n in range(6)]
    return render_scenario(
        TEMPLATES, records, [history(*all_series)] if all_series else [], commits
    )


def test_a_change_is_in_the_table_and_in_the_chart() -> None:
    text = page(series(VALUES, SLOWER))
    assert "▲ +30.0\u202f% [+27.0, +33.0]" in text
    assert f'href="https://git.example/a/b/commit/{"2" * 40}">222222222222</a>' in text
    assert f'href="https://git.example/a/b/commit/{"3" * 40}">333333333333</a>' in text
    assert '<rect class="worse" x="2" y="0" width="1" height="100"/>' in text
    assert "&gt; 99.9 %" in text
    assert "12.90 ms" in text


def test_marks_are_at_the_place_of_their_records() -> None:
    text = page(series(VALUES, SLOWER), series(VALUES[:2], label="slow, 1MiB"))
    charts = re.findall(r'<svg class="history".*?</svg>', text, flags=re.DOTALL)
    assert len(charts) == 2
    assert 'viewBox="-0.5 0 6 100"' in charts[1]
    steps = require(re.search(r'class="level" d="([^"]*)"', charts[0]))
    assert re.fullmatch(r"M-0\.5 [\d.]+H2\.5M2\.5 [\d.]+H5\.5", steps[1]), steps[1]
    dots = require(re.search(r'class="dots" d="([^"]*)"', charts[0]))
    heights = [float(y) for y in re.findall(r"M\d+ ([\d.]+)h0", dots[1])]
    assert len(heights) == 6
    assert min(heights[:3]) > max(heights[3:])  # larger times are higher
    assert all(0 <= y <= 100 for y in heights)


def test_the_data_of_tooltips_have_values_and_addresses() -> None:
    one = series(VALUES, SLOWER)
    one = replace(one, points=(replace(one.points[0], outlier=True), *one.points[1:]))
    text = page(one)
    data = require(re.search(r'id="history">(.*?)</script>', text, flags=re.DOTALL))
    (machine,) = json.loads(data[1])
    assert machine["records"][0] == {
        "when": "2026-03-01 12:00",
        "end": "0" * 12,
        "report": "20260301T1200Z/report.html",
        "revision": "0" * 12,
        "commit": f"https://git.example/a/b/commit/{'0' * 40}",
    }
    (chart,) = machine["charts"]
    assert chart["at"] is None  # all records
    assert (chart["values"][0], chart["decimals"], chart["unit"]) == (1000, 2, "ms")
    assert chart["intervals"][0] == [20, 20]
    assert chart["outliers"] == [0]
    assert 'class="dots outlier"' in text


def test_the_ends_of_a_chart_are_commits_or_without_commits_dates() -> None:
    one = series(VALUES, SLOWER)
    ends = f"<span>{'0' * 12}</span><span>{'5' * 12}</span>"
    assert f'<p class="dates">{ends}</p>' in page(one)
    bare = replace(one, points=tuple(replace(p, revision=None) for p in one.points))
    assert '<p class="dates"><span>2026-03-01 12:00</span>' in page(bare)


def test_nothing_outside_of_the_site_is_loaded() -> None:
    text = page(series(VALUES, SLOWER), commits=Commits())
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", text)
    assert "default-src &#39;none&#39;" in text
    addresses = re.findall(r'(?:href|src)="([^"]*)"', text)
    assert addresses
    assert not [a for a in addresses if a.startswith(("/", "file:")) or "../.." in a]


@pytest.mark.parametrize("commits", [Commits(), COMMITS])
def test_names_are_escaped(commits: Commits) -> None:
    record = site_record(
        0, scenario=HOSTILE, question=HOSTILE, status=HOSTILE, answer=HOSTILE, revisions=[HOSTILE]
    )
    one = series(VALUES, SLOWER, label=HOSTILE)
    one = replace(one, points=tuple(replace(p, revision=HOSTILE) for p in one.points))
    machine = replace(history(one), machine=Fingerprint("f", {"CPU": HOSTILE}))
    text = render_scenario(TEMPLATES, [record], [machine], commits)
    text += render_index(TEMPLATES, {HOSTILE: [record]}, commits)
    assert "alert(" in text
    assert "<script>alert" not in text
    assert 'alert("' not in text
    assert "commit/<" not in text


@pytest.mark.parametrize(
    ("remote", "base"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b"),
        ("https://user:secret@git.example:8443/a/b/", "https://git.example:8443/a/b"),
        ('https://git.example/a"><script>', "https://git.example/a%22%3E%3Cscript%3E"),
        ("git@github.com:a/b.git", ""),
        ("http://git.example/a/b", ""),
        ("/srv/git/b", ""),
        ("javascript:alert(1)", ""),
        ("https://[bad", ""),
        ("", ""),
    ],
)
def test_only_https_remotes_have_pages_of_commits(remote: str, base: str) -> None:
    commits = Commits.from_remote(remote)
    assert commits.base == base
    assert bool(commits.link("ab12")) == bool(base)
    assert not commits.link(None)
    assert not commits.link("v1.0")


def test_bitbucket_has_another_path() -> None:
    commits = Commits.from_remote("https://bitbucket.org/a/b")
    assert commits.link("ab") == "https://bitbucket.org/a/b/commits/ab"


def test_the_index_folds_earlier_records_and_quotes_addresses() -> None:
    records = [site_record(n, scenario="a b#c") for n in range(7)]
    text = render_index(TEMPLATES, {"a b#c": records}, COMMITS)
    assert 'href="a%20b%23c/index.html"' in text
    assert "<summary>2 earlier records</summary>" in text
    assert text.index("2026-03-07") < text.index("2026-03-01")
    assert "History" not in text
    assert (
        render_index(TEMPLATES, {"x": [site_record(0, files=[])]}, COMMITS).count("report.html")
        == 0
    )


def test_the_page_of_a_scenario_folds_what_is_older_than_the_newest_records() -> None:
    records = [site_record(n % 28, id=f"20260301T1200Z-{n}") for n in range(130)]
    text = render_scenario(TEMPLATES, records, [], COMMITS)
    table, folded = text.split("<details>")
    assert "Newest 100 of 130 records" in table
    assert table.count('<th scope="row">') == 100
    assert "<summary>30 earlier records</summary>" in folded
    links = re.findall(r'<li><a href="([^"]*)">', folded)
    assert links == [f"20260301T1200Z-{n}/report.html" for n in range(29, -1, -1)]
    assert f"conclusive {'1' * 12}</li>" in folded
    assert "takes 10" not in folded


def test_a_page_without_history_lists_the_records() -> None:
    text = page()
    assert "History" not in text
    assert text.count('<th scope="row">') == 6


def test_a_page_states_whether_changes_were_searched() -> None:
    assert "No lasting change in 6 records" in page(series(VALUES))
    assert "changes were not searched" in page(replace(series(VALUES[:2]), noise=None))
