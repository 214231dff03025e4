"""Tests of `write_site`: what is written, what is kept, and what is refused."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from bench_framework.errors import UsageError
from bench_framework.extensions.history import site
from bench_framework.extensions.history.site import STATE, write_site
from bench_framework.extensions.importers.workflow import import_files
from bench_framework.report.context import ReportData
from bench_framework.store import layout
from bench_framework.text.reasons import phrase
from tests.unit.workflow.measured_record import copy_record

PAGES = ("appendix.html", "report.html")
NAMES = [f"202603{day:02}T1200Z" for day in range(3, 9)]


def add(results: Path, full: Path, name: str) -> Path:
    """Copy a record under another id and start time."""
    folder = copy_record(full, results / "demo" / name)
    listed = json.loads((folder / layout.MANIFEST).read_text(encoding="utf-8"))
    journal = (folder / layout.JOURNAL).read_bytes()
    listed["files"][layout.JOURNAL] = hashlib.sha256(journal).hexdigest()
    (folder / layout.MANIFEST).write_text(json.dumps(listed), encoding="utf-8")
    return folder


@pytest.fixture
def results(full: Path, tmp_path: Path) -> Path:
    for name in NAMES[:4]:
        add(tmp_path / "results", full, name)
    return tmp_path / "results"


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short pages in place of reports, for tests of which pages are written."""

    def render(data: ReportData, _: object, formats: tuple[str, ...]) -> dict[str, str]:
        assert formats == ("html",)
        return {name: f"{name} of {data.contents.header.record_id}" for name in PAGES}

    monkeypatch.setattr(site, "render_files", render)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def times(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_mtime_ns for name in contents(folder)}


def test_the_site_has_an_index_a_page_per_scenario_and_the_reports(
    results: Path, tmp_path: Path
) -> None:
    out = tmp_path / "public"
    result = write_site(results, out, remote="https://git.example/a/b")
    assert result.records == 4
    assert set(contents(out)) == {
        STATE,
        "index.html",
        "demo/index.html",
        *(f"demo/{name}/{page}" for name in NAMES[:4] for page in PAGES),
    }
    page = (out / "demo" / "index.html").read_text(encoding="utf-8")
    assert page.count('<svg class="history"') == 3
    assert f"https://git.example/a/b/commit/{'9' * 40}" in page
    for name in ("index.html", "demo/index.html"):
        text = (out / name).read_text(encoding="utf-8")
        for address in re.findall(r'href="([^"#][^"]*)"', text):
            if not address.startswith("https:"):
                target = ((out / name).parent / address).resolve()
                assert target.is_relative_to(out.resolve())
                assert target.is_file(), address
    report = (out / "demo" / NAMES[0] / "report.html").read_text(encoding="utf-8")
    assert NAMES[0] in report


@pytest.mark.usefixtures("short_pages")
def test_a_new_record_rewrites_only_its_scenario_and_the_index(
    results: Path, full: Path, tmp_path: Path
) -> None:
    out = tmp_path / "public"
    shutil.copytree(results / "demo", results / "other")
    write_site(results, out)
    before = times(out)
    again = write_site(results, out)
    assert (again.written, again.removed) == ((), ())
    assert times(out) == before
    add(results, full, NAMES[4])
    more = write_site(results, out)
    expected = {*(f"demo/{NAMES[4]}/{page}" for page in PAGES), "demo/index.html", "index.html"}
    assert set(more.written) == expected
    changed = {name for name, at in times(out).items() if before.get(name) != at}
    assert changed == {*more.written, STATE}
    # The same files as those of a site that is written at once.
    write_site(results, tmp_path / "at-once")
    assert contents(out) == contents(tmp_path / "at-once")


def test_no_page_of_a_record_is_copied(results: Path, full: Path, tmp_path: Path) -> None:
    write_site(results, tmp_path / "clean")
    expected = contents(tmp_path / "clean")
    record = results / "demo" / NAMES[1]
    script = "<script>document.title='PWNED'</script>"
    forged = ("report.html", "appendix.html", "profiles/evil/flame.svg", "templates/report.html.j2")
    for name in forged:
        (record / name).parent.mkdir(parents=True, exist_ok=True)
        (record / name).write_text(f"<!doctype html><title>x</title>{script}", encoding="utf-8")
    listed = json.loads((record / "manifest.json").read_text(encoding="utf-8"))
    for name in forged:
        listed["files"][name] = hashlib.sha256((record / name).read_bytes()).hexdigest()
    (record / "manifest.json").write_text(json.dumps(listed), encoding="utf-8")
    write_site(results, tmp_path / "public")
    del expected[STATE]
    assert {n: c for n, c in contents(tmp_path / "public").items() if n != STATE} == expected


@pytest.mark.usefixtures("short_pages")
def test_a_record_that_is_gone_leaves_the_site_and_other_files_stay(
    results: Path, tmp_path: Path
) -> None:
    out = tmp_path / "public"
    write_site(results, out)
    (out / "CNAME").write_text("bench.example")
    (out / "demo" / NAMES[1] / "mine.txt").write_text("x")
    for name in NAMES[:2]:
        shutil.rmtree(results / "demo" / name)
    result = write_site(results, out)
    assert set(result.removed) == {f"demo/{name}/{page}" for name in NAMES[:2] for page in PAGES}
    assert not (out / "demo" / NAMES[0]).exists()
    assert [*contents(out / "demo" / NAMES[1])] == ["mine.txt"]
    assert (out / "CNAME").read_text() == "bench.example"
    assert NAMES[0][:4] not in (out / STATE).read_text().split(NAMES[2])[0].replace("2026-", "")
    shutil.copytree(results / "demo", results / "other")
    shutil.rmtree(results / "demo")
    assert "demo/index.html" in write_site(results, out).removed
    assert (out / "other" / "index.html").is_file()


@pytest.mark.slow
@pytest.mark.usefixtures("short_pages")
def test_a_site_that_was_killed_at_any_write_is_completed(
    results: Path, full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_site(results, tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    real, count = os.replace, 0

    class Killed(BaseException):
        pass

    original = Path.replace

    def replace_or_die(self: Path, target: Path) -> Path:
        nonlocal count
        count -= 1
        if count < 0:
            raise Killed
        return original(self, target)

    monkeypatch.setattr(Path, "replace", replace_or_die)
    for steps in range(len(expected)):
        out = tmp_path / f"killed-{steps}"
        count = steps
        with pytest.raises(Killed):
            write_site(results, out)
        (out / ".index.html.1.part").parent.mkdir(parents=True, exist_ok=True)
        for name in ("index.html", STATE):
            (out / f".{name}.1.part").write_text("torn")
        count = 1000
        write_site(results, out)
        assert contents(out) == expected, steps
    assert real is os.replace


@pytest.mark.usefixtures("short_pages")
def test_reports_of_an_interrupted_run_are_kept(results: Path, full: Path, tmp_path: Path) -> None:
    out = tmp_path / "public"
    write_site(results, out)
    index = (out / "demo" / "index.html").read_bytes()
    shutil.rmtree(results / "demo" / NAMES[0])
    for name in NAMES[4:]:
        add(results, full, name)

    def stop(done: int, _all: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_site(results, out, notify=stop)
    assert (out / "demo" / "index.html").read_bytes() == index
    rest = write_site(results, out)
    expected = {*(f"demo/{NAMES[5]}/{page}" for page in PAGES), "demo/index.html", "index.html"}
    assert set(rest.written) == expected
    assert set(rest.removed) == {f"demo/{NAMES[0]}/{page}" for page in PAGES}
    write_site(results, tmp_path / "at-once")
    assert contents(out) == contents(tmp_path / "at-once")


@pytest.mark.usefixtures("short_pages")
def test_a_file_of_someone_else_is_not_overwritten(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "public"
    (out / "demo").mkdir(parents=True)
    (out / "demo" / "index.html").write_text("<p>mine</p>")
    with pytest.raises(UsageError, match="benchctl did not write it") as caught:
        write_site(results, out)
    assert caught.value.code == "BX103"
    assert [*contents(out)] == ["demo/index.html"]


@pytest.mark.parametrize("where", ["results", "results/site", "."])
def test_results_and_site_do_not_contain_each_other(
    results: Path, tmp_path: Path, where: str
) -> None:
    with pytest.raises(UsageError, match="contain each other"):
        write_site(results, tmp_path / where)
    assert not (tmp_path / "results" / "site").exists()


def test_without_records_there_is_no_site(tmp_path: Path, full: Path) -> None:
    folder = add(tmp_path / "results", full, NAMES[0])
    (folder / layout.MANIFEST).unlink()
    with pytest.raises(UsageError, match="no finished record") as caught:
        write_site(tmp_path / "results", tmp_path / "public")
    assert caught.value.code == "BX101"
    assert not (tmp_path / "public").exists()


@pytest.mark.usefixtures("short_pages")
def test_damaged_and_unfinished_records_are_left_out_with_the_reason(
    results: Path, tmp_path: Path
) -> None:
    (results / "demo" / NAMES[0] / layout.CLAIMS).write_text("[")
    (results / "demo" / NAMES[1] / layout.MANIFEST).unlink()
    secret = tmp_path / "secret"
    secret.write_text("a private key")
    journal = results / "demo" / NAMES[2] / layout.JOURNAL
    journal.unlink()
    journal.symlink_to(secret)
    result = write_site(results, tmp_path / "public")
    reasons = {name: phrase(reason) for name, reason in result.left_out}
    assert "was changed after it was written" in reasons[f"demo/{NAMES[0]}"]
    assert reasons[f"demo/{NAMES[1]}"] == "it is not finished"
    assert "was changed after it was written" in reasons[f"demo/{NAMES[2]}"]
    assert result.records == 1
    assert b"a private key" not in b"".join(contents(tmp_path / "public").values())


@pytest.mark.usefixtures("short_pages")
@pytest.mark.parametrize("state", ["", "[]", "{}", '{"version": 1}', '{"version": 99}'])
def test_a_state_that_cannot_be_read_is_written_again(
    results: Path, tmp_path: Path, state: str
) -> None:
    out = tmp_path / "public"
    write_site(results, out)
    expected = contents(out)
    (out / STATE).write_text(state)
    write_site(results, out)
    assert contents(out) == expected


@pytest.mark.usefixtures("short_pages")
def test_an_edited_state_removes_nothing_else(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "public"
    write_site(results, out)
    state = json.loads((out / STATE).read_text())
    entry = state["records"].pop(f"demo/{NAMES[0]}")
    state["records"][f"../{NAMES[0]}"] = entry
    entry[1]["files"] = ["../../../outside.txt"]
    state["records"][f"gone/{NAMES[0]}"] = entry
    (out / STATE).write_text(json.dumps(state))
    (tmp_path / "outside.txt").write_text("x")
    assert not [name for name in write_site(results, out).removed if "outside" in name]
    assert (tmp_path / "outside.txt").exists()


def test_an_imported_set_is_listed_without_a_chart(tmp_path: Path) -> None:
    source = tmp_path / "x.csv"
    source.write_text(
        "label,mean,sd,n,unit\na,177.1,7.5,100,ms\nb,191.2,13.7,100,ms\n", encoding="utf-8"
    )
    import_files(tmp_path / "results", [source])
    assert write_site(tmp_path / "results", tmp_path / "public").records == 1
    assert "<svg" not in (tmp_path / "public" / "x" / "index.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("short_pages")
def test_another_version_writes_all_pages(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "public"
    first = write_site(results, out)
    monkeypatch.setattr(site, "__version__", "99")
    assert set(write_site(results, out).written) == set(first.written)
    assert write_site(results, out).written == ()
