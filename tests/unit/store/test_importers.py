"""Imported files: their content, and one clear error for each kind of mistake."""

import json
import os
import statistics
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import EXIT_USAGE, UsageError
from bench_framework.store import sessions
from tests.build import require

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hyperfine"
GOOD = {"command": "a", "times": [0.1, 0.2], "user": 0.1, "system": 0.0, "exit_codes": [0, 0]}


def export(**changes: Any) -> bytes:
    result = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    return json.dumps({"results": [result]}).encode()


def test_version_1_has_single_times_and_one_mean_of_cpu_time() -> None:
    content = (FIXTURES / "1.20-ten-commands.json").read_bytes()
    exports = json.loads(content)["results"]
    read = sessions.read_session(content, "ten.json", 1)
    assert read.format == "hyperfine-1"
    assert [command.label for command in read.commands] == [one["command"] for one in exports]
    for command, one in zip(read.commands, exports, strict=True):
        wall, cpu = command.series_of("wall"), command.series_of("cpu")
        assert wall is not None
        assert wall.values == tuple(one["times"])
        assert wall.mean == pytest.approx(one["mean"])
        assert wall.sd == pytest.approx(one["stddev"])
        assert cpu is None or (
            cpu.mean == pytest.approx(one["user"] + one["system"]) and cpu.sd is None
        )


def test_the_running_maximum_of_memory_is_left_out() -> None:
    """Ten commands in one call: the figures never fall, and do not describe the later commands."""
    content = (FIXTURES / "1.20-ten-commands.json").read_bytes()
    peaks = [value for one in json.loads(content)["results"] for value in one["memory_usage_byte"]]
    assert peaks == sorted(peaks)
    read = sessions.read_session(content, "ten.json", 1)
    assert read.memory == "running-maximum"
    assert all(command.series_of("peak_rss") is None for command in read.commands)


def test_memory_of_a_single_command_is_one_figure() -> None:
    read = sessions.read_session((FIXTURES / "1.20-three-runs.json").read_bytes(), "one.json", 1)
    peak = read.commands[0].series_of("peak_rss")
    assert read.memory == "one-figure"
    assert peak is not None
    assert (peak.n, peak.sd) == (1, None)


def test_without_memory_figures_no_memory_is_read() -> None:
    read = sessions.read_session(
        (FIXTURES / "1.19-without-memory.json").read_bytes(), "old.json", 1
    )
    assert read.memory == "none"
    assert read.commands[0].series_of("peak_rss") is None


def test_schema_version_2_has_cpu_time_and_memory_per_run() -> None:
    content = (FIXTURES / "2.0-two-runs.json").read_bytes()
    read, runs = sessions.read_session(content, "two.json", 1), json.loads(content)["results"][0]
    cpu, peak = read.commands[0].series_of("cpu"), read.commands[0].series_of("peak_rss")
    assert read.format == "hyperfine-2"
    assert read.memory == "per-run"
    assert cpu is not None
    assert cpu.values == tuple(run["time_cpu"]["value"] for run in runs["measurements"])
    assert peak is not None
    values = (run["memory_peak_resident"]["value"] for run in runs["measurements"])
    assert peak.values == tuple(values)
    assert read.commands[0].label == runs["name"] == "nap"


def test_failed_runs_are_counted_and_in_no_series() -> None:
    read = sessions.read_session(export(times=[0.1, 0.9, 0.2], exit_codes=[0, 1, 0]), "f.json", 1)
    wall = read.commands[0].series_of("wall")
    assert read.commands[0].failed == 1
    assert wall is not None
    assert wall.values == (0.1, 0.2)
    killed = sessions.read_session(export(exit_codes=[None, 139]), "k.json", 1)
    assert killed.commands[0].failed == 2
    assert killed.commands[0].series_of("wall") is None


@pytest.mark.parametrize(
    "text",
    [
        "label,mean,sd,n,unit\nsmol,177.1,7.5,100,ms\ntokio,191.2,13.7,100,ms\n",
        "\ufefflabel, mean, sd, n, unit\r\nsmol, 177.1, 7.5, 100, ms\r\ntokio, 191.2, 13.7, 100, ms\r\n",
        (
            "| Label | Mean | SD | n | unit |\n|:--|--:|--:|--:|---|\n"
            "| smol | 177.1 | 7.5 | 100 | ms |\n| tokio | 191.2 | 13.7 | 100 | ms |\n"
        ),
        "n,unit,label,sd,mean\n100,us,smol,7500,177100\n100,us,tokio,13700,191200\n",
    ],
)
def test_a_table_is_read_as_csv_or_markdown_in_any_order_of_columns(text: str) -> None:
    read = sessions.read_session(text.encode(), "t", 1)
    assert [command.label for command in read.commands] == ["smol", "tokio"]
    wall = require(read.commands[0].series_of("wall"))
    assert wall.mean == pytest.approx(0.1771)
    assert wall.sd == pytest.approx(0.0075)
    assert (wall.n, wall.values) == (100, ())


def test_a_table_without_spread_and_number_keeps_values_alone() -> None:
    read = sessions.read_session(b"label,mean,unit\nrayon,198.2,ms\ntokio,239.8,ms\n", "t.csv", 1)
    wall = require(read.commands[0].series_of("wall"))
    assert (wall.n, wall.sd) == (None, None)
    assert wall.mean == pytest.approx(0.1982)


def test_one_run_has_no_spread_even_if_a_table_has_one() -> None:
    read = sessions.read_session(b"label,mean,sd,n\na,1,0.5,1\n", "t.csv", 1)
    assert read.commands[0].series[0].sd is None


def test_names_with_odd_characters_stay_as_they_are() -> None:
    odd = "größe 'x'; $(rm) <script>|%"
    read = sessions.read_session(export(command=odd), "../../etc/pass wd.json", 3)
    assert read.commands[0].label == odd
    assert read.source == "sources/3-etc-pass-wd.json"


def test_a_label_in_a_markdown_table_may_contain_a_pipe() -> None:
    read = sessions.read_session(
        b"| label | mean | unit |\n|---|---|---|\n| a \\| b | 3 | |\n", "t.md", 1
    )
    assert [(command.label, command.series[0].mean) for command in read.commands] == [
        ("a | b", 3.0)
    ]


def test_the_error_for_a_table_of_hyperfine_names_the_export_with_the_runs() -> None:
    for text in (
        b"command,mean,stddev\na,1,1\n",
        b"| Command | Mean [ms] |\n|:---|---:|\n| `a` | 1 |\n",
    ):
        with pytest.raises(UsageError, match="does not contain the number of runs") as caught:
            sessions.read_session(text, "given.file", 1)
        assert "--export-json" in str(caught.value.fix)


BAD = {
    "broken JSON": (b'{"results": [', "BX451"),
    "an array": (b"[]", "BX451"),
    "another JSON": (b'{"results": 3}', "BX451"),
    "no results": (b'{"results": []}', "BX451"),
    "no times": (export(times=...), "BX451"),
    "no exit codes": (export(exit_codes=...), "BX451"),
    "fewer exit codes": (export(exit_codes=[0]), "BX451"),
    "an empty list of times": (export(times=[]), "BX451"),
    "a text for a time": (export(times=["x", "y"]), "BX451"),
    "a number in quotes": (export(times=["0.1", "0.2"]), "BX451"),
    "a boolean for a time": (export(times=[True, True]), "BX451"),
    "a list for a command": (export(command=["a", "b"]), "BX451"),
    "a text for an exit code": (export(exit_codes=["0", "0"]), "BX451"),
    "a newer schema": (b'{"schema_version": 3, "results": []}', "BX451"),
    "another unit in version 2": (
        (FIXTURES / "2.0-two-runs.json").read_bytes().replace(b'"second"', b'"millisecond"'),
        "BX451",
    ),
    "too deep": (b'{"results":' + b"[" * 100_000, "BX451"),
    "not UTF-8": (b"label,mean\n\xff\xfe,1\n", "BX451"),
    "NaN": (export(times=[0.1, float("nan")]), "BX452"),
    "infinite": (export(times=[0.1, float("inf")]), "BX452"),
    "a negative time": (export(times=[0.1, -0.1]), "BX452"),
    "a time of zero": (export(times=[0.1, 0.0]), "BX452"),
    "a negative CPU time": (export(user=-1.0), "BX452"),
    "an empty command": (export(command=" "), "BX453"),
    "half a character for a command": (export(command="\ud800"), "BX453"),
    "more rows than the limit": (
        b"label,mean\n" + b"".join(b"%d,1\n" % row for row in range(201)),
        "BX451",
    ),
    "hyperfine's own table": (
        b"command,mean,stddev,median,user,system,min,max\na,1,1,1,1,1,1,1\n",
        "BX451",
    ),
    "one label twice": (json.dumps({"results": [GOOD, GOOD]}).encode(), "BX453"),
    "one row twice": (b"label,mean\na,1\na,2\n", "BX453"),
    "a row without a label": (b"label,mean\n,1\n", "BX453"),
    "no head": (b"a,1\nb,2\n", "BX451"),
    "a head alone": (b"label,mean,sd,n\n", "BX451"),
    "an unknown column": (b"label,mean,median\na,1,1\n", "BX451"),
    "a short row": (b"label,mean,sd,n\na,1\n", "BX451"),
    "a text for a mean": (b"label,mean\na,177.1ms\n", "BX452"),
    "a mean of NaN": (b"label,mean\na,nan\n", "BX452"),
    "a time that no program takes": (b"label,mean\na,1e28\n", "BX452"),
    "a mean below zero": (b"label,mean\na,-3\n", "BX452"),
    "a spread below zero": (b"label,mean,sd,n\na,3,-1,4\n", "BX452"),
    "a spread of NaN": (b"label,mean,sd,n\na,3,nan,4\n", "BX452"),
    "no runs": (b"label,mean,sd,n\na,3,1,0\n", "BX452"),
    "half a run": (b"label,mean,sd,n\na,3,1,2.5\n", "BX452"),
    "runs below zero": (b"label,mean,sd,n\na,3,1,-2\n", "BX452"),
    "mixed units": (b"label,mean,sd,n,unit\na,3,1,4,ms\nb,3,1,4,s\n", "BX454"),
    "a unit of size": (b"label,mean,sd,n,unit\na,3,1,4,MB\n", "BX454"),
    "binary": (bytes(range(256)), "BX451"),
}


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_in_a_file_is_one_error_with_a_code(name: str) -> None:
    content, code = BAD[name]
    with pytest.raises(UsageError) as caught:
        sessions.read_session(content, "given.file", 1)
    assert caught.value.code == code
    assert caught.value.exit_code == EXIT_USAGE
    assert caught.value.fix
    assert ("file", "given.file") in caught.value.details
    assert caught.value.effect == "nothing was imported"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (export(user=...), "results[0] has no field `user`"),
        (export(system=...), "results[0] has no field `system`"),
        (export(times=...), "results[0] has no field `times`"),
        (export(exit_codes=...), "results[0] has no field `exit_codes`"),
        (export(user="0.1"), '`results[0].user` is "0.1", not a number'),
        (export(system=None), "`results[0].system` is null, not a number"),
        (export(times=0.1), "`results[0].times` is 0.1, not a list"),
        (export(times=[0.1, {}]), "`results[0].times[1]` is {}, not a number"),
        (export(times=[0.1, 10**400]), "not a number that a float can store"),
        (export(command=["a"]), '`results[0].command` is ["a"], not a text'),
        (export(exit_codes=[0, True]), "`results[0].exit_codes[1]` is true, not a whole number"),
        (export(memory_usage_byte=3), "`results[0].memory_usage_byte` is 3, not a list"),
        (b'{"results": [3]}', "`results[0]` is 3, not an object"),
        (b'{"results": {}}', "`results` is {}, not a list"),
        (b'{"schema_version": "2", "results": []}', '`schema_version` is "2", not a whole number'),
        (
            (FIXTURES / "2.0-two-runs.json").read_bytes().replace(b'"exit_code"', b'"code"', 1),
            "results[0].measurements[0] has no field `exit_code`",
        ),
        (
            (FIXTURES / "2.0-two-runs.json").read_bytes().replace(b'"time_user"', b'"user"', 1),
            "results[0].measurements[0] has no field `time_user`",
        ),
    ],
)
def test_a_field_that_is_missing_or_has_another_type_is_named(content: bytes, cause: str) -> None:
    with pytest.raises(UsageError, match=r"given\.file is not hyperfine's JSON") as caught:
        sessions.read_session(content, "given.file", 1)
    assert caught.value.code == "BX451"
    assert cause in dict(caught.value.details)["cause"]


def test_an_internal_error_is_not_reported_as_another_format(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def defect(*_: object) -> None:
        raise TypeError("a defect")

    monkeypatch.setattr(sessions, "_timed", defect)
    with pytest.raises(TypeError, match="a defect"):
        sessions.read_session(export(), "given.file", 1)


def test_a_file_that_cannot_be_one_is_refused_before_it_is_read(tmp_path: Path) -> None:
    empty, large, pipe = tmp_path / "empty", tmp_path / "large", tmp_path / "pipe"
    empty.write_bytes(b" \n")
    with large.open("wb") as file:
        file.truncate(100 * 1000 * 1000)
    os.mkfifo(pipe)
    cases = {
        tmp_path / "none": "does not exist",
        tmp_path: "is a directory",
        pipe: "is not a regular file",
        empty: "is empty",
        large: "more than",
    }
    for path, words in cases.items():
        with pytest.raises(UsageError) as caught:
            sessions.read_bytes(path)
        assert caught.value.code == "BX450"
        assert words in caught.value.message


def test_mean_and_spread_of_single_runs_are_those_of_the_runs() -> None:
    series = require(sessions.series_of("wall", [1.0, 2.0, 4.0]))
    assert series.mean == pytest.approx(7 / 3)
    assert series.sd == pytest.approx(statistics.stdev([1, 2, 4]))
    assert sessions.series_of("cpu", [0.0, 1.0]) is None


def test_a_long_label_is_refused() -> None:
    text = "label,mean,sd,n,unit\n{},1,.1,10,ms\nb,1,.1,10,ms\n"
    assert sessions.read_session(text.format("x" * 1000).encode(), "t.csv", 1).commands
    with pytest.raises(UsageError, match="a label of more than 1000 characters") as caught:
        sessions.read_session(text.format("x" * 1001).encode(), "t.csv", 1)
    assert caught.value.code == "BX453"
