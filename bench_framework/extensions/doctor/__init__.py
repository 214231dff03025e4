"""``benchctl doctor``: check the machine and change settings that disturb measurements."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the command and its document."""
    registry.command("Machine", "doctor", f"{__name__}.command:doctor")
    registry.document("doctor", f"{__name__}.documents:DoctorDocument")
