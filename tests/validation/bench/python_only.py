"""Install a wheel where there is only Python, by pip and by uv, and run what needs neither cargo nor a compiler.

`python_only.py WHEELS [PACKAGE …]`: the folder of the wheel, and packages to install with it. It needs root rights,
debootstrap and the network. The root is a minimal Debian 12 with Python 3.11, made in the cache once and copied for
each run. The transcript has the seconds of each command, and the script fails if one has another exit code than
expected or lacks a text.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl"
SUITE = "bookworm"
PACKAGES = "python3,python3-venv,ca-certificates"
ABSENT = ("cargo", "rustc", "cc", "gcc", "git", "hyperfine")
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
GIVEN = (
    "PIP_CERT",
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "SSL_CERT_FILE",
    "http_proxy",
    "https_proxy",
)
"""Variables by which pip and uv find the index of this machine."""
LINES = 12
"""The number of lines that are printed of an output."""
SCENARIO = """version: 1
name: sorting
question: Is a small buffer enough for sort?
worker: {command: [/usr/bin/sort]}
axes:
  buffer: [64M, 1M]
input: {dataset: prose, size: 4MiB, seed: 1}
command: ["{bin}", "--buffer-size={buffer}", "{input}"]
baseline: {buffer: 64M}
measure: {budget: 20s}
"""
CRATE = """version: 1
name: crate
question: Which allocator is fastest?
worker: {crate: .}
axes:
  allocator: {system: {}, other: {features: [other]}}
command: ["{bin}"]
baseline: {allocator: system}
"""
NOTEBOOK = """import bench_framework as bf
record = bf.load("sorting")
print(record.cells[["variant", "wall_median_s"]])
"""
# The order is that of a first session. A text must be in the output.
WITHOUT_CARGO: tuple[tuple[str, int, str], ...] = (
    ("benchctl --version", 0, "benchctl"),
    ("benchctl ab --budget 1m 'sort -g numbers.txt' 'sort -n numbers.txt'", 0, "faster"),
    ("benchctl sweep BUFFER=1M,64M --budget 30s -- sort -n -S {BUFFER} numbers.txt", 0, "Report"),
    ("benchctl validate sorting.yaml", 0, ""),
    ("benchctl plan sorting.yaml", 0, ""),
    ("benchctl try sorting.yaml", 0, "Estimate"),
    ("benchctl run sorting.yaml", 0, "Report"),
    ("benchctl run sorting.yaml --fresh", 0, "Report"),
    ("benchctl report sorting", 0, ""),
    ("benchctl verify sorting", 0, ""),
    ("benchctl compare @prev @last", 0, "→"),
    ("benchctl export sorting --format csv-long", 0, "sort"),
    ("benchctl history sorting", 0, ""),
    ("benchctl site pages", 0, ""),
    ("benchctl init --notebook sorting.yaml", 0, "sorting.ipynb"),
    ("python3 table.py", 0, "64M"),
    ("benchctl doctor", 0, "This machine can measure"),
)
NEEDS_CARGO: tuple[tuple[str, int, str], ...] = (
    ("benchctl run quickstart", 3, "error[BX231]: cargo cannot be started"),
    ("benchctl try quickstart", 3, "error[BX231]: cargo cannot be started"),
    ("benchctl run crate/bench.yaml", 3, "error[BX231]: cargo cannot be started"),
    ("benchctl init --crate crate -- numbers.txt", 3, "error[BX231]: cannot start cargo"),
    ("benchctl sweep --crate crate PROFILE:opt-level=3,s -- {bin}", 3, "error[BX231]: cargo"),
    ("benchctl ablate --crate crate --features other -- {bin}", 3, "error[BX231]: "),
)


@dataclass(frozen=True, slots=True)
class Root:
    """A root folder with its own /proc and /dev for each command."""

    path: Path
    failures: list[str] = field(default_factory=list)

    def run(self, command: str, *, code: int = 0, text: str = "", path: str = "") -> None:
        """Run a shell command in /home, and print it with its seconds and its output."""
        mounts = " && ".join(
            f"mount {options} {shlex.quote(str(self.path / name))}"
            for name, options in (
                ("proc", "-t proc proc"),
                ("dev", "--rbind /dev"),
                ("sys", "--rbind /sys"),
            )
        )
        inside = f"cd /home && {command}"
        call = f"{mounts} && exec chroot {shlex.quote(str(self.path))} /bin/sh -c {shlex.quote(inside)}"
        env = {name: os.environ[name] for name in GIVEN if name in os.environ}
        env |= {"PATH": f"{path}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
        start = time.perf_counter()
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", call],
            env={**env, "COLUMNS": "100", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(f"$ {command}  # {time.perf_counter() - start:.1f} s, exit code {done.returncode}")
        lines = done.stdout.rstrip().splitlines()
        excerpt = lines if len(lines) <= LINES else [*lines[: LINES - 4], "…", *lines[-3:]]
        print(*(f"    {line}" for line in excerpt), sep="\n", flush=True)
        if done.returncode != code or text not in done.stdout:
            print(f"FAILED: expected exit code {code} and {text!r}", flush=True)
            self.failures.append(command)


def minimal_root() -> Path:
    """Return a minimal Debian in the cache, which is made if it is not there."""
    root = CACHE / "roots" / SUITE
    if not root.is_dir():
        if shutil.which("debootstrap") is None:
            sys.exit("debootstrap is not installed (Debian: apt-get install debootstrap)")
        partial = root.with_name(f"{SUITE}.part")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        call = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(partial)]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        partial.rename(root)
    return root


def mebibytes(folder: Path) -> str:
    """Return the size of a folder as `du` counts it."""
    done = subprocess.run(["du", "-sm", folder], stdout=subprocess.PIPE, text=True, check=True)
    return f"{done.stdout.split()[0]} MiB"


def use(root: Root, commands: Sequence[tuple[str, int, str]], environment: str) -> None:
    """Run commands with the programs of an environment on PATH."""
    for command, code, text in commands:
        root.run(command, code=code, text=text, path=f"{environment}/bin")


def install_by_pip(root: Root, packages: str) -> None:
    """Install benchctl by pip, and run everything."""
    before = mebibytes(root.path)
    root.run("python3 -m venv /opt/pip")
    root.run(f"/opt/pip/bin/pip install --quiet --find-links /wheels {packages}")
    print(f"the root has {before}, and {mebibytes(root.path)} with benchctl and its dependencies")
    print(f"/opt/pip has {mebibytes(root.path / 'opt/pip')}")
    use(root, NEEDS_CARGO, "/opt/pip")
    if (root.path / "root/.cache/benchctl/tools").exists():
        root.failures.append("a command that needs cargo has installed a tool")
    use(root, WITHOUT_CARGO, "/opt/pip")


def install_by_uv(root: Root, packages: str) -> None:
    """Install benchctl by uv, and run a comparison and a command that needs cargo."""
    root.run("python3 -m venv /opt/uv && /opt/uv/bin/pip install --quiet uv")
    root.run("uv venv --quiet /opt/by-uv", path="/opt/uv/bin")
    install = f"uv pip install --quiet --python /opt/by-uv --find-links /wheels {packages}"
    root.run(install, path="/opt/uv/bin")
    print(f"/opt/by-uv has {mebibytes(root.path / 'opt/by-uv')}")
    use(root, (NEEDS_CARGO[0], WITHOUT_CARGO[1]), "/opt/by-uv")
    # All in one line, with an empty cache of uv and of benchctl.
    for folder in ("root/.cache", "root/.local"):
        shutil.rmtree(root.path / folder, ignore_errors=True)
    name, *others = packages.split()
    more = "".join(f" --with {other}" for other in others)
    once = f"uvx --find-links /wheels --from {name}{more} benchctl ab --budget 1m"
    compare = f"{once} 'sort -g numbers.txt' 'sort -n numbers.txt'"
    root.run(compare, text="faster", path="/opt/uv/bin")


def main() -> None:
    """Make the root, and install and use the wheel in it."""
    (wheel,) = Path(sys.argv[1]).glob(f"benchctl-*_{platform.machine()}.whl")
    name = "benchctl==" + wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder:
        root = Root(Path(folder) / "root")
        subprocess.run(["cp", "-a", minimal_root(), root.path], check=True)
        for place in ("etc/resolv.conf", str(CERTIFICATES), "etc/pip.conf"):
            if Path("/", place).is_file():
                shutil.copy(Path("/", place), root.path / place)
        (root.path / "wheels").mkdir()
        shutil.copy(wheel, root.path / "wheels")
        home = root.path / "home"
        (home / "crate" / "src").mkdir(parents=True)
        (home / "crate" / "src" / "main.rs").write_text("fn main() {}\n")
        manifest = '[package]\nname = "crate"\nversion = "0.1.0"\n[features]\nother = []\n'
        (home / "crate" / "Cargo.toml").write_text(manifest)
        (home / "crate" / "bench.yaml").write_text(CRATE)
        (home / "sorting.yaml").write_text(SCENARIO)
        (home / "table.py").write_text(NOTEBOOK)
        root.run(" ".join(f"! command -v {tool} &&" for tool in ABSENT) + " python3 --version")
        root.run("shuf -i 1-200000 > numbers.txt")
        packages = shlex.join([name, *sys.argv[2:]])
        install_by_pip(root, packages)
        install_by_uv(root, packages)
        if root.failures:
            sys.exit("\n".join(["failed:", *root.failures]))


if __name__ == "__main__":
    main()
