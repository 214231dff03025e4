"""`worker.bench`: bench targets of a manifest, what a scenario may say, and the plan of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.metrics import ITERATION
from bench_framework.scenario.crates import read_crate
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.plan import expand
from tests.files import write_files

Loads = Callable[..., Scenario]
Refuses = Callable[..., ScenarioError]
HEAD = "version: 1\nname: n\nquestion: q\n"
MANIFEST = """
[package]
name = "c"
version = "0.1.0"
[features]
default = ["std"]
std = []
nightly = []
[[bench]]
name = "named"
path = "benches/other_name.rs"
[[bench]]
name = "needs_std"
required-features = ["std"]
[[bench]]
name = "needs_nightly"
required-features = ["nightly"]
"""


@pytest.fixture(autouse=True)
def crate(tmp_path: Path) -> Path:
    names = ("other_name", "needs_std", "found", "in_folder/main", "in_folder/part")
    files = {f"benches/{name}.rs": "" for name in names}
    return write_files(tmp_path / "c", {**files, "Cargo.toml": MANIFEST})


def test_the_bench_targets_of_a_crate_are_named_or_found(crate: Path) -> None:
    expected = ["found", "in_folder", "named", "needs_nightly", "needs_std"]
    assert [*read_crate(crate).benches] == expected
    manifest = crate / "Cargo.toml"
    manifest.write_text(
        MANIFEST.replace('version = "0.1.0"', 'version = "0.1.0"\nautobenches = false')
    )
    assert [*read_crate(crate).benches] == ["named", "needs_nightly", "needs_std"]


@pytest.mark.parametrize(
    ("worker", "targets"),
    [
        ("{crate: c, bench: named}", ("named",)),
        ("{crate: c, bench: {target: [named, found]}}", ("named", "found")),
        ("{crate: c, bench: all}", ("found", "in_folder", "named", "needs_std")),
        ("{crate: c, bench: all, default-features: false}", ("found", "in_folder", "named")),
        (
            "{crate: c, bench: all, features: [nightly]}",
            ("found", "in_folder", "named", "needs_nightly", "needs_std"),
        ),
    ],
)
def test_all_are_the_bench_targets_whose_features_are_enabled(
    loads: Loads, worker: str, targets: tuple[str, ...]
) -> None:
    plan = expand(loads(f"worker: {worker}\n", head=HEAD))
    assert plan.benches is not None
    assert plan.benches.targets == targets
    assert [spec.bin for spec in plan.builds] == [*targets]
    assert all(spec.bench and spec.profile == "bench" for spec in plan.builds)


def test_the_time_per_iteration_is_judged_and_outputs_are_not_compared(loads: Loads) -> None:
    plan = expand(loads("worker: {crate: c, bench: named, profile: {lto: fat}}\n", head=HEAD))
    assert plan.judge.metrics == (ITERATION,)
    assert plan.judge.gate.tolerated == {ITERATION: 0.02}
    assert not plan.judge.gate.given
    assert [(m.name, m.source) for m in plan.metrics] == [(ITERATION, "harness")]
    assert plan.answer.compare == "none"
    assert plan.builds[0].profile_keys == (("lto", "fat"),)
    given = expand(loads("worker: {crate: c, bench: all}\ngate: {iteration: 5%}\n", head=HEAD))
    assert given.judge.gate.tolerated == {ITERATION: 0.05}
    assert given.judge.gate.given


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("worker: {crate: c, bench: nammed}", "crate `c` has no bench target `nammed`", "did you"),
        (
            "worker: {crate: c, bench: needs_nightly}",
            "requires features: nightly",
            "enable them with -S 'worker.features=[nightly]'",
        ),
        ("worker: {crate: c, bench: all, bin: c}", "`bin` has no effect with `bench`", "remove"),
        ("worker: {git: 'https://a.example/b', bench: all}", "needs the folder of a crate", "name"),
        ("worker: {crate: c, bench: all}\ncommand: [a]", "`command` has no effect with", "remove"),
        (
            "worker: {crate: c, bench: all}\ninput: {file: a}",
            "`input` has no effect with",
            "remove",
        ),
        ("worker: {crate: c, bench: all}\njudge: [wall]", "a harness decides how long", ""),
        ("worker: {crate: c, bench: all}\ngate: {wall: 2%}", "`gate.wall` has no effect", "use"),
        (
            "worker: {crate: c, bench: all}\ngate: {on-same-instructions: warn, explain: false}",
            "has no effect with `explain: false`",
            "remove one of",
        ),
        ("worker: {crate: c, bench: all}\naxes: {target: [a]}", "`target` is reserved", "give"),
    ],
)
def test_a_mistake_about_benchmarks_has_its_own_message(
    refuses: Refuses, text: str, message: str, fix: str
) -> None:
    problems = refuses(text + "\n", head=HEAD).problems
    matching = [p for p in problems if message in p.message]
    assert matching, [p.message for p in problems]
    assert (matching[0].fix or "").startswith(fix)


MANIFEST_WITH_FEATURES = """[package]
name = "d"
version = "0.1.0"
[features]
a = []
b = []
[[bench]]
name = "sum"
required-features = ["a", "b"]
"""


def test_a_crate_without_bench_targets_is_refused(refuses: Refuses, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "Cargo.toml").write_text('[package]\nname = "d"\nversion = "0.1.0"\n')
    (problem,) = refuses("worker: {crate: d, bench: all}\n", head=HEAD).problems
    assert problem.message == "crate `d` has no bench target"
    assert problem.fix == "add a benchmark of criterion, divan or libtest in benches/"
    write_files(tmp_path, {"d/src/main.rs": ""})
    (problem,) = refuses("worker: {crate: d, bench: all}\n", head=HEAD).problems
    assert "or measure a binary (d): `benchctl init -- ARGS`" in str(problem.fix)
    write_files(tmp_path, {"d/Cargo.toml": MANIFEST_WITH_FEATURES})
    (problem,) = refuses("worker: {crate: d, bench: all}\n", head=HEAD).problems
    assert str(problem.fix).startswith("enable them with -S 'worker.features=[a,b]'")
    assert "benches/" not in str(problem.fix)
