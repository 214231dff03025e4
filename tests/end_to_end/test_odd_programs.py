"""Tests of user programs with hostile names, and of failures that affect only their own cell."""

import csv
import json
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
Run = Callable[..., "subprocess.CompletedProcess[str]"]

HOSTILE = [
    "a b",
    "quo\"te's",
    "semi;touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "<script>alert(2)</script>",
    "../../escape",
    "naïve 漢字 🦀",
    "%s%n{{7*7}}",
    "| pipe * _md_ [x](y)",
    "-rf",
]


class Scripts(HTMLParser):
    """A parser that counts scripts and event handlers of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.running = 0
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.running += tag == "script" and dict(attrs).get("type") in {None, "text/javascript"}
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def script(folder: Path, text: str) -> Path:
    path = folder / "arm.sh"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_hostile_names_run_as_they_are_and_nothing_is_executed(
    benchctl: Run, tmp_path: Path
) -> None:
    script(tmp_path, 'printf %s "$1" > "names.$$"; echo ok')
    scenario = {
        "version": 1,
        "name": "hostile",
        "question": "Is <script>alert(1)</script> $(touch pwned) harmless?",
        "worker": {"command": ["./arm.sh"]},
        "axes": {"arm": ["plain", *HOSTILE]},
        "command": ["{bin}", "{arm}"],
        "cwd": "names",
        "baseline": {"arm": "plain"},
        "measure": {"rounds": 2, "until": "rounds", "warmup": 1},
    }
    names = tmp_path / "names"
    names.mkdir()
    (tmp_path / "hostile.yaml").write_text(
        json.dumps(scenario, ensure_ascii=False), encoding="utf-8"
    )

    done = benchctl("--json", "run", "hostile.yaml")

    assert done.returncode == 0, done.stderr
    record = tmp_path / json.loads(done.stdout)["record"]
    assert not list(tmp_path.rglob("pwned"))
    assert {path.read_text(encoding="utf-8") for path in names.iterdir()} == {"plain", *HOSTILE}
    # A quote precedes a text that a spreadsheet would compute.
    quoted = {f"'{name}" if name.startswith(("=", "+", "-", "@")) else name for name in HOSTILE}
    assert {row["axis_arm"] for row in rows(record / "runs.csv")} == {"plain", *quoted}
    page = (record / "report.html").read_text(encoding="utf-8")
    scripts = Scripts()
    scripts.feed(page)
    assert scripts.running == 1
    assert scripts.handlers == []
    outside = [
        path
        for path in tmp_path.iterdir()
        if path.name not in {"results", "names", "arm.sh", "hostile.yaml"}
    ]
    assert outside == []


FAILING = """\
case "$1" in
  ok | fine) echo hello;;
  exits) echo "it broke: disk on fire" >&2; exit 1;;
  hangs) sleep 987.6;;
  differs) echo goodbye;;
  dies) kill -SEGV $$;;
esac
"""


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    script(tmp_path, FAILING)
    path = tmp_path / "failing.yaml"
    path.write_text(
        "version: 1\nname: failing\nquestion: Does each failure stay in its own cell?\n"
        "worker: {command: [./arm.sh]}\naxes: {arm: [ok, fine, exits, hangs, differs, dies]}\n"
        'command: ["{bin}", "{arm}"]\nbaseline: {arm: ok}\n'
        "measure: {rounds: 3, until: rounds, warmup: 1, timeout: 3s}\n",
        encoding="utf-8",
    )
    return path


def test_each_failure_is_reported_in_its_own_cell(
    benchctl: Run, failing: Path, tmp_path: Path
) -> None:
    done = benchctl("--json", "run", failing)

    assert done.returncode == 3
    record = tmp_path / json.loads(done.stdout)["record"]
    verdicts = {
        row["variant"]: row["verdict"]
        for row in rows(record / "comparisons.csv")
        if row["metric"] == "wall"
    }
    assert verdicts["exits"] == verdicts["hangs"] == verdicts["dies"] == "failed"
    assert verdicts["differs"] == "other-output"
    measured = [
        row
        for row in rows(record / "runs.csv")
        if row["kind"] == "timed" and row["warmup"] == "false"
    ]
    assert {row["status"] for row in measured} == {"ok"}
    assert "it broke: disk on fire" in done.stderr
    assert "timed out" in done.stderr
    assert "killed by SIGSEGV" in done.stderr
    assert "benchctl run" in done.stderr
    assert "Traceback" not in done.stderr
    left = subprocess.run(
        ["pgrep", "-f", "sleep 987.6"], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""
