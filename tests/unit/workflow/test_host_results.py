"""Tests of `benchctl fleet compare` on records, and of what it refuses."""

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import BenchError
from bench_framework.extensions.fleet.host_results import compare_records_of_hosts
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.record.run import Answer, Host, Look, PreparedInput
from bench_framework.model.verdict import Verdict
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import layout, lines
from bench_framework.store.records import Record
from bench_framework.workflow.pages import judge_record
from tests.build import make_block
from tests.documents import valid
from tests.unit.machine import HOST, SCENARIO as TEXT

SCENARIO = TEXT + "measure: {rounds: 16, until: rounds}\n"
ROUNDS = 16
AT = "2026-03-02T17:0{}:00.000Z"
Make = Callable[..., Path]


def measured(
    root: Path,
    number: int,
    *,
    slower: float = 1.2,
    host: Host | None = None,
    text: str = SCENARIO,
    change: Callable[[Plan], Plan] = lambda plan: plan,
    digest: str = "d1",
    finished: bool = True,
) -> Path:
    """Return the record of a host of a fleet. Variant b takes `slower` times as long as a."""
    plan = change(expand(load(root / "s.yaml", text=text)))
    plan = replace(
        plan, invocation=Invocation(scheduler="tcp://127.0.0.1:1", host=f"rack-{number}")
    )
    at = AT.format(number)
    record = Record.create(root / "results", plan, text, started_at=at, benchctl="0.1.0")
    host = host or replace(HOST, host_id=f"id-{number}")
    (item,) = plan.inputs
    inputs = (PreparedInput(item.id, "/data/x", 1 << 20, digest, "prose", 42, filesystem="ext4"),)
    with record:
        record.prepare(at=at, host=host, builds=(), inputs=inputs)
        chance, seq = random.Random(number), 0
        for turn in range(1, ROUNDS + 1 if finished else 3):
            for place, cell in enumerate(plan.cells):
                wall = 0.05 * (slower if cell.role is Role.CANDIDATE else 1)
                wall *= 1 + chance.expovariate(200)
                figures = {"peak_rss_bytes": 1 << 20, "answer": Answer("d", 1), "started_at": at}
                block = make_block(seq, turn, place, cell.id, wall, **figures)
                record.append(lines.Measured(block))
                seq += 1
            record.append(lines.RoundEnd(item.id, turn, warmup=False, at=at, elapsed_s=1.0 * turn))
        if finished:
            record.append(lines.Looked(Look(item.id, 0, ROUNDS, stopped=True)))
            record.append(lines.End(at, 2.5))
            record.save(judge_record(record))
            record.seal()
    return record.path


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda number, **more: measured(tmp_path, number, **more)


def refusal(*records: Path) -> BenchError:
    with pytest.raises(BenchError) as caught:
        compare_records_of_hosts(records[0].parents[1], [str(record) for record in records])
    return caught.value


def test_three_hosts_agree(make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(make(number, slower=1.2 + number / 100)) for number in (1, 2, 3)]
    out = tmp_path / "pages"
    assert run_command_line(["fleet", "compare", *names, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "b vs a: slower on all 3 hosts." in printed.out
    assert "Random effects over 3 hosts of kind" in printed.out
    assert f"wrote {out}/hosts.html" in printed.err
    page = (out / "hosts.html").read_text()
    assert page.count("rack-2") >= 3
    assert "<h2>Results by host</h2>" in page
    markdown = (out / "hosts.md").read_text()
    assert "| rack-3 |" in markdown
    assert "appendix.md" not in markdown
    content = valid("fleet", (out / "hosts.json").read_text())
    assert [host["name"] for host in content["hosts"]] == ["rack-1", "rack-2", "rack-3"]
    (one,) = content["comparisons"]
    assert (one["agreement"], one["candidate"], one["reference"]) == ("agrees", "b", "a")
    assert one["kinds"][0]["interval"]["lo"] < 1.22 < one["kinds"][0]["interval"]["hi"]
    assert run_command_line(["--json", "fleet", "compare", *names]) == 0
    assert valid("fleet", capsys.readouterr().out) == content


def test_verdicts_are_those_of_the_records(make: Make) -> None:
    first, second = make(1), make(2)
    path = second / layout.CLAIMS
    path.write_text(path.read_text().replace('"verdict": "worse"', '"verdict": "better"'))
    results = first.parents[1]
    page = compare_records_of_hosts(results, [first.name and str(first), str(second)])
    (one,) = page.comparison.comparisons
    assert [r.verdict for r in one.results] == [Verdict.WORSE, Verdict.BETTER]
    # The intervals of both records are equal, so the ratio is not shown to depend on the host.
    assert one.text.startswith("b vs a: slower on rack-1; faster on rack-2. ")


def test_hosts_with_different_inputs_are_shown_together(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SCENARIO.replace(
        "[a, b]}", '[a, b], size: [1MiB, 2MiB]}\ninput: {dataset: prose, size: "{size}"}'
    )
    text = text.replace('"{arm}"]', '"{arm}", "{input}"]')

    def only(size: str) -> Callable[[Plan], Plan]:
        return lambda _: expand(load(tmp_path / "s.yaml", text=text), only=f"input={size}")

    first = make(1, text=text, change=only("1MiB"))
    second = make(2, text=text, change=only("2MiB"), slower=0.8)
    assert run_command_line(["fleet", "compare", str(first), str(second)]) == 0
    printed = capsys.readouterr().out
    assert "b vs a (1MiB): slower on rack-1." in printed
    assert "b vs a (2MiB): faster on rack-2." in printed
    assert "not measured" not in printed
    assert "random-effects" not in printed
    assert "small  2 hosts  2 comparisons\n" in printed


def test_one_record_and_one_host_are_refused(make: Make) -> None:
    first = make(1)
    assert refusal(first).code == "BX135"
    error = refusal(first, first)
    assert (error.code, error.exit_code) == ("BX135", 2)
    assert "of the same host" in error.message
    again = make(2, host=replace(HOST, host_id="id-1"))
    assert "of the same host" in refusal(first, again).message


def test_two_hosts_of_one_name_are_refused(make: Make, tmp_path: Path) -> None:
    other = measured(tmp_path / "other", 1, host=replace(HOST, host_id="id-9"))
    error = refusal(make(1), other)
    assert error.code == "BX135"
    assert "two hosts with the name rack-1" in error.message


def test_records_of_different_work_are_refused(make: Make) -> None:
    first = make(1)
    error = refusal(first, make(2, text=SCENARIO.replace("rounds: 16", "rounds: 18")))
    assert error.code == "BX135"
    assert "another scenario" in error.message
    assert "another input" in refusal(first, make(3, digest="d2")).message

    def revised(plan: Plan) -> Plan:
        return replace(plan, revisions=Revisions("c" * 40, None))

    assert "another base revision" in refusal(first, make(4, change=revised)).message


def test_an_unfinished_record_is_refused(make: Make) -> None:
    error = refusal(make(1), make(2, finished=False))
    assert (error.code, error.exit_code) == ("BX413", 2)
    assert error.fix is not None
    assert "--host rack-2" in error.fix


@pytest.mark.parametrize("name", [layout.CLAIMS, layout.PLAN, layout.JOURNAL])
def test_a_damaged_record_is_one_error(make: Make, name: str) -> None:
    first, second = make(1), make(2)
    (second / name).write_text('{"a": 1')
    assert refusal(first, second).code == "BX411"


def test_results_of_another_version_are_computed_again_by_report(make: Make) -> None:
    first, second = make(1), make(2)
    path = second / layout.CLAIMS
    stored = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(stored | {"schema_version": 1}), encoding="utf-8")
    error = refusal(first, second)
    assert error.code == "BX412"
    assert error.fix is not None
    assert "benchctl report" in error.fix


def test_a_missing_record_is_one_error(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    first = make(1)
    shutil.copytree(first, tmp_path / "copy")
    words = ["--dir", str(first.parents[1]), "fleet", "compare", str(first), "none/20260101T0000Z"]
    assert run_command_line(words) == 2
    text = capsys.readouterr().err
    assert "error[BX101]" in text
    assert "Traceback" not in text
