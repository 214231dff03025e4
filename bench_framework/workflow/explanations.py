"""Codes of what can go wrong beyond the scenario, and of the warnings that a record keeps; the pages made from lists.

The codes of the scenario language are `bench_framework.scenario.codes`'; a test holds both lists complete.
Run as a module with ``--write`` it writes every page of `PAGES` again.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from bench_framework import assets
from bench_framework.workflow import metric_page

RUN_CODES: Final[dict[str, str]] = {
    "BC401": "the disk has no room for the inputs. Free some space, name another data-dir, or run `benchctl clean`.",
    "BC403": "no hyperfine of 1.20 or newer was found, and cargo could not install one. Set BENCHCTL_HYPERFINE to one.",
    "BC405": "the extension that generates inputs is not installed; install the package, do not run its sources.",
    "BC406": "the input file that the scenario names does not exist.",
    "BC407": "an input could not be written: the disk is full or the folder is read-only.",
    "BC408": "the generator knows no dataset of this name.",
    "BC409": "the lock that keeps two measurements apart cannot be opened.",
    "BC410": "measuring needs Linux; reports, validation and the notebook API work elsewhere.",
    "BX100": "wrong usage.",
    "BX101": "no record of this name was found.",
    "BX102": "there is no file and no shipped scenario of this name.",
    "BX103": "`benchctl init` would overwrite a file, or cannot write.",
    "BX104": "a report format that does not exist.",
    "BX105": "`benchctl clean` knows no such kind.",
    "BX106": "a selection of `benchctl compare` takes no variant, or several where one is meant.",
    "BX107": "the record holds no such metric, or two records cannot be compared on it.",
    "BX108": "the rounds of this record, or of this plan, can never let its gate find anything: it would always pass.",
    "BX109": "what looks worse was measured on another machine, so the gate cannot measure it again here.",
    "BX110": "a scenario that cannot be measured at two revisions: nothing is built, or it names revisions itself.",
    "BX111": "base and head of a gate are one commit, so there is nothing to compare.",
    "BX113": "a template of `benchctl report --template` is broken, or its folder replaces none.",
    "BX114": "a figure that the report of this record does not have (`bench_framework.plot`).",
    "BX112": "the gate's file of accepted changes is not there, or an entry of it cannot be read.",
    "BX119": "a bucket of `benchctl profile` that is none.",
    "BX121": "`benchctl compare` cannot take these records, or these options together.",
    "BX130": "interrupted; the same command resumes.",
    "BX201": "a run failed, hung or was killed. Its rounds are void; a cell with more than 5 % void rounds has failed.",
    "BX202": "a command needs `{bin}` or `{input}`, and the scenario has none.",
    "BX203": "a list of CPUs cannot be read.",
    "BX204": "the command under `tuning` failed or printed no JSON object; nothing was measured without it.",
    "BX210": "a variant gave another answer than the baseline on the same input; its times are never compared.",
    "BX211": "the worker's answer is not a line of the protocol (docs/reference/worker-protocol.md).",
    "BX213": "the worker did not append exactly one line of answer per run.",
    "BX214": "one command gave different answers in different runs; it is not deterministic.",
    "BX215": "the file that holds the answer cannot be read.",
    "BX216": "the answer is to be compared as JSON and is none.",
    "BX217": "a metric that the scenario declares could not be read in a run: it is missing there, never 0.",
    "BX220": "a variant could not be built; cargo's own message stands beside it.",
    "BX221": "the worker is said to follow the protocol, and its `describe` does not.",
    "BX222": "the crate's folder holds no Cargo.toml.",
    "BX223": "the baseline, or everything beside it, cannot run on this machine; the worker's own words say why.",
    "BX224": "git is needed for a revision and is not there.",
    "BX225": "a revision was asked of a crate that is in no git repository, or that repository has no such revision.",
    "BX231": "a program cannot be started.",
    "BX232": "benchctl's launcher was killed, and what it ran with it. The same command resumes.",
    "BX233": "hyperfine's JSON cannot be read.",
    "BX234": "the program to be measured does not exist or may not be executed.",
    "BX235": "the record, the cache or a temporary folder cannot be written.",
    "BX236": "results cannot be written to stdout.",
    "BX237": "the operating system refused something that no layer foresaw.",
    "BX238": "a scenario names CPUs that this machine does not have, or that a container or cpuset holds back.",
    "BX250": "instructions cannot be counted here: valgrind or perf is missing, or has nothing to count with.",
    "BX251": "the instructions of a cell could not be counted; valgrind cannot run every program.",
    "BX252": "a judged metric is not among those that the worker announces.",
    "BX239": "a program that `doctor --aa` measures is not on PATH, or failed.",
    "BX305": "warning: another mode ran than was asked for; it is shown as what ran, and not compared.",
    "BX311": "warning: two variants are the same binary. Their difference is a test of the measurement.",
    "BX320": "warning: the baseline drifted during the record. Rounds cancel it in comparisons, not in medians.",
    "BX321": "warning: other work, heat or want of memory was in the way of many blocks; all stay in the statistics.",
    "BX330": "warning: A/A check failed: the control differs from the baseline. The input is inconclusive.",
    "BX331": "warning: the control arm is switched off; nothing shows what this record could tell from nothing.",
    "BX332": "note: the control arm could not run a copy of the program; page placement is not controlled.",
    "BX340": "warning: too few rounds for any verdict; the record is exploratory.",
    "BX341": "warning: a cold cache was asked for and not seen; the round is void for its cell.",
    "BX342": "warning: a warm cache was asked for and not seen; beside cold runs the round is void for its cell.",
    "BX343": "note or warning: a variable of the shell changes what runs, and the scenario does not say so.",
    "BX350": "warning: nothing could be profiled; measuring worked. Why, and what would help, stands beside it.",
    "BX351": "warning: callgrind counted instructions in place of perf's samples; no kernel and no waiting is in them.",
    "BX352": "warning: one cell could not be profiled; the others were.",
    "BX410": "an interrupted record cannot be continued under other conditions. --fresh starts over.",
    "BX411": "a file of a record is missing or damaged.",
    "BX412": "a newer benchctl wrote this record.",
    "BX413": "the record is not judged yet.",
    "BX414": "a page contains no runs, so it can be neither verified nor loaded without its record.",
    "BX420": "an input or a program changed while it was measured. Give the program its own copy by `prepare`.",
    "BX450": "a file to import is not there, is no file, is empty, or is larger than 64 MiB.",
    "BX451": "a file to import is neither hyperfine's JSON (version 1 or 2) nor a table that import knows.",
    "BX452": "a figure to import that cannot be: not a number, not above zero, no runs, a negative spread.",
    "BX453": "labels of imported figures: one stands twice, is missing, or is named by an option and not there.",
    "BX454": "a table to import with several units, or with one that is no unit of time.",
    "BX455": "an imported set where a record with rounds is needed.",
    "BX900": "a defect of benchctl. The traceback is saved; its path is printed.",
}


def page() -> str:
    """``docs/reference/codes.md``."""
    from bench_framework.scenario.codes import CODES

    rows = {
        code: f"{entry.title}. {entry.explanation}" for code, entry in CODES.items()
    } | RUN_CODES
    lines = [f"| `{code}` | {' '.join(text.split())} |" for code, text in sorted(rows.items())]
    return "\n".join(
        (
            "# Codes",
            "",
            "Every error and warning has a stable code; `benchctl help CODE` explains it. Generated: do not edit.",
            "BC0xx to BC3xx are about the scenario, BC4xx about the machine, BX about running, judging and records.",
            "",
            "| code | meaning |",
            "|---|---|",
            *(line.replace("||", "\\|\\|") for line in lines),
            "",
        )
    )


def scenarios_page() -> str:
    """``scenarios/README.md``: the shipped scenarios by the questions that they ask."""
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
            "`benchctl run NAME` runs one of these from any folder; `benchctl plan NAME` says what it would do.",
            "Generated from their questions: do not edit.",
            "",
            "| scenario | question | axes |",
            "|---|---|---|",
            *rows,
            "",
            "The language: [docs/reference/scenario.md](../docs/reference/scenario.md).",
            "One of your own: [docs/tutorial.md](../docs/tutorial.md).",
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
        f"| {w.glyph} | `{w.ascii}` | {w.time} | {w.memory} | {w.meaning.format(margin='the margin')} |"
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
    "docs/reference/metrics.md": metric_page.page,
    "scenarios/README.md": scenarios_page,
}
"""Path in the repository to what writes it."""

if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m bench_framework.workflow.explanations --write")
    for target, write in PAGES.items():
        _ROOT.joinpath(target).write_text(write(), encoding="utf-8")
