"""The charts, one per file. Each draws on given Axes and does not import matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Axes = Any
"""A matplotlib Axes. The type is `Any`, because only ``report.figures`` may import matplotlib."""
Palette = Mapping[str, str]
"""Colour of each token (`report.palette`)."""
