"""``docs/reference/metrics.md``: every metric, from the list that the program itself goes by."""

from __future__ import annotations

from typing import Final

from bench_framework.model.metrics import METRICS, UNITS, MetricKind

_JUDGED: Final = {
    "rounds": "by pairs over rounds",
    "medians": "by medians, in a table of its own, also unasked; under `judge` by pairs over rounds",
    "exact": "as a figure of the program: compared exactly",
    "shown": "not judged",
}

_HEAD: Final = """\
# Metrics

What benchctl measures by itself. Generated from `bench_framework/model/metrics.py`: do not edit.

`judge: [wall, cpu, instructions]` in a scenario names what is judged; every name that a scenario cannot use is
refused by `benchctl validate`. `margin` and `epsilon` take one value, or one per metric.

| metric | in sentences | unit | better | measured by | judged | what it is |
|---|---|---|---|---|---|---|
"""

_TAIL: Final = """
Faults, context switches and bytes of storage come with every run of a worker that follows the
[protocol](worker-protocol.md), and can be judged there. Of any other program the kernel counts them in one run of each
cell after measuring, outside timing: rows `kind=observed` of `runs.csv`; they are shown and never judged. That run is
checked as any other: exit code, time limit, answer. `prepare` and `cleanup` stand around it.

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

- `from: stdout` reads what the program prints, `answer` the file named by `answer.file`, `worker` the line of a
  worker with the protocol (without `json`: its own metric of that name). It is read after the run, outside timing.
- `json` leads to the number by keys and indexes: `a.b`, `rows[0].value`, `$['a b']`. The whole text is JSON, or its
  last line is; a key that an object holds twice must have one value. `regex` has one group, searched line by line (`^`
  and `$` are ends of lines); several matches must agree.
- A number that is not there, is text, or is not finite is missing in that run: an error with its reason (BX217),
  exit 3, and never 0. A file that the run did not write is not read. Beyond 5 % of missing rounds the metric is not
  compared in that cell.
- Of a block of several short runs a program's stdout is that of the last one; a worker reports each run.
- With a number that changes from run to run, stdout is no answer any more: name `answer.file`, or say `answer:
  {compare: none}`.
- Where larger is better the ratio is turned over before it is judged, so that below 1 is an improvement; sentences
  tell the values ("12 % higher requests"). In `comparisons.csv` the column `direction` says so. Values that are not
  above zero have no ratio: such rounds are in no comparison.
- Tables hold seconds, bytes, or the number itself, as `w_NAME_UNIT`.

"""

_INSTRUCTIONS: Final = """
## Instructions

`judge: [wall, instructions]`, or `metrics: {instructions: {}}` without judging them, counts the instructions of every
cell after measuring, outside timing: three times (`runs`), each at most ten minutes (`timeout`), with
`valgrind --tool=callgrind`, the processes that it starts included. `tool: perf` uses the processor's own counter where
it can be read.

- The count says nothing of I/O, locks, waiting, caches or branch prediction, and each instruction counts as one.
- It is compared exactly if every repetition gives one number. If they differ (addresses and random seeds move hash
  tables; threads race), each median is taken to be uncertain by three times the range of its repetitions: a
  difference within that is inconclusive, and sentence and table say how far counts of one program lie apart.
- It is refused before anything is measured where valgrind is missing, or perf has no counter (BX250). A cell that
  cannot be counted is an error of its own (BX251), and only its instructions are not compared: a program with
  AVX-512 or other instructions that valgrind does not know (`target-cpu=native`), one that forks children which go
  on without exec, one that gives another answer or whose receipt shows another path than when it was timed.
- valgrind offers programs no AVX-512: a program without receipt that chooses by `cpuid` may run another path,
  unseen.
"""


def page() -> str:
    """The whole page."""
    rows = "".join(_row(kind) for kind in METRICS.values())
    units = ", ".join(f"`{unit}`" for unit in UNITS)
    return f"{_HEAD}{rows}{_TAIL}Units: {units}.\n{_INSTRUCTIONS}"


def _row(kind: MetricKind) -> str:
    better = {"lower": "lower", "higher": "higher", "none": "neither"}[kind.direction]
    return (
        f"| `{kind.name}` | {kind.noun} | {kind.unit} | {better} | {kind.source} | {_JUDGED[kind.judged]} "
        f"| {kind.about} |\n"
    )
