"""Gate the benchmarks of published crates with benchctl, and compare them with criterion's saved baselines.

Usage: ``python tests/validation/bench/bench_gates.py CSV [--times N] [--crate NAME]… [--minutes M]``. It appends a
row per gate to CSV, and continues one that exists; ``--summary`` prints the counts of a CSV. Needs cargo and git.

Each repetition makes two revisions of each crate. `same` differs from the base in the bytes of a string that no
benchmark uses. In `slow`, one call in 20 of one function is made twice, which is 5 % more work, and a counter
of its calls. Each revision is measured by ``benchctl gate``, and by ``cargo bench -- --save-baseline`` of the base
followed by ``--baseline`` of the revision, with criterion's own times. The order is random.
"""

import argparse
import csv
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binomtest

FIELDS = ("crate", "kind", "tool", "seconds", "exit", "worse", "better", "not_judged", "ratio")
SAME, SLOW = "same", "slow"


@dataclass(frozen=True, slots=True)
class Subject:
    """A published crate: what is measured, and the function that becomes slower."""

    name: str
    version: str
    ids: tuple[str, ...]
    slowed: tuple[str, ...]
    """Those of `ids` that call the function."""
    file: str
    anchor: str
    """The head of the function in `file`."""
    again: str
    """A call of the function with the same arguments."""
    bench: str
    harness: str = "criterion"


SUBJECTS = (
    Subject(
        "semver",
        "1.0.28",
        ("parse Prerelease", "parse Version", "parse VersionReq"),
        ("parse VersionReq",),
        "src/parse.rs",
        "impl FromStr for VersionReq {\n    type Err = Error;\n\n"
        "    fn from_str(text: &str) -> Result<Self, Self::Err> {\n",
        "Self::from_str(text)",
        "parse",
    ),
    Subject(
        "crc32fast",
        "1.5.5",
        ("hash/1024", "combine/16", "combine/64", "baseline/1024"),
        ("combine/64", "combine/16"),
        "src/lib.rs",
        "    pub fn combine(&mut self, other: &Self) {\n",
        "self.clone().combine(other)",
        "bench",
    ),
    Subject(
        "smol_str",
        "0.3.7",
        (
            "SmolStr::from len=1000",
            "SmolStr::from len=12",
            "SmolStr::eq len=50",
            "replace_smolstr len=50",
        ),
        ("SmolStr::from len=1000", "SmolStr::from len=12"),
        "src/lib.rs",
        "    fn new(text: &str) -> Self {\n",
        "Self::new(text)",
        "bench",
    ),
    Subject(
        "annotate-snippets",
        "0.11.5",
        ("bench::simple", "bench::fold::0", "bench::fold::100", "bench::fold::1000"),
        ("bench::simple", "bench::fold::0"),
        "src/renderer/styled_buffer.rs",
        "    pub(crate) fn render(&self, stylesheet: &Stylesheet) -> Result<String, fmt::Error> {\n",
        "self.render(stylesheet)",
        "bench",
        "divan",
    ),
)
NULL = """
#[allow(dead_code)]
mod benchctl_null {
    static TEXT: [u8; 24] = *b"%s";
    extern "C" fn start() { std::hint::black_box(&TEXT); }
    #[used]
    #[unsafe(link_section = ".init_array")]
    static START: extern "C" fn() = start;
}
"""
"""Is added to the bench target. An unused string would not reach the program."""
TWICE = """        {
            use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
            static CALLS: AtomicU32 = AtomicU32::new(0);
            let calls = CALLS.load(Relaxed);
            CALLS.store(calls.wrapping_add(1), Relaxed);
            if calls %% 21 == 0 { drop(core::hint::black_box(%s)); }
        }
"""
"""The source of the added work: of 21 calls, one is the second call of its caller."""
VERDICT = re.compile(
    r"Performance has (regressed|improved)|No change in performance|Change within noise"
)


class Crate:
    """A repository with a published crate. `base` is its first commit."""

    def __init__(self, subject: Subject, root: Path) -> None:
        self.subject, self.folder = subject, root / subject.name
        self.env = os.environ | {
            "CARGO_TARGET_DIR": str(root / "target" / subject.name),
            "BENCHCTL_CACHE": str(root / "cache"),
        }
        if not self.folder.exists():
            self._download(root)
        self.run("git", "checkout", "-q", "-f", "main")

    def _download(self, root: Path) -> None:
        loader = root / "load"
        shutil.rmtree(loader, ignore_errors=True)
        subject = self.subject
        self.run("cargo", "init", "-q", "--vcs", "none", str(loader), cwd=root)
        self.run("cargo", "add", "-q", f"{subject.name}@={subject.version}", cwd=loader)
        self.run("cargo", "vendor", "-q", "--versioned-dirs", "vendor", cwd=loader)
        shutil.copytree(loader / "vendor" / f"{subject.name}-{subject.version}", self.folder)
        (self.folder / ".cargo-checksum.json").unlink(missing_ok=True)
        self.run("git", "init", "-q", "-b", "main")
        (self.folder / ".gitignore").write_text("results\ntarget\n")
        self._null("base" + "." * 20)
        self.commit("base")

    def _null(self, text: str) -> None:
        file = self.folder / "benches" / f"{self.subject.bench}.rs"
        source = re.sub(
            r"\n#\[allow\(dead_code\)\]\nmod benchctl_null \{.*",
            "",
            file.read_text(),
            flags=re.DOTALL,
        )
        file.write_text(source.rstrip("\n") + "\n" + NULL % text)

    def run(self, *argv: str, cwd: Path | None = None, ok: Sequence[int] = (0,)) -> tuple[int, str]:
        """Run a program and return its exit code and output. Raises `RuntimeError`: another exit code."""
        done = subprocess.run(
            argv,
            cwd=cwd or self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode not in ok:
            raise RuntimeError(f"{argv} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done.returncode, done.stdout

    def commit(self, name: str) -> None:
        """Commit everything under the name of a branch."""
        if name != "base":
            self.run("git", "checkout", "-q", "-B", name)
        self.run("git", "add", "-f", ".")
        self.run("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", name)

    def revise(self, name: str, text: str) -> None:
        """Make the branch `name`: the base with another string, and more work if it is the slow one."""
        self.run("git", "checkout", "-q", "-f", "main")
        self._null(text.ljust(24, ".")[:24])
        if name == SLOW:
            subject = self.subject
            file = self.folder / subject.file
            source = file.read_text()
            if source.count(subject.anchor) != 1:
                raise RuntimeError(f"{file} does not contain the head of the function exactly once")
            added = subject.anchor + TWICE % subject.again
            file.write_text(source.replace(subject.anchor, added))
        self.commit(name)

    def cargo_bench(self, *words: str) -> str:
        """Run a selection of the benchmarks with cargo, and return the output."""
        return self.run("cargo", "bench", "--bench", self.subject.bench, "--", *words)[1]

    def baselines(self, head: str) -> Counter[str]:
        """Compare a revision with the base in criterion's way: all ids of the base, then all of the revision."""
        pattern = "|".join(f"^{_escaped(i)}$" for i in self.subject.ids)
        self.run("git", "checkout", "-q", "-f", "main")
        self.cargo_bench(pattern, "--noplot", "--save-baseline", "base")
        self.run("git", "checkout", "-q", "-f", head)
        output = self.cargo_bench(pattern, "--noplot", "--baseline", "base")
        results = list(VERDICT.finditer(output))
        if len(results) != len(self.subject.ids):
            raise RuntimeError(f"criterion compared {len(results)} ids:\n{output[-3000:]}")
        return Counter(match[1] or "none" for match in results)

    def gate(self, head: str, budget: str) -> tuple[int, list[dict[str, object]]]:
        """Gate a revision with benchctl. Return the exit code and the comparisons of `gate.json`."""
        self.run("git", "checkout", "-q", "-f", head)
        shutil.rmtree(self.folder / "results", ignore_errors=True)
        words = [word for id_ in self.subject.ids for word in ("--id", id_)]
        python = (sys.executable, "-m", "bench_framework")
        code, output = self.run(
            *python, "gate", "--base", "main", "--bench", self.subject.bench, *words,
            "--budget", budget, "--json", ok=(0, 1, 4),
        )  # fmt: skip
        document = json.loads(output[output.index("\n{") if output[0] != "{" else 0 :])
        return code, document["pairs"]


def _escaped(bench: str) -> str:
    """Return an id as a regular expression of Rust, which refuses the escape of a space."""
    return re.escape(bench).replace("\\ ", " ")


def repetition(crate: Crate, times: int, budget: str) -> Iterator[dict[str, object]]:
    """Yield a row for each revision and tool, in random order."""
    subject = crate.subject
    for kind in (SAME, SLOW):
        crate.revise(kind, f"{kind} {times} {random.random()}")
    tools = ("benchctl", "criterion") if subject.harness == "criterion" else ("benchctl",)
    turns = [(kind, tool) for kind in (SAME, SLOW) for tool in tools]
    random.shuffle(turns)
    for kind, tool in turns:
        row: dict[str, object] = {"crate": subject.name, "kind": kind, "tool": tool}
        begin = time.monotonic()
        if tool == "benchctl":
            code, pairs = crate.gate(kind, budget)
            for field, key, value in (
                ("worse", "state", "worse"),
                ("better", "verdict", "better"),
                ("not_judged", "state", "not-judged"),
            ):
                row[field] = "|".join(str(pair["input"]) for pair in pairs if pair[key] == value)
            ratios = {pair["input"]: pair["ratio"] for pair in pairs}
            row |= {"exit": code, "ratio": ratios.get(subject.slowed[0])}
        else:
            counts = crate.baselines(kind)
            row |= {
                "exit": 0,
                "worse": counts["regressed"],
                "better": counts["improved"],
                "not_judged": "",
            }
        yield row | {"seconds": round(time.monotonic() - begin, 1)}


def main() -> None:
    """Measure until every crate has its number of repetitions or the time is over."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("csv", type=Path)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--crate", action="append", choices=[s.name for s in SUBJECTS])
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--budget", default="45s")
    parser.add_argument(
        "--folder", type=Path, default=Path.home() / ".cache" / "benchctl" / "bench-gates"
    )
    parser.add_argument("--summary", action="store_true")
    given = parser.parse_args()
    if given.summary:
        summary(given.csv)
        return
    end = time.monotonic() + 60 * given.minutes
    given.folder.mkdir(parents=True, exist_ok=True)
    crates = [Crate(s, given.folder) for s in SUBJECTS if not given.crate or s.name in given.crate]
    done = Counter(
        row["crate"] for row in rows(given.csv) if row["tool"] == "benchctl" and row["kind"] == SAME
    )
    for times in range(given.times):
        for crate in crates:
            if done[crate.subject.name] > times or time.monotonic() > end:
                continue
            for row in repetition(crate, times, given.budget):
                append(given.csv, row)
                print(row, flush=True)
    summary(given.csv)


def rows(file: Path) -> list[dict[str, str]]:
    """Return the rows that were measured."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def append(file: Path, row: dict[str, object]) -> None:
    """Append a row to the CSV."""
    new = not file.exists()
    with file.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def summary(file: Path) -> None:
    """Print, for each crate, kind and tool: runs in which an id was named worse, and the median seconds."""
    slowed = {subject.name: subject.slowed for subject in SUBJECTS}
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in rows(file):
        groups.setdefault((row["crate"], row["kind"], row["tool"]), []).append(row)
    for (crate, kind, tool), group in sorted(groups.items()):
        worse = [row for row in group if row["worse"] not in ("", "0")]
        lo, hi = binomtest(len(worse), len(group)).proportion_ci()
        seconds = statistics.median(float(row["seconds"]) for row in group)
        line = f"{crate:18} {kind:5} {tool:10} worse in {len(worse):2} of {len(group):2}"
        line += f" [{lo:.0%}, {hi:.0%}], {seconds:.0f} s"
        if tool == "benchctl":
            ids = Counter(i for row in group for i in row["worse"].split("|") if i)
            others = sum(n for i, n in ids.items() if kind == SAME or i not in slowed[crate])
            inconclusive = sum(row["exit"] == "4" for row in group)
            ratios = [float(row["ratio"]) for row in group if row["ratio"]]
            line += f", inconclusive {inconclusive}, other ids named worse {others}, {dict(ids)}"
            line += f", median ratio of {slowed[crate][0]} {statistics.median(ratios):.3f}"
        print(line)


if __name__ == "__main__":
    main()
