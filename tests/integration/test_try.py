"""Tests of trial runs: each command runs on the baseline's build before the others are built.

cargo is a script that writes another script, and hyperfine is the fake.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

CARGO = """#!{python} -IS
import json, os, sys
if sys.argv[1] == "build":
    features = sys.argv[sys.argv.index("--features") + 1] if "--features" in sys.argv else ""
    with open({builds!r}, "a") as log:
        log.write(features + ";")
    if os.path.exists({builds!r} + ".fail" + features):
        sys.exit("error: it does not compile")
    binary = os.environ["CARGO_TARGET_DIR"] + "/release/prog"
    os.makedirs(os.path.dirname(binary), exist_ok=True)
    with open(binary, "w") as file:
        file.write("#!/bin/sh\\nfeatures=" + features + "\\n" + open({program!r}).read())
    os.chmod(binary, 0o755)
    artifact = {{"package_id": "path+file:///x/prog#0.1.0", "target": {{"name": "prog"}}}}
    artifact |= {{"executable": binary, "fresh": False}}
    print(json.dumps({{"reason": "compiler-artifact", **artifact}}, separators=(",", ":")))
"""
PROGRAM = """
case "$1" in
  --mode=fast) [ "$features" = fast ] || { echo "unknown mode fast" >&2; exit 2; } ;;
  --mode=broken) echo "usage: --mode=NAME"; echo "unknown mode broken" >&2; exit 2 ;;
  --mode=panic)
    printf '%s\\n' "thread 'main' panicked at src/main.rs:2:5:" "no words" "stack backtrace:" \\
      "   1: core::panicking::panic" "   2: prog::main" "note: Some details are omitted" >&2
    exit 101 ;;
  --mode=other) printf '\\n\\nfirst\\n'; exit ;;
  --mode=varying) echo "$$"; exit ;;
  --mode=timed) echo "took $$ ms"; exit ;;
  --mode=slow) sleep 0.3 ;;
  --mode=cold)
    n=$(cat "$0.n" 2>/dev/null || echo 3); echo $((n - 1)) > "$0.n"
    if [ "$n" -gt 1 ]; then sleep $((n - 1)); fi ;;
esac
echo one
echo two
"""
SCENARIO = """
version: 1
name: modes
question: Which mode is fastest?
worker: {crate: prog, bin: prog}
axes:
  mode: [plain, MODE]
  build: {default: {}, fast: {features: [fast]}}
baseline: {mode: BASE, build: default}
command: ["{bin}", "--mode={mode}"]
measure: {budget: 1m}
"""
MANIFEST = """[package]
name = "prog"
version = "0.1.0"
[features]
fast = []
[[bin]]
name = "prog"
path = "main.rs"
"""
Benchctl = Callable[..., Done]


@pytest.fixture
def benchctl(tmp_path: Path) -> Benchctl:
    crate = {"prog/Cargo.toml": MANIFEST, "prog/main.rs": "fn main() {}\n"}
    write_files(tmp_path, {**crate, "program.sh": PROGRAM})
    processes.fake_hyperfine(tmp_path, [{"match": "", "wall_s": 0.05, "stdout": "one\ntwo\n"}])
    (tmp_path / "bin").mkdir()
    paths = {"builds": str(tmp_path / "builds.txt"), "program": str(tmp_path / "program.sh")}
    processes.executable(tmp_path / "bin" / "cargo", CARGO.format(python=sys.executable, **paths))
    env = processes.isolated(tmp_path, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def call(*words: str, mode: str = "fast", base: str = "plain", code: int = 0) -> Done:
        (tmp_path / "modes.yaml").write_text(SCENARIO.replace("MODE", mode).replace("BASE", base))
        return processes.benchctl(tmp_path, *words, env=env, code=code)

    return call


def builds(folder: Path) -> list[str]:
    """Return the features of each build so far."""
    return (folder / "builds.txt").read_text().split(";")[:-1]


def test_without_cargo_nothing_is_downloaded_built_or_measured(tmp_path: Path) -> None:
    (tmp_path / "prog").mkdir()
    (tmp_path / "prog" / "Cargo.toml").write_text(MANIFEST)
    text = SCENARIO.replace("MODE", "fast").replace("BASE", "plain")
    (tmp_path / "crate.yaml").write_text(text)
    preload = (
        "worker: {command: [/bin/true]}\naxes: {a: {b: {}, c: {preload-allocator: jemalloc}}}\n"
    )
    head = "version: 1\nname: preload\nquestion: '?'\n"
    tail = 'baseline: {a: b}\ncommand: ["{bin}"]\n'
    (tmp_path / "preload.yaml").write_text(head + preload + tail)
    env = processes.real(PATH=str(tmp_path), BENCHCTL_CACHE=str(tmp_path / "cache"))
    env.pop("BENCHCTL_HYPERFINE", None)  # `run` would install it
    for words in (["run", "crate.yaml"], ["try", "crate.yaml"], ["run", "preload.yaml"]):
        done = processes.benchctl(tmp_path, *words, env=env, code=3)
        assert done.stderr.count("error[") == 1
        assert "error[BX231]: cargo cannot be started, but this scenario builds" in done.stderr
    assert not (tmp_path / "cache" / "tools").exists()
    assert find_records(tmp_path / "results") == []


def test_a_baseline_that_cannot_be_built_ends_the_run_before_other_builds(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    (tmp_path / "builds.txt.fail").touch()
    for words in (["run", "modes.yaml"], ["try", "modes.yaml"]):
        done = benchctl(*words, code=3)
        assert done.stderr.count("error[") == 1
        assert "error[BX220]: the baseline plain + default cannot be built" in done.stderr
        assert "because every variant is compared with it" in done.stderr
    assert builds(tmp_path) == ["", ""]
    assert find_records(tmp_path / "results") == []


def test_nothing_is_measured_if_only_the_baseline_can_be_built(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    (tmp_path / "builds.txt.failfast").touch()
    done = benchctl("run", "modes.yaml", "-k", "mode=plain", code=3)
    assert "error[BX220]: cannot build plain + fast" in done.stderr
    assert "nothing was measured, because only the baseline is left" in done.stderr
    assert find_records(tmp_path / "results") == []


def test_a_baseline_that_fails_is_refused_after_its_build(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", mode="broken", base="broken", code=3)
    assert "failed in its trial run: exit status 2: unknown mode broken" in done.stderr
    assert done.stderr.count("error[BX205]") == 1
    assert "   stdout   usage: --mode=NAME\n" in done.stderr
    assert "nothing else was built, and nothing was measured" in done.stderr
    assert builds(tmp_path) == [""]
    assert find_records(tmp_path / "results") == []


def test_a_panic_is_shown_in_place_of_its_backtrace(benchctl: Benchctl) -> None:
    done = benchctl("try", "modes.yaml", mode="panic", base="panic", code=3)
    panic = "thread 'main' panicked at src/main.rs:2:5: / no words"
    assert f"failed in its trial run: exit status 101: {panic}\n" in done.stderr


@pytest.mark.slow
def test_a_command_that_needs_another_build_is_not_refused(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", "-S", "exclude=[{mode: fast, build: default}]")
    assert builds(tmp_path) == ["", "fast"]
    assert "BX205" not in done.stderr
    assert len(find_records(tmp_path / "results")) == 1


@pytest.mark.slow
def test_a_candidate_on_the_same_build_that_fails_is_a_warning_before_the_builds(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", mode="broken")
    assert done.stderr.index("warning[BX205]") < done.stderr.index("prog +fast")
    assert "exclude it with -k" in done.stderr
    again = benchctl("run", "modes.yaml", "--fresh", mode="broken")
    assert "BX205" not in again.stderr  # all builds exist, so the warm-up reports it
    assert builds(tmp_path) == ["", "fast", "", "fast"]


@pytest.mark.slow
def test_a_baseline_that_varies_is_refused_once(benchctl: Benchctl, tmp_path: Path) -> None:
    done = benchctl("run", "modes.yaml", mode="varying", base="varying", code=3)
    assert done.stderr.count("error[") == 1
    assert "error[BX214]" in done.stderr
    assert "gives different answers in two runs" in done.stderr
    assert builds(tmp_path) == [""]
    benchctl("run", "modes.yaml", "-S", "answer.compare=none", mode="varying", base="varying")


@pytest.mark.slow
def test_a_budget_that_is_too_small_is_refused_with_one_that_is_enough(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", "--budget", "2s", mode="slow", base="slow", code=2)
    assert "error[BX123]: the budget of 2 s is too small: a round takes" in done.stderr
    assert "set measure.budget to 1m" in done.stderr
    assert "it would end before the first planned interim analysis" in done.stderr
    assert builds(tmp_path) == [""]
    benchctl("run", "modes.yaml", "--budget", "2s", "--quick", mode="slow", base="slow")


@pytest.mark.slow
def test_the_first_runs_of_all_do_not_count_for_the_budget(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    benchctl("run", "modes.yaml", "--budget", "5s", mode="cold", base="cold")
    assert builds(tmp_path) == ["", "fast"]


@pytest.mark.slow
def test_try_shows_each_command_and_the_plan_uses_its_times(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("try", "modes.yaml", mode="other", code=3)
    assert builds(tmp_path) == [""]
    assert "--mode=plain" in done.stdout
    assert "exit status 0 after" in done.stdout
    assert "2 lines, 8 bytes, digest" in done.stdout
    same = (
        r"^plain \+ default \(baseline\)$(?:\n  .*)*\n  others +the same command: plain \+ fast\. "
    )
    assert re.search(same, done.stdout, re.MULTILINE)
    assert "plain + fast\n" not in done.stdout
    assert "output    first\n" in done.stdout  # blank lines before it are not shown
    page = " ".join(done.stdout.split())
    assert "peak memory too small to measure (at most " in page
    assert "; the first interim analysis is after 12 rounds and 2 warm-up rounds (" in page
    assert done.stderr.count("warning[BX210]") == 1  # not for the variant with its own build
    assert "trial run" in benchctl("plan", "modes.yaml", mode="other").stdout
    document = valid("try", benchctl("try", "modes.yaml", "--json", mode="other", code=3).stdout)
    assert [trial["status"] for trial in document["trials"]] == ["ok"] * 4
    assert [trial["same_build"] for trial in document["trials"]].count(True) == 2
    assert document["trials"][0]["output_bytes"] == 8
    assert find_records(tmp_path / "results") == []


def test_a_trial_run_is_checked_for_required_system_calls(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    table = "0 0.1 0 1 execve\n0 0.1 0 4 openat\n"
    processes.executable(
        tmp_path / "bin" / "strace",
        f"#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; cat >$2 <<E\n{table}E\n",
    )
    form = "axes.mode={plain: {calls: [openat]}, none: {calls: [openat, mmap]}}"
    done = benchctl("try", "modes.yaml", "-S", form, code=3)
    assert done.stdout.count("calls     checked: openat\n") == 1
    assert "none + default failed in its trial run: no successful system call mmap" in done.stderr
    assert done.stderr.count("warning[BX205]") == 1
    form = form.replace("plain: {calls: [openat]}", "plain: {calls: [mmap]}")
    assert "error[BX205]" in benchctl("try", "modes.yaml", "-S", form, code=3).stderr
    (tmp_path / "bin" / "strace").write_text("#!/bin/sh\nexit 1\n")
    done = benchctl("try", "modes.yaml", "-S", form, code=3)
    assert done.stderr.count("warning[BX353]") == 2


def test_a_baseline_that_varies_is_reported_once_with_the_form_that_helps(
    benchctl: Benchctl,
) -> None:
    done = benchctl("try", "modes.yaml", mode="timed", base="timed", code=3)
    assert done.stderr.count("error[BX214]") == 1
    assert "BX210" not in done.stderr
    assert re.search(r"first run: took \d+ ms\n +second run: took \d+ ms", done.stderr)
    assert r"the lines differ in a time: answer: {ignore: ['[\d.]+ ?ms']}" in done.stderr
    form = r"answer={ignore: ['[\d.]+ ?ms']}"
    done = benchctl("try", "modes.yaml", "-S", form, mode="timed", base="timed", code=3)
    assert "BX214" not in done.stderr
    assert r"compared  exact, without matches of `[\d.]+ ?ms`" in done.stdout
    assert re.search(r"timed.*: took\n", done.stderr)


def test_a_form_that_cannot_be_used_is_refused_before_other_builds(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", "-S", "answer={filter: [no-such-program]}", code=3)
    assert "answer.filter (no-such-program) failed (cause cannot start no-such-program" in (
        " ".join(done.stderr.split())
    )
    assert builds(tmp_path) == [""]


@pytest.mark.slow
def test_outputs_that_are_not_compared_are_reported_in_the_report_and_on_the_terminal(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    done = benchctl("run", "modes.yaml", "-S", "answer=none", mode="varying", base="varying")
    assert "not compared" in done.stdout
    [record] = find_records(tmp_path / "results")
    summary = (record / "report.md").read_text().partition("## Results")[0]
    assert "Outputs were not compared" in " ".join(summary.split())
