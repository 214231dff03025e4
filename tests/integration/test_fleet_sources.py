"""Tests of the files that a scenario needs on another host, also from git repositories."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_framework.errors import BuildError, UsageError
from bench_framework.execution.process import Launcher
from bench_framework.extensions.fleet.bundle import Upload, package, unpack
from bench_framework.workflow.run_options import RunOptions, plan_run
from tests.files import write_files
from tests.integration.processes import commit, git

HEAD = "version: 1\nname: sent\nquestion: Which files are sent?\n"
PROGRAM = HEAD + "worker: {command: [/bin/echo]}\naxes: {arm: [a, b]}\nbaseline: {arm: a}\n"
CRATE = (
    HEAD
    + """
worker: {crate: ../, contract: false}
axes: {level: {values: {one: {args: ["1"]}, two: {args: ["2"]}}}}
command: ["{bin}", "{args}"]
baseline: {level: one}
answer: none
"""
)
MANIFEST = '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n'


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    with Launcher() as started:
        yield started


def sent(name: str, launcher: Launcher, **options: str) -> Upload:
    given = RunOptions(results=Path("results"), **options)  # type: ignore[arg-type]
    return package(name, given, plan_run(name, given), launcher)


def paths(given: Upload) -> list[str]:
    return [path for path in given.bundle.files if ".git/" not in path]


def test_a_bundled_scenario_needs_no_files(launcher: Launcher) -> None:
    given = sent("quickstart", launcher)
    assert given.scenario == "quickstart"
    assert not given.bundle.files


def test_files_with_relative_paths_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    project = tmp_path / "project"
    text = PROGRAM.replace("/bin/echo", "./tool.sh")
    text += 'command: ["{bin}", "{arm}", config.toml, "{input}"]\n'
    text += "input: {file: ../data/words.txt}\ncwd: ./\n"
    text += f"prepare: [[/bin/sh, -c, 'sh ./clear.sh'], [/bin/cat, {tmp_path}/absolute]]\n"
    files = ("tool.sh", "config.toml", "clear.sh", "not-named.txt")
    write_files(project / "bench", {"sent.yaml": text, **dict.fromkeys(files, "#!/bin/sh\n")})
    write_files(project, {"data/words.txt": "words\n"})
    write_files(tmp_path, {"absolute": "of the host"})
    (project / "bench" / "tool.sh").chmod(0o755)
    monkeypatch.chdir(project)
    given = sent("bench/sent.yaml", launcher)
    assert (given.scenario, given.cwd, given.root) == ("bench/sent.yaml", "", project)
    assert paths(given) == [
        "bench/clear.sh",
        "bench/config.toml",
        "bench/sent.yaml",
        "bench/tool.sh",
        "data/words.txt",
    ]
    assert [path for path, entry in given.bundle.files.items() if entry.executable] == [
        "bench/tool.sh"
    ]


def test_folders_and_patterns_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    text = PROGRAM + 'command: ["{bin}", "{arm}", "{input}"]\n'
    write_files(tmp_path, {"a.yaml": text + "input: {folder: corpus}\n", "corpus/x/1.txt": "1"})
    write_files(tmp_path, {"b.yaml": text + "input: {files: ['logs/*.log']}\n", "logs/1.log": "1"})
    write_files(tmp_path, {"logs/2.txt": "not matched", "corpus/2.txt": "2"})
    monkeypatch.chdir(tmp_path)
    assert paths(sent("a.yaml", launcher)) == ["a.yaml", "corpus/2.txt", "corpus/x/1.txt"]
    assert paths(sent("b.yaml", launcher)) == ["b.yaml", "logs/1.log"]


def test_the_current_folder_can_be_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    text = PROGRAM + 'command: ["{bin}", "{arm}"]\n'
    write_files(tmp_path / "bench", {"sent.yaml": text})
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    given = sent(str(tmp_path / "bench" / "sent.yaml"), launcher)
    assert (given.scenario, given.cwd) == ("../bench/sent.yaml", "other")
    assert given.bundle.folders == ("other",)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "demo"
    write_files(
        root, {"Cargo.toml": MANIFEST, "Cargo.lock": "version = 4\n", "src/main.rs": "fn main(){}"}
    )
    write_files(root, {"bench/sent.yaml": CRATE, ".gitignore": "/target\n/results\n/.cargo\n"})
    commit(root, "first", "v1")
    write_files(root, {"src/lib.rs": "// second"})
    commit(root, "second")
    write_files(
        root, {"src/main.rs": "fn main(){ /* changed */ }", "src/new.rs": "", "target/big": "x"}
    )
    write_files(root, {"results/sent/record": "x", ".cargo/config.toml": "[net]\n"})
    (root / "src" / "link.rs").symlink_to("lib.rs")
    return root


def test_a_crate_is_sent_with_its_commit_and_changes(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    given = sent("bench/sent.yaml", launcher)
    assert paths(given) == [
        ".cargo/config.toml",
        ".gitignore",
        "Cargo.lock",
        "Cargo.toml",
        "bench/sent.yaml",
        "src/lib.rs",
        "src/link.rs",
        "src/main.rs",
        "src/new.rs",
    ]
    copy = tmp_path / "copy"
    unpack(given.bundle, copy)
    assert git(copy, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD")
    assert git(copy, "status", "--porcelain") == git(repository, "status", "--porcelain")
    assert git(copy, "rev-list", "--count", "HEAD") == "1"  # without its history
    names = b"".join(entry.content for entry in given.bundle.files.values())
    assert str(tmp_path).encode() not in names


def test_revisions_are_sent(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    first = git(repository, "rev-parse", "v1")
    unpack(sent("bench/sent.yaml", launcher, base="v1").bundle, tmp_path / "base")
    assert git(tmp_path / "base", "show", f"{first}:src/main.rs") == "fn main(){}"
    (repository / "bench" / "axis.yaml").write_text(at_revision("v1"))
    unpack(sent("bench/axis.yaml", launcher).bundle, tmp_path / "axis")
    assert git(tmp_path / "axis", "rev-parse", "v1") == first


def at_revision(revision: str) -> str:
    """Return a scenario that compares a revision with HEAD."""
    axis = f"axes: {{at: {{old: {{revision: '{revision}'}}, new: {{revision: HEAD}}}}}}"
    text = CRATE.replace(CRATE[CRATE.index("axes:") : CRATE.index("command:")], axis + "\n")
    return text.replace("level: one", "at: old").replace(', "{args}"', "")


@pytest.mark.parametrize("name", ["20260101", "cafe", "feature/x"])
def test_a_name_of_hex_digits_is_sent_as_a_name(
    name: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    first = git(repository, "rev-parse", "v1")
    git(repository, "tag" if name.isdecimal() else "branch", name, "v1")
    for revision in (name, first, first[:9]):
        (repository / "bench" / "axis.yaml").write_text(at_revision(revision))
        unpack(sent("bench/axis.yaml", launcher).bundle, tmp_path / "copy")
        assert git(tmp_path / "copy", "rev-parse", revision) == first


@pytest.mark.parametrize("revision", ["HEAD~1", "v1^{}"])
def test_a_revision_that_needs_the_history_is_refused(
    revision: str, repository: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    (repository / "bench" / "axis.yaml").write_text(at_revision(revision))
    with pytest.raises(UsageError) as caught:
        sent("bench/axis.yaml", launcher)
    assert caught.value.code == "BX134"


@pytest.mark.parametrize("tracked", [True, False])
def test_a_name_that_is_not_utf_8_is_refused(
    tracked: bool, repository: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    Path(os.fsdecode(b"src/caf\xe9.rs")).write_text("")
    if tracked:
        git(repository, "add", ".")
    with pytest.raises(UsageError, match="is not UTF-8") as caught:
        sent("bench/sent.yaml", launcher)
    assert caught.value.code == "BX134"


def test_a_listing_of_git_that_fails_is_an_error(
    repository: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    monkeypatch.chdir(repository)
    (repository / ".git" / "index").write_bytes(b"no index")
    with pytest.raises(BuildError) as caught:
        sent("bench/sent.yaml", launcher)
    assert caught.value.code == "BX224"


@pytest.mark.slow
def test_a_submodule_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    git(tmp_path, "clone", "--quiet", str(repository), str(tmp_path / "other"))
    allowed = ("-c", "protocol.file.allow=always")
    git(repository, *allowed, "submodule", "--quiet", "add", str(tmp_path / "other"), "part")
    monkeypatch.chdir(repository)
    with pytest.raises(UsageError, match="submodule") as caught:
        sent("bench/sent.yaml", launcher)
    assert caught.value.code == "BX134"


def test_a_crate_without_git_is_sent_without_its_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: Launcher
) -> None:
    write_files(
        tmp_path, {"Cargo.toml": MANIFEST, "src/main.rs": "fn main(){}", "target/debug/x": ""}
    )
    write_files(tmp_path, {"bench/sent.yaml": CRATE, "results/sent/record": "x"})
    monkeypatch.chdir(tmp_path)
    expected = ["Cargo.toml", "bench/sent.yaml", "src/main.rs"]
    assert paths(sent("bench/sent.yaml", launcher)) == expected
