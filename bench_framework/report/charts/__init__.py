"""One chart per file. Each draws on the Axes it is given and imports no drawing library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Axes = Any
"""A matplotlib Axes: named `Any`, as only ``report.figures`` may import the library."""
Palette = Mapping[str, str]
"""Token to colour (`report.palette`)."""
