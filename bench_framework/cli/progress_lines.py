"""The lines about the progress of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.text.numbers import format_clock, format_duration
from bench_framework.text.words import sessions_of
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.execution import progress
    from bench_framework.model.plan.policies import MeasurePolicy
    from bench_framework.workflow.run_progress import Work


def progress_of(step: progress.BuildStep) -> str:
    """Return the progress of a build: ``"1/3: 22 of 201 crates, about 3 min left"``."""
    total = f" of {step.total}" if step.total else ""
    crates = f"{step.crates}{total} crates" if step.crates or total else "cargo started"
    words = [step.step or crates]
    if step.left_s is not None:
        minutes = round(step.left_s / 60)
        words.append(f"about {minutes} min left" if minutes else "less than 1 min left")
    if step.wrapper:
        words.append(f"with {step.wrapper}")
    return f"{step.place}: {', '.join(words)}"


def state(work: Work) -> str:
    """Return the finished rounds of the largest number, both without warm-up as in the report.

    The number is not known before the warm-up is over.
    """
    measured = work.rounds_done - work.warmups_done
    if work.plan.measure.by_budget:
        return counted(measured, "round") if measured else "warm-up"
    most = work.plan.measure.rounds_max * len(work.plan.inputs)
    return f"{'warm-up, ' * work.warmup}{measured}/{most} rounds"


def progress_line(work: Work) -> str:
    """Return the progress as a line."""
    left = work.left_s(work.elapsed_s)
    until = "" if left is None else f"  at most {format_clock(left)} left"
    problems = f"  problems {work.problems}" if work.problems else ""
    return f"{state(work)}{until}{problems}"


def limit_text(update: progress.LimitKnown, measure: MeasurePolicy) -> str:
    """Return the limit of rounds as a line, and what a budget that is too small for more has changed.

    The policy has this limit.
    """
    limit, rounds, budget_s = update.limit, counted(update.limit.rounds, "round"), measure.budget_s
    if measure.sessions > 1:
        return f"{sessions_of(measure)} of {counted(measure.session_rounds, 'round')}"
    if update.round_s is None:
        return f"at most {rounds}" + ("" if budget_s is None else f" or {format_clock(budget_s)}")
    test = ["judged by a t test"] if limit.by_t else []
    control = [] if limit.control else ["without A/A control"]
    few = ", ".join([*test, *control, "one warm-up round"])
    return f"{rounds} of {format_duration(update.round_s)} fit into the budget: {few}"
