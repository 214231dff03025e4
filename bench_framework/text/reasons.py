"""The words of reasons, from ``reasons.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from bench_framework.model.reasons import Reason, ReasonCode

FILE: Final = Path(__file__).with_name("reasons.toml")


@cache
def phrases() -> Mapping[ReasonCode, str]:
    """Return the phrase of each code. Raises `ValueError`: the file has an unknown code."""
    with FILE.open("rb") as file:
        return {ReasonCode(code): text for code, text in tomllib.load(file).items()}


def phrase(reason: Reason | None) -> str:
    """Return a reason in lower case without a full stop; empty without one."""
    if reason is None:
        return ""
    text = phrases()[reason.code]
    if reason.place and "{place}" not in text:
        text = f"{{place}}: {text}"
    return text.format(place=reason.place, detail=reason.detail)
