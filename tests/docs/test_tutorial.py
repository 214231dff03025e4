"""Tests that the commands of the tutorial work on its files and print the output that it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from tests.files import write_files

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
BENCHCTL = """#!{python}
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from bench_framework.__main__ import main
from bench_framework.execution.machine import lock
lock.FOLDERS = (Path(__file__).parent,)  # no figure matters here, so the lock is not needed
sys.exit(main())
"""
SHAPE = (
    (r"(\d\d:\d\d) to \d\d:\d\d", r"\1"),
    (r"\d\d:\d\d:\d\d wait [^\n]*\n", ""),
    (r"\b[0-9a-f]{7,}\b|\d+(\.\d+)?", "#"),
    ("[−+]#", "#"),
    ("#[-–]#", "#"),
    (r"[a-z]+ # % less time than|is #(×| %) faster than", "is faster than"),
    (r"[▲▼△▽·≡][^[\n]*\[#, #\]", "ratio"),
    (r"#(×| %) slower", "slower"),
    (r"# (ms|s|min)\b", "# s"),
)
"""Patterns of what varies between measurements of the same programs, and their replacements."""


def consoles() -> list[tuple[str, str]]:
    """Return each command line of the page with the output that the page shows."""
    return [
        (command, output)
        for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
        for command, output in re.findall(
            r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE
        )
    ]


def shape(text: str) -> str:
    """Return a text without its figures and line breaks."""
    text = re.sub(r"[\u00a0\u2009\u202f]", " ", text)
    for pattern, replacement in SHAPE:
        text = re.sub(pattern.replace(" ", r"\s+"), replacement, text)
    return " ".join(text.split())


def missing_part(expected: str, printed: str) -> str | None:
    """Return the first part between two ``…`` lines that the output lacks, or `None`."""
    # The page was made on a quiet machine.
    rest = shape(
        re.sub(
            r"^ *(in \S+: )?\d+ of \d+ samples were disturbed .*\n", "", printed, flags=re.MULTILINE
        )
    )
    *parts, last = [shape(part) for part in re.split(r"^…$", expected, flags=re.MULTILINE)]
    for part in parts:
        _, separator, rest = rest.partition(part) if part else ("", " ", rest)
        if not separator:
            return part
    return None if rest.endswith(last) else last


@pytest.fixture
def crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the files of the page and its input to an empty folder, and change to it."""
    folder = tmp_path / "top-words"
    pattern = r"^`([^`\n]+)`:\n\n```\w+\n(.*?)```"
    files = dict(re.findall(pattern, PAGE, flags=re.DOTALL | re.MULTILINE))
    write_files(folder, {**files, "words.txt": "a word\n"})
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


def test_init_prints_the_guesses_on_the_page(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line, output = next(item for item in consoles() if item[0].startswith("benchctl init "))
    assert run_command_line(shlex.split(line)[1:]) == 0
    printed = capsys.readouterr()
    assert missing_part(output, printed.err + printed.out) is None
    assert run_command_line(["validate", "bench/top-words.yaml"]) == 0


def test_every_command_of_the_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    names = {line.split()[1] for line, _ in consoles() if line.startswith("benchctl ")}
    assert names == {"ab", "init", "try", "run", "sweep", "gate"}
    for name in names | set(re.findall(r"`benchctl (\w+)", PAGE)):
        assert run_command_line(["help", name]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("printed", "missing"),
    [
        ("a 1.5 s\nmore\nfnv is 2.1× faster than b\nend", None),
        ("a 20 ms\nfnv takes 31 % less time than b\nlast\nend", None),
        ("a 20 ms\nfnv is 31 % slower than b\nend", "fnv is faster than b"),
        ("fnv takes 31 % less time than b\nend", "a # s"),
        ("a 1 s\nfnv takes 31 % less time than b\nend\nwarning", "end"),
    ],
)
def test_the_shape_of_an_output_has_no_figures(printed: str, missing: str | None) -> None:
    expected = "a 10 ms\n…\nfnv takes 28 % less time than b\n…\nend"
    assert missing_part(expected, printed) == missing


@pytest.mark.release
@pytest.mark.slow
def test_the_commands_of_the_page_print_its_outputs_on_its_crate(
    crate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run every line in order, with real builds and measurements, in one to three minutes."""
    with Launcher() as launcher:
        tool = hyperfine.find(launcher, host.environment(), SilentObserver())
    program = crate.parent / "bin" / "benchctl"
    program.parent.mkdir()
    program.write_text(BENCHCTL.format(python=sys.executable, root=str(ROOT)), encoding="utf-8")
    program.chmod(0o755)
    settings = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",
        "BENCHCTL_CACHE": str(crate.parent / "cache"),
        "BENCHCTL_HYPERFINE": str(tool.path),
        "CARGO_NET_OFFLINE": "true",
    }
    for role in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{role}_NAME": "t", f"GIT_{role}_EMAIL": "t@example.org"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    code = 0
    lines = consoles()
    for number, (line, output) in enumerate(lines):
        done = subprocess.run(
            ["bash", "-c", f"(exit {code}); {line}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        code = done.returncode
        shows_code = [text for text, _ in lines[number + 1 : number + 2]] == ["echo $?"]
        assert shows_code or code == 0, f"{line}\n{done.stdout}"
        part = missing_part(output, done.stdout)
        assert part is None, f"{line}\nmissing: {part}\n{done.stdout}"
