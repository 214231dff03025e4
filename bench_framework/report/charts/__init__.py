"""The charts, one per file: the data of the figure, and its drawing on given Axes.

The data of charts that only one feature uses are in the feature. No chart imports matplotlib.
"""

from collections.abc import Callable, Mapping
from typing import Any

Axes = Any
"""A matplotlib Axes. The type is `Any`, because only ``report.figures`` may import matplotlib."""
Scale = Callable[[float], float]
"""The place of a value on a drawing, in units."""
Palette = Mapping[str, str]
"""Colour of each token (`report.palette`)."""
