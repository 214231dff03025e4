"""Frozen dataclasses with fields that have one text each, such as the kind of a fact."""

from dataclasses import dataclass
from typing import Literal


def make_frozen(cls: type, *, last: bool = False, **texts: str) -> None:
    """Make a class a frozen dataclass with fields of these texts; empty ones are left out.

    They are the first fields of keywords, or `last` after the fields that it has.
    """
    texts = {name: text for name, text in texts.items() if text}
    for name, text in texts.items():
        setattr(cls, name, text)
    kinds = {name: Literal[text] for name, text in texts.items()}
    others = cls.__annotations__
    cls.__annotations__ = {**others, **kinds} if last else {**kinds, **others}
    dataclass(frozen=True, kw_only=not last)(cls)
