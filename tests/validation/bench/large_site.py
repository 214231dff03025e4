"""Time of ``benchctl site`` for 100 made records of 24 configurations, and of its update by one record.

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
from bench_framework.store.records import Record
from bench_framework.workflow.pages import judge_record

MOST_SECONDS = 300.0
MOST_UPDATE_SECONDS = 15.0
RECORDS = 100


def complete(folder: Path) -> None:
    """Add the results, which a site reads, and the manifest."""
    with Record.open(folder) as record:
        record.save(judge_record(record))
    (folder / "manifest.json").unlink(missing_ok=True)
    manifest.write_manifest(folder)


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
            long_history.RECORDS = RECORDS
            long_history.write_records(results, plan)
            for record in sorted((results / plan.name).iterdir()):
                complete(record)
        newest = max((results / plan.name).iterdir())
        newest.rename(folder / newest.name)
        shutil.rmtree(out, ignore_errors=True)
        whole, files = measure(results, out)
        (folder / newest.name).rename(newest)
        update, changed = measure(results, out)
        same, unchanged = measure(results, out)
        size = (out / plan.name / "index.html").stat().st_size
    assert (changed, unchanged) == (4, 0)
    print(f"site of {files} files, seconds {whole:.3g}  (at most {MOST_SECONDS:g})")
    print(f"update by one record, seconds {update:.3g}  (at most {MOST_UPDATE_SECONDS:g})")
    print(f"nothing changed, seconds {same:.3g}")
    print(f"page of the scenario, bytes {size}")
    if whole > MOST_SECONDS or update > MOST_UPDATE_SECONDS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
