"""The command lines of the bundled workers print what the transcripts in `native/crates/*/tests/cli` contain.

``UPDATE_GOLDEN=1`` writes the transcripts again.
"""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "native" / "crates"
TRANSCRIPTS = sorted(CRATES.glob("*/tests/cli/*.toml"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: str(path.relative_to(CRATES)))
def test_a_worker_prints_its_transcript(path: Path, bundled_workers: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = tomllib.loads(text)
    done = subprocess.run(
        [bundled_workers / expected["bin"]["name"], *expected["args"]],
        cwd=path.parents[2],
        input=expected.get("stdin", ""),
        capture_output=True,
        text=True,
        check=False,
    )
    if os.environ.get("UPDATE_GOLDEN"):
        for old, new in ((expected["stdout"], done.stdout), (expected["stderr"], done.stderr)):
            text = text.replace(escaped(old), escaped(new)) if old else text
        path.write_text(text, encoding="utf-8")
        expected = tomllib.loads(text)
    assert done.stdout == expected["stdout"]
    assert done.stderr == expected["stderr"]
    assert done.returncode == expected.get("status", {}).get("code", 0)


def escaped(text: str) -> str:
    """Return text as a multi-line TOML string contains it."""
    return text.replace("\\", "\\\\").replace("\t", "\\t")
