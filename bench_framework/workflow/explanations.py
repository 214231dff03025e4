"""Error and warning codes outside of the scenario language, and the generated pages.

`bench_framework.scenario.codes` has the codes of the scenario language; a test checks that both lists
are complete. ``python -m bench_framework.workflow.explanations --write`` writes all pages of `PAGES`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from bench_framework import assets
from bench_framework.model.metrics import METRICS, UNITS, MetricKind

RUN_CODES: Final[dict[str, str]] = {
    "BC401": (
        "the disk has no room for the inputs. Free some space, use another data-dir, or run "
        "`benchctl clean`."
    ),
    "BC403": (
        "hyperfine 1.20 or newer was not found and cargo could not install it. Set "
        "BENCHCTL_HYPERFINE to its path."
    ),
    "BC405": (
        "the extension that generates inputs is not installed. Install the package instead "
        "of running its sources."
    ),
    "BC406": "the input file that the scenario names does not exist.",
    "BC407": "an input could not be written: the disk is full or the folder is read-only.",
    "BC408": "the generator has no dataset of this name.",
    "BC409": "the lock that prevents two measurements at the same time cannot be opened.",
    "BC410": (
        "measuring needs Linux; reports, validation and the notebook API work on other systems."
    ),
    "BX100": "wrong usage.",
    "BX101": "there is no record of this name.",
    "BX102": "there is no file and no shipped scenario of this name.",
    "BX103": "`benchctl init` would overwrite a file, or cannot write.",
    "BX104": "an unknown report format, or report options that contradict each other.",
    "BX105": "an unknown kind of item for `benchctl clean`.",
    "BX106": "a filter of `benchctl compare` selects no variant, or several where one is needed.",
    "BX107": "the record does not contain this metric, or two records cannot be compared by it.",
    "BX108": "the gate has too few rounds to detect anything, so it would always pass.",
    "BX109": "another machine measured the record, so the gate cannot confirm a regression here.",
    "BX110": (
        "the scenario cannot be measured at two revisions: it builds nothing, or names "
        "revisions itself."
    ),
    "BX111": "base and head of a gate are the same commit.",
    "BX112": (
        "the gate's file of accepted changes is missing, or one of its entries cannot be read."
    ),
    "BX113": (
        "a template of `--template` is invalid, or its folder contains no template of a report."
    ),
    "BX114": "the report of this record has no figure of this name (`bench_framework.plot`).",
    "BX119": "an invalid bucket of `benchctl profile`.",
    "BX121": (
        "`benchctl compare` cannot compare these records, or these options contradict each other."
    ),
    "BX130": "interrupted. The same command resumes.",
    "BX201": (
        "a run failed, hung or was killed. Its round is void; a cell with more than 5 % void "
        "rounds has failed."
    ),
    "BX202": "a command needs `{bin}` or `{input}`, and the scenario has none.",
    "BX203": "an invalid list of CPUs.",
    "BX204": "the command under `tuning` failed or printed no JSON object. Nothing was measured.",
    "BX210": (
        "a variant gave another answer than the baseline on the same input. Its times are "
        "not compared."
    ),
    "BX211": (
        "the worker's answer is not a line of the protocol (docs/reference/worker-protocol.md)."
    ),
    "BX213": "the worker did not append exactly one line of answer per run.",
    "BX214": "one command gave different answers in different runs: it is not deterministic.",
    "BX215": "the answer file cannot be read.",
    "BX216": "the answer is compared as JSON, but it is not valid JSON.",
    "BX217": "a declared metric could not be read in a run. It is missing in that run, never 0.",
    "BX220": "a variant could not be built. The details contain cargo's message.",
    "BX221": "the worker should follow the protocol, but the output of its `describe` does not.",
    "BX222": "the crate's folder contains no Cargo.toml.",
    "BX223": (
        "the baseline or all candidates cannot run on this machine, for the reason that the "
        "worker reports."
    ),
    "BX224": "a revision needs git, which is not installed.",
    "BX225": "the crate is in no git repository, or the repository does not have this revision.",
    "BX231": "a program cannot be started.",
    "BX232": (
        "benchctl's launcher was killed together with the program that it ran. The same "
        "command resumes."
    ),
    "BX233": "hyperfine's JSON cannot be read.",
    "BX234": "the program to be measured does not exist or is not executable.",
    "BX235": "the record, the cache or a temporary folder cannot be written.",
    "BX236": "results cannot be written to stdout.",
    "BX237": "an unexpected error of the operating system.",
    "BX238": (
        "the scenario names CPUs that this machine, its container or its cpuset does not have."
    ),
    "BX239": "a program that `doctor --aa` measures is not on PATH, or failed.",
    "BX250": (
        "instructions cannot be counted: valgrind or perf is missing, or perf has no "
        "hardware counter."
    ),
    "BX251": "the instructions of a cell could not be counted. valgrind cannot run every program.",
    "BX252": "a judged metric is not among those that the worker announces.",
    "BX305": "warning: the actual mode is not the requested one. It is shown, and not compared.",
    "BX311": (
        "warning: two variants are the same binary. Their difference is a test of the measurement."
    ),
    "BX320": (
        "warning: the baseline drifted during the measurement. This affects medians, but not "
        "paired comparisons."
    ),
    "BX321": (
        "warning: many samples were disturbed by CPU contention, throttling or memory "
        "pressure. None is removed."
    ),
    "BX330": (
        "warning: A/A check failed: the control differs from the identical baseline. Its "
        "input is inconclusive."
    ),
    "BX331": "warning: the A/A control is switched off, so the noise floor is unknown.",
    "BX332": (
        "note: the A/A control could not run from a copy of the program, so page placement "
        "is not controlled."
    ),
    "BX340": "warning: too few rounds for a verdict. The record is exploratory.",
    "BX341": (
        "warning: a cold cache was requested, but the cache was not cold. The round is void "
        "for its cell."
    ),
    "BX342": (
        "warning: a warm cache was requested, but the cache was not warm. In a scenario with "
        "cold runs, the round is void for its cell."
    ),
    "BX343": (
        "note or warning: a variable of your shell changes the programs, and the scenario "
        "does not set it."
    ),
    "BX350": (
        "warning: nothing could be profiled, for the printed reason. The measurements are "
        "not affected."
    ),
    "BX351": (
        "warning: callgrind counted instructions instead of sampling with perf. Kernel and "
        "waiting times are missing."
    ),
    "BX352": "warning: one cell could not be profiled; the others were.",
    "BX410": (
        "an interrupted record cannot be resumed under other conditions. --fresh starts a new one."
    ),
    "BX411": "a file of a record is missing or damaged.",
    "BX412": "a newer version of benchctl wrote this record.",
    "BX413": "the record has no results yet.",
    "BX414": (
        "the page contains no runs, so it can be neither verified nor loaded without its record."
    ),
    "BX420": (
        "an input or a program changed during the measurement. Give the program its own copy "
        "with `prepare`."
    ),
    "BX450": "a file to import is missing, empty, larger than 64 MiB, or not a file.",
    "BX451": "a file to import is neither hyperfine's JSON (version 1 or 2) nor a known table.",
    "BX452": (
        "an invalid value to import: not a number, not above zero, no runs, or a negative spread."
    ),
    "BX453": "a label of imported results appears twice, is missing, or does not exist.",
    "BX454": "a table to import has several units, or one that is not a unit of time.",
    "BX455": "the command needs a measured record, and this one was imported.",
    "BX900": "an internal error. The traceback is saved and its path is printed.",
}
_JUDGED: Final = {
    "rounds": "paired by round",
    "medians": "by medians, always, in a separate table; with `judge`, paired by round",
    "exact": "exactly, as a property of the program",
    "shown": "not judged",
}

_HEAD: Final = """\
# Metrics

Built-in metrics of benchctl. Generated from `bench_framework/model/metrics.py`: do not edit.

`judge: [wall, cpu, instructions]` in a scenario selects the metrics that are compared. `benchctl validate` refuses
unknown names. `margin` and `epsilon` take one value, or one value per metric.

| metric | name in reports | unit | better | measured by | compared | description |
|---|---|---|---|---|---|---|
"""

_TAIL: Final = """
A worker that follows the [protocol](worker-protocol.md) reports page faults, context switches and bytes of storage in
every run, so that they can be compared. For any other program, they are counted in one extra run per configuration
after the measurement (rows with `kind=observed` in `runs.csv`). They are then shown, but not compared. The extra run is
checked like any other run (exit code, time limit, answer), with `prepare` before and `cleanup` after it.

## Declared metrics

A number that the program prints or reports becomes a metric under `metrics`:

```yaml
metrics:
  requests: {from: stdout, regex: 'requests/s: ([0-9.]+)', unit: 1/s, direction: higher, about: served in one run}
  p99: {from: answer, json: latency.p99, unit: ms, direction: lower}
  counting: {from: worker, json: phases_s.count, unit: s, direction: lower}
judge: [wall, requests, p99]
margin: {requests: 3%}
```

- `from: stdout` reads the output of the program, `answer` the file named by `answer.file`, and `worker` the line of a
  worker with the protocol (without `json`, its metric of that name). The number is read after the run, outside timing.
- `json` is the path to the number: `a.b`, `rows[0].value`, `$['a b']`. The text, or its last line, must be JSON.
  Duplicate keys must have equal values. `regex` has one group and is searched line by line (`^` and `$` match at line
  ends); several matches must be equal.
- If the number is missing, is text, or is not finite, it is missing in that run: error BX217 with the reason, exit
  code 3, never the value 0. A file that the run did not write is not read. With more than 5 % of missing rounds, the
  metric is not compared in that configuration.
- If hyperfine measures several short runs at once, stdout is that of the last run; a worker reports each run.
- If the number changes from run to run, stdout cannot be the answer: set `answer.file`, or `answer: {compare: none}`.
- If larger is better, the ratio is inverted before the test, so that a ratio below 1 is always an improvement.
  Sentences give the values ("12 % higher requests"). The column `direction` of `comparisons.csv` shows this. Rounds
  with values that are not above zero have no ratio and are not compared.
- Tables contain seconds, bytes, or the number itself, in columns `w_NAME_UNIT`.

"""

_INSTRUCTIONS: Final = """
## Instructions

`judge: [wall, instructions]`, or `metrics: {instructions: {}}` to count without comparing, counts the instructions of
every configuration after the measurement: three times (`runs`), each at most ten minutes (`timeout`), with
`valgrind --tool=callgrind`, including child processes. `tool: perf` uses the hardware counter of the processor if it is
available.

- The count ignores I/O, locks, waiting, caches and branch prediction. Each instruction counts as one.
- Counts are compared exactly if all repetitions are equal. If they differ (because of addresses, random seeds of hash
  tables, or races of threads), each median has an uncertainty of three times the range of its repetitions. A difference
  within it is inconclusive, and the report shows the range.
- If valgrind is missing, or perf has no counter, nothing is measured (BX250). If a configuration cannot be counted
  (BX251), only its instructions are not compared. This happens to programs with instructions that valgrind does not
  support, such as AVX-512 (`target-cpu=native`), programs that fork without exec, and programs with another answer or
  another code path in their receipt than in the timed runs.
- valgrind does not offer AVX-512. A program without receipt that selects its code by `cpuid` can run another code path
  unnoticed.
"""


def page() -> str:
    """Return ``docs/reference/codes.md``."""
    from bench_framework.scenario.codes import CODES

    rows = {
        code: f"{entry.title}. {entry.explanation}" for code, entry in CODES.items()
    } | RUN_CODES
    lines = [f"| `{code}` | {' '.join(text.split())} |" for code, text in sorted(rows.items())]
    return "\n".join(
        (
            "# Codes",
            "",
            (
                "Every error and warning has a stable code; `benchctl help CODE` explains it. "
                "Generated: do not edit."
            ),
            (
                "BC0xx to BC3xx are errors in a scenario, BC4xx concern the machine, BX runs, "
                "results and records."
            ),
            "",
            "| code | meaning |",
            "|---|---|",
            *(line.replace("||", "\\|\\|") for line in lines),
            "",
        )
    )


def scenarios_page() -> str:
    """Return ``scenarios/README.md``: the shipped scenarios with their questions and axes."""
    from bench_framework.scenario.load import load

    rows = []
    for name, path in assets.shipped_scenarios().items():
        spec = load(path).spec
        row = (f"[{name}]({path.name})", " ".join(spec.question.split()), " × ".join(spec.axes))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(
        (
            "# Scenarios",
            "",
            (
                "`benchctl run NAME` runs a scenario from any folder; `benchctl plan NAME` previews "
                "it."
            ),
            "Generated from the scenarios: do not edit.",
            "",
            "| scenario | question | axes |",
            "|---|---|---|",
            *rows,
            "",
            "Reference of the format: [docs/reference/scenario.md](../docs/reference/scenario.md).",
            "Write your own: [docs/tutorial.md](../docs/tutorial.md).",
            "",
        )
    )


SECTION_TABLE: Final = re.compile(
    r"(?<=<!-- section table -->\n).*?(?=<!-- end of section table -->)", re.DOTALL
)
VERDICT_TABLE: Final = re.compile(
    r"(?<=<!-- verdict table -->\n).*?(?=<!-- end of verdict table -->)", re.DOTALL
)
REPORT_PAGE: Final = "docs/reference/report.md"


def metrics_page() -> str:
    """Return the text of the page."""
    rows = "".join(_row(kind) for kind in METRICS.values())
    units = ", ".join(f"`{unit}`" for unit in UNITS)
    return f"{_HEAD}{rows}{_TAIL}Units: {units}.\n{_INSTRUCTIONS}"


def _row(kind: MetricKind) -> str:
    better = {"lower": "lower", "higher": "higher", "none": "neither"}[kind.direction]
    return (
        f"| `{kind.name}` | {kind.noun} | {kind.unit} | {better} | {kind.source} | {_JUDGED[kind.judged]} "
        f"| {kind.about} |\n"
    )


_ROOT: Final = Path(__file__).resolve().parents[2]


def report_page() -> str:
    """Return ``docs/reference/report.md`` with its tables of sections and of verdicts."""
    from bench_framework.features.sections import SECTIONS
    from bench_framework.model.words import WORDS

    rows = [
        f"| {kind.code} | {kind.title} | {kind.about} | "
        + (f"left out: “{kind.without}” |" if kind.without else "a line with the reason |")
        for kind in SECTIONS
    ]
    table = "\n".join(
        ("| code | section | shows | without its data |", "|:--|:--|:--|:--|", *rows, "")
    )
    verdicts = [
        f"| {w.glyph} | `{w.ascii}` | {w.time} | {w.memory} | "
        f"{w.meaning.format(margin='the margin')} |"
        for w in WORDS.values()
    ]
    glyphs = "\n".join(
        ("| glyph | ASCII | time | memory | meaning |", "|:--|:--|:--|:--|:--|", *verdicts, "")
    )
    text = (_ROOT / REPORT_PAGE).read_text(encoding="utf-8")
    return VERDICT_TABLE.sub(lambda _: glyphs, SECTION_TABLE.sub(lambda _: table, text))


PAGES: Final = {
    "docs/reference/codes.md": page,
    REPORT_PAGE: report_page,
    "docs/reference/metrics.md": metrics_page,
    "scenarios/README.md": scenarios_page,
}
"""The function that returns the text of a page, by path in the repository."""

if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m bench_framework.workflow.explanations --write")
    for target, write in PAGES.items():
        _ROOT.joinpath(target).write_text(write(), encoding="utf-8")
