"""Tests of the inputs of real programs, from the scenario to the record, with the real hyperfine."""

import hashlib
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.hyperfine import find
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.store.finding import find_records
from bench_framework.store.journal import read_journal
from tests.documents import valid
from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

SCENARIO = """
version: 1
name: inputs
question: Which order is faster?
worker: {{command: [./program]}}
axes: {{order: [up, down]}}
baseline: {{order: up}}
env: {{ORDER: "{{order}}"}}
{text}
"""
PROGRAM = """#!/bin/sh
# Print the number of arguments and the digest of all bytes that they, or stdin, contain.
echo "$#"
{ for path in "$@"; do find "$path" -type f -print0 | LC_ALL=C sort -z | xargs -0 cat; done
  [ $# != 0 ] || cat; } | sha256sum
"""
GENERATOR = """#!/bin/sh
echo run >> calls.txt
case "$1" in
  --fail) echo "no seed" >&2; exit 3 ;;
  --nothing) exit 0 ;;
  --endless) exec yes ;;
  --file) printf 'seed %s\\n' "$3" > "$2" ;;
  *) printf 'seed %s\\n' "$2" ;;
esac
"""
Benchctl = Callable[..., Done]


@pytest.fixture(scope="module")
def hyperfine() -> str:
    """Return the path of the real hyperfine, which is not in the cache of a test."""
    with Launcher() as launcher:
        return find(launcher, os.environ, SilentObserver()).path


@pytest.fixture
def benchctl(tmp_path: Path, hyperfine: str) -> Benchctl:
    for name, text in (("program", PROGRAM), ("gen", GENERATOR)):
        processes.executable(tmp_path / name, text)
    corpus = {"a.txt": "a\n", "corpus/b.rs": "b\n", "corpus/deep/c d.rs": "c\n", "corpus/.x": "x\n"}
    write_files(tmp_path, corpus)
    env = processes.isolated(tmp_path, BENCHCTL_HYPERFINE=hyperfine)

    def call(*words: str, text: str, code: int = 0, folder: Path = tmp_path) -> Done:
        command_line = "" if "\ncommand: " in text else 'command: ["{bin}", "{input}"]'
        (folder / "inputs.yaml").write_text(SCENARIO.format(text=f"{text}\n{command_line}"))
        command, *more = words
        words = (command, "inputs.yaml", *more)
        return processes.benchctl(tmp_path, *words, env=env, cwd=folder, code=code)

    return call


def measured(benchctl: Benchctl, folder: Path, text: str) -> Any:
    """Validate, plan, try, run and verify a scenario. Return its prepared input."""
    for command in ("validate", "plan", "try"):
        benchctl(command, text=text)
    benchctl("run", "--quick", text=text)
    [record] = find_records(folder / "results")
    processes.benchctl(folder, "verify", str(record), code=0)
    contents = read_journal(record / "journal.jsonl")
    assert {block.status for block in contents.blocks} == {"ok"}
    assert {b.page_cache.state for b in contents.blocks if b.page_cache} == {"warm"}
    [prepared] = contents.inputs
    return prepared


def tried(
    benchctl: Benchctl, text: str, program: str = "program", **more: Path
) -> tuple[list[str], str]:
    """Return the arguments of a trial run, and the first bytes of its output."""
    trial = valid("try", benchctl("try", "--json", text=text, **more).stdout)["trials"][0]
    assert trial["command"][0].endswith(program)
    return trial["command"][1:], trial["answer"]


def listing(folder: Path, *names: str) -> str:
    """Return the digest of the list that `sha256sum` prints."""
    lines = subprocess.run(["sha256sum", *names], cwd=folder, capture_output=True, check=True)
    return hashlib.sha256(lines.stdout).hexdigest()


@pytest.mark.slow
def test_a_folder_is_one_argument_with_a_digest_over_its_files(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    digest = listing(tmp_path / "corpus", ".x", "b.rs", "deep/c d.rs")
    text = f"input: {{folder: corpus, sha256: {digest}}}"
    prepared = measured(benchctl, tmp_path, text)
    assert prepared.path == str(tmp_path / "corpus")
    assert (prepared.size_bytes, prepared.file_count, prepared.sha256) == (6, 3, digest)
    assert tried(benchctl, text)[0] == [prepared.path]
    [page] = (tmp_path / "results").glob("inputs/*/appendix.md")
    assert "corpus (3 files)" in page.read_text()


@pytest.mark.slow
def test_files_become_one_argument_each(benchctl: Benchctl, tmp_path: Path) -> None:
    text = 'input: {files: [corpus/**/*.rs, a.txt, "corpus/b.rs"]}'
    paths = [str(tmp_path / name) for name in ["corpus/b.rs", "corpus/deep/c d.rs", "a.txt"]]
    assert tried(benchctl, text)[0] == paths
    prepared = measured(benchctl, tmp_path, text)
    assert list(prepared.files) == paths
    assert (prepared.path, prepared.size_bytes, prepared.file_count) == (str(tmp_path), 6, 3)
    assert prepared.sha256 == listing(tmp_path, "a.txt", "corpus/b.rs", "corpus/deep/c d.rs")
    [page] = (tmp_path / "results").glob("inputs/*/appendix.md")
    assert re.search(r"^ORDER=up \S+/program INPUT$", page.read_text(), re.MULTILINE)
    shell = text + '\nshell: true\ncommand: "cat {input} | {bin}"'
    assert f"cat {paths[0]} '{paths[1]}' {paths[2]} | " in tried(benchctl, shell, "sh")[0][1]


@pytest.mark.slow
def test_a_command_generates_the_input_once(benchctl: Benchctl, tmp_path: Path) -> None:
    text = 'input: {command: [./gen, --seed, "1"]}\nstdin: "{input}"\ncommand: ["{bin}"]'
    prepared = measured(benchctl, tmp_path, text)
    calls = tmp_path / "calls.txt"
    assert calls.read_text() == "run\n"
    assert prepared.sha256 == hashlib.sha256(b"seed 1\n").hexdigest()
    assert Path(prepared.path).read_bytes() == b"seed 1\n"
    [page] = (tmp_path / "results").glob("inputs/*/appendix.md")
    assert f"{tmp_path}/gen --seed 1" in page.read_text()
    assert tried(benchctl, text.replace('"1"', '"2"'))[1] != tried(benchctl, text)[1]
    assert calls.read_text() == "run\n" * 2
    with (tmp_path / "gen").open("a") as file:
        file.write("# another program\n")
    tried(benchctl, text)
    assert calls.read_text() == "run\n" * 3
    written = text.replace('--seed, "1"', '--file, "{output}", "1"')
    assert tried(benchctl, written)[1] == tried(benchctl, text)[1]
    axis = ("--json", "-S", "axes.seed=[3, 4]")
    by_axis = 'input: {command: [./gen, --seed, "{seed}", a.txt]}'
    trials = valid("try", benchctl("try", *axis, text=by_axis).stdout)["trials"]
    assert [trial["input"] for trial in trials] == ["seed=3", "seed=3", "seed=4", "seed=4"]
    assert calls.read_text() == "run\n" * 6
    (tmp_path / "a.txt").write_text("other")  # a file among the words
    benchctl("try", *axis, text=by_axis)
    assert calls.read_text() == "run\n" * 8
    everything = 'input: {command: [sh, -c, "cat *.txt"]}\nstdin: "{input}"\ncommand: ["{bin}"]'
    answers = []
    for name in ("first", "second"):  # the same words in another folder read other files
        (tmp_path / name).mkdir()
        (tmp_path / name / "only.txt").write_text(name)
        (tmp_path / name / "program").symlink_to(tmp_path / "program")
        answers.append(tried(benchctl, everything, folder=tmp_path / name)[1])
    assert answers[0] != answers[1]
    left = [path.name for path in (tmp_path / "cache" / "data").iterdir()]
    assert not [name for name in left if name.endswith(".part")]


@pytest.mark.parametrize(
    ("text", "code", "messages"),
    [
        (
            "input: {command: [./gen, --fail]}",
            "BC411",
            ("the command of the input failed: exit status 3", "no seed", "gen --fail"),
        ),
        ("input: {command: [./gen, --nothing]}", "BC411", ("printed nothing",)),
        (
            "input: {command: [./gen, --nothing, '{output}']}",
            "BC411",
            ("did not write the file {output}",),
        ),
        (
            "input: {command: [ln, -s, /etc/hostname, '{output}']}",
            "BC411",
            ("wrote a symbolic link as {output}", "write a copy"),
        ),
        (
            "input: {command: [./gen, --endless], max-size: 1MiB}",
            "BC411",
            ("the command of the input wrote more than 1", "input.max-size"),
        ),
        ("input: {command: [./none]}", "BX234", ("/none does not exist",)),
        (
            f"input: {{file: a.txt, sha256: {'0' * 64}}}",
            "BC412",
            ("sha256 " + "0" * 64, "sha256 " + hashlib.sha256(b"a\n").hexdigest()),
        ),
        ("prepare: ['true']\ninput: {files: ['*.c']}", "BC406", ("no file matches *.c",)),
        ("prepare: ['true']\ninput: {folder: none}", "BC406", ("none does not exist",)),
        ("input: {folder: empty}", "BC406", ("contains no files",)),
        ("input: {folder: broken}", "BC406", ("broken/link cannot be read",)),
    ],
)
@pytest.mark.slow
def test_an_input_that_cannot_be_prepared_is_one_error(
    benchctl: Benchctl, tmp_path: Path, text: str, code: str, messages: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "link").symlink_to("nowhere")
    benchctl("plan", text=text)
    for command in ("try", "run"):
        exit_code = 2 if code in ("BC406", "BX234") else 3
        words = " ".join(benchctl(command, text=text, code=exit_code).stderr.split())
        assert words.count("error[") == 1
        assert f"error[{code}]" in words
        assert "nothing was measured" in words
        for message in messages:
            assert message in words
    assert find_records(tmp_path / "results") == []
    data = tmp_path / "cache" / "data"
    assert [path for path in data.rglob("*") if path.suffix in {".out", ".part"}] == []


def test_too_many_files_for_a_command_are_an_error(benchctl: Benchctl, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for number in range(1000):
        (tmp_path / "many" / f"{number:0100}.txt").touch()
    done = benchctl("try", text="input: {files: ['many/*']}", code=2)
    assert "error[BC413]: the names of the 1000 files of the input are too long" in done.stderr


def test_a_program_that_changes_its_input_is_named_before_its_answers(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    with (tmp_path / "program").open("a") as file:
        file.write('echo x >> "$1"\n')
    for words in (["try"], ["run", "--quick"]):
        done = benchctl(*words, text="input: {file: a.txt}", code=3)
        assert done.stderr.count("error[") == 1
        assert "error[BX420]: the input " in done.stderr
        assert "BX21" not in done.stderr


def test_a_folder_that_changes_ends_its_measurement(benchctl: Benchctl, tmp_path: Path) -> None:
    with (tmp_path / "program").open("a") as file:
        file.write('touch "$1/new-$$"\n')
    text = "input: {folder: corpus}\nanswer: {compare: none}"
    done = benchctl("run", "--quick", text=text, code=3)
    assert "error[BX420]" in done.stderr
    assert "corpus changed while it was measured (files, size or mtime)" in done.stderr
