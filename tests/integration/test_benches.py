"""Benchmarks of a crate with criterion, divan and libtest: real cargo, harnesses and times."""

import csv
import json
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution.benches.screening import ROUNDS
from bench_framework.extensions.fleet.arrival import ExpectedRecord
from bench_framework.extensions.fleet.selection import WorkerPlace
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import layout, wire
from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.integration.fleet_machines import Machine, end, start_scheduler, start_workers
from tests.integration.processes import ROOT, Done, benchctl, commit, git, real

pytestmark = [pytest.mark.real, pytest.mark.slow]
CRATE = ROOT / "tests" / "fixtures" / "benches"
FAST = ("-S", "measure.warmup=0")
ALL_IDS = {
    "by_criterion": {"sum[n]/1000", "sum[n]/10000"},
    "by_divan": {"by_divan::prepared", "by_divan::sums::1000", "by_divan::sums::10000"},
    "by_libtest": {"thousand", "ten_thousand"},
}
NEW = 'c.bench_function("new", |b| b.iter(|| sum(black_box(10))));'
PANICS = 'c.bench_function("panics", |b| b.iter(|| -> u64 { panic!("of this benchmark") }));'
GROUP = 'benchmark_group("sum[n]")'
SCENARIO = """
version: 1
name: summing
question: How long do they take?
worker: {crate: ., bench: all, features: [nightly]}
measure: {rounds: 2, until: rounds, warmup: 0, control: false}
"""


class Crate:
    """A repository with the crate, whose commits are made by editing its benchmarks."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path / "summing"
        shutil.copytree(CRATE, self.folder, ignore=shutil.ignore_patterns("target"))
        self.env = real(BENCHCTL_CACHE=str(path / "cache"))
        commit(self.folder, "start", "start")

    def edit(self, name: str, before: str, after: str) -> None:
        file = self.folder / name
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after))

    def __call__(self, *words: str, code: int | None = None, **more: str) -> Done:
        env = {**self.env, **more}
        return benchctl(self.path, *words, cwd=self.folder, env=env, code=code, patience_s=900)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def reset(self) -> None:
        """Return to the first commit without records; builds are kept."""
        git(self.folder, "reset", "-q", "--hard", "start")
        git(self.folder, "clean", "-q", "-f", "-d", "-x")

    def rows(self) -> Iterator[dict[str, str]]:
        (*_, record) = find_records(self.results)
        with (record / "runs.csv").open(newline="") as file:
            yield from csv.DictReader(file)

    def gate(self) -> dict[str, dict[str, object]]:
        (*_, record) = (r for r in find_records(self.results) if (r / "gate.json").is_file())
        pairs = json.loads((record / "gate.json").read_text())["pairs"]
        return {pair["input"]: pair for pair in pairs}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Crate:
    return Crate(tmp_path_factory.mktemp("benches"))


@pytest.fixture
def crate(repository: Crate) -> Crate:
    repository.reset()
    return repository


def with_slower_commit(crate: Crate) -> None:
    """Add three commits, the second of which makes the sums slower."""
    more = "black_box(black_box(black_box(black_box(total))) + value)"
    slower = ("src/lib.rs", "black_box(total + value)", more)
    for name, edit in {
        "before": ("src/lib.rs", "//!", "//! Before."),
        "slower": slower,
        "after": ("src/lib.rs", "//! Before.", "//! After."),
    }.items():
        crate.edit(*edit)
        commit(crate.folder, name)


@pytest.mark.release
def test_each_harness_measures_the_time_of_one_iteration(crate: Crate) -> None:
    (crate.folder / "summing.yaml").write_text(SCENARIO)
    crate("run", "summing.yaml", code=0, RUSTC_BOOTSTRAP="1")
    times: dict[tuple[str, str], list[float]] = {}
    for row in crate.rows():
        if row["variant"] != "control":
            times.setdefault((row["axis_target"], row["axis_benchmark"]), []).append(
                float(row["w_iteration_s"])
            )
    ids = {name: {i for t, i in times if t == name} for name in ALL_IDS}
    assert ids == ALL_IDS
    medians = {key: statistics.median(values) for key, values in times.items()}
    for target, short, long in (
        ("by_criterion", "sum[n]/1000", "sum[n]/10000"),
        ("by_divan", "by_divan::sums::1000", "by_divan::sums::10000"),
        ("by_libtest", "thousand", "ten_thousand"),
    ):
        # All measure one function, whose time is proportional to the number.
        assert 5 < medians[target, long] / medians[target, short] < 20
        assert 0.2 < medians[target, long] / medians["by_criterion", "sum[n]/10000"] < 5
    assert not (crate.folder / "target").exists()


@pytest.mark.release
def test_a_stable_compiler_refuses_the_benches_of_libtest_alone(crate: Crate) -> None:
    text = SCENARIO.replace("bench: all", "bench: by_libtest")
    (crate.folder / "summing.yaml").write_text(text)
    done = crate("run", "summing.yaml", code=3)
    assert "#![feature]" in done.stderr
    assert "RUSTC_BOOTSTRAP=1" in done.stderr


@pytest.mark.release
def test_ids_of_one_side_are_listed_and_a_panic_fails_alone(crate: Crate) -> None:
    crate.edit("benches/by_criterion.rs", "// BENCHES", PANICS)
    commit(crate.folder, "base")
    crate.edit("benches/by_criterion.rs", PANICS, f"{PANICS}\n    {NEW}")
    rounds = ("-S", "measure.rounds={min: 12, max: 12}", *FAST)
    done = crate("gate", "--base", "HEAD", "--bench", "by_criterion", *rounds, code=3)
    pairs = crate.gate()
    assert set(pairs) == {"sum[n]/1000", "sum[n]/10000", "panics"}
    assert pairs["panics"]["state"] == "failed"
    assert all(pairs[f"sum[n]/{n}"]["state"] != "failed" for n in (1000, 10000))
    assert "1 benchmark without a counterpart: new" in done.stderr


def test_a_slower_benchmark_fails_the_gate(crate: Crate) -> None:
    crate.edit("src/lib.rs", "black_box(total + value)", "black_box(black_box(total) + value)")
    one = ("--bench", "by_divan", "--id", "*::1000", *FAST)
    rounds = ("-S", "measure.rounds={min: 12, max: 40}")
    done = crate("gate", "--base", "HEAD", *one, *rounds, code=1)
    pairs = crate.gate()
    assert set(pairs) == {"by_divan::sums::1000"}
    assert pairs["by_divan::sums::1000"]["metric"] == "iteration"
    text = " ".join(done.stdout.split())
    assert "time per iteration" in text
    if shutil.which("valgrind"):
        assert "Why: in one iteration, instructions +" in text


@pytest.mark.release
def test_a_self_test_slows_the_harnesses_down(crate: Crate) -> None:
    targets = ("--bench", "by_criterion", "--bench", "by_divan")
    ids = ("--id", "sum[[]n]/1000", "--id", "*::1000")
    test = ("--self-test", "--repetitions", "1", "--slowdown", "300%", "--json")
    rounds = ("-S", "measure.rounds=12", "-S", "gate.iteration=20%")
    done = crate("gate", "--base", "HEAD", *targets, *ids, *test, *rounds, *FAST)
    document = valid("gate", done.stdout)
    equal, slower = document["trials"][:2]
    assert (slower["share"], slower["configurations"]) == (3, 2)
    # The clock is four times as fast, which the noise of a busy machine cannot hide.
    assert slower["growth"] == pytest.approx(3, abs=1)
    assert equal["growth"] == pytest.approx(0, abs=1)


@pytest.mark.release
def test_the_commit_that_slows_a_benchmark_down_is_found(crate: Crate) -> None:
    with_slower_commit(crate)
    # An id of criterion contains the signs of a pattern.
    one = ("--bench", "by_criterion", "--bench", "by_divan", "--id", "*1000", *FAST)
    rounds = ("-S", "measure.rounds={min: 12, max: 40}")
    done = crate("bisect", "--good", "start", *one, *rounds, "--json", code=0)
    document = valid("bisect", done.stdout)
    assert document["metric"] == "iteration"
    configurations = ("by_criterion: sum[n]/1000", "by_divan: by_divan::sums::1000")
    assert document["configuration"] in configurations
    assert document["scenario"] == "summing-benches"
    assert document["commit"]["subject"] == "slower"


@pytest.mark.release
def test_the_history_of_a_benchmark_follows_its_time_per_iteration(crate: Crate) -> None:
    with_slower_commit(crate)
    one = "worker: {crate: ., bench: {target: by_divan, only: ['*::10000']}}"
    text = SCENARIO.replace("worker: {crate: ., bench: all, features: [nightly]}", one)
    (crate.folder / "summing.yaml").write_text(text)
    call = ("history", "summing.yaml", "--backfill", "start..main")
    crate(*call)
    done = crate(*call, "--json")
    assert "measured 0 commits, 4 had a record" in done.stderr
    document = valid("history", done.stdout)
    (series,) = document["series"]
    values = [point["value"] for point in series["points"]]
    assert document["metric"] == "iteration"
    # An iteration takes microseconds, the process 100 ms.
    assert len(values) == 4
    assert max(values) < 1e-3


def test_a_record_of_a_host_may_have_only_the_benchmarks_that_were_requested(
    crate: Crate, tmp_path: Path
) -> None:
    one = "worker: {crate: ., bench: {target: by_divan, only: ['*::1000']}}"
    requested = SCENARIO.replace("worker: {crate: ., bench: all, features: [nightly]}", one)
    file = crate.folder / "summing.yaml"
    file.write_text(requested)
    crate("run", "summing.yaml", code=0)
    (record,) = find_records(crate.results)
    host = wire.load_host((record / layout.ENV).read_bytes())
    place = WorkerPlace("", "", card={"host_id": host.host_id})
    # The crate of the client is in another folder.
    shutil.copytree(crate.folder, tmp_path / "client")
    plan = expand(load(tmp_path / "client" / file.name))
    assert plan.benches is not None
    ExpectedRecord(place, plan).check(record)
    other = replace(plan, benches=replace(plan.benches, only=("*::10000",)))
    with pytest.raises(MachineError, match="which was not requested"):
        ExpectedRecord(place, other).check(record)
    journal = record / layout.JOURNAL
    journal.write_text(journal.read_text().replace('"harness":"divan"', '"harness":"other"'))
    with pytest.raises(MachineError):
        ExpectedRecord(place, plan).check(record)


@pytest.mark.release
def test_another_host_confirms_a_slower_benchmark(crate: Crate, tmp_path: Path) -> None:
    with_slower_commit(crate)
    one = "worker: {crate: ., bench: {target: by_divan, only: ['*::1000']}}"
    text = SCENARIO.replace("worker: {crate: ., bench: all, features: [nightly]}", one)
    (crate.folder / "summing.yaml").write_text(text.replace("rounds: 2", "rounds: 24"))
    hosts = {f"rack-{n}": Machine(tmp_path / str(n), dict(crate.env)) for n in (1, 2)}
    for machine in hosts.values():
        machine.path.mkdir()
        machine.env["BENCHCTL_CACHE"] = str(machine.path / "cache")
    try:
        address = start_scheduler(hosts["rack-1"])
        start_workers(hosts, address)
        call = ("gate", "summing.yaml", "--base", "start", "--scheduler", address)
        done = crate(*call, code=1)
    finally:
        end(list(hosts.values()))
    assert "confirmed on host rack-" in " ".join(done.stdout.split())


def test_an_unknown_id_is_refused_with_a_suggestion(crate: Crate) -> None:
    crate.edit("src/lib.rs", "black_box(total + value)", "black_box(value + total)")
    done = crate("gate", "--base", "HEAD", "--bench", "by_criterion", "--id", "sum[n]/100O", code=2)
    assert "did you mean `sum[n]/1000`?" in done.stderr
    assert crate("gate", "--bench", "by_criterium", "--base", "HEAD").returncode == 2


def test_if_time_is_short_the_benchmark_that_looks_slowest_is_measured_further(
    crate: Crate,
) -> None:
    slower = "black_box(total + value) + u64::from(n == 10_000) * black_box(0)"
    crate.edit("src/lib.rs", "black_box(total + value)", slower)
    crate.edit("benches/by_divan.rs", "sum(black_box(n))", "sum(black_box(n)) + sum(n / 2)")
    words = ("--bench", "by_divan", "--no-confirm", "--budget", "9s", *FAST)
    done = crate("gate", "--base", "HEAD", *words, code=4)
    assert "the time is not enough for all benchmarks, and others look slower" in done.stderr
    rounds: dict[str, set[str]] = {}
    for row in crate.rows():
        rounds.setdefault(row["axis_benchmark"], set()).add(row["round"])
    assert min(map(len, rounds.values())) == ROUNDS < max(map(len, rounds.values()))
