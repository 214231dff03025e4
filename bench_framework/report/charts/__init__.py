"""The charts, one per file: the data of the figure, and its drawing on given Axes.

The data of charts that only one feature uses are in the feature. No chart imports matplotlib.

A drawing has sentinels as colours, which tokens of the page or fixed light colours replace. The
series colours have a contrast of at least 3:1 on both backgrounds, as graphical marks need. They
also differ in lightness, so that they are distinct in print and for most readers with a colour
vision deficiency.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from bench_framework.model.verdict import Verdict

Axes = Any
"""A matplotlib Axes. The type is `Any`, because only ``report.figures`` may import matplotlib."""
Scale = Callable[[float], float]
"""The place of a value on a drawing, in units."""
Palette = Mapping[str, str]
"""Colour of each token."""

_PALETTE: Final = {
    "ground": ("#ffffff", "#14171c"),
    "ink": ("#1b1f24", "#e6e9ee"),
    "muted": ("#59636e", "#9da7b3"),
    "rule": ("#d5dae1", "#353b45"),
    "band": ("#e8ebf0", "#262b34"),
    "accent": ("#0b5cad", "#6cb6ff"),
    "alert": ("#b3400c", "#ff9a66"),
    "series-1": ("#0b5cad", "#6cb6ff"),
    "series-2": ("#b3400c", "#ff9a66"),
    "series-3": ("#7a3e9d", "#d2a8ff"),
    "series-4": ("#0f7a5f", "#4fc3a1"),
    "series-5": ("#8a6100", "#e3b341"),
    "series-6": ("#59636e", "#9da7b3"),
}
"""Light and dark colour of each token."""
LIGHT: Final = {token: light for token, (light, _) in _PALETTE.items()}
DARK: Final = {token: dark for token, (_, dark) in _PALETTE.items()}
SENTINELS: Final[dict[str, str]] = {
    token: f"#fe{number:02x}fd" for number, token in enumerate(LIGHT, start=1)
}
"""Sentinel colour of each token in the drawing. No chart uses these colours directly."""


LESS: Final = "accent"
MORE: Final = "alert"
OTHER: Final = "muted"
"""Colours of better, of worse, and of every other verdict, as tokens."""


def token(verdict: Verdict | None) -> str:
    """Return the colour of a verdict as a token. Colour is never the only sign: see `glyph`."""
    return {Verdict.BETTER: LESS, Verdict.WORSE: MORE}.get(verdict, OTHER) if verdict else OTHER


BADGES: Final[dict[str, str]] = {
    **{v.value: token(v) for v in Verdict if v.decided or v is Verdict.EQUIVALENT},
    **dict.fromkeys(("failed", "other-output", "not-comparable"), "series-3"),
}
"""Token of the background of verdict codes in a table of a notebook, whose page can be light or dark.

The background is the light colour, and the text is white. All other codes have no background.
"""
SERIES: Final = ("series-3", "series-4", "series-5", "series-1", "series-2", "series-6")
"""Colours of series without a direction. Blue and orange, which have one, come late."""
