"""The decision of a script about a change of a program: keep it, discard it, or measure more. No I/O."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, Literal, Self

from bench_framework.model.verdict import Verdict

Decision = Literal["keep", "discard", "more-data"]


class ChangeKind(IntEnum):
    """How a candidate differs from its reference. Of several comparisons, the largest one decides."""

    SAME = 0
    """It is equivalent within the margin, or the same program."""
    NOT_WORSE = 1
    """It is not worse than tolerated. Whether it is better is not known."""
    BETTER = 2
    """It is significantly better."""
    OPEN = 3
    """It could be better or worse."""
    WORSE = 4
    """It is significantly worse, or its output differs."""
    FAILED = 5
    """It could not be compared."""

    @property
    def decision(self) -> Decision | None:
        """The word for it; `None` if nothing could be compared."""
        return _DECISIONS.get(self)

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Self:
        """Return the change that one verdict shows."""
        if verdict in (Verdict.FAILED, Verdict.NOT_COMPARABLE, Verdict.EXCLUDED):
            return cls.FAILED
        if verdict.worse or verdict is Verdict.OTHER_OUTPUT:
            return cls.WORSE
        if verdict.better:
            return cls.BETTER
        return cls.SAME if verdict is Verdict.EQUIVALENT else cls.OPEN


_DECISIONS: Final[Mapping[ChangeKind, Decision]] = MappingProxyType(
    {
        ChangeKind.SAME: "discard",
        ChangeKind.NOT_WORSE: "more-data",
        ChangeKind.BETTER: "keep",
        ChangeKind.OPEN: "more-data",
        ChangeKind.WORSE: "discard",
    }
)
