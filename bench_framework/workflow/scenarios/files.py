"""Loading of scenarios, their schema, and the files of ``benchctl init``."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from bench_framework import assets
from bench_framework.errors import UsageError
from bench_framework.execution.machine.host import cache_root
from bench_framework.masking import masked
from bench_framework.model.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.scenario.schema import schema_text
from bench_framework.workflow.scenarios.request import unwritten


def find_scenario(name: str) -> Path:
    """Return the file of a scenario from its path, or from the name of a shipped one (``-`` or ``_``).

    Raises `UsageError` (BX102): there is neither; the message suggests the nearest name.
    """
    path = Path(name)
    shipped = assets.shipped_scenarios()
    if path.exists() or path.suffix in {".yaml", ".yml"}:
        return path
    key = name.replace("_", "-")
    if key in shipped:
        return shipped[key]
    close = get_close_matches(key, shipped, n=1)
    raise UsageError(
        f"there is no file and no bundled scenario named {name}",
        code="BX102",
        details=(("shipped", ", ".join(shipped) or "none"),),
        fix=f"did you mean `{close[0]}`?"
        if close
        else "`benchctl init` writes a scenario to start from",
    )


def plan_scenario(name: str, *, overrides: Sequence[str] = (), only: str | None = None) -> Plan:
    """Load and expand. Raises `ScenarioError`: it has errors; `UsageError` (BX102): no file."""
    plan = expand(load(find_scenario(name), overrides=overrides), only=only)
    # The report prints the command with the name that the user gave.
    options = [word for override in overrides for word in ("-S", masked(override))]
    return replace(plan, scenario_path=name, asked=(*(("-k", only) if only else ()), *options))


def require_outside(plan: Plan, results: Path) -> None:
    """Require that benchctl writes into no input folder. Raises `UsageError`, BC414."""
    folders = {i.dataset.path for i in plan.inputs if i.dataset and i.dataset.kind == "folder"}
    data = Path(plan.data_dir) if plan.data_dir else cache_root()
    for folder in sorted(path for path in folders if path):
        for what, path, key in (
            ("the results folder", results, "--dir FOLDER"),
            ("benchctl's cache", cache_root(), "BENCHCTL_CACHE=FOLDER"),
            ("data-dir", data, "data-dir: FOLDER"),
        ):
            if path.resolve().is_relative_to(Path(folder).resolve()):
                raise UsageError(
                    f"{what} {path} is inside the input folder {folder}",
                    code="BC414",
                    effect="the input would change while it is measured; nothing was measured",
                    fix=f"choose another folder: input: {{folder: …}}, or {key}",
                )


def start_folder(
    folder: Path, *, name: str = "scenario", text: str | None = None, force: bool = False
) -> tuple[Path, ...]:
    """Write a scenario and its schema. Return the files. Without `text`, it is an example.

    Raises:
        UsageError: BX103, a file with other content exists and `force` is not set, or the folder is
            not writable.
        ScenarioError: the text has errors.
    """
    if text is None:
        text = (assets.template_dir() / "scenario.yaml").read_text(encoding="utf-8")
    files = {folder / f"{name}.yaml": text, folder / "scenario.schema.json": schema_text()}
    return write_new(files, force=force, check=lambda: load(folder / f"{name}.yaml", text=text))


def existing_scenario(path: Path) -> Path:
    """Return a scenario file, or the only one in a folder. Raises `UsageError`, BX124: it is missing."""
    if not path.exists():
        raise unwritten(f"there is no {path}", "name the scenario file")
    if not path.is_dir():
        return path
    scenarios = sorted(p for p in path.glob("*.yaml") if p.is_file())
    if len(scenarios) != 1:
        names = ", ".join(path.name for path in scenarios) or "none"
        raise unwritten(f"{path} does not have exactly one scenario: {names}", "name the file")
    return scenarios[0]


def write_notebook(
    scenario: Path, results: Path, *, force: bool = False
) -> tuple[tuple[Path, ...], str]:
    """Write a Jupyter notebook next to a scenario. Return its file, and what is left to do.

    It loads the newest record of the scenario from `results`, by a path that is relative to its folder.

    Raises:
        UsageError: BX103, the file exists with other content or cannot be written; BX124, there is no
            scenario, or its file has the name of the notebook.
        ScenarioError: the scenario has errors.
    """
    scenario = existing_scenario(scenario)
    name = plan_scenario(str(scenario)).name
    path = scenario.with_suffix(".ipynb")
    if path == scenario:
        raise unwritten(f"{path} is the scenario itself", "rename the scenario to NAME.yaml")
    words = f"{name!r}, results={os.path.relpath(results, path.parent)!r}"
    text = (assets.template_dir() / "analysis.ipynb").read_text(encoding="utf-8")
    # The words are Python in a text of JSON.
    files = write_new({path: text.replace("%record", json.dumps(words)[1:-1])}, force=force)
    return files, f"open it with Jupyter; it loads the newest record of {name} from {results}"


def write_new(
    files: Mapping[Path, str], *, force: bool, check: Callable[[], object] | None = None
) -> tuple[Path, ...]:
    """Write files, and return them. `check` runs when their folders exist, before they are written.

    Raises `UsageError`, BX103: without `force`, a scenario exists, or another file with other content;
    a file cannot be written.
    """
    for path, content in () if force else files.items():
        replaced = path.suffix == ".yaml" or not path.is_file()
        if path.exists() and (replaced or path.read_bytes() != content.encode()):
            fix = "use --force to overwrite it, or another folder"
            raise UsageError(f"{path} exists already", code="BX103", fix=fix)
    for path in files:
        try:
            path.parent.mkdir(
                parents=True, exist_ok=True
            )  # relative paths of a scenario start here
        except OSError as error:
            folder = path.parent
            cause = "it is a file" if folder.is_file() else error.strerror
            fix = "give a folder that exists or can be created, such as bench"
            message = f"cannot write into {folder}: {cause}"
            raise UsageError(message, code="BX103", fix=fix) from error
    if check is not None:
        check()
    for path, content in files.items():
        try:
            path.write_text(content, encoding="utf-8")
        except OSError as error:
            fix = "check the permissions of the folder"
            raise UsageError(
                f"cannot write {path}: {error.strerror}", code="BX103", fix=fix
            ) from error
    return tuple(files)
