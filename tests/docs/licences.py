"""Write or check docs/licences.md, the licences of all dependencies. `python tests/docs/licences.py [--write]`.

Crates are those of ``native/Cargo.lock`` with all features. Python packages are those that `benchctl` needs
at run time, also for the extra `fleet`, in the environment of this script; their versions are not fixed.
"""

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "licences.md"
LOCK = ROOT / "native" / "Cargo.lock"
HEAD = """# Licences of dependencies

`nox -s generate` writes this page. benchctl itself is under MIT or Apache-2.0. If hyperfine is missing, the first run
downloads the wheel `astral-dev-toolchain-hyperfine` (MIT OR Apache-2.0) into the cache, with its `METADATA`.

"""


def crates() -> list[tuple[str, str, str]]:
    """Return name, version and licence of every crate that the workspace uses, from cargo."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    done = subprocess.run(command, cwd=LOCK.parent, stdout=subprocess.PIPE, text=True, check=True)
    packages = [p for p in json.loads(done.stdout)["packages"] if p["source"]]
    return sorted((p["name"], p["version"], p["license"] or "not stated") for p in packages)


def locked() -> list[tuple[str, str]]:
    """Return name and version of every crate in the lock file that is not of the workspace."""
    packages = tomllib.loads(LOCK.read_text(encoding="utf-8"))["package"]
    return sorted((p["name"], p["version"]) for p in packages if "source" in p)


def python_packages() -> list[tuple[str, str]]:
    """Return name and licence of every Python package that benchctl needs at run time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["fleet"]
    pending, known = [*project["dependencies"], *extra], dict[str, str]()
    while pending:
        needed = Requirement(pending.pop())
        name = canonicalize_name(needed.name)
        if name in known or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        package = metadata.distribution(name)
        known[name] = licence(package)
        pending += package.requires or []
    return sorted(known.items())


def licence(package: metadata.Distribution) -> str:
    """Return the licence as the package states it: an expression, a classifier, or a short text."""

    def field(name: str) -> list[str]:
        return package.metadata.get_all(name) or []

    names = [text.rpartition(" :: ")[2] for text in field("Classifier") if "License ::" in text]
    stated = field("License-Expression") or [", ".join(names)]
    return stated[0] or (field("License") or ["not stated"])[0].splitlines()[0]


def page() -> str:
    lines = ["## Python packages", "", "| package | licence |", "|:--|:--|"]
    lines += [f"| {name} | {text} |" for name, text in python_packages()]
    lines += ["", "## Crates", "", "| crate | version | licence |", "|:--|:--|:--|"]
    lines += [f"| {name} | {version} | {text} |" for name, version, text in crates()]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    current = PAGE.read_text(encoding="utf-8") == page()
    if not current:
        sys.stderr.write(f"{PAGE} is outdated: python {Path(__file__).name} --write\n")
    return int(not current)


if __name__ == "__main__":
    sys.exit(main())
