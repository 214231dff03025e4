"""The documents that `doctor` prints with ``--json``."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench_framework.execution.machine.checks import MachineCheck
from bench_framework.execution.machine.settings import QuietMachine
from bench_framework.extensions.doctor.noise import CONFIDENCE_OF_BOUNDS, NoiseFindings
from bench_framework.extensions.doctor.noise_rates import Floor, Rate
from bench_framework.model.plan.policies import Metric


@dataclass(frozen=True, slots=True)
class ChecksDocument:
    """The result of `doctor`."""

    checks: tuple[MachineCheck, ...]


@dataclass(frozen=True, slots=True)
class RateDocument:
    """A rate with its one-sided bounds."""

    count: int
    tries: int
    at_most: float
    at_least: float


@dataclass(frozen=True, slots=True)
class NoiseProgram:
    """A program that was measured."""

    about: str
    control_is_a_copy: bool
    """False if the A/A control ran the same file."""


@dataclass(frozen=True, slots=True)
class InjectedSlowdown:
    """The windows in which a slower copy of a program was detected."""

    program: str
    effect: float
    """Additional work, as a fraction."""
    found: RateDocument
    """Detections by any metric."""
    found_on: Mapping[Metric, RateDocument]
    estimate: Mapping[Metric, float]
    """Median over the windows of the typical change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseDocument:
    """The result of `doctor --aa`. Rates are fractions."""

    windows: int
    rounds_per_window: int
    cpus: str | None
    """CPUs that the programs were pinned to; null for all."""
    elapsed_s: float
    interrupted: bool
    failure: str | None
    exit_code: int
    level: float
    confidence: float
    """Confidence of the bounds of rates."""
    refuted: bool
    """True if there are significantly more false positives than the level allows."""
    false_verdicts_relabelled: RateDocument
    false_verdicts_as_measured: RateDocument
    programs: Mapping[str, NoiseProgram]
    noise_floors: tuple[Floor, ...]
    injected: tuple[InjectedSlowdown, ...]


DoctorDocument = ChecksDocument | QuietMachine | NoiseDocument


def noise_document(findings: NoiseFindings) -> NoiseDocument:
    """Return the document of `doctor --aa --json`."""
    summary = findings.summary
    return NoiseDocument(
        windows=findings.windows,
        rounds_per_window=findings.rounds,
        cpus=findings.cpus,
        elapsed_s=findings.elapsed_s,
        interrupted=findings.interrupted,
        failure=str(findings.failure) if findings.failure else None,
        exit_code=findings.exit_code,
        level=summary.level,
        confidence=CONFIDENCE_OF_BOUNDS,
        refuted=summary.refuted,
        false_verdicts_relabelled=_rate(summary.relabelled),
        false_verdicts_as_measured=_rate(summary.as_measured),
        programs={
            name: NoiseProgram(about, findings.copied[name])
            for name, about in findings.programs.items()
        },
        noise_floors=summary.floors,
        injected=tuple(
            InjectedSlowdown(
                slowdown.program,
                slowdown.effect,
                _rate(slowdown.either),
                {metric: _rate(share) for metric, share in slowdown.on.items()},
                slowdown.estimate,
            )
            for slowdown in summary.detection_rates
        ),
    )


def _rate(rate: Rate) -> RateDocument:
    return RateDocument(rate.count, rate.tries, rate.upper, rate.lower)
