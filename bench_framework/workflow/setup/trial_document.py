"""The document of `benchctl try --json`."""

from dataclasses import dataclass

from bench_framework.workflow.setup.trial import Trials, refusals, warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDocument:
    """The only run of a configuration."""

    id: str
    """Id of the configuration."""
    label: str
    """Label of the configuration."""
    input: str
    """Label of the input."""
    command: tuple[str, ...]
    """The command with its arguments."""
    same_build: bool
    """False if it has a build of its own, and ran that of the baseline."""
    status: str
    """``ok``, or how it failed."""
    message: str | None
    """Cause of a failure; null if it succeeded."""
    exit_code: int | None
    """Exit code of the program; null if it did not end."""
    seconds: float | None
    """Duration of the run with that of its server; 0 if it could not be started."""
    peak_bytes: int | None
    """Peak memory; null if it is not known."""
    output_bytes: int | None
    """Size of its output; null without one."""
    answer: str | None
    """Digest of what is compared."""
    compared_bytes: int | None
    """Size of what is compared; null if nothing is."""


@dataclass(frozen=True, slots=True)
class ProblemDocument:
    """An error or a warning."""

    code: str
    """Code of the error or warning (docs/reference/codes.md)."""
    message: str
    """The error or warning in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsDocument:
    """The result of `try`."""

    scenario: str
    """Name of the scenario."""
    round_s: float | None
    """Estimated duration of a round, in seconds."""
    rounds_needed: int | None
    """Rounds until the first planned interim analysis, with the warm-up; null without verdicts."""
    trials: tuple[TrialDocument, ...]
    """The run of each configuration."""
    errors: tuple[ProblemDocument, ...]
    """Problems that `run` would refuse."""
    warnings: tuple[ProblemDocument, ...]
    """Problems that `run` would only report."""


def trials_document(trials: Trials) -> TrialsDocument:
    """Return the document of `benchctl try --json`."""
    return TrialsDocument(
        scenario=trials.plan.name,
        round_s=trials.round_s,
        rounds_needed=trials.rounds_needed,
        trials=tuple(
            TrialDocument(
                id=t.cell.id,
                label=t.cell.label,
                input=trials.plan.input(t.cell.input_id).label,
                command=tuple(t.target.argv),
                same_build=t.same_build,
                status="ok" if t.ok else t.run.status if t.output.error is None else "failed",
                message=None if t.ok else t.failure,
                exit_code=t.run.finished.exit_code if t.run.finished else None,
                seconds=t.seconds,
                peak_bytes=t.peak_bytes,
                output_bytes=t.output.printed.size_bytes,
                answer=t.output.answer.digest if t.output.answer else None,
                compared_bytes=t.output.compared.size_bytes,
            )
            for t in trials.trials
        ),
        errors=tuple(ProblemDocument(e.code, e.message) for e in refusals(trials)),
        warnings=tuple(ProblemDocument(e.code, e.message) for e in warnings(trials)),
    )
