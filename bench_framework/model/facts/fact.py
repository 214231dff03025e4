"""The base class of facts."""

from typing import dataclass_transform

from bench_framework.model.fixed_texts import make_frozen


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Fact:
    """A statement with typed fields and no words. Each kind is a subclass, and a frozen dataclass.

    Attributes:
        kind: the kind of its claims. Of several facts of one kind, each has another `form`.
    """

    kind: str

    def __init_subclass__(cls, kind: str = "", form: str = "") -> None:
        """Make the subclass a dataclass."""
        make_frozen(cls, kind=kind, form=form)
