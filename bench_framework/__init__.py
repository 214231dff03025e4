"""Benchmark framework for Rust programs, and its notebook API.

Example: ``import bench_framework as bf; bf.load("@last").runs``. The import is cheap: the functions
are loaded from `bench_framework.notebook` on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bench_framework.version import __version__

if TYPE_CHECKING:
    from bench_framework.notebook import concat, figures, history, load, plot, table

__all__ = ["__version__", "concat", "figures", "history", "load", "plot", "table"]

if not TYPE_CHECKING:  # type checkers read the imports above

    def __getattr__(name: str) -> Any:
        """Return a function of the notebook API (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.notebook"), name)
