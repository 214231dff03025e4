"""The self-test of a gate or suite: gates of a base against copies of it, equal and slower ones. Immutable, no I/O."""

import statistics
from dataclasses import dataclass
from typing import Final, Literal, get_args

TrialState = Literal["failed", "worse", "not-judged", "passed"]
TestOutcome = Literal["failed", "missed", "false-alarm", "not-judged", "passed"]
OUTCOMES: Final[tuple[TestOutcome, ...]] = get_args(TestOutcome)
STATES: Final[tuple[TrialState, ...]] = get_args(TrialState)
"""The order of outcomes and states: the first one of several is that of all together."""
MEASURED_PART: Final = 0.5
"""A gate that passed and measured less than this part of a slowdown did not measure the copy that was slowed down."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One gate of a base against copies of it."""

    share: float
    """Slowdown of the copies as a share of their own time; 0 for equal programs."""
    state: TrialState
    """Result of the gate."""
    worse: int
    """Number of configurations that the gate found to be worse."""
    configurations: int
    """Number of gated configurations."""
    growth: float | None
    """Median over the configurations of the measured increase of the main metric; null without an estimate."""
    seconds: float
    """Duration of the gate."""
    record: str
    """Id of its record."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The trials of a gate."""

    scenario: str
    scenario_sha256: str
    only: str
    """The filter of its configurations."""
    share: float
    """Slowdown that the gate must find."""
    margin: float
    """Tolerated growth of its main metric."""
    level: float
    """Its error rate."""
    trials: tuple[Trial, ...]

    def trials_of(self, share: float) -> tuple[Trial, ...]:
        """Return the trials with a slowdown."""
        return tuple(trial for trial in self.trials if trial.share == share)

    def count(self, share: float, *states: TrialState) -> int:
        """Return the number of trials with a slowdown in some states."""
        return sum(trial.state in states for trial in self.trials_of(share))

    @property
    def smallest(self) -> float | None:
        """The smallest slowdown that every trial found, as all larger ones; `None` if there is not one."""
        smallest = None
        for share in sorted({t.share for t in self.trials if t.share}, reverse=True):
            if self.count(share, "worse") < len(self.trials_of(share)):
                break
            smallest = share
        return smallest

    @property
    def missed(self) -> float | None:
        """The largest slowdown that a trial did not find; `None` if there is not one."""
        return max((t.share for t in self.trials if t.share and t.state != "worse"), default=None)

    @property
    def seconds(self) -> float:
        """The time of all trials."""
        return sum(trial.seconds for trial in self.trials)

    @property
    def unseen(self) -> float | None:
        """Increase that gates measured that passed the slower copy, if it is less than `MEASURED_PART` of the share."""
        passed = (trial for trial in self.trials_of(self.share) if trial.state == "passed")
        growths = [trial.growth for trial in passed if trial.growth is not None]
        growth = statistics.median(growths) if growths else None
        return growth if growth is not None and growth < MEASURED_PART * self.share else None

    @property
    def outcome(self) -> TestOutcome:
        """The first one of `OUTCOMES` that happened."""
        happened: dict[TestOutcome, bool] = {
            "failed": self.unseen is not None or any(t.state == "failed" for t in self.trials),
            "missed": self.count(self.share, "passed") > 0,
            "false-alarm": self.count(0.0, "worse") > 0,
            "not-judged": any(self.count(s, "not-judged") for s in (0.0, self.share)),
        }
        return next((outcome for outcome in OUTCOMES if happened.get(outcome)), "passed")


@dataclass(frozen=True, slots=True)
class SuiteSelfTest:
    """The self-tests of the scenarios of a suite, each with its share of the error rate and of the budget."""

    tests: tuple[SelfTest, ...]

    @property
    def outcome(self) -> TestOutcome:
        """The first one of `OUTCOMES` that a scenario has."""
        outcomes = [test.outcome for test in self.tests]
        return next(outcome for outcome in OUTCOMES if outcome in outcomes)

    @property
    def seconds(self) -> float:
        """The time of all trials."""
        return sum(test.seconds for test in self.tests)

    @property
    def alarms(self) -> tuple[int, int]:
        """The number of suites of equal programs that failed, and of those that judged."""
        states = self.equal()
        failed = states.count("worse")
        return failed, failed + states.count("passed")

    def equal(self) -> tuple[TrialState, ...]:
        """Return the result of each suite of equal programs: the n-th trials of all scenarios are one suite.

        A scenario that failed had fewer trials, and later suites are not complete.
        """
        trials = zip(*(test.trials_of(0.0) for test in self.tests), strict=False)
        states = [{trial.state for trial in suite} for suite in trials]
        return tuple(next(s for s in STATES if s in suite) for suite in states)
