"""The base class of facts."""

from dataclasses import dataclass
from typing import Literal, dataclass_transform


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Fact:
    """A statement with typed fields and no words. Each kind is a subclass, and a frozen dataclass.

    Attributes:
        kind: the kind of its claims. Of several facts of one kind, each has another `form`.
    """

    kind: str

    def __init_subclass__(cls, kind: str = "", form: str = "") -> None:
        """Make the subclass a dataclass that begins with the given fields."""
        names = {name: value for name, value in (("kind", kind), ("form", form)) if value}
        for name, value in names.items():
            setattr(cls, name, value)
        first = {name: Literal[value] for name, value in names.items()}
        cls.__annotations__ = {**first, **cls.__annotations__}
        dataclass(frozen=True, kw_only=True)(cls)
