"""Every mistake is reported at its place, and all of them at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_framework import assets
from bench_framework.errors import ScenarioError
from bench_framework.scenario import bundled
from bench_framework.scenario.checks import derived, matrix
from bench_framework.scenario.load import load, render
from bench_framework.scenario.plan import expand
from bench_framework.workflow.scenarios.files import codes

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.scenario.load import Scenario

    Loads = Callable[..., Scenario]
    Refuses = Callable[..., ScenarioError]

FIXTURES = Path(__file__).parents[2] / "fixtures" / "scenarios"
AXES = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'
TALLY = "version: 1\nname: n\nquestion: q\nworker: {crate: builtin, bin: tally}\n"


def test_seven_errors_are_printed_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    # The worker is frozen, so that a new feature in the current one does not change the expected
    # text.
    monkeypatch.setattr(assets, "native_dir", lambda: FIXTURES / "native")
    tally = {"axes": {"io": ["read", "slurp", "mmap"]}, "flags": {"--io": "io"}}
    monkeypatch.setattr(bundled, "workers", lambda: {"tally": tally})
    monkeypatch.chdir(FIXTURES)
    with pytest.raises(ScenarioError) as caught:
        load(Path("seven_errors.yaml"))
    assert render(caught.value) == (FIXTURES / "seven_errors.txt").read_text(
        encoding="utf-8"
    ).rstrip("\n")


# Text after the head, code, text under the carets, part of the message, part of the help.
SINGLE = {
    "syntax": ("axes: [a, b: c\nd: e", "BC001", ":", "expected `,` or `]`", ""),
    "unknown alias": ("axes: {arm: *x}", "BC001", "*", "found undefined alias `x`", ""),
    "tab": ("axes:\n\tarm: [a]", "BC002", "\t", "a tab is used for indentation", "use spaces"),
    "two documents": (
        "---\nversion: 1\n",
        "BC007",
        "-",
        "second document",
        "one scenario per file",
    ),
    "unknown key": (
        AXES + "measure: {warmpu: 3}",
        "BC101",
        "warmpu",
        "unknown key `warmpu` in `measure`",
        "did you mean `warmup`?",
    ),
    "unknown key at the top": (
        AXES + "mesure: {}",
        "BC101",
        "mesure",
        "unknown key `mesure`",
        "did you mean `measure`?",
    ),
    "unknown key in an axis value": (
        "axes: {arm: {a: {featurs: [x]}}}",
        "BC101",
        "featurs",
        "unknown key `featurs` in `axes.arm.a`",
        "did you mean `features`?",
    ),
    "text for a number": (
        AXES + "measure: {rounds: {min: ten}}",
        "BC102",
        "ten",
        '`measure.rounds.min` must be a whole number of at least 1, got the text "ten"',
        "",
    ),
    "quoted number": (AXES + 'measure: {warmup: "3"}', "BC102", '"3"', 'got the text "3"', ""),
    "negative": (AXES + "measure: {warmup: -1}", "BC102", "-1", "at least 0, got -1", ""),
    "list for a mapping": (
        AXES + "measure: [1]",
        "BC102",
        "[1]",
        "`measure` must be a mapping, got a list",
        "",
    ),
    "text for a list": (
        "axes: {arm: a}",
        "BC102",
        "a",
        '`axes.arm` must be a list, got the text "a"',
        "write [a]",
    ),
    "bare percentage": (
        AXES + "margin: 2",
        "BC102",
        "2",
        "must be a percentage such as 2%, got the number 2",
        "write 2%",
    ),
    "bare duration": (
        AXES + "measure: {budget: 15}",
        "BC102",
        "15",
        "must be a duration",
        "write 15s for seconds",
    ),
    "closed set": (
        AXES + "design: ladderr",
        "BC102",
        "ladderr",
        '`design` cannot be the text "ladderr"',
        "did you mean `ladder`?",
    ),
    "answer that is no regular expression": (
        AXES + "answer: {ignore: '('}",
        "BC102",
        "'('",
        "`answer.ignore` is not a regular expression: missing )",
        "in single quotes",
    ),
    "second answer that is no regular expression": (
        AXES + "answer: {ignore: [a, '[']}",
        "BC102",
        "'['",
        "`answer.ignore` is not a regular expression",
        "",
    ),
    "tolerance of 3": (
        AXES + "answer: {tolerance: 3}",
        "BC102",
        "3",
        "must be a relative difference between 0 and 1, got the number 3",
        "",
    ),
    "share without a sign": (
        AXES + "answer: {differs: 0.1%}",
        "BC102",
        "0.1%",
        '`answer.differs` cannot be the text "0.1%"',
        'write "<0.1%"',
    ),
    "check with a comparison": (
        AXES + "answer: {check: [true], tolerance: 1e-6}",
        "BC108",
        "tolerance",
        "`tolerance` has no effect with `check`, which alone decides",
        "remove `tolerance`",
    ),
    "edits of nothing": (
        AXES + "answer: {compare: none, ignore: a}",
        "BC108",
        "ignore",
        "`ignore` has no effect with `compare: none`",
        "remove `ignore`",
    ),
    "edits of a lost output": (
        AXES + "answer: {stdout: pipe, extract: a}",
        "BC108",
        "extract",
        "`extract` has no effect with `stdout: pipe`",
        "",
    ),
    "share of JSON": (
        AXES + 'answer: {compare: json, differs: "<1%"}',
        "BC108",
        "differs",
        "`differs` counts lines, and JSON values have none",
        "filter",
    ),
    "two kinds of comparison": (
        AXES + "answer: {compare: exact, json: {ignore: [a]}}",
        "BC108",
        "json",
        "`json` contradicts `compare: exact`",
        "",
    ),
    "hosts with a misspelt key": (
        AXES + "hosts: {per_kind: 3}",
        "BC101",
        "per_kind",
        "unknown key `per_kind` in `hosts`",
        "did you mean `per-kind`?",
    ),
    "hosts with a misspelt word": (
        AXES + "hosts: al",
        "BC102",
        "al",
        '`hosts` must be `all` or a mapping, got the text "al"',
        "did you mean `all`?",
    ),
    "hosts as a number": (AXES + "hosts: 3", "BC102", "3", "got the number 3", "{any: 2}"),
    "hosts without a key": (AXES + "hosts: {}", "BC107", "hosts", "`hosts` needs `any`", "all"),
    "hosts with two keys": (
        AXES + "hosts: {any: 2, per-kind: 3}",
        "BC108",
        "per-kind",
        "`hosts` has both `any` and `per-kind`",
        "remove one of the two",
    ),
    "no host": (AXES + "hosts: {any: 0}", "BC102", "0", "must be a whole number of at least 1", ""),
    "label given twice": (
        AXES + "hosts: {label: [a, a]}",
        "BC108",
        "[a, a]",
        "the label `a` is given twice",
        "",
    ),
    "label with a blank": (
        AXES + "hosts: {label: [a b]}",
        "BC108",
        "[a b]",
        "the label `a b` has other characters",
        "such as [arm64, x86]",
    ),
    "nothing": (AXES + "stdin:", "BC102", "stdin", "must be text, got nothing", ""),
    "command as text": (
        'axes: {arm: [a]}\ncommand: "{bin} {arm}"',
        "BC102",
        "command",
        "list of arguments",
        "shell: true",
    ),
    "duplicate key": (AXES + "axes: {}", "BC104", "axes", "key `axes` is given twice", ""),
    "duplicate value": (
        'axes: {arm: [a, b, a]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}',
        "BC104",
        "a",
        "value `a` is given twice in axis `arm`",
        "",
    ),
    "one size twice": (
        'axes: {size: [1MiB, 1024KiB]}\ninput: {dataset: prose, size: "{size}"}\ncommand: ["{bin}", "{input}"]',
        "BC104",
        "1024KiB",
        "value `1024KiB` is given twice",
        "",
    ),
    "size without unit": (
        AXES + "input: {dataset: prose, size: 200}",
        "BC105",
        "200",
        "size `200` has no unit",
        "write 200MiB (209 715 200 bytes)",
    ),
    "no size at all": (
        AXES + "input: {dataset: prose, size: big}",
        "BC105",
        "big",
        "`big` is not a size",
        "10MiB",
    ),
    "yes/no word": (
        AXES + "shell: yes",
        "BC106",
        "yes",
        "`yes` is text in YAML 1.2, not a boolean",
        "write true",
    ),
    "missing in a part": (
        AXES + "notes: [{title: t}]",
        "BC107",
        "{title: t}",
        "`text` is missing in `notes[0]`",
        "",
    ),
    "half an input": (
        AXES + "input: {dataset: prose}",
        "BC107",
        "input",
        "`input.dataset` needs `size`",
        "",
    ),
    "contradiction": (
        AXES + "measure: {rounds: {min: 9, max: 3}}",
        "BC108",
        "min",
        "is 9 and `rounds.max` is 3",
        "",
    ),
    "variable of ours": (
        AXES + "env: {BENCHCTL_ANSWERS: x}",
        "BC108",
        "BENCHCTL_ANSWERS",
        "benchctl sets `BENCHCTL_ANSWERS` itself",
        "",
    ),
    "no variable": (
        AXES + "env: {A=B: x}",
        "BC108",
        "A=B",
        "`A=B` is not a valid name of an environment variable",
        "",
    ),
    "reserved name": (
        'axes: {input: [a]}\ncommand: ["{bin}"]',
        "BC108",
        "input",
        "`input` is a reserved name in scenarios",
        "",
    ),
    "placeholder": (
        'axes: {arm: [a, b]}\ncommand: ["{bin}", "--x={amr}", "{arm}"]\nbaseline: {arm: a}',
        "BC109",
        "{amr}",
        "unknown placeholder `{amr}`",
        "did you mean `{arm}`?",
    ),
    "lone brace": (
        AXES + "stdin: a{b",
        "BC109",
        "{",
        "`{` is not a placeholder",
        "write `{{` and `}}`",
    ),
    "input without input": (
        AXES + 'stdin: "{input}"',
        "BC109",
        "{input}",
        "this scenario has no `input`",
        "",
    ),
    "an underscore in a key": (
        AXES + "limits: {max_cells: 1}",
        "BC101",
        "max_cells",
        "unknown key `max_cells` in `limits`",
        "did you mean `max-cells`?",
    ),
    "an underscore in a key of the gate": (
        AXES + "gate: {min_compared: 3}",
        "BC101",
        "min_compared",
        "unknown key `min_compared` in `gate`",
        "did you mean `min-compared`?",
    ),
    "capitals in a key": (
        AXES + "Exit_Codes: [0]",
        "BC101",
        "Exit_Codes",
        "unknown key `Exit_Codes`",
        "did you mean `exit-codes`?",
    ),
    "a hyphen in the name of a metric": (
        AXES + "gate: {peak-rss: 5%}",
        "BC101",
        "peak-rss",
        "unknown key `peak-rss` in `gate`",
        "did you mean `peak_rss`?",
    ),
    "anchor of nothing": (
        AXES + "anchor: {}",
        "BC107",
        "anchor",
        "`anchor` needs `rev` or `variant`",
        "rev: v1.0",
    ),
    "anchor of two": (
        AXES + "anchor: {rev: v1, variant: {arm: a}}",
        "BC108",
        "rev",
        "`anchor` has both `rev` and `variant`",
        "",
    ),
    "anchor without a build": (
        AXES + "anchor: {rev: v1}",
        "BC108",
        "v1",
        "has no effect: a program that is not built has no revision",
        "anchor: {variant:",
    ),
    "anchor of no axis": (
        AXES + "anchor: {variant: {leg: a}}",
        "BC206",
        "leg",
        "there is no axis `leg`",
        "",
    ),
    "anchor of no value": (
        AXES + "anchor: {variant: {arm: z}}",
        "BC206",
        "z",
        "axis `arm` has no value `z`",
        "",
    ),
    "metric without a place": (
        AXES + "metrics: {x: {unit: s}}",
        "BC107",
        "x",
        "metric `x` needs `from`",
        "",
    ),
    "no formula": (
        AXES + "derived: {x: min(}",
        "BC209",
        "min(",
        "`x` cannot be computed: not a valid formula",
        "",
    ),
    "a formula that mixes units": (
        AXES + "cells: {one: {arm: a}}\nderived: {x: rate(one) + time(one)}",
        "BC209",
        "rate(one) + time(one)",
        "have different units",
        "",
    ),
    "a formula over a cell without a name": (
        AXES + "cells: {one: {arm: a}}\nderived: {x: rate(ona)}",
        "BC209",
        "rate(ona)",
        "there is no cell `ona`",
        "did you mean `one`?",
    ),
    "a formula that is named like a cell": (
        AXES + "cells: {one: {arm: a}}\nderived: {one: rate(one)}",
        "BC209",
        "one",
        "`one` is already the name of a cell",
        "",
    ),
    "a named cell that is excluded": (
        AXES + "exclude: [{arm: b}]\ncells: {one: {arm: b}}",
        "BC209",
        "one",
        "cell `one` (arm=b) is not measured",
        "",
    ),
    "a choice of no measured variant": (
        AXES + "exclude: [{arm: b}]\nchoose-from: {arm: b}",
        "BC209",
        "{arm: b}",
        "`choose-from` selects no measured variant",
        "",
    ),
    "a named cell of no such value": (
        AXES + "cells: {one: {arm: c}}",
        "BC206",
        "c",
        "axis `arm` has no value `c`",
        "",
    ),
    "a name that a formula would read as a difference": (
        AXES + "cells: {one-arm: {arm: a}}",
        "BC108",
        "one-arm",
        "`one-arm` is not a valid name",
        "one_arm",
    ),
    "a bound that is the baseline": (
        AXES + "bounds: [{arm: a}]",
        "BC206",
        "{arm: a}",
        "the baseline cannot be a bound",
        "another baseline",
    ),
    "cold without an input": (
        AXES + "measure: {cache: cold}",
        "BC108",
        "cold",
        "`cache: cold` needs an `input`",
        "unknown",
    ),
    "a value that is cold without an input": (
        "axes: {arm: {a: {}, b: {cache: cold}}}\nbaseline: {arm: a}",
        "BC108",
        "cold",
        "`cache: cold` needs an `input`",
        "unknown",
    ),
    "no such state of a cache": (
        AXES + "measure: {cache: hot}",
        "BC102",
        "hot",
        'cannot be the text "hot"',
        "",
    ),
    "a text that is not a list of CPUs": (
        AXES + "measure: {cpus: all}",
        "BC102",
        "all",
        "must be a list of CPUs",
        "",
    ),
    "race that looks once": (
        AXES + "measure: {strategy: race, until: rounds, rounds: 20}",
        "BC108",
        "strategy",
        "`strategy: race` has no effect with `until: rounds`, which has no interim analyses",
        "write `until: conclusive`, or `strategy: fixed`",
    ),
    "all rounds without their number": (
        AXES + "measure: {until: rounds, budget: 1m}",
        "BC108",
        "until",
        "`until: rounds` needs the number of rounds",
        "add `rounds: 30`, or write `until: conclusive`",
    ),
    "a bucket that is no pattern": (
        AXES + "profile: {buckets: {JSON: '('}}",
        "BC114",
        "'('",
        "bucket `JSON` is not a regular expression: missing )",
        "",
    ),
    "a bucket that a later Python may read differently": (
        AXES + "profile: {buckets: {JSON: '[[a]'}}",
        "BC114",
        "'[[a]'",
        "bucket `JSON` is not a regular expression: Possible nested set at position 1",
        "",
    ),
    "a bucket called other": (
        AXES + "profile: {buckets: {other: x}}",
        "BC108",
        "other",
        "`other` is reserved for functions that match no bucket",
        "",
    ),
    "a frequency that disturbs": (
        AXES + "profile: {frequency: 50000}",
        "BC108",
        "frequency",
        "`frequency` is 50000; above 10000 the sampler disturbs the program",
        "write 997, and raise `runs` for more samples",
    ),
    "a profile of no variant": (
        AXES + "profile: {variants: [{arm: c}]}",
        "BC206",
        "c",
        "axis `arm` has no value `c`",
        "",
    ),
    "a gate against a revision of what is not built": (
        AXES + "gate: {against: main}",
        "BC108",
        "main",
        "has no effect: a program that is not built has no revision",
        "remove it, to compare with the scenario's baseline",
    ),
    "a gate of the size of what is not built": (
        AXES + "gate: {binary_size: 1%}",
        "BC108",
        "binary_size",
        "has no effect on a program that is not built",
        "",
    ),
    "gated cells of an axis that is not there": (
        AXES + "gate: {cells: 'size>=1MiB'}",
        "BC113",
        "'size>=1MiB'",
        "there is no axis `size`",
        "",
    ),
    "a budget of a value that is not there": (
        AXES + "gate: {budgets: [{cell: arm=c, metric: wall, max: 1s}]}",
        "BC113",
        "arm=c",
        "axis `arm` has no value `c`",
        "",
    ),
    "a budget of what is no metric": (
        AXES + "gate: {budgets: [{cell: arm=a, metric: wal, max: 1s}]}",
        "BC206",
        "wal",
        "metric `wal` does not exist or cannot have a budget",
        "did you mean `wall`?",
    ),
    "a budget without its unit": (
        AXES + "gate: {budgets: [{cell: arm=a, metric: peak_rss, max: 200}]}",
        "BC102",
        "200",
        "`200` is not a limit for metric `peak_rss`",
        "such as 200MiB",
    ),
    "a budget of nothing": (
        AXES + "gate: {budgets: [{cell: arm=a, metric: wall, max: 0s}]}",
        "BC102",
        "0s",
        "`max` must be above zero",
        "",
    ),
    "no baseline": (
        'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]',
        "BC201",
        "axes",
        "`baseline` is missing",
        "baseline: {arm: a}",
    ),
    "baseline of no variant": (
        'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: c}',
        "BC201",
        "{arm: c}",
        "baseline `arm=c` selects no variant",
        "use one of: a, b",
    ),
    "baseline of several": (
        'axes: {arm: [a, b], leg: [c, d]}\ncommand: ["{bin}", "{arm}{leg}"]\nbaseline: {arm: a}',
        "BC201",
        "{arm: a}",
        "baseline selects several variants: it has no value for `leg`",
        "add leg: c or d",
    ),
    "baseline of no axis": (
        'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arn: a}',
        "BC201",
        "arn",
        "there is no axis `arn` for the baseline",
        "did you mean `arm`?",
    ),
    "baseline of an input": (
        (
            'axes: {arm: [a], size: [1MiB]}\ninput: {dataset: prose, size: "{size}"}\ncommand: ["{bin}", "{arm}"]\n'
            "baseline: {arm: a, size: 1MiB}"
        ),
        "BC201",
        "size",
        "an axis of the input",
        "remove `size`",
    ),
    "baseline excluded": (
        AXES + "exclude: [{arm: a}]",
        "BC201",
        "baseline",
        "excluded on every input",
        "",
    ),
    "empty rule": (
        AXES + "exclude: [{arm: c}]",
        "BC202",
        "c",
        "exclude rule matches no combination",
        "",
    ),
    "rule of no axis": (
        AXES + "exclude: [{amr: a}]",
        "BC202",
        "amr",
        "exclude rule matches no combination",
        "did you mean `arm`?",
    ),
    "too many": (
        AXES + "limits: {max-cells: 1}",
        "BC203",
        "axes",
        "too many configurations: 2, limit 1",
        "limits.max-cells",
    ),
    "one program twice": (
        'axes: {arm: {a: {}, b: {about: x}}, leg: [c, d]}\ncommand: ["{bin}", "{leg}"]\nbaseline: {arm: a, leg: c}',
        "BC205",
        "arm",
        "axis `arm` is never used",
        "",
    ),
    "idle experiment": (
        AXES + 'fixed: {k: v}\nenv: {K: "{k}"}\nexperiments: [{name: i, change: {k: v}}]',
        "BC204",
        "v",
        "experiment `i` changes nothing",
        "",
    ),
    "equal settings": (
        'axes: {arm: {a: {args: [-x]}, b: {args: [-x]}}}\ncommand: ["{bin}"]\nbaseline: {arm: a}',
        "BC204",
        "axes",
        "two variants are the same program: a, b",
        "",
    ),
    "unused axis": (
        'axes: {arm: [a, b]}\ncommand: ["{bin}"]\nbaseline: {arm: a}',
        "BC205",
        "arm",
        "axis `arm` is never used",
        "",
    ),
    "unused knob": (
        AXES + "fixed: {block: 64KiB}",
        "BC205",
        "block",
        "fixed key `block` is never used",
        "",
    ),
    "pairs of no axis": (AXES + "pairs: [arm, leg]", "BC206", "leg", "there is no axis `leg`", ""),
    "pairs of unequal length": (
        'axes: {arm: [a, b], leg: [c]}\ncommand: ["{bin}", "{arm}{leg}"]\nbaseline: {arm: a}\npairs: [arm, leg]',
        "BC206",
        "[arm, leg]",
        "arm has 2, leg has 1",
        "",
    ),
    "unknown metric": (
        AXES + "judge: [wal]",
        "BC206",
        "wal",
        "`wal` cannot be judged",
        "did you mean `wall`?",
    ),
    "a precision without its sign": (
        AXES + "measure: {until: {precision: 1}}",
        "BC102",
        "1",
        "`measure.until.precision` must be a percentage",
        "write 1%",
    ),
    "two changes of an experiment": (
        AXES + "experiments: [{name: i, change: {arm: b, leg: c}}]",
        "BC108",
        "change",
        "experiment `i` has 2 changes, whose effects cannot be separated",
        "write one experiment for each change",
    ),
    "no change of an experiment": (
        AXES + "experiments: [{name: i, change: {}}]",
        "BC102",
        "{}",
        "must have at least 1 entry, got 0",
        "",
    ),
    "an exit code that no process has": (
        AXES + "exit-codes: [0, 256]",
        "BC102",
        "256",
        "of at most 255, got 256",
        "",
    ),
    "an exit code below zero": (
        AXES + "exit-codes: [-1]",
        "BC102",
        "-1",
        "of at least 0, got -1",
        "",
    ),
    "CPUs that run backwards": (
        AXES + "measure: {cpus: 3-1}",
        "BC102",
        "3-1",
        "must be a list of CPUs, but 3-1 is in descending order",
        "write 1-3",
    ),
    "CPUs in other digits": (
        AXES + "measure: {cpus: ٠}",
        "BC102",
        "٠",
        "must be a list of CPUs",
        "",
    ),
    "an answer in no file": (
        AXES + 'answer: {file: ""}',
        "BC102",
        '""',
        "must be text, got an empty text",
        "",
    ),
    "a command of no words": (
        AXES + "prepare: [[]]",
        "BC102",
        "[]",
        "must have at least 1 entry, got 0",
        "",
    ),
    "a formula that divides by zero": (
        AXES + "cells: {a: {arm: a}}\nderived: {x: time(a) / 0}",
        "BC209",
        "time(a) / 0",
        "`time(a)` is divided by zero",
        "",
    ),
    "nothing left": (
        AXES + "exclude: [{arm: [a, b]}]",
        "BC208",
        "axes",
        "no configuration to measure: all are excluded or unavailable",
        "",
    ),
    "empty program of a filter": (
        AXES + "answer: {filter: ['', x]}",
        "BC102",
        "['', x]",
        "the first word of `answer.filter` is empty",
        "write the program first",
    ),
    "empty program of an input": (
        AXES + "input: {command: [' ']}",
        "BC102",
        "[' ']",
        "the first word of `input.command` is empty",
        "write the program first",
    ),
    "empty target-cpu": (
        "axes: {arm: {a: {}, b: {target-cpu: ''}}}\nbaseline: {arm: a}",
        "BC102",
        "''",
        "got an empty text",
        "",
    ),
    "no input file": (
        AXES + "input: {file: nowhere.txt}",
        "BC404",
        "nowhere.txt",
        "input file `nowhere.txt` does not exist",
        "relative to the scenario",
    ),
}


@pytest.mark.parametrize("case", SINGLE)
def test_one_mistake_is_one_error_at_its_place(case: str, refuses: Refuses) -> None:
    text, code, marked, message, advice = SINGLE[case]
    error = refuses(text)
    (problem,) = error.problems
    assert problem.code == code
    assert message in problem.message
    assert advice in (problem.fix or "")
    assert problem.at is not None
    assert problem.file is not None
    line = error.sources[problem.file].split("\n")[problem.at.line - 1]
    assert line[problem.at.column - 1 :][: problem.at.length] == marked


TUNED = {
    "tuning that nothing uses": (
        'tuning: ["{bin}", try]',
        "BC205",
        "tuning",
        "`tuning` is never used",
        "",
    ),
    "tuning for one variant": (
        'tuning: ["{bin}", "{arm}"]\nprepare: [cat, "{tuning}"]',
        "BC109",
        "{arm}",
        "unknown placeholder `{arm}`",
        "",
    ),
    "tuning that uses itself": (
        'tuning: ["{bin}", "{tuning}"]\nprepare: [cat, "{tuning}"]',
        "BC109",
        "{tuning}",
        "`{tuning}` cannot be used here: `tuning` runs once, before all inputs",
        "",
    ),
    "the output of no tuning": (
        'prepare: [cat, "{tuning}"]',
        "BC109",
        "{tuning}",
        "`{tuning}` cannot be used here: this scenario has no `tuning`",
        "",
    ),
}


@pytest.mark.parametrize("case", TUNED)
def test_tuning_is_one_command_that_something_uses(case: str, refuses: Refuses) -> None:
    text, code, marked, message, advice = TUNED[case]
    error = refuses(AXES + text, head=TALLY)
    (problem,) = error.problems
    assert (problem.code, message in problem.message, advice in (problem.fix or "")) == (
        code,
        True,
        True,
    )
    assert problem.at is not None
    assert problem.file is not None
    line = error.sources[problem.file].split("\n")[problem.at.line - 1]
    assert line[problem.at.column - 1 :][: problem.at.length] == marked


@pytest.mark.parametrize(
    ("worker", "pgo", "more", "code", "message", "advice"),
    [
        (
            "crate: builtin, bin: tally",
            "{train: [cat, x]}",
            "",
            "BC109",
            "the training command does not run the built program: it has no `{bin}`",
            'start it with "{bin}", or with a script that gets "{bin}"',
        ),
        (
            "crate: builtin, bin: tally",
            '{train: ["{bin}", "{how}"]}',
            "",
            "BC109",
            "unknown placeholder `{how}`",
            "",
        ),
        (
            "crate: builtin, bin: tally",
            '{train: ["{bin}", "{tuning}"]}',
            'tuning: ["{bin}"]\nprepare: [cat, "{tuning}"]',
            "BC109",
            "`{tuning}` cannot be used here: `tuning` runs after all builds",
            "",
        ),
        (
            "crate: builtin, bin: tally",
            "true",
            'tuning: ["{bin}"]\ncommand: ["{bin}", "{tuning}"]',
            "BC108",
            "the command cannot be the training: it has `{tuning}`, which runs later",
            'write pgo: {train: ["{bin}", …]}',
        ),
        (
            "command: [cat]",
            "true",
            "",
            "BC108",
            "`pgo` has no effect here: the worker is a program that is not built",
            "remove `pgo`",
        ),
    ],
)
def test_a_training_runs_the_built_program_before_everything_else(
    refuses: Refuses, worker: str, pgo: str, more: str, code: str, message: str, advice: str
) -> None:
    head = f"version: 1\nname: n\nquestion: q\nworker: {{{worker}}}\n"
    axes = f"axes: {{how: {{off: {{}}, on: {{pgo: {pgo}}}}}}}\nbaseline: {{how: off}}\n"
    (problem,) = refuses(axes + more, head=head).problems
    assert (problem.code, problem.message) == (code, message)
    assert advice in (problem.fix or "")


@pytest.mark.parametrize("worker", ["dgen", "search"])
def test_a_worker_whose_axes_do_not_say_all_needs_a_command(refuses: Refuses, worker: str) -> None:
    (problem,) = refuses("measure: {rounds: 3}", head=TALLY.replace("tally", worker)).problems
    assert (problem.code, problem.message) == (
        "BC109",
        f"worker `{worker}` has no default command",
    )


def test_tuning_needs_a_program_that_is_built(refuses: Refuses) -> None:
    (problem,) = refuses(AXES + 'tuning: ["{bin}", try]\nprepare: [cat, "{tuning}"]').problems
    assert (problem.code, problem.message) == (
        "BC108",
        "`tuning` has no effect on a program that is not built",
    )


BUNDLED = {
    "no such value": (
        "axes: {io: [read, slrp]}\nbaseline: {io: read}",
        "BC103",
        "slrp",
        "worker `tally` has no value `slrp` for `io`",
    ),
    "no such literal": (
        'command: ["{bin}", run, --io, reed]',
        "BC103",
        "reed",
        "worker `tally` has no value `reed` for `io`",
    ),
    "no such data set": (
        "input: {dataset: pros, size: 1MiB}",
        "BC103",
        "pros",
        "there is no dataset `pros`",
    ),
    "no such feature": (
        "axes: {a: {b: {features: [jemaloc]}}}",
        "BC302",
        "jemaloc",
        "no cargo feature `jemaloc`",
    ),
    "revision": (
        "axes: {a: {b: {revision: v1}}}",
        "BC108",
        "revision",
        "`revision` has no effect here",
    ),
    "never run": ("command: [run]", "BC109", "[run]", "the command does not run the built program"),
}


@pytest.mark.parametrize("case", BUNDLED)
def test_bundled_workers_are_known_before_they_are_built(case: str, refuses: Refuses) -> None:
    text, code, marked, message = BUNDLED[case]
    (problem,) = refuses(text, head=TALLY).problems
    assert (problem.code, message in problem.message) == (code, True)
    assert problem.at is not None
    line = (TALLY + text).split("\n")[problem.at.line - 1]
    assert line[problem.at.column - 1 :][: problem.at.length] == marked


@pytest.mark.parametrize(
    ("worker", "code", "message"),
    [
        ("{crate: nowhere}", "BC301", "no such folder"),
        ("{crate: builtin, bin: tall}", "BC305", "there is no bundled worker `tall`"),
        ("{git: https://example.org/x.git}", "BC107", "`git` needs `bin`"),
        ("{}", "BC107", "`worker` needs one of `crate`, `git`, `registry` or `command`"),
        ("{crate: builtin, bin: tally, command: [x]}", "BC108", "takes one of"),
        (
            "{command: [x], features: [y]}",
            "BC108",
            "`features` has no effect on a program that is not built",
        ),
        ("{command: [x], default-features: true}", "BC108", "`default-features` has no effect"),
        ("{crate: builtin, bin: tally, rev: v1}", "BC108", "`rev` needs `git`"),
        ("{crate: builtin, bin: tally, profile: {ltoo: fat}}", "BC101", "unknown key `ltoo`"),
    ],
)
def test_a_worker_that_cannot_be_built_is_an_error(
    worker: str, code: str, message: str, refuses: Refuses
) -> None:
    (problem,) = refuses("", head=f"version: 1\nname: n\nquestion: q\nworker: {worker}\n").problems
    assert problem.code == code
    assert message in problem.message


def test_a_later_version_is_not_judged_any_further(refuses: Refuses) -> None:
    (problem,) = refuses("whatever: [1, 2]\n", head="version: 2\n").problems
    assert problem.code == "BC110"


def test_all_missing_keys_are_reported_at_once(refuses: Refuses) -> None:
    assert [p.message for p in refuses("about: x\n", head="").problems] == [
        f"`{key}` is missing" for key in ("version", "name", "question", "worker")
    ]


def test_more_than_twenty_errors_are_counted(refuses: Refuses) -> None:
    text = render(refuses(AXES + "".join(f"k{i}: 1\n" for i in range(25))))
    assert text.count("error[") == 20
    assert text.endswith("\n\nand 5 more\n\n25 errors in 1 file. Nothing was built or run.")


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "a b", "x" * 101])
def test_a_name_that_could_leave_its_folder_is_refused(name: str, refuses: Refuses) -> None:
    head = f"version: 1\nname: {name!r}\nquestion: q\nworker: {{command: [x]}}\n"
    (problem,) = refuses("", head=head).problems
    assert problem.code == "BC102"


class TestFiles:
    def test_missing(self, tmp_path: Path) -> None:
        assert self.only(tmp_path / "no.yaml") == (
            "BC003",
            f"there is no file `{tmp_path / 'no.yaml'}`",
        )

    def test_a_similar_name_in_the_folder_is_suggested(self, tmp_path: Path) -> None:
        (tmp_path / "sort.yaml").write_text("version: 1\n")
        with pytest.raises(ScenarioError) as caught:
            load(tmp_path / "sort.yml")
        assert caught.value.problems[0].fix == "did you mean `sort.yaml`?"

    def test_a_folder(self, tmp_path: Path) -> None:
        assert self.only(tmp_path) == ("BC003", f"`{tmp_path}` is a folder")

    def test_a_device(self) -> None:
        assert self.only(Path("/dev/null")) == ("BC003", "`/dev/null` is not a regular file")

    @pytest.mark.parametrize(
        ("content", "code", "message"),
        [
            (b"", "BC005", "the file is empty"),
            (b"# nothing\n", "BC005", "the file is empty"),
            ("version: 1".encode("utf-16"), "BC004", "the file is UTF-16"),
            (b"a: 1\nb: \xff", "BC004", "the file is not UTF-8: byte 0xff in line 2"),
            (b"\xef\xbb\xbfversion: 1", "BC004", "the file is UTF-8 with a byte order mark"),
            pytest.param(
                b"#" * (1 << 20) + b"##",
                "BC006",
                "the file is larger than 1024 KiB",
                id="too large",
            ),
            (b"a: &a [*a]", "BC001", "an alias refers to a value that contains it"),
            pytest.param(b"[" * 1000, "BC006", "the document is nested too deeply", id="nested"),
            (b"- a\n- b\n", "BC102", "a scenario must be a mapping of keys"),
        ],
    )
    def test_unreadable_content(
        self, content: bytes, code: str, message: str, tmp_path: Path
    ) -> None:
        assert self.written(tmp_path, content) == (code, message)

    def test_a_billion_laughs(self, tmp_path: Path) -> None:
        rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
        for this, last in zip("bcdefghi", "abcdefgh", strict=True):
            rows.append(f"{this}: &{this} [{', '.join([f'*{last}'] * 9)}]")
        code, message = self.written(tmp_path, "\n".join(rows).encode())
        assert code == "BC006"
        assert "20000 values" in message

    def written(self, folder: Path, content: bytes) -> tuple[str, str]:
        path = folder / "s.yaml"
        path.write_bytes(content)
        return self.only(path)

    def only(self, path: Path) -> tuple[str, str]:
        with pytest.raises(ScenarioError) as caught:
            load(path)
        (problem,) = caught.value.problems
        assert render(caught.value).endswith("1 error in 1 file. Nothing was built or run.")
        return problem.code, problem.message


def test_every_code_is_shown_by_a_test_of_this_layer() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(__file__).parent.glob("test_scenario_*.py")
    )
    with_example = [code for code, text in codes().items() if len(text) > 1]
    assert [code for code in with_example if f'"{code}"' not in tests] == []


def test_a_valid_scenario_has_no_errors(loads: Loads) -> None:
    assert expand(loads(AXES)).name == "n"


class TestFollowingErrors:
    """Errors that only follow from a reported mistake are not reported."""

    def test_names_of_what_was_left_out(self, refuses: Refuses) -> None:
        error = refuses(
            "axes: {arm: [a, b], leg: oops, toe: {x: [1], y: {}}}\n"
            'command: ["{bin}", "{arm}{leg}{toe}"]\nbaseline: {arm: a, leg: c, toe: x}\n'
            "exclude: {leg: d}\nexperiments: [{name: i, change: {leg: e}}]\nstdin: '{input}'\ninput: [1]"
        )
        assert [problem.message for problem in error.problems] == [
            '`axes.leg` must be a list, got the text "oops"',
            "`axes.toe.x` must be a mapping, got a list",
            "`input` must be a mapping, got a list",
        ]

    def test_a_baseline_of_the_wrong_shape_is_not_missing(self, refuses: Refuses) -> None:
        (problem,) = refuses(
            'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: arm=a'
        ).problems
        assert problem.message == '`baseline` must be a mapping, got the text "arm=a"'

    def test_other_mistakes_are_still_reported(self, refuses: Refuses) -> None:
        error = refuses(AXES.replace("{arm}", "{amr}") + "measure: {warmpu: 3}\njudge: [wal]")
        assert [problem.code for problem in error.problems] == ["BC109", "BC101", "BC206"]


def test_a_key_of_a_closed_set_is_an_unknown_key(refuses: Refuses) -> None:
    head = "version: 1\nname: n\nquestion: q\nworker: {crate: builtin, bin: tally, profile: {opt_level: 3}}\n"
    (problem,) = refuses("", head=head).problems
    assert (problem.code, problem.message) == (
        "BC101",
        "unknown key `opt_level` in `worker.profile`",
    )
    assert (problem.fix or "").startswith(
        "did you mean `opt-level`?  keys allowed here: opt-level, lto"
    )


def test_the_fixture_of_every_key_loads_and_uses_every_key() -> None:
    scenario = load(FIXTURES / "every_key.yaml")
    assert scenario.spec.model_fields_set == set(type(scenario.spec).model_fields)
    assert len(expand(scenario).cells) == 9


def test_a_product_that_is_too_large_is_not_expanded(
    refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (derived, matrix):
        monkeypatch.setattr(module, "combine", lambda _: pytest.fail("the product was expanded"))
    values = ", ".join(f"v{n}" for n in range(8))
    axes = "".join(f"  a{n}: [{values}]\n" for n in range(12))
    words = ", ".join(f'"{{a{n}}}"' for n in range(12))
    baseline = ", ".join(f"a{n}: v0" for n in range(12))
    error = refuses(
        f'axes:\n{axes}command: ["{{bin}}", {words}]\nbaseline: {{{baseline}}}\n'
        "limits: {max-cells: 99999}\n"
    )
    assert [(p.code, p.message.partition(":")[0]) for p in error.problems] == [
        ("BC203", "too many combinations")
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fifo", "is not a regular file"),
        ("/dev/null", "is not a regular file"),
        ("x" * 5000, "cannot be read: File name too long"),
    ],
)
def test_an_input_that_is_not_a_file_is_named(
    refuses: Refuses, tmp_path: Path, name: str, words: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    [problem] = refuses(f"{AXES}input: {{file: {name}}}\n").problems
    assert problem.code == "BC404"
    assert problem.message.endswith(words)


def test_a_folder_as_input_is_answered_with_a_way_to_use_it(refuses: Refuses) -> None:
    [problem] = refuses(f"{AXES}input: {{file: ./}}\n").problems
    assert problem.message.endswith("is a folder")
    assert "write input: {folder: ./}" in (problem.fix or "")


@pytest.mark.parametrize(
    "text",
    ["rounds: 99999999999", "rounds: {max: 100001}", "rounds: {min: 100001}", "warmup: 100001"],
)
def test_a_number_of_rounds_that_no_run_reaches_is_an_error(refuses: Refuses, text: str) -> None:
    problems = refuses(f"{AXES}measure: {{{text}}}\n").problems
    assert {problem.code for problem in problems} == {"BC102"}
    assert "at most 100000" in problems[0].message


def test_a_worker_with_the_protocol_has_no_output_to_edit(refuses: Refuses) -> None:
    head = "version: 1\nname: n\nquestion: q\nworker: {command: [./a], contract: true}\n"
    text = "axes: {arm: [a, b]}\nbaseline: {arm: a}\n"
    text += 'env: {A: "{arm}"}\nanswer: {ignore: a}\n'
    [problem] = refuses(text, head=head).problems
    assert (problem.code, problem.message) == (
        "BC108",
        "`answer.ignore` has no effect: the worker reports its answer itself",
    )


def test_a_container_image_is_refused_with_what_works_instead(refuses: Refuses) -> None:
    head = "version: 1\nname: n\nquestion: q\nworker: {image: debian}\n"
    (problem,) = refuses("axes: {arm: [a, b]}\nbaseline: {arm: a}\n", head=head).problems
    assert problem.message == "unknown key `image` in `worker`"
    assert "run benchctl in the container" in (problem.fix or "")
