"""The policy of profiles: which functions use the time of a variant."""

from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.plan.written import Positive, Seconds, Selections

OTHER: Final = "other"
"""Name of the bucket for functions that match no bucket."""
MOST_HZ: Final = 10_000
"""Highest frequency. Above it the sampler disturbs the program."""
SamplerWanted = Literal["auto", "perf", "callgrind"]
UnwindingWanted = Literal["auto", "frame-pointers", "dwarf"]


@dataclass(frozen=True, slots=True)
class ProfilePolicy:
    """Sampling of the functions in which variants spend their time, after measuring."""

    variants: Literal["baseline", "all"] | Selections = "baseline"
    """`baseline`, `all`, or a list of axis values. Every variant that has all values of an item is
    profiled, on every input."""
    when: Literal["after-run", "on-request"] = "after-run"
    """`after-run`: `benchctl run` profiles after measuring. `on-request`: only
    `benchctl run --profile` and `benchctl profile RECORD` profile."""
    runs: Positive = 5
    """Profiled runs of each configuration. Confidence intervals are computed over them."""
    frequency: Positive = 997
    """Samples per second of CPU time."""
    sampler: SamplerWanted = "auto"
    """`perf` samples CPU time. `callgrind` counts the program's instructions: exact and slow,
    without kernel and waiting. `auto`: perf, or callgrind where perf has no permission."""
    stacks: UnwindingWanted = "auto"
    """How perf unwinds stacks. `auto`: frame pointers for programs built by benchctl, dwarf for
    others."""
    timeout: Seconds = 600.0
    """Timeout of one profiled run."""
    buckets: dict[str, str] = field(default_factory=dict)
    """Groups of functions: name to a regular expression that is searched in function names. The
    first match counts; `other` contains the rest."""
