"""Frozen dataclasses with fields that have one text each, such as the kind of a fact."""

from dataclasses import dataclass
from typing import Literal


def make_frozen(cls: type, **texts: str) -> None:
    """Make a class a frozen dataclass that begins with fields of these texts; empty ones are left out."""
    texts = {name: text for name, text in texts.items() if text}
    for name, text in texts.items():
        setattr(cls, name, text)
    kinds = {name: Literal[text] for name, text in texts.items()}
    cls.__annotations__ = {**kinds, **cls.__annotations__}
    dataclass(frozen=True, kw_only=True)(cls)
