"""The search for the commit that changed a configuration: which commits it measures, and its answers."""

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import MeasureError
from bench_framework.extensions.bisect import compute, sentences, workflow
from bench_framework.extensions.bisect.model import Bisection, Outcome, SearchStep
from bench_framework.model.plan.revisions import Commit
from bench_framework.model.reasons import ONE_PROGRAM, Reason, ReasonCode, message
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from tests.build import make_comparison, require
from tests.documents import valid

Answer = Callable[[SearchStep], Outcome]


def comparison(ratio: float, half: float = 0.01, verdict: Verdict | None = None) -> Comparison:
    """Return a comparison whose verdict follows from its interval unless it is given."""
    low, high = ratio * math.exp(-half), ratio * math.exp(half)
    implied = Verdict.WORSE if low > 1 else Verdict.BETTER if high < 1 else Verdict.INCONCLUSIVE
    interval = Interval(ratio, low, high, 0.99)
    return make_comparison(
        "c", "r", "wall", "headline", verdict or implied, shown=interval, mde=0.031
    )


def search_of(commits: int) -> Bisection:
    names = tuple(
        Commit(f"{n:040x}"[::-1], (), "Ada", "2026-05-01T08:00:00Z", f"change {n}")
        for n in range(commits)
    )
    return Bisection(1, "s.yaml", "regression", "wall", 0.05, names)


def run(search: Bisection, answer: Answer) -> Bisection:
    """Search to the end with the answers of an oracle."""
    attempts = compute.attempts_of(search)
    while (step := compute.next_step(search, attempts)) is not None:
        outcome = answer(step)
        level = step.level if outcome != "skipped" else 0.0
        step = replace(step, outcome=outcome, level=level, text=f"record of {step.kind}.")
        search = replace(search, steps=(*search.steps, step))
    return search


def oracle(change: int, broken: Collection[int] = (), noisy: Collection[int] = ()) -> Answer:
    """Return the answers if commit `change` is the first bad one."""

    def answer(task: SearchStep) -> Outcome:
        if task.candidate in noisy:
            return "inconclusive"
        if task.kind != "commit":
            return "differs" if task.lo < change <= task.hi else "same"
        if task.candidate in broken:
            return "skipped"
        return "bad" if task.candidate >= change else "good"

    return answer


@pytest.mark.parametrize("commits", [2, 3, 5, 33, 64, 65])
def test_each_commit_is_found_in_few_steps_and_within_the_level(commits: int) -> None:
    for change in range(1, commits):
        search = run(search_of(commits), oracle(change))
        answer = compute.conclude(search)
        assert (answer.status, answer.lo, answer.hi) == ("found", change - 1, change)
        halvings = math.ceil(math.log2(commits - 1))
        assert len(search.steps) <= (halvings + 2 if commits > 2 else 1)
        levels = [step.level for step in search.steps]
        assert math.fsum(levels) < 0.05
        # Without skipped commits and with a range that is halved exactly, all steps have one level.
        if commits in (33, 65):
            assert max(levels) == pytest.approx(min(levels))


def test_the_number_of_steps_is_announced() -> None:
    search = search_of(65)
    assert compute.steps_left(search) == 8
    first = require(compute.next_step(search))
    assert sentences.line_before(search, first).startswith("step 1 of about 8: both ends, ")
    done = run(search, oracle(40))
    assert len(done.steps) == 8
    assert compute.steps_left(search_of(2)) == 1


def test_skipped_commits_are_avoided_and_the_rest_is_a_range() -> None:
    search = run(search_of(17), oracle(9, broken=range(7, 11)))
    answer = compute.conclude(search)
    assert (answer.status, answer.lo, answer.hi) == ("range", 6, 11)
    assert require(answer.evidence).kind == "confirmation"
    assert "in one of 5 commits" in sentences.answer(search)
    assert ("commits", f"{search.commits[9].short} change 9") in sentences.facts(
        search, Path("results")
    )

    search = run(search_of(65), oracle(50, broken=range(30, 36)))
    assert compute.conclude(search).hi == 50
    tried = [step.candidate for step in search.steps if step.outcome == "skipped"]
    assert len(tried) <= 4, "a block of broken commits must not be tried one after the other"

    nothing = run(search_of(5), oracle(2, broken=(1, 2, 3)))
    answer = compute.conclude(nothing)
    assert (answer.status, answer.lo, answer.hi) == ("range", 0, 4)
    assert answer.evidence is nothing.steps[0], "the first step compared these ends"
    skipped = [step for step in nothing.steps if step.outcome == "skipped"]
    assert len(skipped) == 3
    level = compute.level_of_next(nothing)
    assert level == pytest.approx(nothing.steps[0].level), "skipped commits use no level"


def test_skipped_commits_that_are_tried_again_can_decide_and_use_no_level() -> None:
    before = run(search_of(17), oracle(9, broken=range(7, 11)))
    again = compute.without_skipped(before)
    assert compute.next_step(before) is None
    assert not [step for step in again.steps if step.outcome == "skipped"]
    # All of them fail again: the range was confirmed, and is not measured once more.
    failed = run(again, oracle(9, broken=range(7, 11)))
    new = failed.steps[len(again.steps) :]
    assert sorted(step.candidate for step in new) == [7, 8, 9, 10]
    assert {step.outcome for step in new} == {"skipped"}
    assert compute.conclude(failed) == compute.conclude(before)
    # They work now: the search continues in the range, and confirms its new answer.
    search = run(again, oracle(9))
    answer = compute.conclude(search)
    assert (answer.status, answer.lo, answer.hi) == ("found", 8, 9)
    kinds = [step.kind for step in search.steps]
    assert (kinds.count("confirmation"), kinds[-1]) == (2, "confirmation")
    assert answer.evidence is search.steps[-1]
    assert math.fsum(step.level for step in search.steps) < 0.05
    # A search in which all commits were skipped has only the comparison of its ends.
    nothing = run(search_of(5), oracle(2, broken=(1, 2, 3)))
    answer = compute.conclude(run(compute.without_skipped(nothing), oracle(2)))
    assert (answer.status, answer.hi) == ("found", 2)
    assert "3 skipped (--retry-skipped measures them again)" in dict(
        sentences.facts(nothing, Path("results"))
    ).get("search", "")


def test_an_inconclusive_commit_is_repeated_once_and_gives_a_range() -> None:
    search = run(search_of(17), oracle(3, noisy=(4,)))
    tries = [step for step in search.steps if step.outcome == "inconclusive"]
    assert [(t.candidate, t.attempt) for t in tries] == [(4, 1), (4, 2)]
    answer = compute.conclude(search)
    assert (answer.status, answer.lo, answer.hi, answer.evidence) == ("range", 0, 8, None)
    # The same command tries again with more rounds, and continues from there.
    again = run(search, oracle(3))
    assert again.steps[len(search.steps)].attempt == 3
    assert (compute.conclude(again).status, compute.conclude(again).hi) == ("found", 3)
    assert math.fsum(s.level for s in again.steps) < 0.05


def test_ends_that_do_not_differ_end_the_search() -> None:
    same = run(search_of(9), oracle(99))
    assert [step.kind for step in same.steps] == ["ends"]
    assert compute.conclude(same).status == "unchanged"
    facts = dict(sentences.facts(run(search_of(2), oracle(99)), Path("results")))
    assert facts["search"] == "0 measurements, 0 skipped, 1 commit"
    assert "there is no regression from" in sentences.answer(same)

    noisy = run(search_of(9), oracle(4, noisy=(8,)))
    assert [step.attempt for step in noisy.steps] == [1, 2]
    noisy = replace(
        noisy, steps=tuple(replace(s, comparisons=(comparison(1.01, 0.05),)) for s in noisy.steps)
    )
    assert compute.conclude(noisy).status == "inconclusive"
    assert sentences.answer(noisy).endswith("; one of 3.1\u202f% would have been detected")
    lower = replace(comparison(0.98, 0.05), thresholds=Thresholds(0.05, 0.0))
    steps = tuple(replace(step, comparisons=(lower,)) for step in noisy.steps)
    excluded = sentences.answer(replace(noisy, steps=steps))
    assert excluded.endswith("; the interval excludes one of more than 5\u202f%")
    assert "--metric instructions" in dict(sentences.facts(noisy, Path("results")))["next"]
    counted = sentences.facts(replace(noisy, metric="instructions"), Path("results"))
    assert "next" not in dict(counted)


def test_a_change_that_new_rounds_do_not_show_is_no_answer() -> None:
    def answer(task: SearchStep) -> Outcome:
        return "same" if task.kind == "confirmation" else oracle(5)(task)

    search = run(search_of(9), answer)
    assert compute.conclude(search).status == "unconfirmed"
    assert "the answer is not known" in sentences.answer(search)


def test_skipped_commits_are_tried_again_after_a_range_that_was_not_confirmed() -> None:
    def unconfirmed(step: SearchStep) -> Outcome:
        answer = oracle(5, broken=(4, 5, 6))(step)
        return "inconclusive" if step.kind == "confirmation" else answer

    before = run(search_of(9), unconfirmed)
    assert compute.conclude(before).status == "unconfirmed"
    again = compute.without_skipped(before)
    step = require(compute.next_step(again))
    assert (step.kind, step.candidate) == ("commit", 5)
    answer = compute.conclude(run(again, oracle(5)))
    assert (answer.status, answer.hi) == ("found", 5)
    # All of them fail again: the range still needs its confirmation.
    assert compute.conclude(run(again, unconfirmed)).status == "unconfirmed"


def test_the_side_is_that_of_the_half_with_the_larger_shown_change() -> None:
    equal, slower, slowest = comparison(1.0), comparison(1.05), comparison(1.3)
    assert compute.side(slower, equal, "regression") == "bad"
    assert compute.side(equal, slower, "regression") == "good"
    assert compute.side(slower, slowest, "regression") == "good"
    assert compute.side(slowest, slower, "regression") == "bad"
    assert compute.side(equal, equal, "regression") is None
    faster = comparison(0.9)
    # It became faster before the commit and much slower after it.
    assert compute.side(faster, slowest, "regression") == "good"
    assert compute.side(faster, slowest, "improvement") == "bad"
    assert compute.side(slower, equal, "improvement") is None


def test_with_fixed_ends_a_commit_between_both_levels_is_nearer_to_one_only_if_shown() -> None:
    equal, slower = comparison(1.0), comparison(1.05)
    assert compute.side(slower, equal, "regression", nearer=True) == "bad"
    assert compute.side(equal, slower, "regression", nearer=True) == "good"
    wide = comparison(1.03, 0.04)
    assert compute.side(slower, wide, "regression") == "bad"
    assert compute.side(slower, wide, "regression", nearer=True) is None
    assert compute.side(slower, comparison(1.052), "regression", nearer=True) is None
    assert compute.side(comparison(0.95), comparison(0.7), "improvement", nearer=True) == "good"


def test_the_ends_differ_if_one_configuration_changed() -> None:
    slow, slower, faster = comparison(1.05), comparison(1.2), comparison(0.8)
    assert compute.of_ends([slow, slower, faster], "regression") == ("differs", slower)
    assert compute.of_ends([slow, faster], "improvement") == ("differs", faster)
    equal = comparison(1.001, verdict=Verdict.EQUIVALENT)
    program = replace(comparison(1.0), reason=ONE_PROGRAM)
    assert compute.of_ends([equal, program, faster], "regression")[0] == "same"
    assert compute.of_ends([equal, comparison(1.0)], "regression")[0] == "inconclusive"


def test_lines_name_the_commit_and_its_change() -> None:
    search = search_of(9)
    low, mid, high = (search.commits[n].short for n in (0, 4, 8))
    step = SearchStep(
        "commit", 0, 8, 4, 0.01, outcome="good", comparisons=(comparison(1), comparison(1.3))
    )
    text = sentences.line_after(search, step)
    assert text.startswith(f"{mid} is on the side of good, {low}: {high} against {mid}: ")
    assert "30" in text
    step = replace(step, outcome="bad", comparisons=(comparison(1.3), comparison(1)))
    assert f"{mid} against {low}: " in sentences.line_after(search, step)
    step = SearchStep("commit", 0, 8, 4, 0, outcome="bad", reason=Reason(ReasonCode.SAME_CODE))
    assert (
        sentences.line_after(search, step) == f"{mid} is on the side of bad, {high}: the same code"
    )
    step = SearchStep(
        "commit", 0, 8, 4, 0, outcome="skipped", reason=message("error: no such file")
    )
    assert sentences.line_after(search, step) == f"{mid} is skipped: error: no such file"
    search = run(search, oracle(6))
    assert (
        sentences.answer(search) == f"{search.commits[6].short} is the commit with the regression"
    )
    assert ("author", "Ada, 2026-05-01") in sentences.facts(search, Path("results"))
    assert ("change", "record of confirmation.") in sentences.facts(search, Path("results"))


class Merge:
    """A search that found a merge. The search of its branch fails."""

    commit = Commit("b" * 40, ("a" * 40, "c" * 40), "Ada", "2026-05-01T08:00:00Z", "merge")

    def __init__(self, *_: object, **__: object) -> None:
        search = replace(search_of(2), commits=(search_of(1).commits[0], self.commit))
        self.state = run(search, oracle(1))

    def run(self) -> None:
        pass

    def branch(self) -> "Merge":
        raise MeasureError("BX127.end-not-built", details=(("build", "no such file"),))


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_failed_search_of_a_branch_leaves_the_first_answer(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workflow, "Search", Merge)
    assert run_command_line([*words, "bisect", "s.yaml", "--good", "v1", "--into-merges"]) == 3
    printed = capsys.readouterr()
    assert "BX127" in printed.err
    assert Merge.commit.id[:9] in printed.out
    if words:
        answer = valid("bisect", printed.out)
        assert (answer["status"], answer["branch"], answer["exit_code"]) == ("found", None, 3)
