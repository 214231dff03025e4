"""``benchctl bisect``: find the commit that made a program slower."""

from typing import Literal

from bench_framework.registry import Registry

Find = Literal["regression", "improvement"]
"""The changes that a search can find. The command reads it here, because the model is slow to import."""


def register(registry: Registry) -> None:
    """Add the command and its document."""
    registry.command("CI", "bisect", f"{__name__}.command:bisect")
    registry.document("bisect", f"{__name__}.model:AnyBisect")
