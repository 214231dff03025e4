"""Tests of `ab`, `sweep` and `ablate` from arguments to sentences, with the fake and the real hyperfine."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import bench_framework as bf
from bench_framework.store.finding import find_records
from bench_framework.store.manifest import read_manifest
from bench_framework.store.records import Record
from tests.documents import valid
from tests.files import write_files
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


@pytest.mark.slow
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
    assert "Outputs differ" in benchctl(folder, "compare", "@last").stdout
    (warning,) = valid("compare", benchctl(folder, "compare", "@last", "--json").stdout)["warnings"]
    assert warning.startswith("Outputs differ: echo -new may do other work than the baseline")
    # A comparison without the variant of another output has no such warning.
    three = ("ab", "echo -old", "echo -same", "echo -new", "--json")
    assert valid("run", benchctl(folder, *three).stdout)["other_outputs"] == ["echo -new"]
    chosen = ("compare", "@last", "--candidate", "echo -same", "--json")
    assert valid("compare", benchctl(folder, *chosen).stdout)["warnings"] == []
    gate = ("gate", str(record), "--no-confirm")
    document = valid("gate", benchctl(folder, *gate, "--json").stdout)
    assert (document["exit_code"], document["decision"]) == (0, "discard")
    assert "outputs-differ" in {remark["code"] for remark in document["remarks"]}
    assert benchctl(folder, *gate, "--decide", code=1).stdout == "discard\n"


def test_equal_commands_are_equivalent_and_json_is_the_document_of_run(folder: Path) -> None:
    words = ("ab", "-L", "arm", "-same,-same2", "echo {arm}", "--margin", "5%", "--budget", "20s")
    document = valid("run", benchctl(folder, *words, "--json").stdout)
    assert (document["exit_code"], document["status"]) == (0, "conclusive")
    texts = [claim["text"] for claim in document["claims"] if claim["kind"] == "comparison"]
    assert texts[0].startswith("echo -same2 takes as long as echo -same")
    (answer,) = document["answer"]
    assert answer.startswith("Equal within ±5\u202f%: echo -same2 vs echo -same: ")
    assert document["decision"] == ["Choose by other criteria: time is equal within ±5\u202f%."]
    first = document["comparisons"][0]
    names = ("variant", "reference", "input", "metric", "kind", "verdict", "margin")
    expected = ("echo -same2", "echo -same", "", "wall", "headline", "equivalent", 0.05)
    assert tuple(map(first.get, names)) == expected
    assert 0.95 < first["lo"] <= first["ratio"] <= first["hi"] < 1.05
    assert first["rounds"] > 5


@pytest.mark.parametrize(
    ("commands", "word", "code"),
    [
        (("echo -old", "echo -new", "--answer", '{ignore: ["[ab]"]}'), "keep", 0),
        (("echo -same", "echo -same2", "--margin", "5%"), "discard", 1),
        (("echo -old", "echo -new"), "discard", 1),
        (("echo -same", "echo -broken"), "", 3),
        (("echo -same", "echo -same2", "--runs", "1"), "more-data", 4),
    ],
)
@pytest.mark.slow
def test_a_decision_is_one_word_and_its_exit_code(
    folder: Path, commands: tuple[str, ...], word: str, code: int
) -> None:
    budget = () if "--runs" in commands else ("--budget", "20s")
    done = benchctl(folder, "ab", "--decide", *budget, *commands, code=code)
    if word:
        assert done.stdout == f"{word}\n"
    else:
        assert "failed" in done.stdout


@pytest.mark.slow
def test_events_are_lines_that_a_program_reads(folder: Path) -> None:
    words = ("ab", "-n", "a", "-n", "b", "echo -old", "echo -new", "--events", "events.jsonl")
    benchctl(folder, *words, "--budget", "20s")
    lines = (folder / "events.jsonl").read_text().splitlines()
    events = [valid("events", line) for line in lines]
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("plan", "stop")
    assert {"input", "limit", "round", "verdicts", "warning"} >= {*kinds[1:-1]} - {"message"}
    rounds = [event for event in events if event["event"] == "round"]
    assert [event["done"] for event in rounds] == [*range(1, len(rounds) + 1)]
    assert (rounds[0]["warmup"], rounds[-1]["warmup"]) == (True, False)
    verdicts = next(event for event in events if event["event"] == "verdicts")
    first = verdicts["comparisons"][0]
    assert (first["variant"], first["metric"], first["verdict"]) == ("b", "wall", "better")
    assert [e["code"] for e in events if e["event"] == "warning"] == ["BX334"]
    refused = benchctl(folder, *words[:-1], "no/folder/x", code=3)
    assert "error[BX235]" in refused.stderr


@pytest.mark.slow
def test_a_decision_refuses_another_output(folder: Path) -> None:
    done = benchctl(folder, "ab", "--decide", "echo -old", "echo -new", "--json", code=1)
    assert json.loads(done.stdout)["exit_code"] == 1
    assert "error[BX210]" in done.stderr
    assert "; without --decide, `ab` compares it nevertheless" in " ".join(done.stderr.split())
    assert "differs: warn" not in done.stderr
    assert not find_records(folder / "results")[1:]


@pytest.mark.slow
def test_a_second_record_says_how_its_ratios_differ_from_those_of_the_first(folder: Path) -> None:
    def note() -> list[str]:
        words = ("ab", "--fresh", "--budget", "20s", "echo -old", "echo -new")
        benchctl(folder, *words)
        newest = find_records(folder / "results")[-1]
        assert benchctl(folder, "verify", str(newest)).returncode == 0
        return [e.message for e in Record.open(newest).contents.events if e.code == "BX347"]

    assert note() == []
    (text,) = note()
    assert text.startswith("1 earlier record of the same programs and inputs on this machine:")
    assert re.search(r"by \S+\s%\s.*at most; [01] of 1 comparison", text)
    (text,) = note()
    assert text.startswith("2 earlier records")
    benchctl(folder, "ab", "--fresh", "--budget", "20s", "echo -old", "echo -same")
    other = Record.open(find_records(folder / "results")[-1])
    assert "BX347" not in {event.code for event in other.contents.events}


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


@pytest.mark.slow
def test_two_names_of_one_program_are_named_as_such(folder: Path) -> None:
    (folder / "same").symlink_to("/bin/true")
    done = benchctl(folder, "ab", "./same -old", "/bin/true -old")
    text = " ".join(done.stderr.split())
    assert (
        "warning[BX311]: ./same -old and /bin/true -old are the same program (equal files, same arguments)"
        in text
    )
    assert "feature" not in text
    assert "command has no effect" not in text + done.stdout
    (record,) = find_records(folder / "results")
    page = (record / "report.md").read_text() + (record / "appendix.md").read_text()
    assert "command has no effect" not in page


@pytest.mark.slow
def test_a_slow_expression_ends_at_the_budget(folder: Path) -> None:
    rule = {"match": "", "wall_s": 0.05, "stdout": "a" * 40 + "!"}
    processes.fake_hyperfine(folder, [rule])
    words = ("ab", "echo -old", "echo -new", "--budget", "2s")
    done = benchctl(folder, *words, "--answer", '{ignore: ["(a+)+$"]}', code=3)
    text = " ".join(done.stderr.split())
    assert "answer.ignore ((a+)+$) exceeded the time limit of 2 s" in text


@pytest.mark.slow
def test_setup_and_cleanup_run_once_conclude_after_each_run_and_all_runs_are_exported(
    folder: Path,
) -> None:
    def append(name: str) -> str:
        return f"sh -c 'echo {name} >> log'"

    words = ["ab", "echo -old", "echo -new", "--runs", "7", "--export-json", "runs.json"]
    words += ["-s", append("setup"), "-C", append("conclude"), "-c", append("cleanup")]
    done = benchctl(folder, *words)
    log = (folder / "log").read_text(encoding="utf-8").split()
    assert (log[0], log[-1], {*log[1:-1]}) == ("setup", "cleanup", {"conclude"})
    document = (folder / "runs.json").read_text(encoding="utf-8")
    assert "wrote runs.json" in done.stderr
    assert document == benchctl(folder, "export", "@last", "--format", "hyperfine").stdout
    results = json.loads(document)["results"]
    assert [result["command"] for result in results] == ["echo -old", "echo -new"]
    assert [len(result["times"]) for result in results] == [7, 7]


@pytest.mark.slow
def test_a_failed_setup_ends_the_run_and_a_failed_cleanup_is_a_warning(folder: Path) -> None:
    words = ("ab", "echo -old", "echo -new", "--runs", "7")
    done = benchctl(folder, *words, "-s", "sh -c 'echo no make >&2; exit 4'", code=3)
    assert "error[BX206]: the command of --setup failed: exit status 4" in done.stderr
    assert "output   no make" in done.stderr
    assert not find_records(folder / "results")
    done = benchctl(folder, *words, "-c", "/no/such")
    assert "warning[BX206]: the command of --cleanup failed: cannot start /no/such" in done.stderr


@pytest.mark.slow
def test_nothing_is_exported_if_every_command_failed(folder: Path) -> None:
    words = ("ab", "echo -broken", "echo -broken2", "--export-json", "runs.json")
    assert "error[BX131]: the record has no runs" in benchctl(folder, *words, code=3).stderr
    assert not (folder / "runs.json").exists()


@pytest.mark.slow
def test_a_command_that_fails_is_named(folder: Path) -> None:
    done = benchctl(folder, "ab", "echo -old", "echo -broken", code=3)
    assert "error[BX201]: echo -broken failed in warm-up round 1 (exit status 7)" in done.stderr
    assert "lines; all in" not in done.stderr  # the whole stderr is shown
    assert "`echo -broken`: failed (exit status 7 during warm-up)" in done.stdout
    done = benchctl(folder, "ab", "echo -broken", "echo -old", code=3)
    failure = "exit status 7 during warm-up"
    assert f"the baseline failed ({failure}): nothing can be compared" in done.stdout
    assert "1 configuration has no result: exit 3" in done.stderr
    [record, *_] = find_records(folder / "results")[::-1]
    assert f"Nothing is conclusive: the baseline failed ({failure})" in " ".join(
        (record / "report.md").read_text().split()
    )
    again = benchctl(folder, "compare", str(record), code=2).stderr
    assert "error[BX413]: nothing was compared in the record" in again
    missing = benchctl(folder, "ab", "./missing", "echo -old", code=2)
    assert "error[BX234]" in missing.stderr
    assert "a path relative to the current folder" in missing.stderr
    assert missing.stdout == ""


FLAKY = """#!/bin/sh
echo >>calls
test $(($(wc -l <calls) % 3)) = 0 || exit 0
echo "connection reset" >&2
echo "\033[8mhidden" >&2
exit 3
"""


@pytest.mark.slow
def test_the_stderr_of_a_program_that_fails_sometimes_is_stored_and_shown(tmp_path: Path) -> None:
    """The first two repetitions succeed, and the third one fails as the timed run did."""
    rules = [{"match": "flaky", "wall_s": 0.05, "exit_code": 3, "fail_calls": [4]}, *RULES]
    processes.fake_hyperfine(tmp_path, rules)
    processes.executable(tmp_path / "flaky.sh", FLAKY)
    done = benchctl(tmp_path, "ab", "echo -old", "./flaky.sh", "--answer", "none", code=3)
    lines = [line.strip() for line in done.stderr.splitlines()]
    start = next(n for n, line in enumerate(lines) if line.startswith("error[BX201]: ./flaky.sh"))
    assert lines[start + 2] == "stderr      connection reset"
    assert lines[start + 3] == r"\x1b[8mhidden"
    assert lines[start + 4].startswith("repetitions 2 succeeded, then one failed (exit status 3)")
    (record,) = find_records(tmp_path / "results")
    (log,) = (record / "raw/logs").glob("*.stderr")
    assert log.read_text() == "connection reset\n\x1b[8mhidden\n"
    assert f"raw/logs/{log.name}" in read_manifest(record)
    line = r"1 of 14 samples failed; stderr: “connection reset / \x1b[8mhidden”."
    assert line in " ".join(done.stdout.split())
    for page in ("report.md", "appendix.md"):
        assert line.replace("\\", "") in (record / page).read_text().replace("\\", "")


@pytest.mark.slow
def test_an_exit_code_without_stderr_is_explained_by_stdout(tmp_path: Path) -> None:
    rule = {"match": "quiet", "wall_s": 0.05, "exit_code": 4}
    processes.fake_hyperfine(tmp_path, [rule, *RULES])
    processes.executable(
        tmp_path / "quiet.sh", "#!/bin/sh\necho; seq 101 199; printf '%0300d' 7 >&2\nexit 4\n"
    )
    done = benchctl(tmp_path, "ab", "echo -old", "./quiet.sh", "--answer", "none", code=3)
    numbers = " ".join(done.stderr.partition("stdout ")[2].split())
    assert numbers.startswith("101 102 103 104 105 (5 of 99 lines; more in raw/logs/")
    assert "repetitions" not in done.stderr
    processes.executable(tmp_path / "quiet.sh", "#!/bin/sh\necho 101; seq 201 203 >&2\nexit 4\n")
    done = benchctl(tmp_path, "ab", "echo -old", "./quiet.sh", "--answer", "none", code=3)
    assert "stdout " not in done.stderr.partition("error[BX201]")[2]


def test_a_program_that_is_built_again_before_the_measurement_is_refused(folder: Path) -> None:
    program = folder / "new"
    processes.executable(program, "#!/bin/sh\necho -new\n")
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


@pytest.mark.slow
def test_a_command_that_edits_its_file_is_reported(folder: Path) -> None:
    (folder / "data").write_text("b\na\n" * 9999, encoding="utf-8")
    words = ("ab", "--runs", "6", "sort -o data data", "sort --parallel=1 -o data data")
    done = benchctl(folder, *words, real=True)
    assert f"warning[BX354]: {folder}/data, an argument of a command, changed" in done.stderr
    assert "--prepare 'cp ORIGINAL COPY'" in done.stderr
    (record,) = find_records(folder / "results")
    report = (record / "report.md").read_text(encoding="utf-8")
    assert "outputs: empty, so no results were compared" in report
    assert "an argument of a command, changed" in (record / "appendix.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_values_of_an_argument_are_compared_with_the_first(folder: Path) -> None:
    benchctl(folder, "sweep", "which=old,new", "--ignore-output", "--", "echo", "-{which}")
    (record,) = find_records(folder / "results", "sweep")
    judgement = bf.load(record).judgement
    assert judgement is not None
    (answer,) = (c.subject for c in judgement.claims if c.kind == "recommendation")
    assert answer == "new"
    benchctl(folder, "verify", str(record))


@pytest.mark.slow
def test_a_crate_is_built_with_and_without_a_default_feature(folder: Path) -> None:
    """The two builds are real; the times come from the fake hyperfine."""
    files = {
        "src/main.rs": 'fn main() { println!("-{}", ["old", "new"][cfg!(feature = "fast") as usize]); }',
        "Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\nedition = "2021"\n'
        '[features]\ndefault = ["fast"]\nfast = []\n',
    }
    write_files(folder, files)
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
    processes.executable(program, "#!/bin/sh\nsleep 0.05\ncat\n")
    done = benchctl(
        folder, "ab", "./slow", "cat", "--input", "in.txt", "--budget", "60s", real=True
    )
    line = sentence(done.stdout)
    assert line.startswith("`cat` is ")
    assert "× faster than `./slow`" in line
    assert ", same output" in line
    (row,) = (row for row in done.stdout.splitlines() if row.startswith(" ./slow "))
    assert " baseline " in row


@pytest.mark.parametrize("more", [(), ("--ignore-output",)], ids=["compared", "ignored"])
@pytest.mark.slow
def test_a_process_that_a_program_leaves_behind_is_not_timed(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    for name, text in {"parent": "sleep 30 & echo ok", "alone": "echo ok"}.items():
        processes.executable(tmp_path / name, f"#!/bin/sh\n{text}\n")
    done = benchctl(tmp_path, "ab", "./parent", "./alone", "--budget", "4s", *more, real=True)
    (record,) = find_records(tmp_path / "results")
    opened = Record.open(record)
    contents = opened.contents
    assert max(time for block in contents.blocks for time in block.wall_s) < 5.0
    assert "warning[BX333]: ./parent left" in done.stderr
    left = [e for e in contents.events if e.code == "BX333"]
    assert {opened.plan.cell(e.cell_id or "").label for e in left} == {"./parent"}


FILES_IN_MEMORY = """#!/bin/sh
parent=$PPID
[ "$(cat /proc/$parent/comm)" = hyperfine ] && [ ! -e files ] || exit 0
until [ "$parent" -le 1 ] || grep -q unlocked.py /proc/$parent/cmdline; do
  parent=$(awk '/^PPid/ { print $2 }' /proc/$parent/status)
done
cp /proc/$parent/maps files
"""
"""Script that lists the files in the memory of benchctl, at its first run by hyperfine."""


@pytest.mark.real
@pytest.mark.slow
def test_the_first_run_starts_before_numpy_is_loaded(tmp_path: Path) -> None:
    program = tmp_path / "program"
    processes.executable(program, FILES_IN_MEMORY)
    words = ("ab", "-r", "1", "-w", "0", "./program 1", "./program 2")
    new_interpreter = ("-B", processes.CALL)  # a process of the server has imported everything
    benchctl(tmp_path, *words, real=True, call=new_interpreter)
    files = (tmp_path / "files").read_text(encoding="utf-8")
    assert "pydantic_core" in files
    assert "numpy" not in files
