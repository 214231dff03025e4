"""Compare the files of wheels with those of the repository. `python wheel_contents.py WHEEL …`.

A wheel contains the package, the data files of the program, the sources of the workers and its metadata. Tests and
files that git does not know are not in it.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSETS = (
    "templates",
    "scenarios",
    "docs/reference/scenario.schema.json",
    "native/Cargo.toml",
    "native/Cargo.lock",
    "native/crates",
)
DATA = "docs/wheel/data/"
"""The manual and the completions of shells."""
METADATA = (
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE",
    "sboms/bench-framework-native.cyclonedx.json",
)


def files(*names: str) -> set[str]:
    """Return the files of the repository in folders, without tests."""
    command = ["git", "ls-files", "-z", "--", *names]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    listed = map(Path, done.stdout.rstrip("\0").split("\0"))
    return {str(path) for path in listed if not {"tests", "tests.rs"} & {*path.parts}}


def differences(wheel: Path) -> list[str]:
    """Return the files that a wheel lacks or should not have, one a line."""
    name_and_version = "-".join(wheel.name.split("-")[:2])
    about = f"{name_and_version}.dist-info"
    expected = {
        "bench_framework/_native.abi3.so",
        *files("bench_framework"),
        *(f"bench_framework/_assets/{name}" for name in files(*ASSETS)),
        *(f"{name_and_version}.data/data/{n.removeprefix(DATA)}" for n in files(DATA)),
        *(f"{about}/{name}" for name in METADATA),
    }
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    return sorted(
        f"{wheel.name}: {name} {'is unwanted' if name in names else 'is missing'}"
        for name in expected ^ names
    )


if __name__ == "__main__":
    sys.exit("\n".join(line for name in sys.argv[1:] for line in differences(Path(name))) or None)
