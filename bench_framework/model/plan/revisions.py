"""Commits of a crate, and the two revisions that a plan compares. Immutable, no I/O."""

from dataclasses import dataclass
from typing import Final

MERGE_BASE: Final = "merge-base"
"""Name of a base: the commit at which the head branched off the main branch."""
WORKING_TREE: Final = "working tree"
_SHORT: Final = 7


def short_name(commit: str | None) -> str:
    """Return a commit as reports print it; `None` is the working tree."""
    return commit[:_SHORT] if commit is not None else WORKING_TREE


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with its full id. `date` is the author's, in ISO 8601."""

    id: str
    """Full id of the commit."""
    parents: tuple[str, ...]
    """Ids of its parents."""
    author: str
    """Name of the author."""
    date: str
    """Time of the author, ISO 8601."""
    subject: str
    """First line of its message."""

    @property
    def short(self) -> str:
        """The id as reports print it."""
        return short_name(self.id)


@dataclass(frozen=True, slots=True)
class Revisions:
    """The two revisions of a plan, which replace the revision of its scenario."""

    base: str
    head: str | None
    """Full id of the other commit, `None` for the files in the working tree."""
    clean: str = ""
    """Full id of the commit that the working tree contains without changes, if it is compared; otherwise empty."""

    @property
    def commit(self) -> str | None:
        """Full id of the other commit, `None` for a working tree with changes."""
        return self.head or self.clean or None

    @property
    def names(self) -> tuple[str, str]:
        """Base and head as reports print them."""
        return short_name(self.base), short_name(self.commit)

    @property
    def words(self) -> tuple[str, ...]:
        """The options of ``benchctl run`` that select these revisions."""
        return ("--base", self.base, *(("--head", self.head) if self.head is not None else ()))
