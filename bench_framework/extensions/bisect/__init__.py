"""``benchctl bisect``: find the commit that made a program slower."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the command."""
    registry.command("CI", "bisect", f"{__name__}.command:bisect")
