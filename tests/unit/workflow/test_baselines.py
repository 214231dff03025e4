"""Tests of baselines: names of records, comparison with them, and their archives."""

import gzip
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench_framework.cli.app import app
from bench_framework.cli.console import describe
from bench_framework.errors import BenchError, RecordError
from bench_framework.extensions.history import baselines as workflow
from bench_framework.model.verdict import Verdict
from bench_framework.report.render import terminal
from bench_framework.store import baselines, finding, layout
from bench_framework.text.builds import condition
from bench_framework.workflow.acceptance import accept
from bench_framework.workflow.cache import list_items
from bench_framework.workflow.comparison import compare_records
from tests.build import require
from tests.documents import valid
from tests.unit.machine import HOST
from tests.unit.workflow.test_comparison import SCENARIO, record

OTHER = replace(HOST, cpu="Xeon", ram_bytes=16 << 30)


def sealed(folder: Path, number: int, **how: object) -> Path:
    """Return the folder of a finished record."""
    measured = record(folder, number, **how)  # type: ignore[arg-type]  # the test's arguments
    measured.seal()
    return measured.path


def refused(call: Callable[[], object], code: str) -> str:
    """Return the text of the error of a call, on one line."""
    with pytest.raises(BenchError) as caught:
        call()
    assert caught.value.code == code, caught.value
    return " ".join(describe(caught.value).split())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with two records, of which the first is the baseline `main`."""
    sealed(tmp_path, 1)
    sealed(tmp_path, 2, code="2", slower=1.2)
    workflow.save(tmp_path / "results", "main", "@prev")
    return tmp_path / "results"


def test_a_baseline_is_a_name_for_a_record_everywhere(results: Path) -> None:
    first = results / "demo" / "20260302T1701Z"
    for name in ("@main", "demo@main"):
        assert finding.resolve(results, name) == first
        assert finding.resolve_measured(results, name) == first
    by_name, plain = (compare_records(results, name, "@last") for name in ("@main", "@prev"))
    assert by_name.bridge == plain.bridge
    saved = json.loads((results / "demo" / "baselines" / "main.json").read_text())
    assert saved["machine"]["facts"]["memory"] == "8 GiB"
    assert finding.find_records(results)[0] == first  # the folder of baselines is no record


def test_a_record_without_a_gate_cannot_be_accepted_and_the_newest_with_one_is_named(
    results: Path,
) -> None:
    def refused() -> str:
        with pytest.raises(RecordError) as raised:
            accept(results, reason="x", until="never")
        assert raised.value.code == "BX413"
        return raised.value.fix or ""

    assert "demo/20260302T1701Z" not in refused()
    (results / "demo" / "20260302T1701Z" / "gate.json").write_text("{}", encoding="utf-8")
    assert "demo/20260302T1701Z" in refused()


def test_saving_again_moves_the_name(results: Path) -> None:
    baseline, before = workflow.save(results, "main", "@last")
    assert before is not None
    assert (before.record, baseline.record) == ("20260302T1701Z", "20260302T1702Z")
    assert finding.resolve(results, "@main").name == "20260302T1702Z"
    assert workflow.save(results, "other", "@last").before is None


def test_two_scenarios_can_have_the_same_name(results: Path, tmp_path: Path) -> None:
    sealed(tmp_path, 3, text=SCENARIO.replace("name: demo", "name: second"))
    workflow.save(results, "main", "second")
    assert finding.resolve(results, "second@main").name == "20260302T1703Z"
    text = refused(lambda: finding.resolve(results, "@main"), "BX116")
    assert "several scenarios have a baseline main" in text
    assert "name one of: demo@main, second@main" in text


@pytest.mark.parametrize("name", ["nothing", "@nothing", "demo@nothing", "other@main", "*", "../x"])
def test_an_unknown_name_lists_the_known_ones(results: Path, name: str) -> None:
    text = refused(lambda: baselines.find(results, name), "BX116")
    assert "there is demo@main" in text


@pytest.mark.parametrize("name", ["", "last", "prev", "a/b", "..", ".hidden", "a@b", "x" * 101])
def test_a_name_must_be_valid(results: Path, name: str) -> None:
    text = refused(lambda: workflow.save(results, name), "BX116")
    assert "cannot be the name of a baseline" in text


def test_only_a_finished_and_unchanged_record_gets_a_name(tmp_path: Path) -> None:
    results = tmp_path / "results"
    unsealed = record(tmp_path, 1)
    text = refused(lambda: workflow.save(results, "main"), "BX413")
    assert "is incomplete" in text
    unsealed.seal()
    copy = tmp_path / "copy"
    shutil.copytree(unsealed.path, copy)
    text = refused(lambda: workflow.save(results, "main", str(copy)), "BX116")
    assert "is not demo/20260302T1701Z in the folder of records" in text
    (unsealed.path / layout.SCENARIO).write_text("name: other\n")
    text = refused(lambda: workflow.save(results, "main"), "BX415")
    assert "scenario.yaml (changed)" in text
    assert not (results / "demo" / "baselines").exists()


def test_a_record_that_was_changed_or_removed_is_not_used(results: Path) -> None:
    first = finding.resolve(results, "@main")
    assert baselines.find(results, "main").fault_in(results) == ""
    manifest = first / layout.MANIFEST
    content = manifest.read_text()
    digest = json.loads(content)["files"][layout.JOURNAL]
    manifest.write_text(content.replace(digest, "0" * 64))
    text = refused(lambda: finding.resolve(results, "@main"), "BX416")
    assert "was changed or measured further after it was saved" in text
    shutil.rmtree(first)
    text = refused(lambda: finding.resolve(results, "@main"), "BX416")
    assert "is missing" in text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema_version": 1}',
        b'{"schema_version": "x"}',
        (
            b'{"schema_version": 1, "name": "main", "scenario": "../..", "record": "20260302T1701Z", '
            b'"digest": "", "machine": {"digest": "", "facts": {}}, "saved_at": ""}'
        ),
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_an_error(results: Path, content: bytes) -> None:
    (results / "demo" / "baselines" / "main.json").write_bytes(content)
    assert "main.json cannot be read" in refused(lambda: finding.resolve(results, "@main"), "BX411")


def test_a_damaged_file_is_a_warning_in_a_list_and_keeps_the_records(
    results: Path, tmp_path: Path
) -> None:
    sealed(tmp_path, 3, text=SCENARIO.replace("name: demo", "name: second"))
    damaged = results / "demo" / "baselines" / "damaged.json"
    damaged.write_bytes(b"{")

    def run(*words: str) -> tuple[list[str], str]:
        done = CliRunner().invoke(app, ["--dir", str(results), *words])
        assert done.exit_code == 0, done.output
        return [line.split()[0] for line in done.stdout.splitlines()], done.stderr

    for words in (("baseline", "list"), ("baseline", "list", "demo")):
        names, warning = run(*words)
        assert names == ["baseline", "demo@main"]
        assert f"warning[BX411]: {damaged} cannot be read\n" in warning
        assert "fix      save the baseline again, or remove the file" in warning
    nothing = f"there are no baselines to list in {results}\n"
    assert run("baseline", "list", "second") == ([], nothing)
    # It may name any record of its scenario.
    listed, warning = run("clean", "records")
    assert listed[0] == "records"
    assert f"warning[BX411]: {damaged} cannot be read\n" in warning
    assert "effect   no record of demo is listed or removed" in warning
    items = list_items(results, kinds=("records",))
    assert [item.path.parent.name for item in items] == ["second"]
    damaged.unlink()
    assert len(list_items(results, kinds=("records",))) == 2


def test_halves_of_characters_and_reserved_names_are_damage(results: Path) -> None:
    path = results / "demo" / "baselines" / "main.json"
    fields = json.loads(path.read_bytes())
    for change in ({"digest": "\ud800"}, {"name": "last"}, {"record": "20260302T1701Z\n"}):
        path.write_text(json.dumps(fields | change))
        refused(lambda: baselines.find(results, "main"), "BX411")


def test_a_damaged_file_is_replaced_and_hides_no_others(results: Path) -> None:
    folder = results / "demo" / "baselines"
    (folder / "damaged.json").write_bytes(b"{")
    text = refused(lambda: baselines.find(results, "nothing"), "BX116")
    assert "there is demo@damaged there is demo@main" in text
    assert workflow.save(results, "damaged", "@prev").before is None
    assert len(baselines.find_all(results)) == 2
    (folder / "main.json").write_bytes(b'{"schema_version": 2}')
    refused(lambda: workflow.save(results, "main", force=True), "BX412")


def test_a_file_of_a_newer_version_or_with_another_name_is_an_error(results: Path) -> None:
    path = results / "demo" / "baselines" / "main.json"
    path.rename(path.with_name("old.json"))
    assert "is the file of demo@main" in refused(lambda: baselines.find_all(results), "BX411")
    text = path.with_name("old.json").read_text()
    path.write_text(text.replace('"schema_version": 1', '"schema_version": 2'))
    assert "a newer version" in refused(lambda: baselines.find(results, "main"), "BX412")


def test_drafts_of_killed_processes_are_cleaned(results: Path) -> None:
    draft = results / "demo" / "baselines" / ".main.json.1.part"
    draft.touch()
    os.utime(draft, (0, 0))
    assert draft in {item.path for item in list_items(results, kinds=("scratch",))}


def test_a_record_with_a_name_is_not_cleaned(results: Path) -> None:
    items = list_items(results, kinds=("records",))
    assert [item.path.name for item in items] == ["20260302T1702Z"]


class TestComparison:
    def test_it_is_the_comparison_of_two_records(self, results: Path) -> None:
        compared = require(workflow.compare(results, "main").bridge)
        assert compared == compare_records(results, "@prev", "@last").bridge
        assert not compared.forced
        (row,) = (
            row
            for row in compared.cells
            if row.label == "tokio + serde" and row.comparison.metric == "wall"
        )
        assert row.comparison.verdict is Verdict.WORSE

    def test_another_machine_is_refused_and_with_force_marked(
        self, results: Path, tmp_path: Path
    ) -> None:
        sealed(tmp_path, 3, code="2", slower=1.2, host=OTHER)
        text = refused(lambda: workflow.compare(results, "main"), "BX117")
        assert "differs CPU: EPYC → Xeon" in text
        assert "differs memory: 8 GiB → 16 GiB" in text
        compared = workflow.compare(results, "main", force=True)
        assert compared.bridge is not None
        assert compared.bridge.forced
        conditions = [condition(one) for one in compared.bridge.conditions]
        assert conditions == ["CPU: EPYC → Xeon", "memory: 8 GiB → 16 GiB"]
        page = terminal.render(compared.document, width=120, color=False, unicode=True, full=True)
        assert "two machines (--force), so never a gate" in page
        assert "compared because of --force (CPU: EPYC → Xeon; memory: 8 GiB → 16 GiB)" in page
        rows = [r for r in compared.bridge.cells if r.comparison.metric == "wall"]
        assert all(row.comparison.shown is not None for row in rows)
        # Without force, records of different CPUs have no ratios.
        plain = require(compare_records(results, "@main", "@last").bridge)
        assert {r.comparison.verdict for r in plain.cells if r.comparison.metric == "wall"} == {
            Verdict.NOT_COMPARABLE
        }

    def test_a_name_is_not_moved_to_another_machine_without_force(
        self, results: Path, tmp_path: Path
    ) -> None:
        sealed(tmp_path, 3, host=OTHER)
        text = refused(lambda: workflow.save(results, "main"), "BX117")
        assert "the baseline demo@main is a record of another machine" in text
        assert workflow.save(results, "main", force=True).baseline.machine.facts["CPU"] == "Xeon"


Entry = tuple[str | tarfile.TarInfo, bytes]


def entries_of(path: Path) -> list[Entry]:
    with tarfile.open(path) as archive:
        files = ((m.name, archive.extractfile(m)) for m in archive.getmembers())
        return [(name, content.read()) for name, content in files if content is not None]


def write(path: Path, entries: Sequence[Entry]) -> Path:
    """Write an archive by hand."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def link(kind: bytes, name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


class TestArchives:
    @pytest.fixture
    def archive(self, results: Path, tmp_path: Path) -> Path:
        return workflow.export(results, "main", tmp_path / "main.tar.gz")

    def test_a_record_and_its_name_move_to_another_folder(
        self, results: Path, archive: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "other"
        baseline, before = workflow.import_archive(other, archive)
        assert before is None
        assert baseline == baselines.find(results, "main")
        ours, theirs = (
            {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            for root in (finding.resolve(results, "@main"), finding.resolve(other, "@main"))
        )
        assert ours == theirs
        again, before = workflow.import_archive(other, archive)
        assert before == again == baseline
        assert [path.name for path in (other / "demo").iterdir()].count("20260302T1701Z") == 1

    def test_equal_records_give_equal_bytes(self, results: Path, archive: Path) -> None:
        again = workflow.export(results, "main", archive.with_name("again.tar.gz"))
        assert again.read_bytes() == archive.read_bytes()

    def test_a_changed_record_is_not_exported(self, results: Path, tmp_path: Path) -> None:
        (finding.resolve(results, "@main") / layout.SCENARIO).write_text("name: other\n")
        out = tmp_path / "x.tar.gz"
        text = refused(lambda: workflow.export(results, "main", out), "BX415")
        assert "changed scenario.yaml" in text
        assert "restore the files from a copy" in text
        assert not out.exists()

    @pytest.mark.parametrize(
        ("change", "cause"),
        [
            (lambda e: e[1:], "its first file is not baseline.json"),
            (lambda e: e[:1], "manifest.json cannot be read"),
            (
                lambda e: [(link(tarfile.SYMTYPE, "baseline.json", "x"), b""), *e[1:]],
                "its first file is not baseline.json",
            ),
            (lambda e: e[:-1], "files differ from its manifest"),
            (lambda e: [*e[:-1], (e[-1][0], e[-1][1] + b" ")], "files differ from its manifest"),
            (lambda e: [*e, ("demo/20260302T1701Z/more", b"")], "more (unlisted)"),
            (lambda e: [*e, ("demo/20260302T1701Z/x.part", b"")], "is not a file of the record"),
            (lambda e: [*e, ("/etc/passwd", b"")], "is not a file of the record"),
            (lambda e: [*e, ("../../x", b"")], "is not a file of the record"),
            (lambda e: [*e, ("demo/20260302T1701Z/../../x", b"")], "is not a file of the record"),
            (lambda e: [*e, ("demo/20260302T1701Z//x", b"")], "is not a file of the record"),
            (lambda e: [*e, ("demo/20260302T1702Z/x", b"")], "is not a file of the record"),
            (lambda e: [*e, e[-1]], "two files in it have the same place"),
            (lambda e: [*e, (f"{e[1][0]}/x", b"")], "two files in it have the same place"),
            (
                lambda e: [
                    *e,
                    (link(tarfile.SYMTYPE, "demo/20260302T1701Z/x", "/etc/passwd"), b""),
                ],
                "is not a regular file",
            ),
            (
                lambda e: [
                    *e,
                    (link(tarfile.LNKTYPE, "demo/20260302T1701Z/x", "/etc/passwd"), b""),
                ],
                "is not a regular file",
            ),
            (
                lambda e: [*e, (link(tarfile.FIFOTYPE, "demo/20260302T1701Z/x", ""), b"")],
                "is not a regular file",
            ),
        ],
    )
    def test_what_is_not_a_whole_record_is_refused(
        self,
        change: Callable[[list[Entry]], list[Entry]],
        cause: str,
        archive: Path,
        tmp_path: Path,
    ) -> None:
        other = tmp_path / "other"
        write(archive, change(entries_of(archive)))
        text = refused(lambda: workflow.import_archive(other, archive), "BX118")
        assert cause in text
        assert "nothing was imported" in text
        assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]
        assert not finding.find_records(other)
        assert not baselines.find_all(other)

    def test_another_baseline_than_that_of_the_record_is_refused(
        self, archive: Path, tmp_path: Path
    ) -> None:
        (name, content), *rest = entries_of(archive)
        fields = json.loads(content)
        for field, text in (("digest", "0" * 64), ("machine", {"digest": "x", "facts": {}})):
            write(archive, [(name, json.dumps(fields | {field: text}).encode()), *rest])
            if field == "digest":
                error = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
                assert "its record is not the one of its baseline" in error
            else:  # the machine is that of the record, whatever the archive says
                baseline, _ = workflow.import_archive(tmp_path / "o", archive)
                assert baseline.machine.facts["CPU"] == "EPYC"

    @pytest.mark.parametrize(
        "content",
        [b"", b"x" * 600, gzip.compress(b""), gzip.compress(b"x" * 600)],
        ids=["empty", "text", "nothing compressed", "text compressed"],
    )
    def test_what_is_not_an_archive_is_refused(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "x.tar.gz"
        path.write_bytes(content)
        refused(lambda: workflow.import_archive(tmp_path / "o", path), "BX118")
        refused(lambda: workflow.import_archive(tmp_path / "o", tmp_path), "BX118")
        refused(lambda: workflow.import_archive(tmp_path / "o", tmp_path / "none"), "BX118")

    def test_a_cut_archive_is_refused(self, archive: Path, tmp_path: Path) -> None:
        archive.write_bytes(archive.read_bytes()[:-100])
        refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert not finding.find_records(tmp_path / "o")

    def test_sizes_are_limited(
        self, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(baselines, "MOST_ARCHIVE_BYTES", 1000)
        text = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert "it has more than" in text
        header = tarfile.TarInfo("x")
        header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 33
        archive.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + b"x" * 1024))
        text = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert "a header is not valid" in text

    @pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
    def test_a_chain_of_headers_is_refused(
        self, kind: bytes, archive: Path, tmp_path: Path
    ) -> None:
        header, content = tarfile.TarInfo("x"), b"11 a=bcdef\n"
        header.type, header.size = kind, len(content)
        block = header.tobuf(tarfile.GNU_FORMAT) + content.ljust(512, b"\0")
        archive.write_bytes(gzip.compress(block * 3000))
        text = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert "headers are nested too deeply" in text

    @pytest.mark.parametrize("name", ["n" * 300, "d/" * 3000 + "f"])
    def test_a_name_that_is_too_long_is_refused(
        self, name: str, archive: Path, tmp_path: Path
    ) -> None:
        write(archive, [*entries_of(archive), (f"demo/20260302T1701Z/{name}", b"")])
        text = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert "the name of a file in it is too long" in text
        assert not [*(tmp_path / "o").iterdir()]  # nor an empty folder of the scenario

    @pytest.mark.parametrize(
        ("content", "cause"),
        [(b"{", "baseline.json in it cannot be read"), (b" " * (1 << 17), "more than 65536 bytes")],
    )
    def test_a_damaged_entry_is_refused(
        self, content: bytes, cause: str, archive: Path, tmp_path: Path
    ) -> None:
        (name, _), *rest = entries_of(archive)
        write(archive, [(name, content), *rest])
        text = refused(lambda: workflow.import_archive(tmp_path / "o", archive), "BX118")
        assert cause in text

    def test_another_record_of_the_same_id_is_kept(self, archive: Path, tmp_path: Path) -> None:
        other = tmp_path / "second"
        other.mkdir()
        sealed(other, 1, slower=2.0)
        text = refused(lambda: workflow.import_archive(other / "results", archive), "BX118")
        assert "20260302T1701Z is another record" in text
        assert not baselines.find_all(other / "results")


class TestCommandLine:
    def run(self, results: Path, *words: str) -> str:
        arguments = ["--dir", str(results), "baseline", *words]
        done = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.stdout

    def test_each_command_prints_its_result(
        self, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert self.run(results, "save", "v1", "@prev").startswith(
            "saved demo@v1: record 20260302T1701Z, machine "
        )
        assert "; it was record 20260302T1701Z" in self.run(results, "save", "v1")
        heading, *rows = self.run(results, "list").splitlines()
        assert heading.split() == ["baseline", "record", "machine", "saved"]
        expected = [["demo@main", "20260302T1701Z"], ["demo@v1", "20260302T1702Z"]]
        assert [row.split()[:2] for row in rows] == expected
        assert self.run(results, "list", "other") == ""
        page = self.run(results, "show", "main")
        assert "kernel    6.1.0-28" in page
        assert str(results / "demo" / "baselines" / "main.json") in page
        assert "exploratory: two sessions, so never a gate" in self.run(results, "compare", "main")
        assert self.run(results, "export", "main") == "wrote demo-main.tar.gz\n"
        assert "imported demo@main" in self.run(tmp_path / "o", "import", "demo-main.tar.gz")
        shutil.rmtree(finding.resolve(results, "@main"))
        assert "the record is missing" in self.run(results, "list")
        assert "which is missing" in self.run(results, "show", "main")

    def test_each_command_has_json(
        self, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)

        def document(*words: str) -> Any:
            done = CliRunner().invoke(app, ["--json", "--dir", str(results), "baseline", *words])
            assert done.exit_code == 0, done.output
            return valid("baseline", done.stdout)

        assert document("save", "main")["replaced"] == "20260302T1701Z"
        (listed,) = document("list")["baselines"]
        assert listed == document("show", "main")
        assert (listed["record"], listed["fault"]) == ("20260302T1702Z", None)
        assert document("compare", "main", "@prev")["before_id"] == "20260302T1702Z"
        exported = document("export", "main")
        assert exported["bytes"] == Path(exported["file"]).stat().st_size
        assert document("import", exported["file"])["name"] == "main"
