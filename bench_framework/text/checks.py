"""The texts of the checks of the machine, from ``checks.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("checks.toml")
_PARTS: Final = ("figure", "meaning", "fix")


@cache
def table() -> Mapping[str, Any]:
    """Return the content of the file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def text_of(check: str, name: str, **values: object) -> str:
    """Return a text of a check that is not of one of its results; empty if it has none."""
    return str(table().get(check, {}).get(name, "")).format(**values)


def texts_of(key: str, **values: object) -> tuple[str, str, str]:
    """Return figure, meaning and fix of a result such as ``load.high``."""
    check, _, case = key.partition(".")
    texts = table()["check"].get(case, {}) | table()[check][case]
    figure, meaning, fix = (texts.get(part, "").format(**values) for part in _PARTS)
    return figure, meaning, fix
