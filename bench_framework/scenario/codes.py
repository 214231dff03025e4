"""The error codes of scenarios and their explanations: ``benchctl help BC104``.

BC0xx: the file and its YAML. BC1xx: keys and values. BC2xx: the matrix and references to it.
BC3xx: crates. BC4xx: the machine. A code never changes its meaning. A test compares this list
with the codes that the package raises.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Explanation(NamedTuple):
    """Explanation of an error code."""

    title: str
    """One-line description of the error."""
    explanation: str
    """Reason for the error, and how to fix it."""
    example: str
    """YAML or a command line with the error, and the correction."""


CODES: Final[dict[str, Explanation]] = {
    "BC001": Explanation(
        "the file is not YAML",
        "The text is not valid YAML 1.2. Frequent causes are an open bracket, a `: ` in "
        "unquoted text, an unknown alias or tag, and a control character. The message shows "
        "where the bracket or quote was opened.",
        "name: counting: words       write   name: 'counting: words'",
    ),
    "BC002": Explanation(
        "a tab is used for indentation",
        "YAML is indented with spaces. Configure your editor to convert tabs to spaces.",
        "axes:⇥io: [read, mmap]      write   axes:\n                                      io: [read, mmap]",
    ),
    "BC003": Explanation(
        "the file cannot be read",
        "The file does not exist, is a folder, or is not readable with your permissions.",
        "benchctl validate bench     write   benchctl validate bench/search.yaml",
    ),
    "BC004": Explanation(
        "the file is not UTF-8 without a byte order mark",
        "Scenarios are UTF-8 without a byte order mark, so that every machine reads them in the "
        "same way.",
        "a file saved as UTF-16      save it as UTF-8",
    ),
    "BC005": Explanation(
        "the file is empty",
        "The file is empty or contains only comments. `benchctl init` writes a commented scenario.",
        "# later                     write   version: 1 …",
    ),
    "BC006": Explanation(
        "the file is too large or nested too deeply",
        "The limits are 1 MiB of text and 20 000 values after aliases are expanded.",
        "a: &a [*b, *b, *b, …]       use fewer aliases",
    ),
    "BC007": Explanation(
        "the file contains a second document",
        "A file contains one scenario. `---` starts another document.",
        "version: 1 … --- version: 1 …      split the file",
    ),
    "BC101": Explanation(
        "unknown key",
        "An unknown key is an error because a misspelt key would otherwise be ignored.",
        "measure: {warmpu: 3}        write   measure: {warmup: 3}",
    ),
    "BC102": Explanation(
        "the value has the wrong type or is out of range",
        "For example, a list where one value is expected, text where a number is expected, or a "
        "number out of range.",
        "measure: {rounds: ten}      write   measure: {rounds: 10}",
    ),
    "BC103": Explanation(
        "a value that the bundled worker or generator does not support",
        "The values of bundled workers are known before they are built. Values of other workers "
        "are checked after the build, against the output of their `describe`.",
        "axes: {io: [read, slrp]}    write   axes: {io: [read, slurp]}",
    ),
    "BC104": Explanation(
        "a key or value is given twice",
        "Most YAML readers keep the second of two equal keys and silently ignore the first. An "
        "axis value that is listed twice would be measured twice under one name.",
        "axes: {io: [read], io: [mmap]}     write   axes: {io: [read, mmap]}",
    ),
    "BC105": Explanation(
        "a size without a unit",
        "200 can mean bytes, MB or MiB. Units are B, kB, MB, GB, TB (powers of 1000) and KiB, "
        "MiB, GiB, TiB (powers of 1024).",
        "size: [10MiB, 200]          write   size: [10MiB, 200MiB]",
    ),
    "BC106": Explanation(
        "yes, no, on or off where true or false is expected",
        "In YAML 1.2, yes, no, on and off are text; older versions read them as booleans.",
        "shell: yes                  write   shell: true",
    ),
    "BC107": Explanation(
        "a required key is missing",
        "Every scenario needs version, name, question and worker. Some keys need further keys.",
        "input: {dataset: prose}     write   input: {dataset: prose, size: 10MiB}",
    ),
    "BC108": Explanation(
        "keys that contradict each other or have no effect",
        "Two keys exclude each other, a key has no effect in this place, or a name is reserved. "
        "benchctl never ignores a key silently.",
        "worker: {command: [wc], features: [simd]}     leave features out: nothing is built",
    ),
    "BC109": Explanation(
        "unknown placeholder",
        "Placeholders are `{bin}`, `{input}`, `{tuning}`, axes, keys of `fixed`, and `dataset`, "
        "`size`, `seed` and `file` of the input. Double the braces to write literal braces.",
        'command: ["{bin}", "{oi}"]  write   command: ["{bin}", "{io}"]',
    ),
    "BC110": Explanation(
        "the scenario needs a later benchctl",
        "`version` is the version of the scenario format. This benchctl reads version 1.",
        "version: 2                  install a later benchctl",
    ),
    "BC112": Explanation(
        "an override that cannot be read",
        "-S takes a key, an equals sign and a YAML value. Dots separate nested keys.",
        "-S rounds                   write   -S measure.rounds.max=5",
    ),
    "BC113": Explanation(
        "a selection that cannot be read",
        "-k takes conditions, each with a name, one of = != < <= > >= ~ !~, and a value. All "
        "conditions must be true. Separate alternatives with |; quote values that contain "
        "spaces.",
        "-k 'io:mmap'                write   -k 'io=mmap size<=50MiB'",
    ),
    "BC114": Explanation(
        "a bucket of a profile is not a regular expression",
        "Buckets are Python regular expressions that are searched in function names.",
        "buckets: {JSON: '('}         write   buckets: {JSON: 'serde|sonic'}",
    ),
    "BC201": Explanation(
        "no baseline, or a baseline that does not select exactly one variant",
        "Every variant is compared with the baseline. The baseline needs one value for each "
        "build and run axis that has several values, and must be measured on at least one "
        "input.",
        "baseline: {io: stream}      write   baseline: {io: read, runtime: sequential}",
    ),
    "BC202": Explanation(
        "an exclude rule matches no combination",
        "The rule names an axis or value that the matrix does not have, or a combination that "
        "is already excluded. Without this error, combinations that you wanted to exclude would "
        "be measured.",
        "exclude: [{io: o-direct}]   write   exclude: [{io: direct}]",
    ),
    "BC203": Explanation(
        "too many configurations",
        "The number of configurations is the product of the axes. Pair axes, exclude "
        "combinations, choose another design, or raise the limit.",
        "four axes of nine values    write   design: one-at-a-time",
    ),
    "BC204": Explanation(
        "two variants are the same program",
        "They have the same build, arguments, environment and input, so any difference would be "
        "noise. The A/A control already measures this noise.",
        "axes: {mode: {a: {}, b: {}}}       write   axes: {mode: {a: {}, b: {args: [--b]}}}",
    ),
    "BC205": Explanation(
        "an axis or fixed key is never used",
        "It does not occur in `command`, `env` or `input`, and none of its values has settings "
        "for the build or the run.",
        'axes: {threads: [1, 2]}     write   command: ["{bin}", --threads, "{threads}"]',
    ),
    "BC206": Explanation(
        "unknown axis, value or metric",
        "A rule, an experiment or a policy names an axis, a value or a metric that the scenario "
        "does not have or that cannot be used in this place.",
        "pairs: [[io, sizes]]        write   pairs: [[io, size]]",
    ),
    "BC207": Explanation(
        "a selection that matches no configuration",
        "Each condition is valid, but no configuration of the plan meets all of them.",
        "-k 'io=mmap io=read'        write   -k 'io=mmap|read'",
    ),
    "BC208": Explanation(
        "no configuration is left to measure",
        "Every combination is excluded by a rule or not available on this machine.",
        "exclude: [{io: [read, mmap]}]      leave one value",
    ),
    "BC209": Explanation(
        "a formula cannot be computed",
        "`derived` takes rate(cell) and time(cell) of cells defined under `cells`, earlier "
        "figures, numbers, min, max, harmonic and + - * /. The terms of sums, min and max must "
        "have the same unit. The result is a rate, a time or a ratio. Every cell must be "
        "measured.",
        "derived: {gap: rate(a) - time(b)}   write   derived: {gap: rate(a) / rate(b)}",
    ),
    "BC301": Explanation(
        "the crate does not exist",
        "The folder or its Cargo.toml is missing or cannot be read. Paths are relative to the "
        "scenario's file.",
        "worker: {crate: my-crate}   write   worker: {crate: ../my-crate}",
    ),
    "BC302": Explanation(
        "the crate does not have this cargo feature",
        "Features are those of [features] in Cargo.toml, and optional dependencies that no "
        "feature lists as `dep:name`.",
        "features: [jemaloc]         write   features: [jemalloc]",
    ),
    "BC305": Explanation(
        "the crate does not have this binary, or has several",
        "`bin` is the binary target to measure. It may be omitted if the crate has only one.",
        "worker: {crate: builtin, bin: tall}     write   bin: tally",
    ),
    "BC306": Explanation(
        "the workspace does not have this package, or has several",
        "A workspace whose root is not a package needs `package`.",
        "worker: {crate: ..}         write   worker: {crate: .., package: my-cli}",
    ),
    "BC404": Explanation(
        "the input file does not exist",
        "Paths are relative to the scenario's file. If there is a `prepare` command, the file "
        "is not checked, because the command may create it.",
        "input: {file: corpus.txt}   write   input: {file: data/corpus.txt}",
    ),
}
"""Explanations by code."""
