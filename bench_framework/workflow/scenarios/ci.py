"""Workflows of GitHub and GitLab that gate a scenario, for ``benchctl init --ci``."""

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from string import Template
from typing import Final, Literal

from bench_framework.assets import template_dir
from bench_framework.workflow.run_options import source_of_revisions
from bench_framework.workflow.scenarios.files import existing_scenario, plan_scenario, write_new
from bench_framework.workflow.scenarios.request import unwritten

Service = Literal["github", "gitlab"]
_FILES: Final[Mapping[Service, Mapping[str, str]]] = {
    "github": {
        "benchmarks.yml": ".github/workflows/benchmarks.yml",
        "benchmarks-comment.yml": ".github/workflows/benchmarks-comment.yml",
    },
    "gitlab": {"gitlab.yml": ".gitlab/benchmarks.yml"},
}
"""Path in the repository for each file in ``templates/ci``."""
_GITLAB: Final = (".gitlab-ci.yml", "include: [{local: .gitlab/benchmarks.yml}]")
_GITHUB: Final = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")
_FROM: Final = "--from https://github.com/OWNER/NAME@REVISION"


class _Workflow(Template):
    delimiter = "%"


def write_ci(
    service: Service, scenario: Path, *, source: str | None = None, force: bool = False
) -> tuple[tuple[Path, ...], str]:
    """Write the workflow that gates a scenario. Return its files, and what is left to do.

    Args:
        service: where the workflow runs.
        scenario: a scenario file, or a folder with one scenario.
        source: repository and revision from which CI installs benchctl, such as
            ``https://github.com/OWNER/NAME@v1``; `None` is that of the installed benchctl.
        force: overwrite existing files.

    Raises:
        UsageError: BX102, there is no scenario; BX103, a file exists or cannot be written; BX110,
            the scenario cannot be measured at two revisions; BX124, the repository or the source is
            unknown.
        ScenarioError: the scenario has errors.
    """
    scenario = existing_scenario(scenario)
    source_of_revisions(plan_scenario(str(scenario)))
    path = scenario.resolve()
    top = next((folder for folder in path.parents if (folder / ".git").exists()), None)
    if top is None:
        raise unwritten(f"{scenario} is not in a git repository", "run `git init` first")
    name = path.relative_to(top).as_posix()
    if not re.fullmatch(r"[\w./-]+", name):
        advice = "use only letters, digits, `_`, `-` and `.` in its path"
        raise unwritten(f"the path {name} cannot be written into a workflow without quotes", advice)
    url, revision = _source(source or _installed_from())
    values = {"scenario": name, "package": f"git+{url}@{revision}"}
    if service == "github":
        on_github = _GITHUB.fullmatch(url)
        if on_github is None:
            raise unwritten(f"GitHub cannot use the action of {url}", f"add {_FROM}")
        values["action"] = f"{on_github[1]}@{revision}"
    files = {
        top / target: _Workflow(
            (template_dir() / "ci" / template).read_text(encoding="utf-8")
        ).substitute(values)
        for template, target in _FILES[service].items()
    }
    left = (
        f"commit them and {name}; the comment appears once benchmarks-comment.yml is on the "
        "default branch"
    )
    if service == "gitlab":
        main, line = top / _GITLAB[0], _GITLAB[1]
        left = f"commit them and {name}"
        if main.exists() and _FILES["gitlab"]["gitlab.yml"] not in main.read_text(encoding="utf-8"):
            left = f"add to {_GITLAB[0]}: {line}"
        elif not main.exists():
            files[main] = f"{line}\n"
    return write_new(files, force=force), left


def _installed_from() -> str:
    """Return URL and revision of the installed benchctl (PEP 610)."""
    try:
        text = metadata.distribution("bench_framework").read_text("direct_url.json")
        installed = json.loads(text or "{}")
        return f"{installed['url']}@{installed['vcs_info']['commit_id']}"
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError):
        raise unwritten("it is unknown from where CI installs benchctl", f"add {_FROM}") from None


def _source(text: str) -> tuple[str, str]:
    """Return the https URL of a repository, and the revision."""
    parts = re.fullmatch(
        r"(?:git\+)?(?:https://([\w.-]+(?::\d+)?)/|git@([\w.-]+):|ssh://git@([\w.-]+)(?::\d+)?/)"
        r"([\w./-]+?)(?:\.git)?@([\w./-]+)",
        text,
    )
    if parts is None:
        raise unwritten(f"{text} is not a repository with a revision", f"write {_FROM}")
    # The port of ssh is not that of https.
    return f"https://{parts[1] or parts[2] or parts[3]}/{parts[4]}", parts[5]
