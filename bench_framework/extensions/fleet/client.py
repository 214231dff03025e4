"""Runs on hosts of a Dask cluster, and the gate of two of them."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bench_framework.errors import EXIT_INTERRUPTED, Interrupted, MeasureError, UsageError
from bench_framework.execution import progress
from bench_framework.execution.machine.host import environment, this_host_id
from bench_framework.execution.process import Launcher
from bench_framework.execution.stop import Driver, Stop
from bench_framework.extensions.fleet import selection
from bench_framework.extensions.fleet.bundle import Upload, package
from bench_framework.extensions.fleet.host_run import HostOutcome, HostRun
from bench_framework.extensions.fleet.hosts import load_cluster
from bench_framework.extensions.fleet.job import Job
from bench_framework.extensions.fleet.programs import BuildTarget, Programs, build_programs
from bench_framework.extensions.fleet.selection import WorkerPlace, shares
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.plan.policies import HostPolicy
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.store import layout
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.pages import require_readable
from bench_framework.workflow.run import RunOutcome
from bench_framework.workflow.run_options import RunContext, RunOptions, plan_run, plan_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.extensions.fleet.cluster import Cluster
    from bench_framework.model.plan.plan import Plan
    from bench_framework.model.result.gate import Gating
    from bench_framework.store.records import Record
    from bench_framework.workflow.gate import GateResult

_POLL_S: Final = 0.2
_MOST_IDS: Final = 100


def newest_ids(folder: Path) -> tuple[str, ...]:
    """Return the ids of the newest records of a scenario, which a record of a host must not have."""
    names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
    ids = sorted(filter(layout.is_record_id, names), key=layout.order_key)
    return tuple(ids[-_MOST_IDS:])


@dataclass(frozen=True, slots=True)
class Fleet:
    """A scheduler, and the hosts that the user chose: a name, several with commas, or `selection.ALL`.

    Without a name, the hosts are those of the scenario. `insecure` permits a scheduler on another machine without TLS.
    """

    scheduler: str
    host: str = ""
    insecure: bool = False

    def several(self, name: str, options: RunOptions) -> bool:
        """Return whether several hosts can make a record of a scenario.

        Raises `ScenarioError`, `UsageError`: as `run_on_hosts`.
        """
        if (given := selection.hosts_of(self.host)) is None:
            given = plan_scenario(name, overrides=options.overrides).hosts
        return given is not None and given.several

    def run(self, name: str, options: RunOptions, observer: progress.Observer) -> RunOutcome:
        """Measure a scenario on a host, and report it here.

        Raises:
            ScenarioError, UsageError: nothing was measured; BX132, the package distributed is missing;
                BX133, the scheduler is on another machine and has no TLS; BX134, the scenario cannot be
                sent.
            MachineError: BX260, no scheduler; BX261, no worker; BX262, another version; BX263, the
                record is lost; BX264, it is damaged.
            BenchError: any error that `run_scenario` raised on the host.
        """
        return self.run_on_hosts(name, options, observer, lambda _: observer)[-1].checked()

    def run_on_hosts(
        self,
        name: str,
        options: RunOptions,
        observer: progress.Observer,
        observer_of: Callable[[str], progress.Observer],
    ) -> tuple[HostOutcome, ...]:
        """Measure a scenario on several hosts at the same time, with one record per host.

        `observer` follows what is done before, and `observer_of` returns the observer of a host. An
        error of a host does not stop the others. Unless the user chose one host, a free host of the same kind
        measures in place of one that is lost.

        Raises:
            UsageError: as `run`, and BX136, the names of the hosts are not valid.
            MachineError: BX260, BX261 and BX262, as `run`; nothing was measured.
        """
        policy = selection.hosts_of(self.host)
        with self.connect(name, options, observer, observer_of) as client:
            plan = client.plan
            policy = policy or plan.hosts or HostPolicy()
            onlys: list[str | None] = [options.only]
            if policy.split_inputs:
                onlys = [*shares(plan, policy.split_inputs, options.only)]
                policy = HostPolicy(split_inputs=len(onlys))
            runs = client.measure(client.choose(policy), policy, onlys)
        return tuple(run.outcome() for run in runs)

    def gate(
        self, name: str, options: RunOptions, observer: progress.Observer, *, confirm: bool = True
    ) -> tuple[RunOutcome, GateResult | None]:
        """Measure a scenario on a host, and apply its gate. Another host measures possible regressions again.

        The first name of `host`, or the first label of the scenario, chooses the host of the first pass. Of
        several names, only the others can confirm. The result of the gate is `None` if the first pass was
        interrupted. For `confirm`, see `gate_record`.

        Raises:
            BenchError: as `run` and `gate_record`.
            Interrupted: the second pass was interrupted.
        """
        from bench_framework.workflow.gate import gate_record

        policy = selection.hosts_of(self.host)
        with self.connect(name, options, observer, lambda _: observer) as client:
            policy = policy or client.plan.hosts or HostPolicy()
            policy = HostPolicy(policy.names, labels=policy.labels[:1])
            first = client.measure(client.choose(policy)[:1], policy, [options.only])[-1]
            outcome = first.outcome().checked()
            if outcome.record is None or outcome.exit_code == EXIT_INTERRUPTED:
                return outcome, None
            result = gate_record(
                options.results,
                str(outcome.record),
                confirm=confirm,
                command=options.command,
                observer=observer,
                measure_again=partial(client.confirm, first.place, policy),
            )
        return outcome, result

    @contextlib.contextmanager
    def connect(
        self,
        name: str,
        options: RunOptions,
        observer: progress.Observer,
        observer_of: Callable[[str], progress.Observer],
    ) -> Iterator[FleetClient]:
        """Connect to the scheduler, to measure a scenario. Raises as `run`."""
        address = selection.find_address(self.scheduler, insecure=self.insecure)
        cluster = load_cluster("--scheduler")
        plan = plan_run(name, options)
        if options.template is not None:
            require_readable(options.template)
        with Launcher() as launcher, cluster.connected(address) as connection:
            stop = Stop(launcher)
            with stop.on_signals():
                driver = Driver(launcher, environment(), observer, stop)
                yield FleetClient(
                    self.scheduler, name, plan, options, connection, driver, observer_of
                )


@dataclass(slots=True)
class FleetClient:
    """A client that is connected to a scheduler, and measures one scenario."""

    scheduler: str
    name: str
    plan: Plan
    options: RunOptions
    connection: Cluster
    driver: Driver
    observer_of: Callable[[str], progress.Observer]
    sent: Upload | None = None
    """The files, which are the same for all runs of this client."""
    programs: Programs | None = None
    """The programs that were built here; `None` if no host can run them."""

    def choose(self, policy: HostPolicy) -> list[WorkerPlace]:
        """Return the hosts of a policy. Raises as `Cluster.choose`, and `Interrupted`."""

        def wait(time_s: float) -> None:
            self.driver.observer.notify(progress.Waiting("a worker", 0.0))
            self.driver.stop.check()
            time.sleep(time_s)

        return self.connection.choose(policy, wait)

    def measure(
        self,
        places: Sequence[WorkerPlace],
        policy: HostPolicy,
        onlys: Sequence[str | None],
        confirms: tuple[Gating, str] | None = None,
        used: Collection[str] = (),
        permitted: Collection[str] = (),
    ) -> list[HostRun]:
        """Measure on hosts at the same time, each with one of the selections `onlys`.

        Unless the policy names one host, a free host of the same kind measures in place of one that is lost,
        but none of the names `used`, and only one of the names `permitted` if there are any. `confirms` is that
        of `Job`.

        Raises `UsageError` (BX134): the scenario cannot be sent; `BuildError`: git failed.
        """
        options, plan, launcher = self.options, self.plan, self.driver.launcher
        self.sent = sent = self.sent or package(self.name, options, plan, launcher)
        self._build(sent, places)
        # A second pass in the minute of its first one gets the later id.
        last = layout.order_key(confirms[1])[1] if confirms is not None else 0
        remote = replace(options, template=None, embed_runs=None, sign=None, expect=None)
        if (ends := plan.revisions) is not None:
            remote = replace(remote, base=ends.base, head=ends.head)

        def start(place: WorkerPlace, number: int) -> HostRun:
            # A lost host keeps its unfinished record. The one in its place begins at a later number.
            numbers = range(last + number, layout.NUMBERS.stop, len(places))
            only = onlys[(number - 1) % len(onlys)]
            profile = options.profile if confirms is None else False
            command = selection.command_on(place.name, options.command)
            given = replace(remote, only=only, profile=profile, command=command)
            context = RunContext(pages=False, host=place.name, numbers=numbers)
            fit = self.programs is not None and self.programs.fit(place.target)
            host = self.observer_of(place.name)
            text = phrase_of(ExtensionCode.MEASURING_ON, place.name, place.address)
            host.notify(progress.Message(text))
            if self.programs is not None and not fit:
                targets = str(place.target), str(BuildTarget.here())
                text = phrase_of(ExtensionCode.HOST_BUILDS, *targets)
                host.notify(progress.Message(text))
            job = Job(
                secrets.token_hex(8),
                f"{this_host_id()}:{sent.root}",
                sent.scenario,
                sent.cwd,
                sent.bundle,
                given,
                context,
                self.scheduler,
                newest_ids(options.results / plan.name),
                plan.judge.gate.accepted,
                self.programs if fit else None,
                confirms,
            )
            running = self.connection.start(place, job)
            at = (place, number, running, host, self.driver.stop, plan, options)
            return HostRun(*at, pages=confirms is None)

        runs = [start(place, number) for number, place in enumerate(places, 1)]
        while open_ := [run for run in runs if not run.ended]:
            for run in open_:
                run.poll(_POLL_S / len(open_))
                # A record is repeated only once, because it can be what ended the host.
                first = run.number <= len(places) and not self.driver.stop.level
                spare = None
                if run.running.gone and first and len(policy.names) != 1:
                    taken = [*used, *(each.host for each in runs)]
                    others = self.connection.others(run.place, policy, taken, permitted)
                    spare = next((place for place in others if not place.runs), None)
                    run.replace_by(spare)
                if run.ended:
                    run.observer.notify(progress.RunEnded(run.end))
                if spare is not None:
                    runs.append(start(spare, run.number + len(places)))
        return runs

    def confirm(
        self, place: WorkerPlace, policy: HostPolicy, record: Record, first: Gating
    ) -> Gating:
        """Measure the possible regressions of a record of `place` on another host of its kind.

        Each pass compares base and candidate on its own host. So their programs may differ, but neither
        their sources nor their inputs.

        Raises `Interrupted`: the user stopped it.
        """
        from bench_framework.extensions.fleet.host_results import require_same_work
        from bench_framework.features.gate.outcome import not_confirmed
        from bench_framework.features.gate.plans import repetition
        from bench_framework.workflow.gate import with_second_record

        first = replace(first, hosts=(place.name,))
        used, permitted = (place.name,), policy.names if len(policy.names) > 1 else ()
        others = self.connection.others(place, policy, used, permitted)
        if not others:
            cause = Reason(ReasonCode.NO_OTHER_HOST, place.kind)
            if permitted:
                cause = Reason(ReasonCode.NO_OTHER_HOST_AMONG, (place.kind, ", ".join(permitted)))
            return not_confirmed(first, record.plan.judge.gate, cause)
        self.driver.observer.notify(
            progress.Message(phrase_of(ExtensionCode.AGAIN_ON_HOST, repetition(first)))
        )
        policy, only = HostPolicy(labels=policy.labels), self.options.only
        given = (others[:1], policy, [only], (first, record.id))
        run = self.measure(*given, used, permitted)[-1]
        again = run.outcome()
        if again.exit_code == EXIT_INTERRUPTED:
            raise Interrupted("BX130.gate-on-host", host=run.host, path=record.path)
        if again.outcome is None or again.outcome.judgement is None or run.folder is None:
            cause = message(run.end)
            if run.error is not None:
                cause = Reason(ReasonCode.ERROR, (run.error.code, run.end))
            return not_confirmed(first, record.plan.judge.gate, cause)
        try:
            require_same_work(record, run.folder)
        except UsageError as error:
            cause = Reason(ReasonCode.ERROR, (error.code, error.message))
            return not_confirmed(first, record.plan.judge.gate, cause)
        first = replace(first, hosts=(place.name, run.host))
        return with_second_record(record, first, again.outcome.judgement, run.folder)

    def _build(self, sent: Upload, places: Sequence[WorkerPlace]) -> None:
        """Build the programs here if a host can run them. Raises `Interrupted`: the user stopped it."""
        here = BuildTarget.here().system
        if self.plan.program is not None or here not in {place.target.system for place in places}:
            return
        try:
            self.programs = self.programs or build_programs(self.plan, sent, self.driver)
        except MeasureError as error:
            text = phrase_of(ExtensionCode.EACH_HOST_BUILDS, error.message)
            self.driver.observer.notify(progress.Message(text))
        except Interrupted as error:
            raise Interrupted("BX130.before-sending") from error
