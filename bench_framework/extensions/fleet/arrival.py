"""Checks of what a host says about itself, and of the record that it returns.

Whoever can reach the scheduler can run programs on all of its machines, because Dask unpickles what they send.
So a host is trusted with what it measures. These checks find a host that mixes up runs or versions, that changed
since it registered, or that sends what no benchctl sends. It harms neither other hosts nor the records here.
"""

import base64
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

from bench_framework import errors
from bench_framework.execution.benches import HARNESSES
from bench_framework.execution.progress import SilentObserver, Update
from bench_framework.extensions.fleet.bundle import damaged
from bench_framework.extensions.fleet.job import JobResult
from bench_framework.extensions.fleet.selection import WorkerPlace
from bench_framework.foreign import LARGEST_NUMBER, read_regular
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import is_label
from bench_framework.store import layout, wire
from bench_framework.store.journal import read_journal
from bench_framework.version import __version__
from bench_framework.workflow.setup.benches import with_benches

_DIGEST: Final = re.compile("[0-9a-f]+")
_EXIT_CODES: Final = frozenset({*range(errors.EXIT_NOT_JUDGED + 1), errors.EXIT_INTERRUPTED})
_UNREADABLE: Final = (
    *(pickle.UnpicklingError, AttributeError, EOFError, ImportError),
    *(LookupError, TypeError, ValueError),
)
"""Errors of a text that is no pickle, or that of something else (pickle.load)."""


def checked_card(card: Any) -> Mapping[str, Any]:
    """Return the description of a host, as `hosts.describe_host` made it; empty if it has another form."""
    checks: dict[str, Callable[[Any], bool]] = {
        "host_id": _is_digest,
        "kind": _is_digest,
        "facts": lambda facts: _are_texts([*facts, *facts.values()]),
        "labels": lambda labels: _are_texts(labels) and all(map(is_label, labels)),
        "target": lambda target: len(target) == 2 and _are_texts(target),  # noqa: PLR2004 -- BuildTarget
        "versions": lambda names: _are_texts([*names, *filter(None, names.values())]),
    }
    try:
        valid = all(check(card[key]) for key, check in checks.items())
    except (LookupError, TypeError, AttributeError):
        return {}
    return card if valid else {}


def checked_state(state: Any) -> Mapping[str, Any]:
    """Return the state of a host, as `job.state` made it; empty if it has another form."""
    try:
        numbers = [state["load"], state["free_bytes"]]
        if (run := state["run"]) is not None:
            numbers += [run.get(name) for name in ("done", "total", "left_s")]
            known = {"scenario", "done", "total", "left_s"}
            if not isinstance(run["scenario"], str) or not known.issuperset(run):
                return {}
    except (LookupError, TypeError, AttributeError):
        return {}
    given = (number for number in numbers if number is not None)
    # NaN is not between any two numbers.
    valid = all(
        isinstance(number, int | float) and 0 <= number <= LARGEST_NUMBER for number in given
    )
    return state if valid else {}


def checked_event(event: Any) -> bool:
    """Return whether an event is that of a worker that starts or is stopped."""
    if not isinstance(event, Mapping):
        return False
    texts = [event.get("host"), event.get("address")]
    return _are_texts(texts) and isinstance(event.get("stopped"), bool)


def _is_digest(value: Any) -> bool:
    return _DIGEST.fullmatch(value) is not None


def _are_texts(values: Any) -> bool:
    return isinstance(values, Sequence) and all(isinstance(value, str) for value in values)


def update_of(line: Any, host: str) -> Update:
    """Return an update of a run. Raises `MachineError` (BX264): the host sent something else."""
    try:
        # Dask itself unpickles what workers send.
        update = pickle.loads(base64.b64decode(line))  # noqa: S301
    except _UNREADABLE as error:
        raise damaged(str(error), Phrase(ExtensionCode.UPDATE_OF, host)) from error
    if not isinstance(update, Update):
        cause = Phrase(ExtensionCode.OF_TYPE, type(update).__name__)
        raise damaged(cause, Phrase(ExtensionCode.UPDATE_OF, host))
    return update


def checked_result(result: Any, host: str) -> JobResult:
    """Return the result of a run. Raises `MachineError` (BX264): the host returned something else."""
    what = Phrase(ExtensionCode.RESULT_OF, host)
    if not isinstance(result, JobResult):
        raise damaged(Phrase(ExtensionCode.OF_TYPE, type(result).__name__), what)
    for name, kind in get_type_hints(JobResult).items():
        if not isinstance(value := getattr(result, name), kind):
            cause = Phrase(ExtensionCode.FIELD_OF_TYPE, (name, type(value).__name__))
            raise damaged(cause, what)
    if result.exit_code not in _EXIT_CODES:
        raise damaged(Phrase(ExtensionCode.NO_EXIT_CODE, result.exit_code), what)
    return result


@dataclass(frozen=True, slots=True)
class ExpectedRecord:
    """The host and the plan of the record of a run. A second pass measures a part of the plan in another way."""

    place: WorkerPlace
    plan: Plan
    second_pass: bool = False

    def check(self, folder: Path) -> None:
        """Check a record that has arrived. Raises `MachineError` (BX264): it is of another host or plan."""
        host, name = wire.load_host(read_regular(folder / layout.ENV)), self.place.name
        plan = wire.load_plan(read_regular(folder / layout.PLAN))
        pairs = {
            ExtensionCode.OTHER_HOST: (plan.invocation.host, name),
            ExtensionCode.OTHER_COMPUTER: (host.host_id, self.place.card.get("host_id")),
            ExtensionCode.OTHER_VERSION: (host.benchctl, __version__),
            ExtensionCode.OTHER_FILE: (plan.scenario_sha256[:12], self.plan.scenario_sha256[:12]),
        }
        for code, (value, expected) in pairs.items():
            if value != expected:
                raise self._other(Phrase(code, (value or "unknown", expected or "unknown")))
        requested = self._with_benches(plan, folder)
        if foreign := {cell.id for cell in plan.cells} - {cell.id for cell in requested.cells}:
            raise self._other(Phrase(ExtensionCode.FOREIGN_CELL, min(foreign)))
        if self.second_pass:
            return
        for what in ("measure", "judge"):
            if getattr(plan, what) != getattr(requested, what):
                raise self._other(Phrase(ExtensionCode.OTHER_POLICY, what))

    def _with_benches(self, measured: Plan, folder: Path) -> Plan:
        """Return the plan that was sent, with the benchmarks that the bench targets of the record list."""
        policy = self.plan.benches
        if policy is None:
            return self.plan
        # A build's id depends on the folder of the crate, which is another one on the host.
        theirs = {variant.id: variant.build for variant in measured.variants}
        ids = {
            replace(spec, bin=target).id: replace(variant.build, bin=target).id
            for variant in self.plan.variants
            if (spec := theirs.get(variant.id)) is not None and variant.build is not None
            for target in policy.targets
        }
        try:
            builds = read_journal(folder / layout.JOURNAL).builds
            harnesses = {build.bench.harness for build in builds if build.bench is not None}
            if unknown := harnesses - HARNESSES.keys():
                raise self._other(Phrase(ExtensionCode.NO_SUCH_HARNESS, min(unknown)))
            renamed = [replace(build, id=ids.get(build.id, build.id)) for build in builds]
            return with_benches(self.plan, renamed, SilentObserver())[0]
        except (errors.RecordError, errors.UsageError, errors.BuildError) as error:
            raise self._other(error.message) from error

    def _other(self, cause: Phrase | str) -> errors.MachineError:
        return damaged(cause, Phrase(ExtensionCode.RECORD_OF, self.place.name))
