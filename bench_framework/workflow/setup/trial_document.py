"""The document of `benchctl try --json`."""

from dataclasses import dataclass

from bench_framework.workflow.setup.trial import Trials, refusals, warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDocument:
    """The only run of a configuration."""

    id: str
    label: str
    input: str
    """Label of the input."""
    command: tuple[str, ...]
    same_build: bool
    """False if it has a build of its own, and ran that of the baseline."""
    status: str
    """``ok``, or how it failed."""
    message: str | None
    exit_code: int | None
    seconds: float | None
    peak_bytes: int | None
    output_bytes: int | None
    answer: str | None
    """Digest of what is compared."""
    compared_bytes: int | None


@dataclass(frozen=True, slots=True)
class ProblemDocument:
    """An error or a warning."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsDocument:
    """The result of `try`."""

    scenario: str
    round_s: float | None
    """Estimated duration of a round, in seconds."""
    rounds_needed: int | None
    trials: tuple[TrialDocument, ...]
    errors: tuple[ProblemDocument, ...]
    warnings: tuple[ProblemDocument, ...]


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
