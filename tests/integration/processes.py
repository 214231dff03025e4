"""benchctl as a process, with a fake hyperfine that answers from a script, or with the real one."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FAKES = ROOT / "tests" / "fakes"
CALL = str(Path(__file__).with_name("unlocked.py"))
Done = subprocess.CompletedProcess[str]


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def install_fake(name: str, path: Path) -> None:
    """Write a fake program for this interpreter: the first python3 on PATH may be a slow shim."""
    executable(path, f"#!{sys.executable} -IS\n" + (FAKES / name).read_text().partition("\n")[2])


def fake_hyperfine(folder: Path, rules: Sequence[Mapping[str, Any]], **more: Any) -> None:
    """Write the fake hyperfine and its script into a folder."""
    (folder / "script.json").write_text(json.dumps({"seed": 7, **more, "commands": rules}))
    install_fake("hyperfine", folder / "hyperfine")


def real(**more: str) -> dict[str, str]:
    """Return the environment of benchctl without the variables of CI services."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_"))}
    return {**left, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


def isolated(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of benchctl with its cache and the fake hyperfine in a folder."""
    cache, hyperfine, script = (str(folder / n) for n in ("cache", "hyperfine", "script.json"))
    given = {"BENCHCTL_CACHE": cache, "BENCHCTL_HYPERFINE": hyperfine}
    return real(**{**given, "BENCHCTL_FAKE_SCRIPT": script, **more})


def start(
    folder: Path, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[str]:
    """Start benchctl, with its lock in a folder."""
    return subprocess.Popen(
        [sys.executable, CALL, str(folder), *words],
        env=env or isolated(folder),
        cwd=cwd or folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def benchctl(
    folder: Path,
    *words: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    code: int | None = None,
    call: Sequence[str] = (CALL,),
) -> Done:
    """Run benchctl, with its lock in a folder, and check its exit code if one is given."""
    done = subprocess.run(
        [sys.executable, *call, str(folder), *words],
        env=env or isolated(folder),
        cwd=cwd or folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done
