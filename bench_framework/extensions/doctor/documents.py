"""The documents that `doctor` prints with ``--json``."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench_framework.execution.machine.checks import MachineCheck
from bench_framework.execution.machine.settings import QuietMachine
from bench_framework.extensions.doctor.noise import (
    CONFIDENCE_OF_BOUNDS,
    NoiseFindings,
    NoiseProgram,
)
from bench_framework.extensions.doctor.noise_rates import DetectionRate, Floor, Rate


@dataclass(frozen=True, slots=True)
class ChecksDocument:
    """The result of `doctor`."""

    checks: tuple[MachineCheck, ...]


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
    false_verdicts_relabelled: Rate
    false_verdicts_as_measured: Rate
    programs: Mapping[str, NoiseProgram]
    noise_floors: tuple[Floor, ...]
    injected: tuple[DetectionRate, ...]


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
        false_verdicts_relabelled=summary.relabelled,
        false_verdicts_as_measured=summary.as_measured,
        programs=findings.programs,
        noise_floors=summary.floors,
        injected=summary.detection_rates,
    )
