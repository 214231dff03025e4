"""Every code that a scenario's error can carry, explained: ``benchctl help BC104``.

BC0xx the file and its YAML, BC1xx keys and values, BC2xx the matrix and what names its parts, BC3xx crates,
BC4xx the machine. A code never changes its meaning; a test compares this list with what the package raises.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Explanation(NamedTuple):
    """What a code means."""

    title: str
    """One line."""
    explanation: str
    """Why it is an error, and what to do."""
    example: str
    """YAML, or a command line, that has it; then what to write."""


CODES: Final[dict[str, Explanation]] = {
    "BC001": Explanation(
        "the file is not YAML",
        "The text breaks a rule of YAML 1.2: an open bracket, a `: ` in unquoted text, an unknown alias or tag, "
        "a control character. Where a bracket or quote was opened is shown too.",
        "name: counting: words       write   name: 'counting: words'",
    ),
    "BC002": Explanation(
        "a tab where only spaces may stand",
        "YAML indents with spaces. Let the editor turn tabs into spaces.",
        "axes:⇥io: [read, mmap]      write   axes:\n                                      io: [read, mmap]",
    ),
    "BC003": Explanation(
        "the file cannot be read",
        "There is no such file, it is a folder, or its permissions forbid reading it.",
        "benchctl validate bench     write   benchctl validate bench/search.yaml",
    ),
    "BC004": Explanation(
        "the file is not plain UTF-8",
        "Scenarios are UTF-8 without a byte order mark, so that they mean the same everywhere.",
        "a file saved as UTF-16      save it as UTF-8",
    ),
    "BC005": Explanation(
        "the file is empty",
        "It holds nothing, or comments only. `benchctl init` writes a commented scenario to start from.",
        "# later                     write   version: 1 …",
    ),
    "BC006": Explanation(
        "the file is larger or deeper than any scenario",
        "More than a megabyte, more than 20 000 values once aliases are expanded, or nested too deeply.",
        "a: &a [*b, *b, *b, …]       use fewer aliases",
    ),
    "BC007": Explanation(
        "a second document in one file",
        "One file holds one scenario; `---` starts another document.",
        "version: 1 … --- version: 1 …      split the file",
    ),
    "BC101": Explanation(
        "a key that does not exist here",
        "A key that is not known is refused, as a misspelt key would otherwise be ignored in silence.",
        "measure: {warmpu: 3}        write   measure: {warmup: 3}",
    ),
    "BC102": Explanation(
        "a value of another type than its key takes",
        "A list where one value belongs, text where a number belongs, a number out of range.",
        "measure: {rounds: ten}      write   measure: {rounds: 10}",
    ),
    "BC103": Explanation(
        "a value that a bundled worker or generator does not have",
        "What the bundled workers take is known before they are built. Values of other workers are checked "
        "after the build, by what they say of themselves.",
        "axes: {io: [read, slrp]}    write   axes: {io: [read, slurp]}",
    ),
    "BC104": Explanation(
        "a key or value that is given twice",
        "Most YAML readers keep the second of two equal keys and drop the first in silence. "
        "An axis value that is listed twice would be measured twice under one name.",
        "axes: {io: [read], io: [mmap]}     write   axes: {io: [read, mmap]}",
    ),
    "BC105": Explanation(
        "a size without its unit",
        "200 could be bytes, 200 MB or 200 MiB. Units: B, kB, MB, GB, TB (powers of 1000) and "
        "KiB, MiB, GiB, TiB (powers of 1024).",
        "size: [10MiB, 200]          write   size: [10MiB, 200MiB]",
    ),
    "BC106": Explanation(
        "a yes/no word where true or false belongs",
        "yes, no, on and off are plain text in YAML 1.2; older readers took them for truth values.",
        "shell: yes                  write   shell: true",
    ),
    "BC107": Explanation(
        "a key that is missing",
        "The least a scenario holds: version, name, question and worker.",
        "input: {dataset: prose}     write   input: {dataset: prose, size: 10MiB}",
    ),
    "BC108": Explanation(
        "keys that contradict each other or have no effect",
        "Two keys that exclude each other, a key that changes nothing where it stands, or a reserved name. "
        "Nothing that is written is silently ignored.",
        "worker: {command: [wc], features: [simd]}     leave features out: nothing is built",
    ),
    "BC109": Explanation(
        "a placeholder that stands for nothing",
        "In braces stand `bin`, `input`, axes, keys of `fixed`, and `dataset`, `size`, `seed` and `file` of the "
        "input. Braces that are meant as such are doubled.",
        'command: ["{bin}", "{oi}"]  write   command: ["{bin}", "{io}"]',
    ),
    "BC110": Explanation(
        "a scenario of a later benchctl",
        "The version says how to read the file; this benchctl reads version 1.",
        "version: 2                  install a later benchctl",
    ),
    "BC112": Explanation(
        "an override that cannot be read",
        "-S takes a key, an equals sign and a value in YAML; dots lead into mappings.",
        "-S rounds                   write   -S measure.rounds.max=5",
    ),
    "BC113": Explanation(
        "a selection that cannot be read",
        "-k takes conditions that must all hold: a name, one of = != < <= > >= ~ !~, and a value. "
        "Alternatives are parted by |, values with blanks are quoted.",
        "-k 'io:mmap'                write   -k 'io=mmap size<=50MiB'",
    ),
    "BC114": Explanation(
        "a bucket of a profile that is no regular expression",
        "Buckets are searched in the names of functions, by Python's regular expressions.",
        "buckets: {JSON: '('}         write   buckets: {JSON: 'serde|sonic'}",
    ),
    "BC201": Explanation(
        "no baseline, or one that is not exactly one variant",
        "Everything is compared with the baseline, so it names one value for each build and run axis that has "
        "several, and it is measured on at least one input.",
        "baseline: {io: stream}      write   baseline: {io: read, runtime: sequential}",
    ),
    "BC202": Explanation(
        "an exclude rule that excludes nothing",
        "It names no axis or value of the matrix: usually a slip of the pen, and then the cells it was meant "
        "for would be measured.",
        "exclude: [{io: o-direct}]   write   exclude: [{io: direct}]",
    ),
    "BC203": Explanation(
        "more cells than meant",
        "Axes multiply. Pair axes, exclude combinations, choose another design, or raise the limit.",
        "four axes of nine values    write   design: one-at-a-time",
    ),
    "BC204": Explanation(
        "two variants that are one program",
        "Same build, arguments, environment and input: their difference would be noise under two names. "
        "The control arm already measures that.",
        "axes: {mode: {a: {}, b: {}}}       write   axes: {mode: {a: {}, b: {args: [--b]}}}",
    ),
    "BC205": Explanation(
        "an axis or fixed key that nothing uses",
        "It stands in no command, env or input, and none of its values changes the build or the run.",
        'axes: {threads: [1, 2]}     write   command: ["{bin}", --threads, "{threads}"]',
    ),
    "BC206": Explanation(
        "a name that this scenario does not have",
        "A rule, an experiment or a policy names an axis, a value or a metric that is not there, or that cannot be "
        "used in this place.",
        "pairs: [[io, sizes]]        write   pairs: [[io, size]]",
    ),
    "BC207": Explanation(
        "a selection that takes no cell",
        "Every condition can be met, but not by one cell of the plan.",
        "-k 'io=mmap io=read'        write   -k 'io=mmap|read'",
    ),
    "BC208": Explanation(
        "no cell is left",
        "Every combination is excluded by a rule, or is not available.",
        "exclude: [{io: [read, mmap]}]      leave one value",
    ),
    "BC209": Explanation(
        "a formula that cannot be worked out",
        "`derived` takes rate(cell) and time(cell) of cells named under `cells`, rows above, numbers, min, max, "
        "harmonic and + - * /. Sums and minima need one unit; the value is a rate, a time or a ratio. Every "
        "named cell must be one that is measured.",
        "derived: {gap: rate(a) - time(b)}   write   derived: {gap: rate(a) / rate(b)}",
    ),
    "BC301": Explanation(
        "a crate that is not there",
        "The folder or its Cargo.toml is missing or cannot be read. Paths are relative to the scenario's file.",
        "worker: {crate: my-crate}   write   worker: {crate: ../my-crate}",
    ),
    "BC302": Explanation(
        "a cargo feature that the crate does not have",
        "Features are those of [features] in Cargo.toml, and optional dependencies that no feature names as "
        "`dep:name`.",
        "features: [jemaloc]         write   features: [jemalloc]",
    ),
    "BC305": Explanation(
        "a binary that the crate does not have, or one of several",
        "`bin` names the binary target that is measured; a crate with a single one needs no `bin`.",
        "worker: {crate: builtin, bin: tall}     write   bin: tally",
    ),
    "BC306": Explanation(
        "a package that the workspace does not have, or one of several",
        "A workspace without a package of its own needs `package`.",
        "worker: {crate: ..}         write   worker: {crate: .., package: my-cli}",
    ),
    "BC404": Explanation(
        "an input file that is not there",
        "Paths are relative to the scenario's file. A file that `prepare` makes is not looked for.",
        "input: {file: corpus.txt}   write   input: {file: data/corpus.txt}",
    ),
}
"""Code to its explanation."""
