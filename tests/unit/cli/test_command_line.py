"""Tests of the command line: imports, help, errors and exit codes."""

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import typer

from bench_framework.cli.app import app, run_command_line
from bench_framework.cli.commands.schema import NAMES
from bench_framework.cli.commands.validate import _annotation
from bench_framework.cli.console import Console, annotation_lines, describe, fold_diagnostic
from bench_framework.errors import EXIT_USAGE, CellError, Position, Problem
from bench_framework.model.record.run import Event
from bench_framework.text.lines import wrap
from tests.documents import valid
from tests.unit.machine import SCENARIO

HEAVY = {"pandas", "matplotlib", "numpy", "jinja2", "dask", "distributed"}
UNUSED = {
    f"bench_framework.{name}"
    for name in (
        "model.facts",
        "model.result.judgement",
        "store.journal",
        "store.records",
        "execution.progress",
        "execution.rounds",
        "workflow.comparison",
        "workflow.gate",
        "workflow.pages",
        "workflow.run",
    )
}
"""Own modules for records and results, which commands that only read a scenario do not import."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["validate", "FILE"], ["plan", "FILE"]]
)
def test_startup_imports_no_heavy_modules(words: list[str], scenario: Path) -> None:
    argv = [str(scenario) if word == "FILE" else word for word in words]
    code = (
        "import sys; from bench_framework.cli.app import run_command_line; "
        f"code = run_command_line({argv!r}); "
        f"print(sorted({HEAVY | UNUSED!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(  # in a folder without records, from which times are estimated
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=scenario.parent,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"


def test_every_command_has_help_with_an_example() -> None:
    assert len(app.registered_commands) > 20
    groups = [group.typer_instance for group in app.registered_groups]
    parts = [command for group in groups if group for command in group.registered_commands]
    assert len(parts) == 10
    for command in (*app.registered_commands, *parts):
        assert command.epilog, command.callback
        assert "benchctl " in command.epilog
        for line in command.epilog.splitlines():
            assert len(line) <= 79 or not line.startswith(("benchctl ", "git ")), line


@pytest.mark.parametrize(
    ("words", "code"),
    [(["validate"], 2), (["rnu"], 2), (["plan", "quickstrat"], 2), (["schema"], 0)],
)
def test_exit_codes(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(words) == code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert bool(printed.err) == (code != 0)


def test_json_is_one_document(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["--json", "plan", str(scenario), "-S", "measure.rounds.max=40"]) == 0
    document = valid("plan", capsys.readouterr().out)
    assert document["looks"] == [12, 18, 27, 40]
    assert [cell["role"] for cell in document["cells"]] == ["baseline", "candidate", "control"]
    assert run_command_line(["plan", str(scenario), "--json"]) == 0
    document = valid("plan", capsys.readouterr().out)
    assert (document["rounds"], document["looks"], document["run_s"]) == (None, None, 300.0)
    broken = scenario.with_name("broken.yaml")
    broken.write_text(scenario.read_text().replace("baseline", "base"))
    assert run_command_line(["validate", str(scenario), str(broken), "--json"]) == 2
    first, second = valid("validate", capsys.readouterr().out)["scenarios"]
    assert (first["ok"], first["scenario_sha256"]) == (True, document["scenario_sha256"])
    assert (second["ok"], second["problems"][0]["code"]) == (False, "BC201")


@pytest.mark.parametrize("name", NAMES)
def test_each_name_has_a_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["schema", name]) == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))
    assert run_command_line(["schema", "--help"]) == 0
    assert name in capsys.readouterr().out


def test_each_command_has_a_schema() -> None:
    of_run, without = {"ab", "sweep", "ablate"}, {"help", "import", "schema"}
    commands = {*typer.main.get_command(app).commands}  # type: ignore[attr-defined]
    assert commands - of_run - without == {*NAMES} - {"scenario", "events"}


def test_an_unknown_name_has_no_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["schema", "nothing"]) == 2
    assert "choose one of: scenario, run, gate" in " ".join(capsys.readouterr().err.split())


def test_a_document_begins_with_its_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["init", "--json"]) == 0
    text = capsys.readouterr().out
    assert text.startswith('{\n  "schema_version": 1,\n')
    assert valid("init", text)["guesses"] == []
    assert run_command_line(["clean", "records", "--json"]) == 0
    assert valid("clean", capsys.readouterr().out)["items"] == []


@pytest.mark.parametrize(
    "words", [["plan", "FILE", "--json"], ["plan", "--json", "FILE"], ["--json", "plan", "FILE"]]
)
def test_shared_options_are_accepted_before_and_after_the_command(
    words: list[str], scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([str(scenario) if word == "FILE" else word for word in words]) == 0
    assert valid("plan", capsys.readouterr().out)["scenario"] == "small"


def test_help_lists_its_topics_and_knows_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["help"]) == 0
    listed = capsys.readouterr().out
    assert "BC104" in listed
    for command in app.registered_commands:
        name = str(command.name or getattr(command.callback, "__name__", ""))
        assert name in listed
        assert run_command_line(["help", name]) == 0
        assert f"benchctl {name}" in capsys.readouterr().out
    assert run_command_line(["help", "validat"]) == 2
    assert "did you mean `validate`?" in capsys.readouterr().err


def test_an_error_is_printed_with_details_effect_and_fix() -> None:
    error = CellError.from_texts(
        "BX201",
        "a failed",
        details=(("stderr", "one\ntwo"),),
        effect="others go on",
        fix="run it again",
    )
    assert describe(error).splitlines() == [
        "error[BX201]: a failed",
        "   stderr   one",
        "            two",
        "   effect   others go on",
        "   fix      run it again",
    ]


def test_labels_are_aligned_and_surrounding_empty_lines_are_removed() -> None:
    error = CellError.from_texts(
        "BX201",
        "a failed",
        details=(("stderr", "\none\n"), ("first difference", "line 1"), ("x", "\n")),
    )
    expected = ["error[BX201]: a failed", "   stderr           one", "   first difference line 1"]
    assert describe(error).splitlines() == expected


def test_the_third_warning_of_a_code_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    for number in range(5):
        console.warn(Event("BX201", f"cell {number} failed", "error", help="look"))
    console.warn(Event("BX320", "drift", help="stop other work"))
    assert capsys.readouterr().err.splitlines() == [
        "error[BX201]: cell 0 failed",
        "   fix      look",
        "error[BX201]: cell 1 failed",
        "   fix      look",
        "error[BX201]: cell 2 failed",
        "   note     further errors of this kind are shortened; events.csv contains all details",
        "error[BX201]: cell 3 failed",
        "error[BX201]: cell 4 failed",
        "warning[BX320]: drift",
        "   fix      stop other work",
    ]


def test_a_closed_pipe_is_not_an_error() -> None:
    code = "from bench_framework.cli.console import Console\nfor _ in range(20000): Console().emit('x' * 80)\n"
    done = subprocess.run(
        f'{sys.executable} -c "{code}" | head -1',
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        (("--help",), "stdout", 0),
        pytest.param(("run", "--help"), "stdout", 0, marks=pytest.mark.slow),
        pytest.param(("fleet", "--help"), "stdout", 0, marks=pytest.mark.slow),
        pytest.param(("--version",), "stdout", 0, marks=pytest.mark.slow),
        pytest.param(("run", "--unknown"), "stderr", 2, marks=pytest.mark.slow),
        (("report", "missing"), "stderr", 2),
    ],
)
def test_a_reader_that_ends_early_changes_no_exit_code(
    words: tuple[str, ...], closed: str, code: int
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    out, err = (writer if name == closed else subprocess.PIPE for name in ("stdout", "stderr"))
    command = [sys.executable, "-m", "bench_framework", *words]
    with subprocess.Popen(command, stdout=out, stderr=err) as done:
        os.close(writer)
        printed = [text or b"" for text in done.communicate()]
    assert (done.returncode, printed) == (code, [b"", b""])


def test_a_pipe_of_another_process_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def emit(*_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr(Console, "emit", emit)
    assert run_command_line(["--version"]) == 3
    assert (
        "error[BX237]: the operating system reported an error: Broken pipe"
        in capfd.readouterr().err
    )


ODD = "a\nb\x1b[2Jc\td\r\u202e\u2028error[BX900]: x"
ODD_ESCAPED = r"a\nb\x1b[2Jc\td\r\u202e\u2028error[BX900]: x"


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("plan",),
        ("validate",),
        ("gate",),
        ("report",),
        ("verify",),
        ("import",),
        ("fleet", "status", "--scheduler"),
        ("fleet", "worker"),
    ],
)
def test_a_path_with_line_ends_and_control_characters_is_escaped_on_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*words, ODD]) == 2
    first, *_ = capsys.readouterr().err.split("\n")
    assert first.startswith("error[")
    assert ODD_ESCAPED in first


def test_messages_warnings_and_sentences_have_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.say(f"wrote {ODD}")
    console.warn(Event("BX320", ODD))
    console.error(CellError.from_texts("BX201", ODD))
    console.emit_sentence(f"{ODD}: consistent with itself")
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        f"wrote {ODD_ESCAPED}",
        f"warning[BX320]: {ODD_ESCAPED}",
        f"error[BX201]: {ODD_ESCAPED}",
    ]
    assert printed.out == f"{ODD_ESCAPED}: consistent with itself\n"


def test_github_gets_ten_annotations_and_the_tenth_counts_the_others() -> None:
    problems = (
        Problem("BC101", f"unknown key `k{n}`: 100 %", "a,b.yaml", Position(n, 3, 2))
        for n in range(1, 13)
    )
    lines = annotation_lines([_annotation(problem) for problem in problems])
    assert len(lines) == 10
    assert (
        lines[0]
        == "::error file=a%2Cb.yaml,title=BC101,line=1,col=3,endColumn=5::unknown key `k1`: 100 %25"
    )
    assert lines[-1].endswith("(and 2 more, see the log)")


def test_width_comes_from_the_environment_and_never_below_40(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    assert Console().width == 40
    monkeypatch.setenv("COLUMNS", "120")
    assert Console().width == 120


@pytest.mark.parametrize("columns", ["²", "9" * 5000])
def test_an_environment_without_a_width_is_no_error(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert Console().width == 100
    assert run_command_line(["--help"]) == 0


def test_an_empty_age_does_not_select_all_items() -> None:
    assert run_command_line(["clean", "--older", ""]) == EXIT_USAGE


@pytest.mark.parametrize(
    ("variables", "option", "colored"),
    [
        ("", "auto", False),
        ("FORCE_COLOR=1", "auto", True),
        ("FORCE_COLOR=1 TERM=dumb", "auto", True),
        ("FORCE_COLOR=", "auto", False),
        ("CLICOLOR_FORCE=1", "auto", True),
        ("CLICOLOR_FORCE=0", "auto", False),
        ("FORCE_COLOR=1 CLICOLOR_FORCE=1 NO_COLOR=1", "auto", False),
        ("FORCE_COLOR=1 NO_COLOR=", "auto", True),
        ("FORCE_COLOR=1", "never", False),
        ("NO_COLOR=1", "always", True),
    ],
)
def test_colors_in_a_pipe_follow_the_option_then_no_color_then_the_variables_that_force_them(
    monkeypatch: pytest.MonkeyPatch, variables: str, option: str, colored: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for variable in variables.split():
        monkeypatch.setenv(*variable.split("=", 1))
    assert Console(color=option).colored == colored


@pytest.mark.parametrize(
    ("redirection", "code"),
    [
        (">/dev/full", 3),
        *(
            pytest.param(words, 0, marks=pytest.mark.slow)
            for words in (">&-", "2>&-", "2>/dev/full", ">&- 2>&-")
        ),
    ],
)
def test_an_unwritable_stream_is_not_an_internal_error(redirection: str, code: int) -> None:
    line = f"{sys.executable} -m bench_framework help exit-codes {redirection}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_deleted_working_directory_is_an_error_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    # Without -P, Python itself would search for modules in the deleted folder.
    line = (
        f"cd {folder} && rmdir {folder} && {sys.executable} -P -m bench_framework plan quickstart"
    )
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "BX237" in done.stderr
    assert "Traceback" not in done.stderr


def test_diagnostics_are_wrapped_except_for_text_to_copy() -> None:
    path = "/a/long/path/" + "x" * 60
    text = "\n".join(
        [
            "error[BX201]: variant smol+jemalloc failed in round 3, run 2, with a rather long message",
            f"   command  {path} --io buffered",
            "   repetitions 2 succeeded, then one failed (exit status 3); the cause may be a data race",
            "   effect   this cell is reported as failed; the 13 other cells go on",
            "   fix      reproduce it: `benchctl run bench/search.yaml -k 'runtime=smol' --quick -v`",
            " --> s.yaml:7:3",
            "7 |   size: [short, and a line of a scenario that is longer than the terminal is wide]",
            "  = note: no command, env or input uses it, and none of its values has an effect on it",
        ]
    )
    assert fold_diagnostic(text, None) == text
    lines = fold_diagnostic(text, 60).split("\n")
    assert lines == [
        "error[BX201]: variant smol+jemalloc failed in round 3, run",
        "   2, with a rather long message",
        f"   command  {path} --io buffered",
        "   repetitions 2 succeeded, then one failed (exit status 3);",
        "               the cause may be a data race",
        "   effect   this cell is reported as failed; the 13 other",
        "            cells go on",
        "   fix      reproduce it:",
        "            `benchctl run bench/search.yaml -k 'runtime=smol' --quick -v`",
        " --> s.yaml:7:3",
        "7 |   size: [short, and a line of a scenario that is longer than the terminal is wide]",
        "  = note: no command, env or input uses it, and none of its",
        "          values has an effect on it",
    ]
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())  # no word is missing
    quoted = "error[BX122]: --shell runs all of the commands with `sh -c`"
    assert fold_diagnostic(quoted, len(quoted) - 1).split("\n")[1] == "   `sh -c`"


def test_signs_are_replaced_on_an_ascii_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    Console().emit("4 cells × 2, −3\u202f% … ▲ slower, 漢")
    assert raw.getvalue() == b"4 cells x 2, -3 % ... ^ slower, \\u6f22\n"


def test_a_sentence_is_wrapped_without_breaking_paths() -> None:
    path = "results/" + "x" * 40
    assert "\n".join(wrap(f"{path}: unchanged (23 files checked, 9 claims)", 50, rest="  ")) == (
        f"{path}:\n  unchanged (23 files checked, 9 claims)"
    )


@pytest.mark.parametrize(
    ("limit", "words"),
    [("-n 20", "64 open files"), ("-f 0", "files of 64 MiB"), ("-v 400000", "1 GiB of memory")],
)
def test_a_limit_of_the_shell_that_is_too_small_is_named(limit: str, words: str) -> None:
    line = f"ulimit {limit}; {sys.executable} -m bench_framework plan quickstart"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert (
        f"error[BX242]: `ulimit {limit.split(maxsplit=1)[0]}` is too small: benchctl needs {words}"
        in (done.stderr)
    )


@pytest.mark.parametrize("words", [[], ["run"], ["sweep"], ["baseline"], ["baseline", "save"]])
def test_the_help_shows_no_type_for_options_without_a_value(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*words, "--help"]) == 0
    printed = capsys.readouterr().out
    assert "--help" in printed
    assert "bool" not in printed


def test_a_closed_pipe_that_takes_no_unicode_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="ascii") as stream:  # noqa: PTH123 -- a descriptor
        monkeypatch.setattr(sys, "stdout", stream)
        Console().emit("5 µs")


@pytest.mark.parametrize(
    "command",
    [
        "plan quickstart",
        *(pytest.param(words, marks=pytest.mark.slow) for words in ("--help", "help exit-codes")),
    ],
)
def test_a_full_device_as_stdout_is_named(command: str) -> None:
    line = f"{sys.executable} -m bench_framework {command} > /dev/full"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "error[BX236]: results cannot be written to stdout" in done.stderr
    assert "resume" not in done.stderr
