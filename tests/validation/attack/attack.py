"""Attack benchctl, count what it survives, and print one table. See docs/limits.md, section "Attacks".

``nox -s attack`` runs everything; ``-- --quick`` a small part; ``-- kills disk`` the named groups.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUPS = ("kills", "disk", "interruptions", "rights", "repository", "fuzz")
SHIM = Path(__file__).with_name("shim.c")


def compiled(folder: Path) -> Path:
    """Compile the library that lets file operations fail."""
    library = folder / "shim.so"
    words = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-o", str(library), str(SHIM), "-ldl"]
    subprocess.run(words, check=True)
    return library


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument(
        "--quick", action="store_true", help="a small part of each attack, in about two minutes"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="processor time of each fuzz target"
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="attacks of these names")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is None:
        with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as name:
            # The library must be loaded when this process starts, and one thread survives a fork.
            env = {
                **os.environ,
                "LD_PRELOAD": str(compiled(Path(name))),
                "OPENBLAS_NUM_THREADS": "1",
            }
            return subprocess.run(
                [sys.executable, *sys.argv, "--folder", name], env=env, check=False
            ).returncode

    import disk
    import fuzz
    import harness
    import interruptions
    import kills
    import repository
    import rights

    folder, quick, start = options.folder, options.quick, time.monotonic()
    folder.chmod(0o755)
    seconds = min(options.seconds, 2.0) if quick else options.seconds
    step = 2 if quick else 1
    makers = {
        "kills": lambda: kills.attacks(folder, 1 if quick else 30, step),
        "disk": lambda: disk.attacks(folder, 2 if quick else 60, 80 if quick else 1, step),
        "interruptions": lambda: interruptions.attacks(folder, 4 if quick else 200),
        "rights": lambda: rights.attacks(folder, quick=quick),
        "repository": lambda: repository.attacks(folder, quick=quick),
        "fuzz": lambda: fuzz.attacks(folder, seconds),
    }
    groups = list(options.groups or GROUPS)
    without = os.environ.get("BENCHCTL_TESTS_WITHOUT", "").split(",")
    if os.geteuid() or "mounts" in map(str.strip, without):
        groups = [name for name in groups if name != "rights"]
        print("not attacked: rights, because mounts and other users need root\n")
    every = [attack for name in groups for attack in makers[name]()]
    attacks = [attack for attack in every if re.search(options.only, attack.what)]
    harness.run_attacks(attacks, folder, options.jobs)
    print(harness.table(attacks), end="")
    print(f"\n{sum(a.tried for a in attacks)} tries in {time.monotonic() - start:.0f} s")
    return int(any(attack.failures for attack in attacks))


if __name__ == "__main__":
    sys.exit(main())
