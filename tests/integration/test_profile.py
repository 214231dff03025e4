"""Tests of profiling after a run and of a record, with a fake perf."""

import csv
import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.integration.processes import (
    Process,
    executable,
    fake_hyperfine,
    install_fake,
    is_without,
    isolated,
    start,
    wait_for,
)

SCENARIO = """
version: 1
name: profiled
question: Where does the time go?
worker: {command: [./prog]}
axes: {arm: [a, b]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
measure: {rounds: 3, until: rounds, warmup: 1, seed: 5, control: false}
profile: {variants: all, runs: 3, buckets: {work: work}}
"""
PATIENCE_S = 60.0


class Folder:
    """A folder with a scenario, a program, a hyperfine and a perf that answer from scripts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "profiled.yaml").write_text(SCENARIO)
        executable(path / "prog", "#!/bin/sh\necho 42\n")
        (path / "bin").mkdir()
        fake_hyperfine(path, [{"match": "prog", "wall_s": 0.05, "stdout": "42\n"}])
        install_fake("perf", path / "bin" / "perf")

    def start(self, *words: str, **perf: Any) -> Process:
        log = json.dumps({"log": str(self.path / "perf.log"), **perf})
        path = str(self.path / "bin")  # contains neither the real perf nor valgrind
        env = isolated(self.path, PATH=path, BENCHCTL_FAKE_PERF=log)
        return start(self.path, "--dir", "results", *words, env=env)

    def __call__(self, *words: str, **perf: Any) -> tuple[int, str, str]:
        with self.start(*words, **perf) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
            return process.wait(), out, err

    @property
    def record(self) -> Path:
        return find_records(self.path / "results")[-1]

    @property
    def profiles(self) -> list[Path]:
        return (
            sorted((self.record / "profiles").glob("*"))
            if (self.record / "profiles").is_dir()
            else []
        )

    @property
    def events(self) -> list[str]:
        with (self.record / "events.csv").open() as file:
            return [row["code"] for row in csv.DictReader(file)]

    @property
    def calls(self) -> int:
        return (
            len((self.path / "perf.log").read_text().splitlines())
            if (self.path / "perf.log").is_file()
            else 0
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.slow
def test_a_run_profiles_after_measuring_and_the_record_verifies(folder: Folder) -> None:
    code, _, err = folder("run", "profiled.yaml")
    assert code == 0, err
    usual = ["flame.svg", "folded.txt", "profile.json", "top.csv"]
    files = [sorted(p.name for p in cell.iterdir()) for cell in folder.profiles]
    # Only that of the variant has a difference from the baseline.
    assert sorted(files) == [["difference.svg", *usual], usual]
    listed = json.loads((folder.record / "manifest.json").read_text())["files"]
    assert f"profiles/{folder.profiles[0].name}/flame.svg" in listed
    claims = json.loads((folder.record / "claims.json").read_text())["judgement"]["claims"]
    assert next(c["text"] for c in claims if c["fact"]["kind"] == "profile-function").endswith(
        "of the samples of a are in prog::work (self, 3000 samples, 3 runs)."
    )
    assert (
        folder.profiles[0] / "folded.txt"
    ).read_text() == "main;prog::wait 1200\nmain;prog::work 1800\n"
    code, out, _ = folder("verify", "@last")
    assert code == 0, out
    profile_file = folder.profiles[0] / "profile.json"
    profile_file.write_text(profile_file.read_text().replace('"count":600', '"count":500'))
    code, out, _ = folder("verify", "@last")
    assert code == 1
    assert "profile.json: changed" in out
    assert re.search(r"claims\.json: c\d+: does not follow from its profile: 60", out)
    assert "does not follow from runs.csv" not in out


@pytest.mark.slow
def test_the_warning_of_a_perf_without_samples_is_the_reason(folder: Folder) -> None:
    _, _, err = folder("run", "profiled.yaml", warn="the event is not supported")
    assert "perf may not sample on this machine: the event is not supported" in err


@pytest.mark.slow
def test_a_perf_without_permission_is_a_warning(folder: Folder) -> None:
    code, out, err = folder(
        "run", "profiled.yaml", refuse="Permission error - no access to performance events"
    )
    assert code == 0, err
    assert "warning[BX350]: nothing was profiled: perf may not sample on this machine" in err
    assert "no access to performance events" in err
    assert "BX350" in folder.events
    assert folder.profiles == []
    assert (
        "profile and remaining bottlenecks (Nothing was profiled"
        in (folder.record / "appendix.md").read_text()
    )
    assert "BX350" not in out
    code, _, err = folder("profile", "@last", refuse="no")
    assert code == 3
    assert "error[BX350]" in err


@pytest.mark.slow
def test_without_perf_and_valgrind_both_are_named(folder: Folder) -> None:
    (folder.path / "bin" / "perf").unlink()
    code, _, err = folder("run", "profiled.yaml")
    assert code == 0, err
    assert "perf is not installed; valgrind is not installed" in err


@pytest.mark.slow
def test_no_profile_without_a_request(folder: Folder) -> None:
    assert folder("run", "profiled.yaml", "--no-profile")[0] == 0
    assert (folder.calls, folder.profiles) == (0, [])
    scenario = folder.path / "profiled.yaml"
    scenario.write_text(SCENARIO.replace("profile: {", "profile: {when: on-request, "))
    assert folder("run", "profiled.yaml")[0] == 0
    assert (folder.calls, folder.profiles) == (0, [])
    assert folder("run", "profiled.yaml", "--profile")[0] == 0
    assert folder.calls == 6
    assert len(folder.profiles) == 2


@pytest.mark.slow
def test_a_record_can_be_profiled_later_without_changing_its_verdicts(folder: Folder) -> None:
    assert folder("run", "profiled.yaml", "--no-profile")[0] == 0
    before = json.loads((folder.record / "claims.json").read_text())["judgement"]
    journal = (folder.record / "journal.jsonl").read_bytes()
    code, out, err = folder(
        "profile", "@last", "-k", "arm=b", "--runs", "2", "--bucket", "waiting=wait|work"
    )
    assert code == 0, err
    assert "Sampled by" in out
    assert "perf version 0.0.fake, event cpu-clock, 997 Hz" in out
    assert len(folder.profiles) == 1
    after = json.loads((folder.record / "claims.json").read_text())["judgement"]
    assert after["comparisons"] == before["comparisons"]
    assert after["claims"][: len(before["claims"])] == before["claims"]
    assert [b["name"] for b in after["profiles"][0]["buckets"]] == ["waiting", "other"]
    assert after["profiles"][0]["size"]["total"] == 2000
    assert (folder.record / "journal.jsonl").read_bytes() == journal
    assert folder("verify", "@last")[0] == 0
    assert folder("profile", "@last", "-k", "arm=c")[0] == 2
    for pattern in ("(", "a{99999999999999999999}", "[[a]"):
        assert folder("profile", "@last", "--bucket", f"x={pattern}")[0] == 2
    code, out, _ = folder("--json", "profile", "@last", "-k", "arm=a", "--runs", "1")
    assert code == 0
    assert valid("profile", out)["profiles"][0]["functions"][0]["frame"]["name"] == "prog::work"


@pytest.mark.slow
def test_another_program_or_another_answer_is_not_profiled(folder: Folder) -> None:
    assert folder("run", "profiled.yaml", "--no-profile")[0] == 0
    (folder.path / "prog").write_text("#!/bin/sh\necho 43\n")
    code, _, err = folder("profile", "@last")
    assert code == 3
    assert "changed since it was measured" in err
    # The same program, but its output depends on a file.
    (folder.path / "prog").write_text("#!/bin/sh\nread x < answer; echo $x\n")
    (folder.path / "answer").write_text("42\n")
    assert folder("run", "profiled.yaml", "--no-profile")[0] == 0
    (folder.path / "answer").write_text("44\n")
    code, _, err = folder("profile", "@last")
    assert code == 3
    assert re.search("its answer [0-9a-f]+ differs from [0-9a-f]+ of the timed runs", err)
    assert folder.profiles == []


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_dropped_and_the_others_stay(folder: Folder) -> None:
    scenario = folder.path / "profiled.yaml"
    scenario.write_text(SCENARIO.replace("all, runs: 3", "baseline, runs: 3, timeout: 8s"))
    code, _, err = folder("run", "profiled.yaml", sleep_s=30, sleep_after=2)
    assert code == 0, err
    profile = json.loads((folder.profiles[0] / "profile.json").read_text())
    assert (profile["runs"], profile["runs_asked"]) == ([1000, 1000], 3)
    assert profile["remarks"] == ["run 3 of 3: timed out after 8 s"]
    assert "run 3 of 3: timed out after 8 s" in (folder.record / "appendix.md").read_text()


@pytest.mark.slow
def test_ctrl_c_keeps_the_runs_that_are_done_and_the_report(folder: Folder) -> None:
    with folder.start("run", "profiled.yaml", sleep_s=40, sleep_after=2) as process:
        wait_for(lambda: folder.calls >= 3, process)
        process.send_signal(signal.SIGINT)
        process.wait_for_text("press Ctrl-C again to kill it")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert "profiling was stopped, everything else is complete" in err
    profile = json.loads((folder.profiles[0] / "profile.json").read_text())
    assert profile["runs"] == [1000, 1000]
    assert profile["remarks"] == ["stopped by the user in run 3 of 3"]
    assert len(folder.profiles) == 1
    assert folder("verify", "@last")[0] == 0


@pytest.mark.skipif(is_without("perf"), reason="BENCHCTL_TESTS_WITHOUT names perf")
@pytest.mark.slow
def test_the_real_perf_reads_a_real_program(folder: Folder) -> None:
    perf = Path(str(shutil.which("perf")))
    (folder.path / "bin" / "perf").unlink()
    (folder.path / "bin" / "perf").symlink_to(perf)
    (folder.path / "prog").write_text(
        "#!/bin/sh\ni=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\necho 42\n"
    )
    code, out, err = folder("run", "profiled.yaml", "--no-profile")
    assert code == 0, err
    code, out, err = folder("profile", "@last", "-k", "arm=a", "--stacks", "frame-pointers")
    assert code == 0, err
    profile = json.loads((folder.profiles[0] / "profile.json").read_text())
    assert sum(profile["runs"]) == sum(stack["count"] for stack in profile["stacks"]) > 0
    assert {frame["module"] for frame in profile["frames"]} & {"dash", "bash", "sh", "busybox"}
    assert "perf version" in out
