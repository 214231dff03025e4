"""Generator of ``docs/reference/metrics.md`` from the registry of metrics."""

from __future__ import annotations

from typing import Final

from bench_framework.model.metrics import METRICS, UNITS, MetricKind

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
