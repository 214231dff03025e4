"""The files of ``benchctl init``: a scenario with its schema, a notebook, and workflows of GitHub and GitLab."""

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path, PurePosixPath
from string import Template
from typing import Final

from bench_framework import assets
from bench_framework.errors import UsageError
from bench_framework.execution.build.revisions import Git
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.foreign import text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.invocation import CiService
from bench_framework.scenario.load import load
from bench_framework.scenario.schema import schema_text
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.run_options import plan_scenario, source_of_revisions
from bench_framework.workflow.scenarios.request import unfit, write_files
from bench_framework.workflow.scenarios.suite_files import SUITES, scenarios_in

_FILES: Final[Mapping[CiService, Mapping[str, str]]] = {
    "github": {
        "benchmarks.yml": ".github/workflows/benchmarks.yml",
        "benchmarks-comment.yml": ".github/workflows/benchmarks-comment.yml",
        "benchmarks-request.yml": ".github/workflows/benchmarks-request.yml",
    },
    "gitlab": {"gitlab.yml": ".gitlab/benchmarks.yml"},
}
"""Path in the repository for each file in ``templates/ci``."""
_GITLAB: Final = (".gitlab-ci.yml", "include: [{local: .gitlab/benchmarks.yml}]")
_GITHUB: Final = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")


class _Workflow(Template):
    delimiter = "%"


def write_ci(
    service: CiService, scenario: Path, *, source: str | None = None, force: bool = False
) -> tuple[tuple[Path, ...], str]:
    """Write the workflow that gates a scenario. Return its files, and what is left to do.

    Args:
        service: where the workflow runs.
        scenario: a scenario file, or a folder of scenarios, which are gated together.
        source: repository and revision from which CI installs benchctl, such as
            ``https://github.com/OWNER/NAME@v1``; `None` is that of the installed benchctl.
        force: overwrite existing files.

    Raises:
        UsageError: BX102, there is no scenario; BX103, a file exists or cannot be written; BX110,
            the scenario cannot be measured at two revisions; BX124, the repository or the source is
            unknown.
        ScenarioError: the scenario has errors.
    """
    files_of = scenarios_in(scenario) if scenario.is_dir() else ()
    # A folder is named as a folder, so that a scenario that is added later is gated, too.
    for file in files_of or (scenario := existing_scenario(scenario),):
        source_of_revisions(plan_scenario(str(file)))
    path = scenario.resolve()
    places = (path, *path.parents)  # the folder of several scenarios may be that of the repository
    top = next((folder for folder in places if (folder / ".git").exists()), None)
    if top is None:
        raise unfit("BX124.no-repository", scenario=scenario)
    name = path.relative_to(top).as_posix()
    if not re.fullmatch(r"[\w./-]+", name):
        raise unfit("BX124.path-with-quotes", name=name)
    url, revision = _source(source or _installed_from())
    folder = SUITES if scenario.is_dir() else "*"
    values = {
        "scenario": name,
        "package": f"git+{url}@{revision}",
        "junit": f"{folder}/*/junit.xml",
    }
    if service == "github":
        on_github = _GITHUB.fullmatch(url)
        if on_github is None:
            raise unfit("BX124.action-not-usable", url=url)
        values["action"] = f"{on_github[1]}@{revision}"
    files: dict[Path, str] = {}
    for template, target in _FILES[service].items():
        text = (assets.template_dir() / "ci" / template).read_text(encoding="utf-8")
        files[top / target] = _Workflow(text).substitute(values)
    left = phrase_of(PhraseCode.COMMIT_FILES, name)
    if path == top:
        left = phrase_of(PhraseCode.COMMIT_SCENARIOS)
    if service == "github":
        left = phrase_of(PhraseCode.COMMENTS_APPEAR, left)
    else:
        main, line = top / _GITLAB[0], _GITLAB[1]
        if main.exists() and _FILES["gitlab"]["gitlab.yml"] not in text_of(main):
            left = phrase_of(PhraseCode.ADD_LINE, _GITLAB[0], line)
        elif not main.exists():
            files[main] = f"{line}\n"
    return write_new(files, force=force), left


def _installed_from() -> str:
    """Return URL and revision of the installed benchctl (PEP 610)."""
    try:
        text = metadata.distribution("benchctl").read_text("direct_url.json")
        installed = json.loads(text or "{}")
        return f"{installed['url']}@{installed['vcs_info']['commit_id']}"
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        raise unfit("BX124.no-source") from None


def _source(text: str) -> tuple[str, str]:
    parts = re.fullmatch(
        r"(?:git\+)?(?:https://([\w.-]+(?::\d+)?)/|git@([\w.-]+):|ssh://git@([\w.-]+)(?::\d+)?/)"
        r"([\w./-]+?)(?:\.git)?@([\w./-]+)",
        text,
    )
    if parts is None:
        raise unfit("BX124.not-a-revision", text=text)
    # The port of ssh is not that of https.
    return f"https://{parts[1] or parts[2] or parts[3]}/{parts[4]}", parts[5]


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
        text = text.replace("run scenario.yaml", f"run {folder / name}.yaml")
    files = {folder / f"{name}.yaml": text, folder / "scenario.schema.json": schema_text()}
    return write_new(files, force=force, check=lambda: load(folder / f"{name}.yaml", text=text))


def command_to_ignore(results: Path) -> str:
    """Return the command after which git ignores the folder of records, empty if there is nothing to do.

    Records are large and belong to one machine. `report --publish` makes what can be committed.
    """
    parent, env = next(p for p in results.absolute().parents if p.is_dir()), host.environment()
    with Launcher() as launcher:
        git = Git(launcher, env)
        top = git.try_run("-C", str(parent), "rev-parse", "--show-toplevel")
        if top is None or git.try_run(
            "-C", str(parent), "check-ignore", str(results.absolute() / "x")
        ):
            return ""
    place = PurePosixPath("/", os.path.relpath(results.absolute(), parent))
    return (
        f"echo {shlex.quote(f'{place}/')} >> {shlex.quote(os.path.relpath(parent / '.gitignore'))}"
    )


def existing_scenario(path: Path) -> Path:
    """Return a scenario file, or the only one in a folder. Raises `UsageError`, BX124: it is missing."""
    if not path.exists():
        raise unfit("BX124.no-scenario", path=path)
    if not path.is_dir():
        return path
    scenarios = scenarios_in(path)
    if len(scenarios) != 1:
        names = ", ".join(path.name for path in scenarios) or "none"
        raise unfit("BX124.several-scenarios", path=path, names=names)
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
        raise unfit("BX124.path-of-scenario", path=path)
    words = f"{name!r}, results={os.path.relpath(results, path.parent)!r}"
    text = (assets.template_dir() / "analysis.ipynb").read_text(encoding="utf-8")
    # The words are Python in a text of JSON.
    files = write_new({path: text.replace("%record", json.dumps(words)[1:-1])}, force=force)
    return files, phrase_of(PhraseCode.OPEN_NOTEBOOK, name, str(results))


def write_new(
    files: Mapping[Path, str], *, force: bool, check: Callable[[], object] | None = None
) -> tuple[Path, ...]:
    """Write files, and return them. `check` runs when their folders exist, before they are written.

    All files are written, or none.

    Raises `UsageError`, BX103: without `force`, a scenario exists, or another file with other content;
    the user may not write a file. Raises `MachineError`, BX235: the disk is full.
    """
    for path, content in () if force else files.items():
        replaced = path.suffix == ".yaml" or not path.is_file()
        if path.exists() and (replaced or path.read_bytes() != content.encode()):
            raise UsageError("BX103.file-exists", path=path)
    for path in files:
        try:
            # Relative paths of a scenario start here.
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parent, cause = path.parent, error.strerror
            key, file = "BX103.folder-not-writable", path.parent.is_file()
            raise UsageError(key, parent=parent, file=file, strerror=cause) from error
    if check is not None:
        check()
    # A scenario is renamed last: if the disk fails before, the same command can be repeated.
    write_files(dict(sorted(files.items(), key=lambda item: item[0].suffix == ".yaml")))
    return tuple(files)
