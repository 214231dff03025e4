"""Two revisions of one crate, compared cell by cell. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MERGE_BASE: Final = "merge-base"
"""In place of a base: the commit at which the head left the main branch."""
WORKING_TREE: Final = "working tree"
_SHORT: Final = 7


@dataclass(frozen=True, slots=True)
class Revisions:
    """What a plan was built at, instead of the one revision that its scenario names.

    Attributes:
        base: full id of the commit that is compared with.
        head: full id of the other commit; `None`: the files as they lay in the working tree.
        asked: how the base was named.
    """

    base: str
    head: str | None
    asked: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """Base and head as readers are told."""
        return self.base[:_SHORT], self.head[:_SHORT] if self.head is not None else WORKING_TREE

    @property
    def words(self) -> tuple[str, ...]:
        """The options of ``benchctl run`` that mean these revisions."""
        return ("--base", self.base, *(("--head", self.head) if self.head is not None else ()))
