"""Kill -9 at random moments of commands that write into a record, the results or the cache.

Each kill waits for a marker of its phase, and a random time longer. If the process ends first, the try is repeated.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from harness import GATED, PROFILED, ROOT, RUN, SHORT, Attack, Box, Failed, require

from bench_framework.extensions.bisect import workflow  # noqa: F401 -- loaded once, before the forks
from tests.files import write_files
from tests.integration.processes import commit, git

TRIES = 12
IMPORTED = ROOT / "tests" / "fixtures" / "hyperfine" / "1.20-ten-commands.json"
CACHED = ("revisions", "builds", "binaries", "data", "cargo")


def attack(
    prepared: Box,
    words: tuple[str, ...],
    count: int,
    begun: Callable[[Box], bool],
    after: Callable[[Box], str],
    what: str = "",
) -> Attack:
    """Return an attack on a command.

    Args:
        prepared: the folder that is copied for each try.
        words: the command.
        count: number of kills that meet their phase.
        begun: checks by the files whether the phase has begun.
        after: continues and checks after a kill, and names the phase.
        what: more about the command for the table.
    """
    timed = prepared.copy(prepared.path.with_name(f"{words[0]}-timed"))
    child = timed.start(*words)
    child.until(lambda: begun(timed))
    start = time.monotonic()
    child.wait()
    span_s = 1.3 * (time.monotonic() - start)

    def case(path: Path, _: int, rng: random.Random) -> str:
        for _ in range(TRIES):
            box = prepared.copy(path)
            child = box.start(*words)
            met = child.until(lambda box=box: begun(box))  # type: ignore[misc]
            time.sleep(rng.uniform(0, span_s) if met else 0)
            met = met and child.alive()
            child.send(signal.SIGKILL)
            child.wait()
            if met:
                return after(box)
            shutil.rmtree(path)
        raise Failed("no kill met its phase")

    return Attack(f"kill -9 in `{' '.join(words)}`{what}", case, count)


def gate(folder: Path, count: int) -> Attack:
    """Attack the second pass of a gate, which measures a second record."""
    prepared = Box.make(folder / "gate", GATED)
    prepared.expect(*RUN)

    def after(box: Box) -> str:
        before, second = box.journals(), box.records[1]
        measured = b'"kind":"end"' in (second / "journal.jsonl").read_bytes()
        phase = "results and report" if measured else "measuring"
        phase = "files of the gate" if (second / "manifest.json").is_file() else phase
        box.expect("gate", "@last", codes=[1])
        box.check(before)
        return phase

    return attack(prepared, ("gate", "@last"), count, lambda box: len(box.records) > 1, after)


def profile(folder: Path, count: int) -> Attack:
    """Attack `profile` of a record that has profiles already."""
    prepared, words = Box.make(folder / "profile", PROFILED), ("profile", "@last")
    prepared.expect(*RUN)
    calls = (prepared.path / "perf.log").read_text().count("\n")
    claims = (prepared.records[0] / "claims.json").read_bytes()

    def after(box: Box) -> str:
        sampling, before = (box.records[0] / "claims.json").read_bytes() == claims, box.journals()
        for cell in (box.records[0] / "profiles").iterdir():
            json.loads((cell / "profile.json").read_text())
        box.expect("verify", "@last", codes=[0, 1])
        box.finish(*words, before=before)
        return "profiling" if sampling else "tables and pages"

    def begun(box: Box) -> bool:
        return (box.path / "perf.log").read_text().count("\n") > calls

    return attack(prepared, words, count, begun, after)


def clean(folder: Path, count: int) -> Attack:
    """Attack the removal of records and of folders of the cache."""
    prepared, words = (
        Box.make(folder / "clean"),
        ("clean", "--yes", "records", "builds", "binaries", "data", "scratch"),
    )
    prepared.expect(*RUN)
    for number in range(2, 12):
        shutil.copytree(prepared.records[0], f"{prepared.records[0]}-{number}")
    for name in CACHED:
        for item in range(3):
            deep = prepared.cache / name / f"item{item}" / "deep"
            deep.mkdir(parents=True)
            for file in range(150):
                (deep / str(file)).write_text("x")

    def sizes(box: Box) -> dict[Path, int]:
        items = [*box.records, *(p for name in CACHED for p in (box.cache / name).glob("[!.]*"))]
        return {p.relative_to(box.path): len(list(p.rglob("*"))) for p in items}

    whole, files = sizes(prepared), len(list(prepared.path.rglob("*")))

    def after(box: Box) -> str:
        left = sizes(box)
        for item, size in left.items():
            require(size == whole[item], f"{item} has {size} of {whole[item]} files")
        box.check_leftovers()
        box.expect(*words)
        require(not sizes(box), "clean --yes left items")
        box.check_leftovers()
        return "records" if any(path.parts[0] == "results" for path in left) else "cache"

    def begun(box: Box) -> bool:
        return sum(len(names) for _, *both in os.walk(box.path) for names in both) < files

    return attack(prepared, words, count, begun, after)


def importing(folder: Path, count: int) -> Attack:
    """Attack `import`, from the moment at which it has a folder."""
    prepared, words = Box.make(folder / "import"), ("import", "imp.json", "--name", "imp")
    shutil.copy(IMPORTED, prepared.path / "imp.json")

    def after(box: Box) -> str:
        drafts = len([*box.results.glob("imp/.*.part")])
        require(len(box.records) + drafts == 1, "neither a draft nor a record")
        box.finish(*words)
        return "draft" if drafts else "record"

    return attack(
        prepared,
        words,
        count,
        lambda box: any(box.results.rglob("*.part")) or bool(box.records),
        after,
    )


def commands(folder: Path, count: int) -> Attack:
    """Attack `ab` with names and numbers, from its first sample on."""
    prepared = Box.make(folder / "ab")
    options = ("-r", "3", "-w", "1", "-n", "old", "-n", "new")
    words = ("ab", *options, "/bin/echo arm-base", "/bin/echo arm-slow")

    def after(box: Box) -> str:
        before = box.journals()
        phase = (
            "results and report" if b'"kind":"end"' in b"".join(before.values()) else "measuring"
        )
        finished = bool([*box.results.rglob("manifest.json")])
        box.finish(*(() if finished else words), before=before)
        require(len(box.records) == 1, "the same command did not resume")
        return "finished" if finished else phase

    return attack(prepared, words, count, lambda box: bool(box.journals()), after)


def sessions(folder: Path, count: int) -> Attack:
    """Attack a run of three sessions, from its first sample on."""
    scenario = SHORT.replace("rounds: 3,", "rounds: 2, sessions: 3,")
    prepared = Box.make(folder / "sessions", scenario)

    def after(box: Box) -> str:
        before = box.journals()
        rounds = b"".join(before.values()).count(b'"kind":"round-end"')
        finished = bool([*box.results.rglob("manifest.json")])
        box.finish(*(() if finished else RUN), before=before)
        require(len(box.records) == 1, "the same command did not resume")
        return "finished" if finished else f"after {rounds} rounds"

    what = " with three sessions"
    return attack(prepared, RUN, count, lambda box: bool(box.journals()), after, what)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a site by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def site(folder: Path, count: int) -> Attack:
    """Attack `site` of six records, from its first file on."""
    prepared, words = Box.make(folder / "site"), ("site", "public")
    for _ in range(6):
        prepared.expect(*RUN, "--fresh")
    whole = prepared.copy(folder / "site-whole")
    whole.expect(*words)
    expected = contents(whole.path / "public")

    def after(box: Box) -> str:
        rendered = len([*(box.path / "public").rglob("report.html")])
        box.expect(*words)
        require(contents(box.path / "public") == expected, "the site is not that of one run")
        box.check_leftovers()
        return f"{rendered} of 6 reports"

    return attack(prepared, words, count, lambda box: (box.path / "public").is_dir(), after)


def history(folder: Path, count: int) -> Attack:
    """Attack `history` with a figure."""
    prepared, words = Box.make(folder / "history"), ("history", "attacked", "--plot", "h.svg")
    for _ in range(3):
        prepared.expect(*RUN, "--fresh")
    whole = prepared.copy(folder / "history-whole")
    whole.expect(*words)
    expected = (whole.path / "h.svg").read_bytes()

    def after(box: Box) -> str:
        figure = box.path / "h.svg"
        written = figure.exists()
        require(not written or figure.read_bytes() == expected, "the figure is incomplete")
        box.expect(*words)
        require(figure.read_bytes() == expected, "the figure is another one")
        box.check_leftovers()
        return "after the figure" if written else "before the figure"

    return attack(prepared, words, count, lambda _: True, after)


class CrateBox(Box):
    """A box whose scenario is about revisions of a crate, which are built with the cargo of this machine."""

    @property
    def env(self) -> dict[str, str]:
        tools = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        rust = {k: v for k, v in os.environ.items() if k.startswith(("CARGO_H", "RUSTUP"))}
        return super().env | tools | rust


def crate_box(path: Path, commits: int, slower_from: int) -> CrateBox:
    """Return a box with the repository of a crate in `project`, and the tags ``c0``, ``c1`` … of its commits.

    From the commit `slower_from` on, it takes 30 % longer.
    """
    sys.path.append(str(ROOT / "tests" / "integration"))
    import test_bisect as crate

    box = CrateBox.make(path)
    (path / "runs.json").write_text(json.dumps([0.05, 0.0501, 0.0499, 0.0502, 0.0498]))
    files = {
        "runs": path / "runs.json",
        "count": path.with_name(f"{path.name}-count"),
        "fake": crate.compiled_hyperfine(),
    }
    words = {name: str(file) for name, file in files.items()}
    hyperfine = crate.HYPERFINE.format(python=sys.executable, **words)
    (path / "bin" / "hyperfine").write_text(hyperfine)
    project = path / "project"
    files = {"counter/Cargo.toml": crate.MANIFEST, "counter/Cargo.lock": crate.LOCK}
    write_files(project, {**files, "scenario.yaml": crate.SCENARIO})
    for number in range(commits):
        text = crate.source_of(number, number, 1.3 if number >= slower_from else 1.0)
        write_files(project, {"counter/src/main.rs": text})
        commit(project, f"change {number}", f"c{number}")
    return box


def bisect(folder: Path, count: int) -> Attack:
    """Attack a search through eight commits, of which the fifth takes 30 % longer."""
    prepared = crate_box(folder / "bisect", 8, 5)
    project = prepared.path / "project"

    def steps(box: Box) -> list[object]:
        states = list(box.results.glob("bisect/*/bisect.json"))
        return list(json.loads(states[0].read_text())["steps"]) if states else []

    command = ("bisect", "project/scenario.yaml", "--good", "c0", "--bad", "c7")

    def after(box: Box) -> str:
        before, decided = box.journals(), steps(box)
        box.finish(*command, before=before)
        require(steps(box)[: len(decided)] == decided, "decided steps were lost")
        fifth = git(project, "rev-parse", "--short=7", "c5")
        require(f"{fifth} is the commit" in box.output(), f"{fifth} was not found")
        return f"after {len(decided)} steps"

    return attack(prepared, command, count, lambda box: bool(box.records), after)


def attacks(folder: Path, count: int, step: int) -> list[Attack]:
    makers = (gate, bisect, clean, profile, sessions, importing, commands, site, history)
    return [make(folder, count) for make in makers[::step]]
