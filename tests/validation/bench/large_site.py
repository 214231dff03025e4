"""Time of ``benchctl site`` for 3 000 made records of 24 configurations, and of its update by one record.

``python tests/validation/bench/large_site.py [FOLDER]`` keeps the records in FOLDER and uses what is there.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import long_history

from bench_framework.store import manifest

MOST_SECONDS = 30.0
MOST_UPDATE_SECONDS = 15.0
PAGE_BYTES = 300_000
"""Size of a report, as that of the examples without their runs."""
CLAIMS = 60
"""Claims of a record, each with its sentence."""


def complete(record: Path, number: int) -> None:
    """Add the files that a site reads: results and a report."""
    text = "search+jemalloc takes 9.1 % less time than search [8.2, 10.0]"
    claims = [{"kind": "comparison", "text": f"{text} {n}"} for n in range(CLAIMS)]
    claims.append({"kind": "answer", "text": f"{text} in record {number}"})
    judged = {"judgement": {"status": "conclusive", "claims": claims}}
    (record / "claims.json").write_text(json.dumps(judged), encoding="utf-8")
    head = '<!doctype html><meta name="generator" content="benchctl">'
    (record / "report.html").write_text(f"{head}{number:0{PAGE_BYTES}}", encoding="utf-8")
    (record / "manifest.json").unlink()
    manifest.write_manifest(record)


def measure(results: Path, out: Path) -> tuple[float, int]:
    """Return the seconds of the command, and the number of files that it wrote."""
    argv = [
        sys.executable,
        "-m",
        "bench_framework",
        "--dir",
        str(results),
        "site",
        str(out),
        "--json",
    ]
    start = time.perf_counter()
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, len(json.loads(done.stdout)["written"])


def main() -> None:
    """Print the times with their limits; return 1 if one is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as scratch:
        folder, plan = given or Path(scratch), long_history.scenario()
        results, out = folder / "results", folder / "site"
        if not (results / plan.name).is_dir():
            long_history.write_records(results, plan)
            for number, record in enumerate(sorted((results / plan.name).iterdir())):
                complete(record, number)
        newest = max((results / plan.name).iterdir())
        newest.rename(folder / newest.name)
        shutil.rmtree(out, ignore_errors=True)
        whole, files = measure(results, out)
        (folder / newest.name).rename(newest)
        update, changed = measure(results, out)
        same, unchanged = measure(results, out)
        size = (out / plan.name / "index.html").stat().st_size
    assert (changed, unchanged) == (3, 0)
    print(f"site of {files} files, seconds {whole:.3g}  (at most {MOST_SECONDS:g})")
    print(f"update by one record, seconds {update:.3g}  (at most {MOST_UPDATE_SECONDS:g})")
    print(f"nothing changed, seconds {same:.3g}")
    print(f"page of the scenario, bytes {size}")
    if whole > MOST_SECONDS or update > MOST_UPDATE_SECONDS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
