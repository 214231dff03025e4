"""Write or check what is generated from the native workspace.

- The allocator features of ``tally`` and ``search`` follow from those of ``worker``.
- ``Cargo.lock`` gets the dependencies that are new in a manifest.
- ``bench_framework/scenario/bundled.json`` follows from ``describe`` of the bundled workers; this
  part builds them.

``python native/generate.py`` checks what needs no build: the features and the format of
``bundled.json``. ``--write`` writes everything.
"""

import json
import os
import re
import subprocess  # noqa: TID251 -- the door is the package's; this is a tool of the repository
import sys
import tomllib
from pathlib import Path
from typing import Any

NATIVE = Path(__file__).resolve().parent
BUNDLED = NATIVE.parent / "bench_framework" / "scenario" / "bundled.json"
WORKERS = ("tally", "dgen", "search")
WITH_ALLOCATORS = ("tally", "search")
NOT_AXES = {"allocator", "output"}
"""`allocator` acts on the build; `output` is about the program's own printing."""


def manifest(crate: str) -> Path:
    """Return the manifest of a crate."""
    return NATIVE / "crates" / crate / "Cargo.toml"


def forwarded(crate: str) -> str:
    """Return the manifest of a crate with one forwarded feature for each allocator of `worker`."""
    allocators = tomllib.loads(manifest("worker").read_text(encoding="utf-8"))["features"]
    lines = [f'{name} = ["worker/{name}"]' for name in allocators]
    text = manifest(crate).read_text(encoding="utf-8")
    rest = re.sub(r'^[\w-]+ = \["worker/[\w-]+"\]\n', "", text, flags=re.MULTILINE)
    return rest.replace("[features]\n", "\n".join(["[features]", *lines, ""]), 1)


def described(worker: str) -> dict[str, Any]:
    """Return the axes of a worker, built and asked.

    Without ``--locked``, cargo adds a new dependency to ``Cargo.lock``.
    """
    command = ("cargo", "run", "--quiet", "--package", worker, "--", "describe")
    done = subprocess.run(command, cwd=NATIVE, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603
    axes: dict[str, Any] = json.loads(done.stdout)["axes"]
    return {
        name: [value["name"] for value in axis["values"]]
        for name, axis in axes.items()
        if name not in NOT_AXES
    }


def bundled() -> str:
    """Return ``bundled.json``; the order of axes and the flags of known axes are kept."""
    workers: dict[str, Any] = json.loads(BUNDLED.read_text(encoding="utf-8"))
    for worker in WORKERS:
        axes, old = described(worker), workers[worker]
        order = [
            *(name for name in old["axes"] if name in axes),
            *sorted(axes.keys() - old["axes"]),
        ]
        flags = {flag: axis for flag, axis in old["flags"].items() if axis in axes}
        flags |= {f"--{axis}": axis for axis in order if axis not in flags.values()}
        workers[worker] = {**old, "axes": {name: axes[name] for name in order}, "flags": flags}
    return formatted(workers)


def formatted(workers: dict[str, Any]) -> str:
    """Return the text of ``bundled.json``, in which each list of values is one line."""
    text = json.dumps(workers, indent=2, ensure_ascii=False)
    return re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n"


def main() -> int:
    """Check the manifests, or write everything with ``--write``."""
    outdated = [
        crate
        for crate in WITH_ALLOCATORS
        if forwarded(crate) != manifest(crate).read_text(encoding="utf-8")
    ]
    if "--write" in sys.argv[1:]:
        for crate in outdated:
            manifest(crate).write_text(forwarded(crate), encoding="utf-8")
        BUNDLED.write_text(bundled(), encoding="utf-8")
        return 0
    paths = [manifest(crate) for crate in outdated]
    text = BUNDLED.read_text(encoding="utf-8")
    if formatted(json.loads(text)) != text:
        paths.append(BUNDLED)
    for path in paths:
        sys.stderr.write(f"{path} is outdated: python native/generate.py --write\n")
    return 1 if paths else 0


if __name__ == "__main__":
    os.chdir(NATIVE)
    sys.exit(main())
