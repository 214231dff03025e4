"""``benchctl import``: results of another tool, or a table of published figures, as a record."""

from typing import Final

from bench_framework.registry import Registry

FILE: Final = "imported.json"
"""File of an imported set, in place of plan and journal."""


def register(registry: Registry) -> None:
    """Add the command and the kind of record."""
    registry.command("Inspect", "import", f"{__name__}.command:import_files")
    registry.record_kind("imported", f"{__name__}.record_kind:load", file=FILE)
