"""``benchctl bisect``: find the commit that made a program slower."""

from bench_framework.registry import Registry


def register(registry: Registry) -> None:
    """Add the command and its document."""
    registry.command("CI", "bisect", f"{__name__}.command:bisect")
    registry.document("bisect", f"{__name__}.model:AnyBisect")
