"""The documents that `doctor` prints with ``--json``."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench_framework.execution.machine.checks import MachineCheck
from bench_framework.execution.machine.settings import QuietMachine
from bench_framework.extensions.doctor.noise_rates import NoiseSummary


@dataclass(frozen=True, slots=True)
class ChecksDocument:
    """The result of `doctor`."""

    checks: tuple[MachineCheck, ...]
    """The checks in their order."""


@dataclass(frozen=True, slots=True)
class NoiseProgram:
    """A program that was measured."""

    about: str
    """Description of the program."""
    control_is_a_copy: bool
    """False if the A/A control ran the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseDocument(NoiseSummary):
    """The result of `doctor --aa`, complete or until it was stopped. Rates are fractions."""

    windows: int
    """Number of measured windows."""
    rounds_per_window: int
    """Number of rounds of a window."""
    cpus: str | None
    """CPUs that the programs were pinned to; null for all."""
    elapsed_s: float
    """Duration in seconds."""
    interrupted: bool
    """True if it was stopped before its end."""
    failure: str | None
    """The error that ended it early."""
    exit_code: int
    """Exit code of the command."""
    confidence: float
    """Confidence of the bounds of rates."""
    programs: Mapping[str, NoiseProgram]
    """The measured programs by name."""


DoctorDocument = ChecksDocument | QuietMachine | NoiseDocument
