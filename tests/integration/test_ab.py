"""Tests of `ab`, `sweep` and `ablate` from arguments to sentences, with the fake and the real hyperfine."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from tests.integration import processes

RULES = [
    {"match": "-new", "wall_s": 0.05, "stdout": "1\nb\n3\n"},
    {"match": "-same", "wall_s": 0.0501, "stdout": "1\na\n3\n", "spread": 0.001},
    {"match": "-broken", "wall_s": 0.05, "exit_code": 7},
    {"match": "-old", "wall_s": 0.0655, "stdout": "1\na\n3\n"},
]


def benchctl(
    folder: Path,
    *words: str,
    real: bool = False,
    code: int = 0,
    call: Sequence[str] = (processes.CALL,),
) -> processes.Done:
    env = processes.real() if real else None
    return processes.benchctl(folder, *words, env=env, code=code, call=call)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    processes.fake_hyperfine(tmp_path, RULES)
    return tmp_path


def sentence(stdout: str) -> str:
    """Return the sentences below the table of results on one line."""
    return " ".join(stdout.partition("\n\n")[2].partition("\n\n")[0].split())


def test_different_outputs_are_compared_with_a_warning(folder: Path) -> None:
    done = benchctl(folder, "ab", "echo -old", "echo -new")
    line = sentence(done.stdout)
    assert line.startswith("`echo -new` is 1.3")
    assert "× faster than `echo -old` (95 % CI 1." in line
    assert ", different output" in line
    assert "warning[BX334]: echo -new prints a different result from echo -old" in done.stderr
    assert "first difference line 2" in done.stderr
    assert "                    echo -old: a\n" in done.stderr
    assert "                    echo -new: b\n" in done.stderr
    (record,) = find_records(folder / "results")
    assert (record / "report.html").is_file()
    assert "different" in (record / "report.md").read_text(encoding="utf-8")
    verified = benchctl(folder, "verify", str(record))
    assert "consistent with itself" in verified.stdout + verified.stderr


def test_equal_commands_are_equivalent_and_json_is_the_document_of_run(folder: Path) -> None:
    words = ("ab", "-L", "arm", "-same,-same2", "echo {arm}", "--margin", "5%", "--budget", "20s")
    document = json.loads(benchctl(folder, *words, "--json").stdout)
    assert (document["exit_code"], document["status"]) == (0, "conclusive")
    texts = [claim["text"] for claim in document["claims"] if claim["kind"] == "comparison"]
    assert texts[0].startswith("echo -same2 is equivalent to echo -same")


@pytest.mark.slow
def test_a_saved_scenario_measures_the_same_commands(folder: Path) -> None:
    first = benchctl(folder, "ab", "echo -old", "echo -new", "--save", "bench/x.yaml")
    assert "Rerun    benchctl run bench/x.yaml" in first.stdout
    benchctl(folder, "validate", "bench/x.yaml")
    benchctl(folder, "run", "bench/x.yaml")
    plans = [
        json.loads((record / "plan.json").read_text())
        for record in find_records(folder / "results", "x")
    ]
    assert len(plans) == 2
    assert plans[0] == plans[1]


def test_a_command_that_fails_is_named(folder: Path) -> None:
    done = benchctl(folder, "ab", "echo -old", "echo -broken", code=3)
    assert "error[BX201]: echo -broken failed in warm-up round 1 (exit status 7)" in done.stderr
    assert "lines; all in" not in done.stderr  # the whole stderr is shown
    assert "`echo -broken`: failed (exit status 7 during warm-up)" in done.stdout
    done = benchctl(folder, "ab", "echo -broken", "echo -old", code=3)
    failure = "exit status 7 during warm-up"
    assert f"the baseline failed ({failure}): nothing can be compared" in done.stdout
    assert "1 configuration could not be measured" in done.stderr
    [record, *_] = find_records(folder / "results")[::-1]
    assert f"Nothing is conclusive: the baseline failed ({failure})" in " ".join(
        (record / "report.md").read_text().split()
    )
    missing = benchctl(folder, "ab", "./missing", "echo -old", code=2)
    assert "error[BX234]" in missing.stderr
    assert "a path relative to the current folder" in missing.stderr
    assert missing.stdout == ""


def test_a_program_that_is_built_again_before_the_measurement_is_refused(folder: Path) -> None:
    program = folder / "new"
    program.write_text("#!/bin/sh\necho -new\n")
    program.chmod(0o755)
    rebuild = "lock.wait_until_idle = lambda *_: Path('new').write_text('#!/bin/sh') and 0.0\n"
    done = benchctl(
        folder,
        "ab",
        "echo -old",
        "./new",
        call=("-c", Path(processes.CALL).read_text().replace("main()", rebuild + "main()")),
        code=3,
    )
    assert f"error[BX420]: {program} changed before the measurement began" in done.stderr
    assert find_records(folder / "results") == []


def test_without_commands_the_error_has_an_example(folder: Path) -> None:
    done = benchctl(folder, "ab", code=2)
    assert "error[BX122]: there are no commands to compare" in done.stderr
    assert "benchctl ab './old data.json' './new data.json'" in done.stderr


def test_values_of_an_argument_are_compared_with_the_first(folder: Path) -> None:
    done = benchctl(folder, "sweep", "which=old,new", "--ignore-output", "--", "echo", "-{which}")
    assert "new is fastest" in " ".join(done.stdout.split())
    (record,) = find_records(folder / "results", "sweep")
    benchctl(folder, "verify", str(record))
    missing = benchctl(folder, "sweep", "which=old,new", code=2)
    assert "error[BX122]: there is no command" in missing.stderr


def test_a_crate_is_built_with_and_without_a_default_feature(folder: Path) -> None:
    """The two builds are real; the times come from the fake hyperfine."""
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(
        'fn main() { println!("{}", if cfg!(feature = "fast") { "-new" } else { "-old" }); }\n'
    )
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2021"\n'
        '[features]\ndefault = ["fast"]\nfast = []\n'
    )
    done = benchctl(folder, "ablate", "--features", "fast", "--ignore-output", "--", "x")
    assert "without fast" in done.stdout
    (record,) = find_records(folder / "results", "ablate")
    builds = json.loads((record / "plan.json").read_text())["builds"]
    assert sorted(build["features"] for build in builds) == [[], ["fast"]]
    assert not any(build["default_features"] for build in builds)


@pytest.mark.real
def test_real_commands_with_a_clear_difference(folder: Path) -> None:
    (folder / "in.txt").write_text("a\nb\n")
    program = folder / "slow"
    program.write_text("#!/bin/sh\nsleep 0.05\ncat\n")
    program.chmod(0o755)
    done = benchctl(
        folder, "ab", "./slow", "cat", "--input", "in.txt", "--budget", "60s", real=True
    )
    line = sentence(done.stdout)
    assert line.startswith("`cat` is ")
    assert "× faster than `./slow`" in line
    assert ", same output" in line
    (row,) = (row for row in done.stdout.splitlines() if row.startswith(" ./slow "))
    assert " baseline " in row
