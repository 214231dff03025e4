"""hyperfine's options, and real JSON of several versions."""

import itertools
import json
import shlex
from pathlib import Path
from statistics import fmean

import pytest

from bench_framework.errors import CellError
from bench_framework.execution.hyperfine import Hyperfine, parse

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hyperfine"


def read(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def test_version_1_with_memory() -> None:
    raw = json.loads(read("1.20-three-runs.json"))["results"][0]
    result = parse(read("1.20-three-runs.json"))
    assert result["wall_s"] == tuple(raw["times"])
    assert (result["user_s"], result["sys_s"]) == (raw["user"], raw["system"])
    assert result["peak_rss_bytes"] == max(raw["memory_usage_byte"])
    assert result["peak_rss_source"] == "hyperfine"
    assert result["exit_codes"] == (0, 0, 0)


def test_version_1_without_memory() -> None:
    result = parse(read("1.19-without-memory.json"))
    assert result["peak_rss_bytes"] is None
    assert result["peak_rss_source"] is None
    assert len(result["wall_s"]) == 3


def test_a_killed_run_has_a_time_and_the_code_128_plus_signal() -> None:
    result = parse(read("1.20-killed.json"))
    assert result["exit_codes"] == (139,)
    assert len(result["wall_s"]) == 1


def test_schema_version_2_has_every_metric_per_run() -> None:
    runs = json.loads(read("2.0-two-runs.json"))["results"][0]["measurements"]
    result = parse(read("2.0-two-runs.json"))

    def values(name: str) -> list[float]:
        return [run[name]["value"] for run in runs]

    assert result["wall_s"] == tuple(values("time_wall_clock"))
    assert result["user_s"] == fmean(values("time_user"))
    assert result["sys_s"] == fmean(values("time_system"))
    assert result["peak_rss_bytes"] == max(values("memory_peak_resident"))
    assert result["exit_codes"] == (0, 0)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "Expecting value"),
        ("[]", "the document is [], not an object"),
        ("{}", "the document has no field `results`"),
        ('{"results": []}', "0 results"),
        ('{"results": [{}]}', "results[0] has no field `times`"),
        (
            json.dumps({"results": json.loads(read("1.20-three-runs.json"))["results"] * 2}),
            "2 results",
        ),
        (
            '{"results": [{"times": [0.1], "user": 0, "system": 0, "exit_codes": []}]}',
            "1 times and 0 exit codes",
        ),
        (
            '{"results": [{"times": "x", "user": 0, "system": 0, "exit_codes": [0]}]}',
            '`results[0].times` is "x", not a list',
        ),
        ('{"schema_version": 2, "results": [{"measurements": []}]}', "0 times and 0 exit codes"),
        (read("1.20-killed.json").decode().replace("2953216", "NaN"), "not a finite number"),
        (read("1.20-killed.json").decode().replace("2953216", "Infinity"), "not a finite number"),
    ],
)
def test_other_json_is_an_error(text: str, cause: str) -> None:
    with pytest.raises(CellError) as caught:
        parse(text)
    assert caught.value.code == "BX233"
    assert cause in caught.value.details[0][1]


def test_the_command_is_one_argument_that_can_be_split_again() -> None:
    words = ["/bin/my prog", "it's", "a;b", "$(c)", "100%", "<script>", "größe", ""]
    argv = Hyperfine("/opt/hyperfine", (1, 20, 0)).call(
        words, runs=3, output="/r/stdout", stdin=None, export=Path("/r/export.json")
    )
    assert argv[argv.index("--") + 1 :] == [shlex.join(words)]
    assert shlex.split(argv[-1]) == words


def test_the_call_has_no_shell_no_warm_up_and_ignores_failures() -> None:
    argv = Hyperfine("/opt/hyperfine", (1, 20, 0)).call(
        ["p"], runs=3, output="null", stdin="/data/in", export=Path("/r/e")
    )
    assert argv[:2] == ["/opt/hyperfine", "--shell=none"]
    options = dict(itertools.pairwise(argv))
    assert options["--warmup"] == "0"
    assert options["--runs"] == "3"
    assert options["--input"] == "/data/in"
    assert options["--output"] == "null"
    assert "--ignore-failure" in argv
