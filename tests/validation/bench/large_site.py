"""Time of ``benchctl site`` for 100 made records, and of its update by one record.

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

from bench_framework.workflow.pages import judge_record, write_pages
from tests.unit.workflow.measured_record import measured
from tests.unit.workflow.test_site import NAMES, add

MOST_SECONDS = 300.0
MOST_UPDATE_SECONDS = 15.0
RECORDS = 100


def write_records(folder: Path) -> None:
    """Write copies of one record with runs, each with its own id and start."""
    with measured(folder / "original") as record:
        judgement = judge_record(record)
        record.save(judgement)
        write_pages(record, judgement, formats=("html",))
    for number in range(RECORDS):
        day = f"{2001 + number // 28}03{1 + number % 28:02}"
        add(folder / "results", record.path, day + NAMES[0][8:])


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
        folder = given or Path(scratch)
        results, out = folder / "results", folder / "site"
        if not results.is_dir():
            write_records(folder)
        newest = max((results / "demo").iterdir())
        newest.rename(folder / newest.name)
        shutil.rmtree(out, ignore_errors=True)
        whole, files = measure(results, out)
        (folder / newest.name).rename(newest)
        update, changed = measure(results, out)
        same, unchanged = measure(results, out)
        size = (out / "demo" / "index.html").stat().st_size
    assert (changed, unchanged) == (4, 0)
    print(f"site of {files} files, seconds {whole:.3g}  (at most {MOST_SECONDS:g})")
    print(f"update by one record, seconds {update:.3g}  (at most {MOST_UPDATE_SECONDS:g})")
    print(f"nothing changed, seconds {same:.3g}")
    print(f"page of the scenario, bytes {size}")
    if whole > MOST_SECONDS or update > MOST_UPDATE_SECONDS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
