"""Fixtures to measure plans into real records, with the fake or the real hyperfine."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution import hyperfine, rounds, schedule
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import BlockFinished, BlockStarted, SilentObserver, Update
from bench_framework.execution.stop import Driver, Stop
from bench_framework.foreign import sha256_of
from bench_framework.model.plan.arguments import Slot, Word
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.model.reasons import Reason
from bench_framework.model.record.run import Block, Build, Event, PreparedInput
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store.records import Record
from tests import build
from tests.integration.processes import FAKES, ROOT, install_hyperfine

WORKER = str(FAKES / "worker")


def plan_of(
    arms: Mapping[str, Sequence[str | Slot]],
    *,
    inputs: Sequence[str] = ("all",),
    control: bool = True,
    answer: AnswerPolicy | None = None,
    measure: MeasurePolicy | None = None,
    cell: Mapping[str, Any] | None = None,
) -> Plan:
    """Return a plan with a variant per arm, the first as baseline; `cell` has fields of all cells."""
    policy = measure or MeasurePolicy(rounds_min=3, rounds_max=3)
    variants = tuple(Variant(name, (("arm", name),), None) for name in arms)
    items = tuple(Input(name, (("on", name),), None) for name in inputs)
    cells = []
    for item in items:
        for variant in variants:
            words: tuple[Word, ...] = tuple((word,) for word in arms[variant.label])
            role = Role.BASELINE if variant is variants[0] else Role.CANDIDATE
            key = stable_id(variant.id, item.id)
            cells.append(Cell(key, variant.id, item.id, variant.label, role, words, **(cell or {})))
        if control:
            base = cells[-len(variants)]
            cells.append(
                replace(base, id=stable_id(base.id, "control"), label="control", role=Role.CONTROL)
            )
    return build.make_plan(
        variants,
        items,
        cells,
        name="by-hand",
        question="Is it?",
        axes=(
            Axis("arm", "run", tuple(AxisValue(name, name) for name in arms)),
            Axis("on", "input", tuple(AxisValue(name, name) for name in inputs)),
        ),
        program=("/bin/true",),
        answer=answer or AnswerPolicy("none"),
        measure=policy,
    )


def never_stop(input_id: str, index: int, number: int) -> LookOutcome:
    """Decide to continue."""
    return LookOutcome(stop=False)


@dataclass
class Recorder:
    """An observer that stores its updates and passes them to a test."""

    updates: list[Update] = field(default_factory=list)
    react: Callable[[Update], None] | None = None

    def notify(self, update: Update) -> None:
        self.updates.append(update)
        if self.react is not None:
            self.react(update)


@dataclass
class Laboratory:
    """A folder, launcher and hyperfine to measure plans."""

    root: Path
    launcher: Launcher
    tool: hyperfine.Hyperfine
    env: dict[str, str]
    observer: Recorder = field(default_factory=Recorder)
    build: Build = field(
        default_factory=lambda: Build(
            "program", ok=True, sha256=sha256_of(Path("/bin/true")), path="/bin/true"
        )
    )
    stop: Stop | None = None

    def script(self, *commands: Mapping[str, Any]) -> None:
        """Write the script of the fake hyperfine."""
        path = self.root / "script.json"
        path.write_text(json.dumps({"seed": 7, "commands": commands}))
        self.env["BENCHCTL_FAKE_SCRIPT"] = str(path)

    def calls(self) -> list[dict[str, Any]]:
        """Return the calls of the fake hyperfine, in order."""
        path = self.root / "script.json.calls"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def create(self, plan: Plan) -> Record:
        """Create an empty record of a plan."""
        return Record.create(
            self.root / "results",
            plan,
            "x",
            started_at="2026-03-02T17:04:09.123Z",
            benchctl="0.1.0",
        )

    def measure(
        self,
        plan: Plan,
        record: Record | None = None,
        looker: schedule.Looker = never_stop,
        inputs: Sequence[PreparedInput] = (),
        one_round: Reason | None = None,
        *,
        few_rounds: bool = False,
    ) -> Record:
        """Measure a plan to its end, or resume a record."""
        record = record or self.create(plan)
        facts = host.facts(
            self.launcher, hyperfine=self.tool.name, results=self.root, data=self.root, env=self.env
        )
        self.stop = Stop(self.launcher)
        with record:
            record.prepare(
                at="2026-03-02T17:05:00.000Z", host=facts, builds=[self.build], inputs=inputs
            )
            driver = Driver(self.launcher, self.env, self.observer, self.stop)
            rounds.measure(
                record, driver, self.tool, looker, one_round=one_round, few_rounds=few_rounds
            )
        return record


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    with Launcher() as running:
        yield running


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return an empty folder whose files are on a disk, elsewhere if the temporary folder is in memory."""
    places = [p for p in (tmp_path, Path("/var/tmp"), Path.home(), ROOT) if os.access(p, os.W_OK)]
    place = next((p for p in places if host.filesystem_of(p) not in host.IN_MEMORY), None)
    if place is None:
        pytest.skip(f"all of these folders are in memory: {', '.join(map(str, places))}")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


@pytest.fixture
def fake(tmp_path: Path, launcher: Launcher) -> Laboratory:
    """A laboratory with the fake hyperfine."""
    copy = tmp_path / "hyperfine"
    install_hyperfine(copy)
    # Without a cache of its own, a test could remove the copies of a session that another process measures.
    cache = str(tmp_path / "cache")
    env = {**host.environment(), "BENCHCTL_HYPERFINE": str(copy), "BENCHCTL_CACHE": cache}
    lab = Laboratory(tmp_path, launcher, hyperfine.find(launcher, env, SilentObserver()), env)
    lab.script()
    return lab


@cache
def installed_tools() -> tuple[hyperfine.Hyperfine, ...]:
    """Return one hyperfine of each supported version that is installed; without one, install it."""
    env = {key: value for key, value in host.environment().items() if key != "BENCHCTL_HYPERFINE"}
    cached = (host.cache_root(env) / "tools").glob("hyperfine-*/bin")
    with Launcher() as launcher:
        tools = {
            tool.version: tool
            for path in (env["PATH"], *map(str, cached))
            for tool in hyperfine.installed(launcher, {**env, "PATH": path})
            if tool.version >= hyperfine.MINIMUM
        }
        return (*tools.values(),) or (hyperfine.find(launcher, env, SilentObserver()),)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of the real hyperfine with every version that is installed."""
    if "real" in metafunc.fixturenames:
        tools = sorted(installed_tools(), key=lambda tool: tool.version)
        metafunc.parametrize("real", tools, ids=[tool.name for tool in tools], indirect=True)


@pytest.fixture
def real(tmp_path: Path, launcher: Launcher, request: pytest.FixtureRequest) -> Laboratory:
    """A laboratory with a real hyperfine."""
    env = {key: value for key, value in host.environment().items() if key != "BENCHCTL_HYPERFINE"}
    return Laboratory(tmp_path, launcher, request.param, env)


def blocks_of(record: Record, label: str) -> list[Block]:
    """Return the blocks of a label in order."""
    ids = {cell.id for cell in record.plan.cells if cell.label == label}
    return [block for block in record.contents.blocks if block.cell_id in ids]


def events_of(record: Record, code: str) -> list[Event]:
    return [event for event in record.contents.events if event.code == code]


def timed_spans(observer: Recorder) -> list[list[Update]]:
    """Return the updates between start and end of each block."""
    spans: list[list[Update]] = []
    inside: list[Update] | None = None
    for update in observer.updates:
        if isinstance(update, BlockStarted):
            inside = []
        elif isinstance(update, BlockFinished):
            assert inside is not None
            spans.append(inside)
            inside = None
        elif inside is not None:
            inside.append(update)
    return spans
