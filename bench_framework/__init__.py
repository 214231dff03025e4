"""Benchmark framework for Rust programs, and its notebook API.

Example: ``import bench_framework as bf; bf.load("@last").runs``. The import is cheap: the functions
are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bench_framework.version import __version__

if TYPE_CHECKING:
    from bench_framework.notebook import concat, figures, load, plot, table

__all__ = ["__version__", "concat", "figures", "load", "plot", "table"]


def __getattr__(name: str) -> Any:
    """Return a function of the notebook API (PEP 562), which an extension may add."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.notebook"), name)
    from bench_framework.registry import registry  # noqa: PLC0415 -- only for functions of extensions

    if (
        name.startswith("_")
        or (target := registry().targets("notebook function").get(name)) is None
    ):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return target.load()


def __dir__() -> list[str]:
    """Return the names of the notebook API, with those of extensions."""
    from bench_framework.registry import registry  # noqa: PLC0415

    return [*__all__, *registry().targets("notebook function")]
