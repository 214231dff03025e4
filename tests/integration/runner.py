"""A stand-in of GitHub's runner for action.yml.

It runs the steps that have `run`. Of those with `uses`, it only resolves the inputs: Python is that of the
tests, nothing is cached, and the path of an artifact is returned. To run the action in the repository of this folder:
``python -m tests.integration.runner scenario=bench/a.yaml base=main version=source``.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

ROOT: Final = Path(__file__).parents[2]


@dataclass
class Result:
    """The exit code of the first step that failed, the outputs, and the paths of artifacts."""

    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    artifacts: dict[str, str] = field(default_factory=dict)


def run_action(
    repository: Path,
    temporary: Path,
    ref: str = "",
    path: str = "",
    event: str = "{}",
    **inputs: str,
) -> Result:
    """Run action.yml in a checkout.

    `ref` is the revision by which it is used, `path` is put before PATH, `event` is the payload of the webhook.
    """
    (temporary / "event.json").write_text(event, encoding="utf-8")
    action = YAML(typ="safe").load(ROOT / "action.yml")
    context = {
        "runner.temp": str(temporary),
        "runner.os": "Linux",
        "runner.arch": "X64",
        "github.action_ref": ref,
        **{f"inputs.{n}": str(given.get("default", "")) for n, given in action["inputs"].items()},
        **{f"inputs.{name}": value for name, value in inputs.items()},
    }
    result = Result()
    for step in action["runs"]["steps"]:
        if result.code and step.get("if") != "always()":
            continue
        if "run" not in step:
            given = {k: _resolve(v, context) for k, v in step["with"].items() if k != "key"}
            if "upload-artifact" in step["uses"]:
                result.artifacts[given["name"]] = given["path"]
            continue
        env = {name: _resolve(text, context) for name, text in step["env"].items()}
        result.code = _run(step["run"], repository, temporary, path, env) or result.code
    written = temporary / "output"
    lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
    result.outputs = dict(line.split("=", 1) for line in lines)
    return result


def _resolve(text: Any, context: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: context[match[1]], str(text))


def _run(script: str, cwd: Path, temporary: Path, path: str, step: Mapping[str, str]) -> int:
    """Run a script as `shell: bash` does."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    env |= {"RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(temporary / "output")}
    env["GITHUB_EVENT_PATH"] = str(temporary / "event.json")
    python = str(Path(sys.executable).parent)
    env |= {"PATH": f"{path}:{python}:{env['PATH']}", "GITHUB_ACTION_PATH": str(ROOT), **step}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(shell, env=env, cwd=cwd, check=False).returncode


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    done = run_action(Path.cwd(), Path(tempfile.mkdtemp()), given.pop("ref", ""), "", **given)
    sys.stdout.write(f"{done}\n")
    sys.exit(done.code)
