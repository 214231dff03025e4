"""The formats of `benchctl export`, those of extensions included. It imports nothing heavy."""

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from typing import Any, Final

from bench_framework.registry import registry

CORE: Final = (
    "parquet",
    "jsonl",
    "csv-long",
    "benchstat",
    "bmf",
    "github-action-benchmark",
    "hyperfine",
    "latex",
    "openmetrics",
)
"""The formats of the core. The function of each is in `features.export`, with ``_`` in place of ``-``."""


@cache
def export_formats() -> Mapping[str, str]:
    """Return the place ``MODULE:NAME`` of the function that writes each format.

    The function takes an `ExportTable` and returns text, or bytes if the format is not text.
    """
    module = "bench_framework.features.export"
    formats = {name: f"{module}:{name.replace('-', '_')}" for name in CORE}
    additions = registry().additions("exporter", formats)
    return formats | {target.name: target.place for target in additions}


def exporter(name: str) -> Any:
    """Return the function that writes a format of `export_formats`."""
    return resolve_name(export_formats()[name])
