"""A set of imported sessions, and its plan. Immutable, no I/O."""

from dataclasses import dataclass

from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, JudgePolicy, MeasurePolicy
from bench_framework.model.record.sessions import HarnessSession, SessionCommand
from bench_framework.text.reasons import phrase_of


@dataclass(frozen=True, slots=True)
class Imported:
    """A set of sessions, stored in ``imported.json``."""

    schema_version: int
    record_id: str
    name: str
    imported_at: str
    """Time of the import, UTC, ISO 8601. The time of the measurement is unknown."""
    benchctl: str
    baseline: str
    """Label of the command that others are compared with in each session that has it."""
    sessions: tuple[HarnessSession, ...]

    @property
    def commands(self) -> dict[str, tuple[HarnessSession, SessionCommand]]:
        """Each command with its session, by cell id."""
        return {cell_id(s, command): (s, command) for s in self.sessions for command in s.commands}


def cell_id(session: HarnessSession, command: SessionCommand) -> str:
    """Return twelve hex digits derived from the digest of the file and the command's label."""
    return stable_id("imported", session.sha256, command.label)


def plan_of(imported: Imported) -> Plan:
    """Return a plan of the set, not to be run: commands are variants, sessions are inputs."""
    labels = list(dict.fromkeys(c.label for session in imported.sessions for c in session.commands))
    variants = {label: Variant(label, (("command", label),), None) for label in labels}
    inputs = tuple(Input(s.label, (("session", s.label),), None) for s in imported.sessions)
    cells = tuple(
        Cell(
            cell_id(session, command),
            variants[command.label].id,
            item.id,
            command.label,
            Role.BASELINE if command.label == imported.baseline else Role.CANDIDATE,
            (),
        )
        for session, item in zip(imported.sessions, inputs, strict=True)
        for command in session.commands
    )
    axes = (
        Axis("command", "run", tuple(AxisValue(label, label) for label in labels)),
        Axis("session", "input", tuple(AxisValue(item.label, item.label) for item in inputs)),
    )
    return Plan(
        name=imported.name,
        question=phrase_of(ExtensionCode.IMPORTED_QUESTION),
        scenario_path="",
        scenario_sha256="",
        axes=axes,
        builds=(),
        variants=tuple(variants.values()),
        inputs=inputs,
        cells=cells,
        holes=(),
        baseline_id=variants[imported.baseline].id,
        further_baselines=(),
        experiments=(),
        program=None,
        answer=AnswerPolicy("none"),
        measure=MeasurePolicy(),
        judge=JudgePolicy(metrics=max((s.timed for s in imported.sessions), key=len)),
    )
