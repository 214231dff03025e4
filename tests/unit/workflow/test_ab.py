"""Tests of the scenario that `benchctl ab` writes from its arguments, and of its sentences."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.app import _options_first
from bench_framework.compare.medians import summary_of
from bench_framework.errors import MachineError, UsageError
from bench_framework.features.summary.claims import summary_claims
from bench_framework.features.summary.command_lines import command_lines
from bench_framework.features.summary.view import SummaryView
from bench_framework.model.facts import HeadlineAnswer
from bench_framework.model.plan.arguments import INPUT
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.model.record.run import Event
from bench_framework.model.result.judgement import CellState, Comparison, Family, Judgement
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.text.words import sessions_of
from bench_framework.units import THIN_SPACE
from bench_framework.workflow.scenarios.command_lines import Commands, once, plan_commands
from tests.build import make_comparison, require


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("a\nb\n", encoding="utf-8")
    return tmp_path


def plan_of(*commands: str, **options: object) -> Plan:
    return plan_commands(Commands(commands, **options))[0]  # type: ignore[arg-type]


def commands_of(plan: Plan) -> dict[str, list[str]]:
    """Return the program and the arguments of each cell by its label; slots in angle brackets."""
    texts = {}
    for cell in plan.cells:
        build = require(plan.variant(cell.variant_id).build)
        words = [
            "".join(part if isinstance(part, str) else f"<{part.slot}>" for part in word)
            for word in cell.command
        ]
        assert words[0] == "<bin>"
        texts[cell.label] = [build.bin, *words[1:]]
    return texts


def test_each_command_is_a_variant_with_its_own_program(folder: Path) -> None:
    plan = plan_of("./old -v 'two words'", "awk '{ print $1 }' ${HOME}", budget="7s", margin="3%")
    assert commands_of(plan) == {
        "./old -v 'two words'": [str(folder / "old"), "-v", "two words"],
        "awk '{ print $1 }' ${HOME}": ["awk", "{ print $1 }", "${HOME}"],
        "control": [str(folder / "old"), "-v", "two words"],
    }
    assert [cell.role for cell in plan.cells] == [Role.BASELINE, Role.CANDIDATE, Role.CONTROL]
    assert plan.baseline_id == plan.cells[0].variant_id
    assert {cell.cwd for cell in plan.cells} == {str(folder)}
    assert (plan.measure.budget_s, plan.judge.margin) == (7.0, 0.03)
    assert (plan.answer.compare, plan.answer.differs) == ("exact", "warn")


def test_a_list_of_values_gives_one_variant_for_each(folder: Path) -> None:
    plan = plan_of("./p -n {n} {m}", "./q", lists=["n=1,2", "m=a\\,b,c"])
    expected = ["./p -n 1 a,b", "./p -n 1 c", "./p -n 2 a,b", "./p -n 2 c", "./q", "control"]
    assert [cell.label for cell in plan.cells] == expected
    assert commands_of(plan_of("{p} x", lists=["p=./old,new"])) == {
        "./old x": [str(folder / "old"), "x"],
        "new x": ["new", "x"],
        "control": [str(folder / "old"), "x"],
    }


def test_commands_can_have_names(folder: Path) -> None:
    plan = plan_of("echo a", "echo b", "echo c", names=["one", "two words", "drei: {x}"])
    assert [v.label for v in plan.variants] == ["one", "two words", "drei: {x}"]
    assert plan.question == "Which of these 3 commands is fastest?"
    assert commands_of(plan)["two words"] == ["echo", "b"]
    assert plan_of("echo a", "echo b", names=["x", "y"]).question == "Is `y` faster than `x`?"


def test_runs_warm_up_and_cleanup_as_in_hyperfine(folder: Path) -> None:
    plan = plan_of(
        "echo a", "echo b", runs=7, warmup=0, conclude="rm -f {input}", input=Path("words.txt")
    )
    measure = plan.measure
    assert (measure.rounds_max, measure.until, measure.budget_s) == (7, "rounds", None)
    assert measure.warmup_rounds == 0
    assert [len(words) for words in plan.cells[0].cleanup] == [3]
    limited = plan_of("echo a", "echo b", runs=7, budget="9s", words=["ab", "--budget=9s"])
    assert (limited.measure.rounds_max, limited.measure.budget_s) == (7, 9.0)


def test_setup_and_cleanup_are_one_command_with_or_without_a_shell(folder: Path) -> None:
    def words(**options: object) -> tuple[list[list[str]], list[list[str]]]:
        request = Commands(("echo a", "echo b"), **options)  # type: ignore[arg-type]
        return once(request, "setup"), once(request, "cleanup")

    assert words() == ([], [])
    assert words(setup="make 'a b'") == ([["make", "a b"]], [])
    assert words(cleanup="a | b", shell=True) == ([], [["sh", "-c", "a | b"]])
    assert words(setup="awk '{ print }'") == ([["awk", "{ print }"]], [])


def test_long_commands_are_named_by_their_beginning(folder: Path) -> None:
    long = "echo " + "a" * 5000
    plan = plan_of(long, "echo b", f"{long}c")
    labels = [f"{long[:60]}… (1)", "echo b", f"{long[:60]}… (3)"]
    assert [variant.label for variant in plan.variants] == labels
    assert commands_of(plan)[labels[2]][-1] == f"{long[5:]}c"


def test_the_product_of_lists_is_limited_before_it_is_expanded(folder: Path) -> None:
    values = ",".join(map(str, range(300)))
    with pytest.raises(UsageError, match="give 27000000 commands; at most 1000"):
        plan_of("echo {x} {y} {z}", lists=[f"{name}={values}" for name in "xyz"])


def test_an_input_is_a_placeholder_or_the_stdin(folder: Path) -> None:
    path = Path("words.txt")
    plan = plan_of("wc {input}", "cat {input}", input=path, prepare="touch {input}")
    assert plan.cells[0].command[1] == (INPUT,)
    assert plan.cells[0].stdin is None
    assert plan.cells[0].prepare == ((("touch",), (INPUT,)),)
    assert require(plan.inputs[0].dataset).path == str(folder / "words.txt")
    assert plan_of("wc", "cat", input=path).cells[0].stdin == (INPUT,)


def test_a_shell_gets_the_whole_command(folder: Path) -> None:
    plan = plan_of("wc < {input} | cat", "true; false", input=Path("words.txt"), shell=True)
    expected = [["sh", "-c", "wc < words.txt | cat"], ["sh", "-c", "true; false"]]
    assert list(commands_of(plan).values())[:2] == expected


@pytest.mark.parametrize(
    ("form", "compare", "ignore"),
    [("sorted-lines", "sorted-lines", ()), ("{ignore: ['a{2}', b]}", "exact", ("a{2}", "b"))],
)
def test_outputs_are_compared_as_in_a_scenario(
    folder: Path, form: str, compare: str, ignore: tuple[str, ...]
) -> None:
    answer = plan_of("./old", "new", answer=form).answer
    assert (answer.compare, answer.ignore, answer.differs) == (compare, ignore, "warn")
    strict = plan_of("./old", "new", answer="{differs: refuse, compare: json}").answer
    assert (strict.compare, strict.differs) == ("json", "refuse")
    assert plan_of("./old", "new", answer="{check: [grep, a]}").answer.check == ("grep", "a")
    ignoring = plan_of("./old", "new", answer="{ignore: ['differs: .*']}").answer
    assert (ignoring.ignore, ignoring.differs) == (("differs: .*",), "warn")


def test_other_exit_codes_can_be_accepted(folder: Path) -> None:
    assert plan_of("./old", "new").answer.exit_codes == (0,)
    assert plan_of("./old", "new", exit_codes="0,1").answer.exit_codes == (0, 1)
    every = plan_of("./old", "new", ignore_failure=True).answer.exit_codes
    assert every == tuple(range(128))  # 139 is SIGSEGV


def test_a_saved_scenario_is_the_same_plan(folder: Path) -> None:
    given = {"input": Path("words.txt"), "prepare": "sync", "ignore_output": True}
    plan, save = plan_of("./old {input}", "new", **given), folder / "sub" / "x.yaml"
    saved = plan_of("./old {input}", "new", **given, save=save)
    again = expand(load(save))
    assert again == replace(saved, scenario_path=str(save))
    assert (saved.name, saved.answer.compare) == ("x", "none")
    assert {Path(c.cwd or "").resolve() for c in saved.cells} == {folder.resolve()}
    for ours, theirs in zip(plan.cells, saved.cells, strict=True):
        assert (ours.id, ours.command, ours.prepare) == (theirs.id, theirs.command, theirs.prepare)
    build = require(saved.variants[0].build)
    assert Path(build.bin).resolve() == folder.resolve() / "old"
    with pytest.raises(UsageError, match="exists already"):
        plan_of("./old", "./other", save=save)
    assert expand(load(save)) == again


def test_a_full_disk_leaves_no_half_of_a_saved_scenario(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(MachineError) as caught:
        plan_of("./old", "new", save=folder / "bench" / "x.yaml")
    assert caught.value.code == "BX235"
    assert [*(folder / "bench").iterdir()] == []


def test_the_command_line_is_the_way_to_repeat_it() -> None:
    plan = plan_of("a", "b c", words=["ab", "--fresh", "a", "b c"])
    assert (plan.scenario_path, plan.command) == ("", "benchctl ab a 'b c'")


def test_both_words_of_a_list_reach_the_command() -> None:
    words = ["ab", "-L", "n", "1,2", "./p {n}", "--json", "--parameter-list", "m", "3"]
    expected = ["--json", "ab", "-L", "n=1,2", "./p {n}", "--parameter-list", "m=3"]
    assert _options_first(words) == expected


def judged(plan: Plan, wall: Comparison, *more: Comparison) -> Judgement:
    return Judgement(looks_of(plan), (), (), (wall, *more), (), (), (), "conclusive")


def compared(
    plan: Plan, verdict: Verdict, ratio: float, lo: float, hi: float, metric: str = "wall"
) -> Comparison:
    base, other = (c.id for c in plan.cells if c.role is not Role.CONTROL)
    family: Family = "memory" if metric == "peak_rss" else "headline"
    interval = Interval(ratio, lo, hi, 0.95)
    return make_comparison(other, base, metric, family, verdict, shown=interval, rounds=20, mde=0.1)


def line_of(plan: Plan, wall: Comparison, *more: Comparison, events: tuple[Event, ...] = ()) -> str:
    (line,) = command_lines(plan, judged(plan, wall, *more), events)
    return line.replace(THIN_SPACE, " ")


@pytest.mark.parametrize(
    ("verdict", "ratio", "interval", "answer"),
    [
        (Verdict.BETTER, 0.8, (0.78, 0.82), "yes"),
        (Verdict.WORSE, 1.3, (1.27, 1.35), "no"),
        (Verdict.EQUIVALENT, 1.001, (0.995, 1.008), "equal"),
        (Verdict.INCONCLUSIVE, 1.03, (0.97, 1.09), "open"),
    ],
)
def test_the_page_of_two_commands_answers_its_question(
    verdict: Verdict, ratio: float, interval: tuple[float, float], answer: str
) -> None:
    plan = plan_of("./old", "./new")
    result = judged(plan, compared(plan, verdict, ratio, *interval))
    cells = [c.id for c in plan.cells if c.role is not Role.CONTROL]
    summaries = tuple(summary_of(cell, "wall", [1.0, 1.1, 1.2]) for cell in cells)
    view = SummaryView(plan, replace(result, summaries=summaries), {}, ())
    (claim,) = (c for c in summary_claims(view) if c.kind == "answer")
    assert isinstance(claim.fact, HeadlineAnswer)
    assert claim.fact.says == answer


def test_the_names_of_programs_need_no_axis() -> None:
    labels = {cell.label for cell in plan_of("true", "false").cells}
    assert labels == {"true", "false", "control"}


def test_commands_that_fail_are_named_with_the_baseline_first() -> None:
    plan = plan_of("./old", "./new", "./idle")
    baseline, new, idle, control = (cell.id for cell in plan.cells)
    states = (
        CellState(new, "failed", 0, 1, message("exit status 1 during warm-up")),
        CellState(baseline, "failed", 0, 1, message("exit status 101 during warm-up")),
        CellState(idle, "not-started", 0, 0, Reason(ReasonCode.NO_ROUND)),
        CellState(control, "failed", 0, 1, message("exit status 101 during warm-up")),
    )
    wall = compared(plan_of("./old", "./new"), Verdict.FAILED, 1, 1, 1)
    judgement = replace(judged(plan, wall), states=states)
    failure = "the baseline failed (exit status 101 during warm-up): nothing can be compared"
    also = "; also failed: ./new (exit status 1 during warm-up)"
    assert command_lines(plan, judgement, ()) == (failure + also,)
    judgement = replace(judgement, states=states[1:])
    assert command_lines(plan, judgement, ()) == (failure,)


def test_each_verdict_is_one_sentence() -> None:
    plan = plan_of("./old [1, 2]", "./new")
    memory = compared(plan, Verdict.WORSE, 1.12, 1.11, 1.13, "peak_rss")
    assert line_of(plan, compared(plan, Verdict.BETTER, 1 / 1.31, 1 / 1.35, 1 / 1.27), memory) == (
        "`./new` is 1.31× faster than `./old [1, 2]` (95 % CI 1.27 to 1.35), same output, "
        "12 % more memory"
    )
    # The digits are those of the table above the sentence.
    assert line_of(plan, compared(plan, Verdict.WORSE, 3.174, 2.851, 3.629)).startswith(
        "`./new` is 3.17× slower than `./old [1, 2]` (95 % CI 2.85 to 3.63)"
    )
    slower = compared(plan, Verdict.WORSE_SIZE_UNCERTAIN, 1.024, 1.012, 1.036)
    assert line_of(plan, slower, events=(Event("BX334", "differs", cell_id=slower.cell_id),)) == (
        "`./new` is 2.4 % slower than `./old [1, 2]` (95 % CI 1.2 to 3.6 %), different output"
    )
    checked = replace(plan, answer=replace(plan.answer, check=("grep", "-q", "x")))
    assert line_of(checked, slower).endswith("), output accepted by the check")
    equal = compared(plan, Verdict.EQUIVALENT, 1.002, 0.991, 1.013)
    equal = replace(equal, shown=replace(require(equal.shown), level=0.9))
    assert "(90 % CI −0.9 to +1.3 %)" in line_of(plan, equal)
    assert line_of(plan, compared(plan, Verdict.EQUIVALENT, 1.001, 0.995, 1.008)) == (
        "`./new` takes as long as `./old [1, 2]` (within ±2 %): +0.1 % (95 % CI −0.5 to +0.8 %), "
        "same output"
    )
    assert line_of(plan, compared(plan, Verdict.INCONCLUSIVE, 1.02, 0.95, 1.09)).startswith(
        "`./new` vs `./old [1, 2]` is inconclusive: +2 % (95 % CI −5 to +9 %); this comparison could only"
    )


def test_sessions_are_a_number_or_a_range() -> None:
    def sessions(text: str) -> tuple[int, int | None, str]:
        measure = plan_of("./old", "./new", sessions=text).measure
        return measure.sessions, measure.sessions_min, sessions_of(measure)

    assert sessions("3") == (3, None, "3 sessions")
    assert sessions("3..3") == (3, None, "3 sessions")
    assert sessions("2..6") == (6, 2, "2 to 6 sessions")
