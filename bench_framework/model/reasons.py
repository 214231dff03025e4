"""Reasons for a missing verdict, a state or a stop, as data. `text.reasons` has their words.

Records store the codes. Decisions compare reasons, never their words, so that a better wording
changes no result of a stored record.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from bench_framework.model.verdict import Interval


class ReasonCode(StrEnum):
    """The code of a reason, as stored in records."""

    # The state of a configuration.
    MESSAGE = "message"
    ERROR = "error"
    FIX = "fix"
    LIST = "list"
    BUILD_FAILED = "build-failed"
    RUN_FAILED = "run-failed"
    TIMED_OUT = "timed-out"
    FAILED_IN_WARM_UP = "failed-in-warm-up"
    FAILED_IN_ROUNDS = "failed-in-rounds"
    BASELINE_FAILED = "baseline-failed"
    ALSO_FAILED = "also-failed"
    NAMED_FAILURE = "named-failure"
    OF_BASELINE = "of-baseline"
    OF_REFERENCE = "of-reference"
    MODE_DIFFERS = "mode-differs"
    AXIS_DIFFERS = "axis-differs"
    CACHE_NOT_VERIFIED = "cache-not-verified"
    NOT_CHECKED = "not-checked"
    OTHER_OUTPUT = "other-output"
    ANSWER_DIFFERS = "answer-differs"
    IN_ROUNDS = "in-rounds"
    NO_ROUND = "no-round"
    NOT_STARTED = "not-started"
    NOT_COMPARED = "not-compared"
    NOTHING_TO_COMPARE = "nothing-to-compare"
    SINGLE_RUN = "single-run"
    NO_DIFFERENCE = "no-difference"
    CONTROL_FAILED = "control-failed"
    NO_INTERVAL = "no-interval"
    NOT_MEASURED = "not-measured"

    # A combination that is not in the plan.
    UNSELECTED = "unselected"
    PAIRED_AXES = "paired-axes"
    SEVERAL_AXES = "several-axes"
    NO_STEP = "no-step"
    EXCLUDED = "excluded"
    EXCLUDED_VALUES = "excluded-values"
    MEANINGLESS = "meaningless"
    UNAVAILABLE = "unavailable"
    BOUND_OF_REVISIONS = "bound-of-revisions"
    EXPERIMENT_OF_REVISIONS = "experiment-of-revisions"
    NOT_BUILT = "not-built"
    RELEASED_CRATE = "released-crate"
    BUNDLED_WORKER = "bundled-worker"
    AT_TWO_REVISIONS = "at-two-revisions"
    NO_BUILD = "no-build"
    AXIS_OF_REVISIONS = "axis-of-revisions"
    BENCH_ON_ONE_SIDE = "bench-on-one-side"

    # A configuration that leaves early.
    RACED = "raced"
    IDLE = "idle"

    # A remark on a summary.
    OUTLIERS = "outliers"
    UNTIMED = "untimed"

    # A comparison without a verdict.
    ONE_PROGRAM = "one-program"
    REACHES_ONE = "reaches-one"
    UNSTABLE = "unstable"
    DIFFERS_LATER = "differs-later"
    EQUAL_RATIOS = "equal-ratios"
    CONTROL_DIFFERS = "control-differs"
    TOO_SMALL = "too-small"
    TOO_FEW_ROUNDS = "too-few-rounds"
    TOO_FEW_FOR_ANY_VERDICT = "too-few-for-any-verdict"
    TOO_FEW_FOR_COMPARISONS = "too-few-for-comparisons"
    TOO_FEW_FOR_CONTRASTS = "too-few-for-contrasts"
    TOO_FEW_RUNS = "too-few-runs"
    TOO_FEW_RUNS_FOR_COMPARISONS = "too-few-runs-for-comparisons"
    TOO_FEW_IN_RECORD = "too-few-in-record"
    MIXED_RANKS = "mixed-ranks"
    MIXED_LOOKS = "mixed-looks"
    NOT_POOLED = "not-pooled"
    BEFORE_FIRST = "before-first"
    NO_COMMON_ROUND = "no-common-round"
    UNKNOWN_METRIC = "unknown-metric"
    NOT_COUNTED = "not-counted"
    NOT_VISIBLE = "not-visible"
    ZERO_COUNT = "zero-count"
    COUNTS_VARY = "counts-vary"
    UNREADABLE_METRIC = "unreadable-metric"

    # An input without effects of the axes.
    NOT_CROSSED = "not-crossed"
    BASELINE_WITHOUT_FIGURES = "baseline-without-figures"
    TOO_MANY_LEVELS = "too-many-levels"
    TOO_MANY_MISSING = "too-many-missing"
    FEW_COMPLETE_ROUNDS = "few-complete-rounds"

    # Figures of another harness.
    RUNS_FAILED = "runs-failed"
    OWN_RUNS_FAILED = "own-runs-failed"
    NO_FIGURE = "no-figure"
    NO_SPREAD = "no-spread"
    ZERO_SPREAD = "zero-spread"
    UNDETECTABLE = "undetectable"
    BASELINE_NOT_IN_FILE = "baseline-not-in-file"

    # Two records.
    OTHER_CONDITIONS = "other-conditions"
    IN_RECORD = "in-record"
    OTHER_INPUT = "other-input"
    OTHER_ANSWER = "other-answer"
    NO_ANCHOR = "no-anchor"
    ANCHOR_MOVED = "anchor-moved"
    ANCHOR_UNCERTAIN = "anchor-uncertain"
    ANCHOR_UNUSABLE = "anchor-unusable"
    ONE_ANCHOR = "one-anchor"
    SOME_ANCHORS = "some-anchors"
    CHANGE = "change"
    LARGEST_CHANGE = "largest-change"

    # A record that is not in a history or a site.
    MEASURED_AGAIN = "measured-again"
    OTHER_MACHINE = "other-machine"
    NOT_IN_HEAD = "not-in-head"
    UNFINISHED = "unfinished"
    DAMAGED = "damaged"
    MANIFEST_UNREADABLE = "manifest-unreadable"

    # A step of a bisection.
    SAME_CODE = "same-code"
    NOT_COMPARABLE = "not-comparable"
    NOT_AVAILABLE = "not-available"

    # A scenario of a suite that is skipped, or measured again.
    UNAFFECTED = "unaffected"
    ONLY_OTHERS_CHANGED = "only-others-changed"
    OTHER_SCENARIO = "other-scenario"
    OTHER_PROGRAMS = "other-programs"
    OTHER_CHANGES = "other-changes"
    RECORD_REMOVED = "record-removed"

    # The source of an expected duration.
    LAST_RUN = "last-run"
    LAST_BUILD = "last-build"
    TRIAL_RUN = "trial-run"
    SCALED = "scaled"
    NEVER_TIMED = "never-timed"

    # A pair of the gate.
    WITHIN_TOLERANCE = "within-tolerance"
    DETECTABLE = "detectable"
    UNDETECTED = "undetected"
    INCONCLUSIVE = "inconclusive"
    TOLERATED = "tolerated"
    SMALL_GROWTH = "small-growth"
    EXACT = "exact"
    COUNTS_DIFFER = "counts-differ"
    COUNTS_REACH_MARGIN = "counts-reach-margin"
    BUILT_ALIKE = "built-alike"
    COUNTED_INSTEAD = "counted-instead"
    TIMES_CONTRADICT = "times-contradict"
    CPU_CONTRADICTS = "cpu-contradicts"
    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not-confirmed"
    NO_SECOND_RESULT = "no-second-result"
    SECOND_INCONCLUSIVE = "second-inconclusive"
    UNSTABLE_FIRST = "unstable-first"
    STABLE_SECOND = "stable-second"
    OTHER_METRIC = "other-metric"
    SAME_INSTRUCTIONS = "same-instructions"
    ACCEPTED = "accepted"
    MORE_THAN_ACCEPTED = "more-than-accepted"
    ACCEPTED_UNTIL = "accepted-until"
    ACCEPTANCE_ENDED = "acceptance-ended"
    UNKNOWN_SIDE = "unknown-side"
    SINGLE_BUILD = "single-build"
    WORSE = "worse"

    # A budget of the gate.
    TOO_FEW_FOR_INTERVAL = "too-few-for-interval"

    # The exit code of the gate.
    PAIRS_FAILED = "pairs-failed"
    PAIRS_OTHER_OUTPUT = "pairs-other-output"
    PAIRS_WORSE = "pairs-worse"
    PAIRS_WORSE_ON_HOSTS = "pairs-worse-on-hosts"
    EXACT_WORSE = "exact-worse"
    EXACT_WORSE_ON_HOST = "exact-worse-on-host"
    PAIRS_NOT_COMPARABLE = "pairs-not-comparable"
    PAIRS_SUSPICIOUS = "pairs-suspicious"
    PAIRS_UNCONFIRMED = "pairs-unconfirmed"
    PAIRS_INCONCLUSIVE = "pairs-inconclusive"
    PAIRS_NOT_JUDGED = "pairs-not-judged"
    PAIRS_UNKNOWN = "pairs-unknown"
    IN_FIRST = "in-first"
    IN_SECOND = "in-second"
    ON_HOST = "on-host"
    NO_OTHER_HOST = "no-other-host"
    NO_OTHER_HOST_AMONG = "no-other-host-among"
    REQUIRED = "required"
    TIMES_NOT_JUDGED = "times-not-judged"
    METRICS_NOT_JUDGED = "metrics-not-judged"
    NO_PAIR = "no-pair"
    NO_PAIR_AMONG = "no-pair-among"
    TOO_FEW_COMPARED = "too-few-compared"
    BUDGETS_FAILED = "budgets-failed"
    BUDGETS_EXCEEDED = "budgets-exceeded"
    BUDGETS_NOT_JUDGED = "budgets-not-judged"
    BUDGET_OF_NOTHING = "budget-of-nothing"
    GATED_FAILED = "gated-failed"
    UNGATED_FAILED = "ungated-failed"

    # What the reader of a gate should know besides.
    DISTURBED = "disturbed"
    LOAD = "load"
    SELF_TEST = "self-test"
    OTHER_ERROR_RATE = "other-error-rate"
    SMALLEST_DETECTED = "smallest-detected"
    ACCEPTANCE_UNKNOWN = "acceptance-unknown"
    ACCEPTANCE_EXPIRED = "acceptance-expired"
    ACCEPTANCE_UNNEEDED = "acceptance-unneeded"
    ACCEPTANCE_MISSING = "acceptance-missing"
    SCENARIO_CHANGED = "scenario-changed"
    SCENARIO_RENAMED = "scenario-renamed"
    NO_GATED_CELL = "no-gated-cell"
    METRIC_NOT_GATED = "metric-not-gated"
    ENDED_EARLY = "ended-early"
    LONE_BENCHES = "lone-benches"
    FIRST_DIFFERENCE = "first-difference"
    OUTPUTS_DIFFER = "outputs-differ"
    OTHERS_EQUAL = "others-equal"
    OUTPUT_VARIES = "output-varies"

    # A published figure.
    TWO_DIFFERENCES = "two-differences"
    TOO_WIDE_FOR_SIZE = "too-wide-for-size"
    NO_DIRECTION = "no-direction"
    SIZE_EXCLUDED = "size-excluded"
    BELOW_MARGIN = "below-margin"
    BELOW_NOISE = "below-noise"
    BOTH_WITHIN_MARGIN = "both-within-margin"
    WITHIN_MARGIN = "within-margin"
    CONTAINS_LIMIT = "contains-limit"
    BETTER_THAN_LIMIT = "better-than-limit"
    EXPONENT_OPEN = "exponent-open"

    # The end of measuring.
    SHARE = "share"
    LAST_LOOK = "last-look"
    ALL_ROUNDS = "all-rounds"
    NOTHING_REMAINS = "nothing-remains"
    TOO_WIDE = "too-wide"
    NARROW_ENOUGH = "narrow-enough"
    STILL_OPEN = "still-open"
    CONCLUSIVE = "conclusive"
    FUTILE = "futile"
    GATE_JUDGES = "gate-judges"
    GATE_TIMELESS = "gate-timeless"
    GATE_CANNOT_JUDGE = "gate-cannot-judge"
    GATE_SAME_PROGRAM = "gate-same-program"
    SIDE_DECIDED = "side-decided"
    OTHERS_LOOK_SLOWER = "others-look-slower"
    BUDGET_SPENT = "budget-spent"
    BUDGET_TOO_SMALL = "budget-too-small"
    BUDGET_ENOUGH = "budget-enough"
    LAST_ROUND = "last-round"
    NO_TIME_FOR_SESSION = "no-time-for-session"


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting, a package or a fact of a machine that differs."""

    name: str
    """Setting, such as ``compiler``, or name of the package or of the fact."""
    reference: str
    """Value or version in the reference; empty if it has none."""
    value: str
    """The same in the variant, or on the other machine."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason: its code, figures, names or foreign messages, and where it applies."""

    code: ReasonCode
    """Code of the reason, by which programs should compare it."""
    detail: "Part | tuple[Part, ...]" = ""
    """The part that varies, or several: number, change, difference, name, message of another program, reason."""
    place: str = ""
    """The side, record or setting that the reason is about, if it is not the candidate."""

    @property
    def too_few(self) -> bool:
        """True if there is no verdict only because there are too few rounds or runs."""
        return self.code in _TOO_FEW

    def at(self, place: str) -> "Reason":
        """Return the reason of another side or record."""
        return replace(self, place=place)


_TOO_FEW: Final = frozenset(
    {
        ReasonCode.TOO_FEW_ROUNDS,
        ReasonCode.TOO_FEW_FOR_ANY_VERDICT,
        ReasonCode.TOO_FEW_FOR_COMPARISONS,
        ReasonCode.TOO_FEW_FOR_CONTRASTS,
        ReasonCode.TOO_FEW_RUNS,
        ReasonCode.TOO_FEW_RUNS_FOR_COMPARISONS,
        ReasonCode.TOO_FEW_IN_RECORD,
        ReasonCode.BEFORE_FIRST,
    }
)

Part = str | int | float | Interval | Difference | Reason

ONE_PROGRAM: Final = Reason(ReasonCode.ONE_PROGRAM)
"""Both sides are equal code with equal commands."""
BUILT_ALIKE: Final = Reason(ReasonCode.BUILT_ALIKE)
"""Both sides of a pair of the gate are one program, whatever their rounds show."""
REACHES_ONE: Final = Reason(ReasonCode.REACHES_ONE)
"""The adjusted interval of a significant difference contains 1."""
UNSTABLE: Final = Reason(ReasonCode.UNSTABLE)
"""The ratio changed during the measurement."""
CONTROL_DIFFERS: Final = Reason(ReasonCode.CONTROL_DIFFERS)
"""The A/A control of the input differs from the baseline."""
NO_USE_OF_INTERVAL: Final = frozenset({CONTROL_DIFFERS, UNSTABLE})
"""The reasons for which the interval of a comparison neither shows nor excludes anything."""
LAST_LOOK: Final = Reason(ReasonCode.LAST_LOOK)
"""Measuring ends with the last interim analysis."""


def message(text: str) -> Reason:
    """Return a reason in the words of another program."""
    return Reason(ReasonCode.MESSAGE, text)
