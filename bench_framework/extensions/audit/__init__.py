"""``benchctl audit``: check the comparative statements of a published report."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the command and its document."""
    registry.command("Inspect", "audit", f"{__name__}.command:audit")
    registry.document("audit", f"{__name__}.report:AuditDocument")
