"""Tests of accepted regressions: from a failed gate to a file that a person reviews, and back."""

import contextlib
import json
import re
from pathlib import Path

import pytest

from bench_framework.execution.machine import lock
from tests.documents import valid
from tests.integration.processes import Process, wait_for
from tests.integration.test_gate import SCENARIO, Folder

ONE = SCENARIO.replace(', "<b>odd | name</b>"', "").replace("rounds: 24", "rounds: 14")


@pytest.mark.slow
def test_a_regression_is_accepted_up_to_its_size_and_last_day(tmp_path: Path) -> None:
    slower = Folder(tmp_path, 0.055)
    (tmp_path / "gated.yaml").write_text(ONE.replace("cpu: 2%}", "cpu: 2%, accepted: a.yaml}"))
    accepted = tmp_path / "a.yaml"
    accept = ("baseline", "accept", "--until", "2999-12-31", "--reason", "it checks its input")
    assert slower("run", "gated.yaml").returncode == 0
    early = slower(*accept, code=2)
    assert "error[BX413]" in early.stderr
    record = str(slower.records[0])
    failed = slower("gate", record, code=1)
    assert "the file of accepted changes does not exist: " in " ".join(failed.stdout.split())
    accepted.write_text("# reviewed by the team\naccepted: []\n")
    other = slower(*accept, "--metric", "peak_rss", code=2)
    assert "no such confirmed regression" in other.stderr
    assert "wall of rev=head" in other.stderr
    late = slower("baseline", "accept", "--until", "2001-01-01", "--reason", "x")
    assert "--until 2001-01-01 is not a date from today on" in late.stderr
    assert accepted.read_text().endswith("accepted: []\n")

    # The newest record is the second measurement. The diff is that of the file.
    done = slower(*accept, code=0)
    added = [line for line in done.stdout.splitlines() if line.startswith("+")]
    assert added[:2] == ["+++ b/a.yaml", "+accepted:"]
    wall, cpu = (
        re.sub(r"level: (9|1[012])%", "level: L", text) for text in done.stdout.split("- cell")[1:]
    )
    entry = 'cell: "rev=head"|metric: {}|level: L|reason: "it checks its input"|until: 2999-12-31'
    for metric, text in (("wall", wall), ("cpu", cpu)):
        lines = [line.strip("+ ") for line in f"cell{text}".splitlines()]
        assert "|".join(line for line in lines if line) == entry.format(metric)
    text = accepted.read_text()
    assert text.startswith("# reviewed by the team\n")
    passed = slower("gate", record, code=0)
    assert "with 2 accepted changes for the worse" in passed.stdout

    for old, new, reason in (
        (
            re.findall(r"\d+%", text)[0],
            "3%",
            "regression confirmed; more than the 3\u202f% that are accepted",
        ),
        ("2999-12-31", "2001-01-01", "the acceptance in a.yaml:3 ended on 2001-01-01"),
    ):
        accepted.write_text(text.replace(old, new))
        failed = slower("gate", record, "--json", code=1)
        first, *_ = valid("gate", failed.stdout)["pairs"]
        assert reason in "; ".join(reason["text"] for reason in first["reasons"])

    accepted.write_text("accepted: []\n")
    with lock.locked(tmp_path):
        both = [slower.start(*accept, "--json", "--metric", metric) for metric in ("wall", "cpu")]
        wait_for(lambda: all(has_open(process, tmp_path) for process in both), *both)
        assert accepted.read_text() == "accepted: []\n"
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    for stdout, _ in outputs:
        valid("baseline", stdout)
    assert sorted(re.findall("metric: (.*)", accepted.read_text())) == ["cpu", "wall"]


def has_open(process: Process, folder: Path) -> bool:
    """Return whether a process has opened a folder, as those do that wait for its lock."""
    paths = []
    for entry in Path(f"/proc/{process.pid}/fd").glob("*"):
        with contextlib.suppress(OSError):  # closed in the meantime
            paths.append(entry.readlink())
    return folder in paths


@pytest.mark.slow
def test_a_saved_baseline_is_compared_exported_and_imported(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0.05)
    (tmp_path / "gated.yaml").write_text(ONE)
    assert folder("run", "gated.yaml").returncode == 0
    assert folder("baseline", "save", "main").returncode == 0
    assert folder("run", "gated.yaml", "--fresh").returncode == 0
    compared = folder("baseline", "compare", "main", "--json", code=0)
    first, second = folder.records
    bridge = valid("baseline", compared.stdout)
    assert (bridge["before_id"], bridge["after_id"]) == (first.name, second.name)
    assert {cell["role"] for cell in bridge["cells"]} == {"anchor"}
    assert folder("baseline", "export", "main").returncode == 0
    folder("--dir", "other", "baseline", "import", "gated-main.tar.gz", code=0)
    assert folder("--dir", "other", "verify", "@main").returncode == 0
    exported = [
        folder("--dir", results, "export", "@main", "--format", "bmf", "--metric", "wall").stdout
        for results in ("results", "other")
    ]
    assert exported[0] == exported[1]
    assert list(json.loads(exported[0])) == [f"gated: {rev}, no input" for rev in ("base", "head")]
