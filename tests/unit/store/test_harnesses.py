"""Results of criterion, Google Benchmark and pyperf, and tables of runs, as sessions."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import UsageError
from bench_framework.model.record.sessions import HarnessSession
from bench_framework.store import sessions


def read(document: Any) -> HarnessSession:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return sessions.read_session(content, "file", 1)


def values(session: HarnessSession, label: str, metric: str = "wall") -> tuple[float, ...]:
    (command,) = (command for command in session.commands if command.label == label)
    series = command.series_of(metric)
    return series.values if series is not None else ()


def sample(
    folder: Path, name: str, times: list[float], iters: list[float], label: str = ""
) -> None:
    new = folder / name / "new"
    new.mkdir(parents=True)
    document = {"sampling_mode": "Linear", "iters": iters, "times": times}
    (new / "sample.json").write_text(json.dumps(document))
    (new / "estimates.json").write_text("{}")
    if label:
        about = {"group_id": "g", "function_id": None, "value_str": None, "full_id": label}
        (new / "benchmark.json").write_text(json.dumps(about))


def test_a_folder_of_criterion_has_the_time_per_iteration_of_each_sample(tmp_path: Path) -> None:
    sample(tmp_path, "parse/fast", [1000.0, 4000.0], [10.0, 20.0], "parse/fast")
    sample(tmp_path, "parse/slow_1", [5000.0, 5200.0], [10.0, 10.0])
    (tmp_path / "parse" / "report").mkdir()
    session = read(sessions.read_bytes(tmp_path))
    assert (session.format, session.raw) == ("criterion", True)
    assert values(session, "parse/fast") == pytest.approx((1e-7, 2e-7))
    assert values(session, "parse/slow_1") == pytest.approx((5e-7, 5.2e-7))
    assert read(sessions.read_bytes(tmp_path / "parse" / "fast")).commands[0].runs == 2


def test_a_folder_without_samples_or_with_too_many_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="is a directory, and not one of criterion") as caught:
        sessions.read_bytes(tmp_path)
    assert ("cause", "no new/sample.json is in it") in caught.value.details
    sample(tmp_path, "a", [1.0], [1.0])
    monkeypatch.setattr(sessions, "MOST_BYTES", 20)
    with pytest.raises(UsageError, match="is a directory, and not one of criterion"):
        sessions.read_bytes(tmp_path)


def test_a_folder_that_is_nested_too_deep_is_refused(tmp_path: Path) -> None:
    (tmp_path / "/".join("a" * 40)).mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a directory, and not one of criterion") as caught:
        sessions.read_bytes(tmp_path)
    assert ("cause", "its folders are nested more than 32 deep") in caught.value.details


GOOGLE = {"run_name": "BM_copy/8", "run_type": "iteration", "time_unit": "us", "iterations": 9}


def google(*entries: dict[str, Any]) -> dict[str, Any]:
    context = {"date": "2026-01-01", "num_cpus": 2, "library_build_type": "release"}
    return {"context": context, "benchmarks": [{"name": "BM_copy/8", **e} for e in entries]}


def test_a_damaged_sample_is_named(tmp_path: Path) -> None:
    for name in ("sample.json", "benchmark.json"):
        path = tmp_path / name / "new" / name
        path.parent.mkdir(parents=True)
        path.with_name("sample.json").write_text('{"iters": [1], "times": [1]}')
        path.write_text("{")
        with pytest.raises(UsageError) as caught:
            sessions.read_bytes(path.parents[1])
        assert dict(caught.value.details)["cause"].startswith(f"{path}: Expecting")


def test_google_benchmark_has_both_times_of_each_repetition() -> None:
    session = read(
        google(
            GOOGLE | {"repetition_index": 0, "real_time": 3.5, "cpu_time": 3.25},
            GOOGLE | {"repetition_index": 1, "real_time": 4.5, "cpu_time": 4.25},
            GOOGLE | {"error_occurred": True, "error_message": "x"},
            GOOGLE | {"run_type": "aggregate", "aggregate_name": "mean", "real_time": 4.0},
            {"name": "BM_old", "real_time": 8, "cpu_time": 7, "time_unit": "ns"},
        )
    )
    assert session.format == "google-benchmark"
    assert [command.label for command in session.commands] == ["BM_copy/8", "BM_old"]
    assert values(session, "BM_copy/8") == pytest.approx((3.5e-6, 4.5e-6))
    assert values(session, "BM_copy/8", "cpu") == pytest.approx((3.25e-6, 4.25e-6))
    assert session.commands[0].failed == 1
    assert session.timed == ("wall", "cpu")
    assert values(session, "BM_old") == pytest.approx((8e-9,))


def pyperf(*benchmarks: dict[str, Any], **common: Any) -> dict[str, Any]:
    return {"version": "1.0", "metadata": common, "benchmarks": list(benchmarks)}


def test_pyperf_has_the_values_of_all_processes() -> None:
    runs = [
        {"metadata": {"calibrate_loops": 4}, "warmups": [[1, 0.1], [4, 0.1]]},
        {"values": [0.25, 0.5], "warmups": [[4, 0.3]]},
        {"values": [0.375]},
    ]
    session = read(pyperf({"runs": runs}, name="telco", unit="second"))
    assert session.format == "pyperf"
    assert values(session, "telco") == (0.25, 0.5, 0.375)
    assert session.timed == ("wall",)
    two = [{"metadata": {"name": name}, "runs": [{"values": [1.0]}]} for name in "ab"]
    assert [command.label for command in read(pyperf(*two)).commands] == ["a", "b"]


def test_a_table_of_runs_has_the_values_of_each_label() -> None:
    table = b"label,unit,time\nsmol,ms,1.5\ntokio,ms,3\nsmol,ms,2.5\n"
    session = read(table)
    assert (session.format, session.raw) == ("runs", True)
    assert values(session, "smol") == (0.0015, 0.0025)
    assert values(session, "tokio") == (0.003,)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (google(), "has no benchmark"),
        (google(GOOGLE | {"run_type": "aggregate"}), "is not JSON of Google Benchmark"),
        (google(GOOGLE | {"real_time": 1}), "is not JSON of Google Benchmark"),
        (google(GOOGLE | {"real_time": 1, "cpu_time": 1, "time_unit": "h"}), "is not JSON of Goo"),
        (google(GOOGLE | {"real_time": -1, "cpu_time": 1}), "the time of run 1 is -1e-06"),
        (google(GOOGLE | {"real_time": float("nan"), "cpu_time": 1}), "the time of run 1 is nan"),
        (pyperf({"runs": []}), "is not JSON of pyperf"),
        (pyperf({"runs": []}, name="m", unit="byte"), "is not JSON of pyperf"),
        (pyperf({"runs": [{"values": ["1"]}]}, name="m"), "is not JSON of pyperf"),
        (pyperf({"runs": 3}, name="m"), "is not JSON of pyperf"),
        (pyperf({"runs": []}, name=" "), "a result has no name"),
        (pyperf({"name": "a"}) | {"machine_info": {}}, "is not hyperfine's JSON"),
        ({"criterion": {"a": {"sample": {"times": [1], "iters": [0]}}}}, "is not samples of crit"),
        ({"criterion": {"a": {"sample": {"times": [1], "iters": []}}}}, "is not samples of crit"),
        ({"criterion": []}, "is not samples of criterion"),
        (b"{", "file is not JSON"),
        (b"label,time,n\na,1,1\n", "the columns label, time, n"),
        (b"label,time,mean\na,1,1\n", "the columns label, time, mean"),
        (b"label,time\na,0\n", "time is 0; it must be a number above zero"),
    ],
)
def test_what_is_not_such_a_document_is_one_error(document: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(document)
    assert message in caught.value.message
    assert caught.value.effect == "nothing was imported"


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        (google(GOOGLE | {"real_time": 1}), "benchmarks[0] has no field `cpu_time`"),
        (
            google(GOOGLE | {"real_time": 1, "cpu_time": 1, "time_unit": "h"}),
            '`benchmarks[0].time_unit` is "h", not a unit of time',
        ),
        (pyperf({"runs": []}), "benchmarks[0] has no field `metadata.name`"),
        (pyperf({"runs": []}, name="m", unit="byte"), '`metadata.unit` is "byte", not second'),
        (
            pyperf({"runs": [{"values": ["1"]}]}, name="m"),
            '`benchmarks[0].runs[0].values[0]` is "1", not a number',
        ),
        ({"criterion": {"a": {}}}, "criterion.a has no field `sample`"),
        (
            {"criterion": {"a": {"sample": {"times": [1], "iters": [0]}}}},
            "`criterion.a.sample.iters[0]` is 0, not a number of iterations",
        ),
    ],
)
def test_a_wrong_field_of_a_harness_is_named(document: Any, cause: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(document)
    assert dict(caught.value.details)["cause"] == cause
