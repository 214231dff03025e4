"""Plant ten regressions in a crate, and see what page and comment name; compare pairs of equal programs.

Usage: ``python tests/validation/bench/planted_causes.py [--only NAME] [--keep FOLDER]``. Each case is a revision of
a small crate. `benchctl gate` measures it against the first revision, and counts both sides after a confirmed
regression. The scenario counts instructions, so that the page of the record has the table of functions, or, with
`--late`, only the gate counts. For a planted regression, "right" means that the comment names the function or
the count that was planted; for equal programs, that nothing is named. Each row has the seconds of the parts of
the gate, from the times at which its blocks and counting runs started. Needs cargo, git and valgrind.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.files import write_files
from tests.integration.processes import CALL, commit

MANIFEST = '[package]\nname = "journal"\nversion = "0.1.0"\nedition = "2021"\n[profile.release]\n'
LOCK = 'version = 3\n\n[[package]]\nname = "journal"\nversion = "0.1.0"\n'
PROGRAM = r"""
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::time::Duration;

const RECORDS: u64 = 40_000;
const KEYS: u64 = 256;
const PAYLOAD: usize = 64;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    payload: [u8; PAYLOAD],
}

#[inline(always)]
fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3).rotate_left(5)
}

#[inline(never)]
fn checksum(line: &[u8]) -> u64 {
    let mut sum = 0u64;
    for &byte in line {
        sum = mix(sum, byte);
    }
    sum
}

#[inline(never)]
fn parse_line(line: &str) -> u64 {
    let mut key = 0u64;
    for field in line.split(' ') {
        let text = field;
        key = key.wrapping_mul(31).wrapping_add(text.len() as u64 + u64::from(text.as_bytes()[0]));
    }
    key
}

#[inline(never)]
fn find_key(known: &[u64], key: u64) -> usize {
    known.binary_search(&key).unwrap_or(0)
}

#[inline(never)]
fn make_entry(line: &str) -> Entry {
    let mut payload = [0u8; PAYLOAD];
    let size = line.len().min(PAYLOAD);
    payload[..size].copy_from_slice(&line.as_bytes()[..size]);
    Entry { key: parse_line(line), payload }
}

#[inline(never)]
fn store_entry(entries: &mut [Entry], place: usize, entry: &Entry) {
    entries[place] = black_box(*entry);
}

#[inline(never)]
fn write_entry(out: &mut BufWriter<File>, line: &str) {
    out.write_all(line.as_bytes()).unwrap();
}

fn main() {
    let known: Vec<u64> = (0..KEYS).map(|n| n * 37).collect();
    let mut entries = vec![Entry { key: 0, payload: [0; PAYLOAD] }; KEYS as usize];
    let mut out = BufWriter::new(File::create("/dev/null").unwrap());
    let mut total = 0u64;
    for n in 0..RECORDS {
        let line = format!("{} alpha beta gamma {} delta\n", n % 977, n % 13);
        total = total.wrapping_add(checksum(line.as_bytes()));
        let entry = make_entry(&line);
        let place = find_key(&known, (entry.key ^ n) % KEYS * 37);
        store_entry(&mut entries, place, &entry);
        write_entry(&mut out, &line);
    }
    std::thread::sleep(PAUSE);
    let kept: u64 = entries.iter().map(|e| e.key ^ u64::from(e.payload[0])).fold(0, u64::wrapping_add);
    println!("{total} {kept} {place}", place = find_key(&known, 37));
}
"""
SCENARIO = """
version: 1
name: planted
question: Is the new revision slower?
worker: {{crate: journal}}
command: ["{{bin}}"]
measure: {{budget: 15s, seed: 5}}
{counted}gate: {{wall: 2%, against: base}}
"""
COUNTED = "metrics: {instructions: {runs: 2}}\n"


@dataclass(frozen=True, slots=True)
class Case:
    """A change of the program, and the words that a right explanation contains: one of each group."""

    name: str
    old: str
    new: str
    words: tuple[tuple[str, ...], ...] = ()
    manifest: str = MANIFEST


PLANTED = (
    Case(
        "allocation in a loop",
        "let text = field;",
        "let owned = black_box(field.to_string()); let text = owned.as_str();",
        (("allocations +",), ("journal::parse_line",)),
    ),
    Case(
        "quadratic search",
        "known.binary_search(&key).unwrap_or(0)",
        "known.iter().position(|k| black_box(*k) == key).unwrap_or(0)",
        (("journal::find_key",),),
    ),
    Case(
        "lost inline",
        "#[inline(always)]\nfn mix",
        "#[inline(never)]\nfn mix",
        (("journal::mix new",),),
    ),
    Case(
        "one more system call",
        "out.write_all(line.as_bytes()).unwrap();",
        "out.write_all(line.as_bytes()).unwrap(); black_box(out.get_ref().metadata().is_ok());",
        (("system calls +",), ("journal::write_entry",)),
    ),
    Case(
        "lock",
        "        sum = mix(sum, byte);",
        "        static SUM: std::sync::Mutex<u64> = std::sync::Mutex::new(0);\n"
        "        let mut held = SUM.lock().unwrap(); *held = mix(sum, byte); sum = *held;",
        (("journal::checksum",),),
    ),
    Case(
        "bigger copy",
        "const PAYLOAD: usize = 64;",
        "const PAYLOAD: usize = 4096;",
        (("memcpy", "memmove", "memset"), ("journal::store_entry", "journal::make_entry")),
    ),
    Case(
        "no optimisation",
        "",
        "",
        (("built differently: profile.release.opt-level none → 0",),),
        manifest=f"{MANIFEST}opt-level = 0\n",
    ),
)
EQUAL = (
    Case("a comment", "fn main() {", "// The whole program.\nfn main() {"),
    Case("a variable renamed", "let mut key = 0u64;", "let mut key = 0u64; let _unused = 1;"),
    Case("a function renamed", "checksum", "sum_of_bytes"),
    Case(
        "a function added",
        "fn main() {",
        "#[inline(never)]\npub fn unused(n: u64) -> u64 { n * 3 }\nfn main() {",
    ),
    Case("line tables", "", "", manifest=f'{MANIFEST}debug = "line-tables-only"\n'),
    Case(
        "functions in one section each moved",
        "const KEYS",
        "const _A: [u8; 3] = [1, 2, 3];\nconst KEYS",
    ),
)
WAITING = (
    Case(
        "a longer pause",
        "from_millis(1)",
        "from_millis(9)",
        (("same instructions, same calls",), ("sleep",)),
    ),
    Case(
        "a lock whose owner computes",
        "std::thread::sleep(PAUSE);",
        "static HELD: std::sync::Mutex<()> = std::sync::Mutex::new(());\n"
        "    #[inline(never)]\n"
        "    fn work_with_lock() -> u64 { (0..9_000_000).fold(0, |sum, n| sum ^ black_box(n)) }\n"
        "    let (sender, receiver) = std::sync::mpsc::channel();\n"
        "    std::thread::spawn(move || {\n"
        "        let _held = HELD.lock().unwrap();\n"
        "        sender.send(()).unwrap();\n"
        "        black_box(work_with_lock());\n"
        "    });\n"
        "    receiver.recv().unwrap();\n"
        "    drop(HELD.lock().unwrap());",
        # The thread that waits has a futex without a time limit, but the command does not wait.
        (("work_with_lock new",),),
    ),
    Case(
        "waiting for a disk",
        "std::thread::sleep(PAUSE);",
        'let path = std::env::temp_dir().join(format!("planted-{}", std::process::id()));\n'
        "    for n in 0..64u8 {\n"
        "        let mut file = File::create(&path).unwrap();\n"
        "        file.write_all(&[n; 1 << 18]).unwrap();\n"
        "        file.sync_all().unwrap();\n"
        "    }\n"
        "    std::fs::remove_file(&path).unwrap();",
        (("untimed: disk",),),
    ),
)


def revise(folder: Path, program: str, manifest: str, tag: str) -> None:
    """Commit a revision of the crate."""
    crate = {"Cargo.toml": manifest, "Cargo.lock": LOCK, "src/main.rs": program}
    write_files(folder / "journal", crate)
    commit(folder, tag, tag)


def measure(folder: Path, case: Case, *, late: bool) -> dict[str, Any]:
    """Measure a case in a repository of its own. Return its gate.json, its comment and its claims."""
    scenario = SCENARIO.format(counted="" if late else COUNTED)
    write_files(folder, {"scenario.yaml": scenario, ".gitignore": "results/\n"})
    revise(folder, PROGRAM, MANIFEST, "base")
    changed = PROGRAM.replace(case.old, case.new) if case.old else PROGRAM
    assert case.old == "" or changed != PROGRAM, case.name
    revise(folder, changed, case.manifest, "head")
    call = [sys.executable, CALL, str(folder.parent), "gate", "scenario.yaml"]
    begun = time.time()
    done = subprocess.run(call, check=False, cwd=folder, capture_output=True, text=True)
    ended = time.time()
    records = sorted((folder / "results" / "planted").iterdir())
    record = next(r for r in records if (r / "gate.json").exists())
    claims = json.loads((record / "claims.json").read_text(encoding="utf-8"))
    counted = [
        json.loads(line)["observation"]
        for r in records
        for line in (r / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        if '"kind":"counted"' in line and '"instructions"' in line
    ]
    return {
        "code": done.returncode,
        "parts": parts([record / "journal.jsonl" for record in records], begun, ended),
        "terminal": done.stdout + done.stderr,
        "gate": json.loads((record / "gate.json").read_text(encoding="utf-8")),
        "comment": (record / "comment.md").read_text(encoding="utf-8"),
        "page": [
            c["text"] for c in claims["judgement"]["claims"] if c["fact"]["kind"] == "functions"
        ],
        "counts": len(counted),
        "record": record,
    }


def parts(journals: list[Path], begun: float, ended: float) -> dict[str, float]:
    """Return the seconds of a gate by part. A part lasts until the next one starts; the last one has the pages, too."""

    def starts() -> Iterator[tuple[float, str]]:
        yield begun, "builds"
        yield ended, ""
        for number, journal in enumerate(journals, 1):
            for line in journal.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                for kind in ("block", "observation"):
                    if kind in entry:
                        part = entry[kind].get("kind", f"rounds {number}")
                        yield datetime.fromisoformat(entry[kind]["started_at"]).timestamp(), part

    marks = sorted(starts())
    seconds = defaultdict[str, float](float)
    for (start, part), (end, _) in itertools.pairwise(marks):
        seconds[part] += end - start
    return seconds


def main() -> None:
    """Measure the cases and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--late", action="store_true", help="only the gate counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        right = total = 0
        for case in (*PLANTED, *EQUAL, *WAITING):
            if options.only not in case.name:
                continue
            place = folder / ("late-" * options.late + case.name.replace(" ", "-")) / "repository"
            result = measure(place, case, late=options.late)
            explanations = [item["text"] for item in result["gate"]["explanations"]]
            texts = explanations or result["page"]
            ok = bool(explanations) and all(
                any(word in texts[0] for word in group) for group in case.words
            )
            if not case.words:
                ok = not explanations and all(
                    "same instructions, same calls" in text for text in result["page"]
                )
            right, total = right + ok, total + 1
            times = ", ".join(f"{part} {s:.1f} s" for part, s in result["parts"].items())
            print(f"{'right' if ok else 'WRONG'} | {case.name} | exit {result['code']} | {times}")
            print("   comment:", *(explanations or ["nothing"]))
            print("   page:   ", *(result["page"] or ["nothing"]), flush=True)
        print(f"{right} of {total} are right")


if __name__ == "__main__":
    main()
