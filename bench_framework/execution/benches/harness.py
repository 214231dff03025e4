"""A harness of benchmarks: how its programs list benchmarks, measure one, and report the time."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.reasons import Part
from bench_framework.model.record.run import BenchTarget
from bench_framework.text.reasons import phrase_of

_LISTED: Final = re.compile(r"(.+): bench(?:mark)?")


class NoTime(Exception):  # noqa: N818 -- the reason for one missing number
    """A benchmark reported no time per iteration, for a reason."""

    def __init__(self, code: FaultCode, *details: Part | Phrase) -> None:
        super().__init__(phrase_of(code, *details))


@dataclass(frozen=True, slots=True)
class Harness:
    """One harness.

    Attributes:
        name: name in records, such as ``criterion``.
        marker: bytes that every program of it contains, such as the name of a variable that it reads.
        listings: arguments that list the benchmarks, the best ones first.
        parse_list: returns the ids of a list, in its order.
        trial: arguments that run each benchmark once, if only this shows the parts of a benchmark.
        split: returns the ids with those of the parts, from the ids and the output of a trial.
        options: arguments of a short measurement, the shortest first. The first ones that a program
            accepts, together with those of a listing, are used.
        seconds: duration of a process with each of these options, of a benchmark that sets no time.
        selection: returns the arguments that select one benchmark.
        once: arguments that run the selected benchmark once, without measuring it.
        crate: name of its crate in the names of functions.
        iterates: names of its functions that call the measured code, or into which it is inlined.
        env: variables of all its programs, with ``{home}`` for a private folder.
        read: returns the seconds per iteration, from the folder, the standard output and the id.
            Raises `NoTime`.
    """

    name: str
    marker: bytes
    listings: tuple[tuple[str, ...], ...]
    parse_list: Callable[[str], tuple[str, ...]]
    options: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    selection: Callable[[str], tuple[str, ...]]
    read: Callable[[Path, str, str], float]
    once: tuple[str, ...]
    crate: str
    iterates: re.Pattern[str]
    env: Mapping[str, str] = field(default_factory=dict)
    trial: tuple[str, ...] = ()
    split: Callable[[Sequence[str], str], tuple[str, ...]] = lambda ids, _: tuple(ids)

    def command(self, target: BenchTarget, bench: str) -> tuple[str, ...]:
        """Return the arguments that measure one benchmark for a short time."""
        return ("--bench", *self.selection(bench), *target.options)

    def iteration(self, bench: str) -> tuple[str, ...]:
        """Return the arguments that run one benchmark once."""
        return (*self.once, *self.selection(bench))


def unique_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids without those that occur several times: no arguments select one of them."""
    return tuple(name for name in ids if ids.count(name) == 1)


def ids_of_list(text: str) -> tuple[str, ...]:
    """Return the ids of a list in the form of libtest, which criterion prints, too."""
    matches = (_LISTED.fullmatch(line) for line in text.splitlines())
    return tuple(match[1] for match in matches if match)
