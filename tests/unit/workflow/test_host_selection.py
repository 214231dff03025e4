"""Tests of the hosts that a scenario requests, and of the choice among the registered ones."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import UsageError
from bench_framework.extensions.fleet.client import Fleet
from bench_framework.extensions.fleet.selection import (
    WorkerPlace,
    require_different_machines,
    require_labels,
    select,
    shares,
)
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.policies import HostPolicy
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.text.reasons import phrase
from bench_framework.workflow import run as runs
from bench_framework.workflow.run_options import RunOptions

SCENARIO = """
version: 1
name: hosts
question: q
worker: {command: [/bin/true]}
axes: {arm: [a, b]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
"""


def place(name: str, kind: str = "k1", labels: str = "", runs: int = 0) -> WorkerPlace:
    return WorkerPlace(f"tcp://{name}", name, "", kind, frozenset(labels.split()), runs)


PLACES = [
    place("a", "k1", "x86_64 nvme", 2),
    place("b", "k1", "x86_64", 1),
    place("c", "k2", "aarch64"),
    place("d", "k1", "x86_64"),
    place("e", "k2", "aarch64 nvme", 1),
]


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        (HostPolicy(), "c"),
        (HostPolicy(any=3), "c d b"),
        (HostPolicy(("d", "a")), "d a"),
        (HostPolicy(everyone=True), "a b c d e"),
        (HostPolicy(labels=("x86_64", "aarch64")), "d c"),
        (HostPolicy(labels=("aarch64", "nvme")), "c e"),
        (HostPolicy(labels=("x86_64", "nvme", "aarch64")), "d e c"),
        (HostPolicy(per_kind=1), "c d"),
        (HostPolicy(per_kind=2), "c e d b"),
        (HostPolicy(split_inputs=3), "d b a"),
        (HostPolicy(split_inputs=2), "c e"),
    ],
)
def test_hosts_with_the_fewest_runs_are_chosen(policy: HostPolicy, names: str) -> None:
    chosen, missing = select(policy, PLACES)
    assert " ".join(place.name for place in chosen) == names
    assert missing is None


def test_two_workers_of_one_machine_are_refused() -> None:
    """Their records would be refused by the comparison after the measurement."""
    a, b, c = (
        replace(place(name), card={"host_id": machine})
        for name, machine in (("a", "1"), ("b", "2"), ("c", "1"))
    )
    require_different_machines([a, b])
    with pytest.raises(UsageError, match="hosts a and c are workers of one machine"):
        require_different_machines([a, b, c])


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (HostPolicy(any=6), "only 5 hosts of 6"),
        (HostPolicy(("a", "z")), "no worker of a host z"),
        (
            HostPolicy(labels=("riscv64", "nvme")),
            "no worker of another host with the label riscv64",
        ),
        (HostPolicy(per_kind=3), "only 2 hosts of 3 of kind k2"),
        (HostPolicy(split_inputs=4), "only 3 hosts of 4 of one kind"),
    ],
)
def test_what_is_missing_is_named(policy: HostPolicy, text: str) -> None:
    assert phrase(select(policy, PLACES)[1]) == text
    assert str(PLACES[0]) == "a (kind k1, nvme, x86_64)"
    assert select(HostPolicy(everyone=True), [])[1] == Phrase(ExtensionCode.NO_WORKER)


def test_two_labels_need_two_hosts() -> None:
    both = [place("a", "k1", "fast big")]
    lack = Phrase(ExtensionCode.NO_WORKER_WITH_LABEL, "big")
    assert select(HostPolicy(labels=("fast", "big")), both)[1] == lack
    # `big` chooses first, because only one host has it.
    chosen, missing = select(
        HostPolicy(labels=("fast", "big")), [*both, place("b", "k1", "fast", 9)]
    )
    assert ([place.name for place in chosen], missing) == (["b", "a"], None)


INPUTS = """
version: 1
name: hosts
question: q
worker: {command: [/bin/true]}
axes: {arm: [a, b], size: [1MiB, 2MiB, 3MiB], kind: [prose, cjk]}
input: {dataset: "{kind}", size: "{size}"}
command: ["{bin}", "{arm}", "{input}"]
baseline: {arm: a}
"""


@pytest.mark.parametrize("only", [None, "kind=cjk", "size>=2MiB"])
@pytest.mark.parametrize("number", [1, 2, 4, 9])
def test_each_input_is_in_exactly_one_share(tmp_path: Path, number: int, only: str | None) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(INPUTS)
    whole = expand(load(path), only=only)
    parts = [expand(load(path), only=share) for share in shares(whole, number, only)]
    assert len(parts) == min(number, len(whole.inputs))
    inputs = [given.id for part in parts for given in part.inputs]
    assert sorted(inputs) == sorted(given.id for given in whole.inputs)
    cells = [cell.id for part in parts for cell in part.cells]
    assert sorted(cells) == sorted(cell.id for cell in whole.cells)
    assert all(
        part.baseline_cell(i.id) and part.control_cell(i.id) for part in parts for i in part.inputs
    )
    sizes = [len(part.inputs) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("host", "hosts", "several"),
    [
        ("", "", False),
        ("", "hosts: {any: 1}", False),
        ("", "hosts: {any: 2}", True),
        ("", "hosts: {label: [a]}", False),
        ("", "hosts: {per-kind: 1}", True),
        ("", "hosts: {split-inputs: 2}", True),
        ("", "hosts: all", True),
        ("rack-1", "hosts: all", False),
        ("rack-1,rack-2", "hosts: {any: 1}", True),
        ("all", "", True),
    ],
)
def test_host_overrides_the_scenario(tmp_path: Path, host: str, hosts: str, several: bool) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text(SCENARIO + hosts)
    fleet = Fleet("tcp://127.0.0.1:1", host)
    assert fleet.several(str(path), RunOptions(tmp_path)) is several


def test_without_a_scheduler_plan_and_run_say_that_hosts_has_no_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text(SCENARIO + "hosts: {per-kind: 3}")
    assert run_command_line(["plan", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Hosts 3 hosts of each kind with `benchctl run --scheduler ADDRESS`; without it" in text

    monkeypatch.setattr(runs, "run_plan", lambda *given: given[-1])
    updates: list[Any] = []
    runs.run_scenario(str(path), RunOptions(tmp_path), SimpleNamespace(notify=updates.append))
    expected = ["measuring on this machine: `hosts` needs --scheduler ADDRESS"]
    assert [update.text for update in updates] == expected


@pytest.mark.parametrize("label", ["", "a b", "ü", "-a", "a" * 65])
def test_an_invalid_label_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match="is not a valid label") as caught:
        require_labels(["x86_64", label])
    assert caught.value.code == "BX136"
