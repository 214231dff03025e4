"""Tests of `benchctl init --ci` and of action.yml: their schemas, and their scripts with fakes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from tests.files import write_files
from tests.integration import processes
from tests.integration.runner import run_action

ROOT = Path(__file__).parents[2]
FROM = "https://github.com/acme/bench.git@v1.2"
MARKER = "<!-- benchctl:gate -->"
GATE = "<!-- benchctl:gate scenario=toy -->"
EACH_TIME = ("always", 0)
GH = """#!{python} -IS
import json, os, sys
from pathlib import Path
words, folder = sys.argv[1:], Path({folder!r})
if words[:2] == ["run", "download"]:
    # The comment of a suite, and that of one of its scenarios, which must not be posted.
    for name, text in (("suites", (folder / "comment.md").read_bytes()), ("toy", b"no result of the suite")):
        target = Path(words[words.index("--dir") + 1]) / name / "20260101T0000Z"
        target.mkdir(parents=True)
        (target / "comment.md").write_bytes(text)
        (target / ("suite.json" if name == "suites" else "gate.json")).write_text((folder / "suite.json").read_text())
elif words[1].endswith("/artifacts"):
    names = ["benchmarks"] if (folder / "comment.md").exists() else []
    print(json.dumps({{"artifacts": [{{"name": name}} for name in names]}}))
elif "--input" in words:
    with (folder / "posted.jsonl").open("a") as file:
        file.write(json.dumps([words[2], words[3], json.loads(sys.stdin.read())["body"]]) + "\\n")
else:
    print((folder / ("pulls.json" if words[3].endswith("/pulls") else "comments.json")).read_text())
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a crate and a scenario."""
    files = {
        "Cargo.toml": '[package]\nname = "toy"\nversion = "0.1.0"\n',
        "src/main.rs": "fn main() {}\n",
        "bench/toy.yaml": "version: 1\nname: toy\nquestion: Is it fast?\nworker: {crate: ..}\n"
        "axes: {opt: {two: {}, three: {profile: {opt-level: 3}}}}\nbaseline: {opt: two}\n"
        "command: ['{bin}']\n",
    }
    top = write_files(tmp_path / "repository", files)
    processes.git(top, "init", "-q")
    return top


def init(folder: Path, *words: str, code: int = 0) -> str:
    """Run `benchctl init` and return its stderr."""
    env = processes.real(COLUMNS="200")
    return processes.benchctl(folder, "init", *words, env=env, code=code).stderr


def require_schema(name: str, path: Path) -> Any:
    """Require that a YAML file follows a schema, and return its content."""
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    content = YAML(typ="safe").load(path)
    assert [
        error.message
        for error in jsonschema.validators.validator_for(schema)(schema).iter_errors(content)
    ] == []
    return content


def step(content: Any, name: str, *path: str) -> dict[str, Any]:
    """Return the step of a workflow with a name."""
    for key in path:
        content = content[key]
    return next(s for s in content["steps"] if s.get("name") == name)


def test_github_gets_a_workflow_that_only_reads_and_one_that_comments(repository: Path) -> None:
    printed = init(repository, "--ci", "github", "--from", FROM)
    assert "default branch" in printed
    folder = repository / ".github" / "workflows"
    gate = require_schema("github-workflows", folder / "benchmarks.yml")
    comment = require_schema("github-workflows", folder / "benchmarks-comment.yml")
    assert gate["permissions"] == {"contents": "read"}
    checkout = gate["jobs"]["gate"]["steps"][0]["with"]
    assert (checkout["fetch-depth"], checkout["persist-credentials"]) == (0, False)
    *_, tools, use = gate["jobs"]["gate"]["steps"]
    assert "valgrind" in tools["run"]
    assert tools["if"] == "runner.environment == 'github-hosted'"  # another one may have no sudo
    label = "benchmarks-accepted"
    given = {"scenario": "bench", "accept-label": label}
    assert use["uses"] == "acme/bench@v1.2"
    assert given.items() <= use["with"].items()
    # The label that the action accepts is the only one whose change measures again.
    assert f"github.event.label.name == '{label}'" in gate["jobs"]["gate"]["if"]
    # GitHub counts a skipped job as passed: another label must not pass the required check "gate".
    assert "&& 'other label' || 'gate'" in gate["jobs"]["gate"]["name"]
    assert comment["on"]["workflow_run"]["workflows"] == [gate["name"]]
    assert not any("checkout" in s.get("uses", "") for s in comment["jobs"]["comment"]["steps"])
    init(repository / "bench", "--ci", "github", ".", "--from", FROM)  # the same files
    (folder / "benchmarks.yml").write_text("name: mine\n")
    assert "benchmarks.yml exists already" in init(
        repository, "--ci", "github", "--from", FROM, code=2
    )
    init(repository, "--ci", "github", "--from", FROM, "--force")
    assert "acme" in (folder / "benchmarks.yml").read_text()


def test_gitlab_gets_a_job_and_its_include(repository: Path) -> None:
    given = ("--ci", "gitlab", "bench/toy.yaml", "--from", "git@git.acme.io:a/bench.git@v1")
    init(repository, *given)
    job = require_schema("gitlab-ci", repository / ".gitlab" / "benchmarks.yml")["benchmarks"]
    assert "BENCHCTL_CACHE" not in job["variables"]
    assert job["artifacts"]["reports"] == {"junit": "benchctl-results/*/*/junit.xml"}
    assert job["script"] == ["/opt/benchctl/bin/benchctl gate --base merge-base bench/toy.yaml"]
    assert "valgrind" in job["before_script"][0]
    assert "install --quiet git+https://git.acme.io/a/bench@v1" in job["before_script"][1]
    main = repository / ".gitlab-ci.yml"
    assert require_schema("gitlab-ci", main) == {"include": [{"local": ".gitlab/benchmarks.yml"}]}
    main.write_bytes(b"# caf\xe9\ninclude: [{local: ci/other-benchmarks.yml}]\n")
    printed = init(repository, *given)
    assert "add to .gitlab-ci.yml: include: [{local: .gitlab/benchmarks.yml}]" in printed
    assert b"other" in main.read_bytes()
    ssh = "ssh://git@git.acme.io:2222/a/bench@v2"
    init(repository, "--ci", "gitlab", "--from", ssh, "--force")
    assert "git+https://git.acme.io/a/bench@v2" in (
        repository / ".gitlab" / "benchmarks.yml"
    ).read_text(encoding="utf-8")


def test_a_folder_of_scenarios_is_gated_together(repository: Path) -> None:
    text = (repository / "bench" / "toy.yaml").read_text()
    (repository / "bench" / "other.yaml").write_text(text.replace("name: toy", "name: other"))
    init(repository, "--ci", "gitlab", "--from", "git@git.acme.io:a/bench.git@v1")
    job = require_schema("gitlab-ci", repository / ".gitlab" / "benchmarks.yml")["benchmarks"]
    assert job["script"] == ["/opt/benchctl/bin/benchctl gate --base merge-base bench"]
    # One of the scenarios has a file of its own, which would count its tests twice.
    assert job["artifacts"]["reports"] == {"junit": "benchctl-results/suites/*/junit.xml"}
    for file in (repository / "bench").iterdir():
        file.write_text(file.read_text().replace("crate: ..", "crate: ."))
        file.rename(repository / file.name)
    init(repository, "--ci", "gitlab", ".", "--from", "git@git.acme.io:a/bench.git@v1", "--force")
    job = require_schema("gitlab-ci", repository / ".gitlab" / "benchmarks.yml")["benchmarks"]
    assert job["script"] == ["/opt/benchctl/bin/benchctl gate --base merge-base ."]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--ci", "travis"], "'travis' is not one of 'github', 'gitlab'"),
        (["--from", FROM], "add --ci github or --ci gitlab"),
        (["--ci", "github"], "it is unknown from where CI installs benchctl"),
        (["--ci", "github", "--from", "acme/bench"], "is not a repository with a revision"),
        (
            ["--ci", "github", "--from", "https://git.acme.io/a/b@v1"],
            "GitHub cannot use the action",
        ),
        (["--ci", "github", "--from", FROM, "none.yaml"], "there is no none.yaml"),
        (["--ci", "github", "--from", FROM, "--crate", "."], "it writes no scenario"),
        (["--ci", "github", "--from", FROM, "src"], "src does not have exactly one scenario: none"),
        (["--ci", "github", "--from", FROM, "sort.yaml"], "a program that is not built has no"),
        (["--ci", "github", "--from", FROM, "a b.yaml"], "without quotes"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_gated_is_refused(repository: Path, words: list[str], text: str) -> None:
    program = "version: 1\nname: s\nquestion: q?\nworker: {command: [/bin/true, '{n}']}\n"
    (repository / "sort.yaml").write_text(program + "axes: {n: [1, 2]}\nbaseline: {n: 1}\n")
    scenario = (repository / "bench" / "toy.yaml").read_text().replace("crate: ..", "crate: .")
    (repository / "a b.yaml").write_text(scenario)
    assert text in " ".join(init(repository, *words, code=2).split())
    assert not (repository / ".github").exists()


@pytest.mark.parametrize("code", [0, 1, 4])
def test_the_action_ends_as_the_gate_does(tmp_path: Path, code: int) -> None:
    require_schema("github-actions", ROOT / "action.yml")
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    # It makes a virtual environment in which pip and benchctl write their arguments to a file.
    for name, ends in (("pip", 0), ("benchctl", code)):
        text = f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/{name}.words\nexit {ends}\n'
        processes.executable(program.with_name(name), text)
    copy = f'mkdir -p "$3/bin" && cp {program.parent}/* "$3/bin"'
    processes.executable(program, f"#!/bin/sh\n{copy}\n")
    given = {
        "scenario": "a; touch x\nbench/b.yaml\n",
        "base": "main",
        "arguments": "-k\nn=1 size=2\n--no-confirm\n",
    }
    done = run_action(tmp_path, tmp_path, path=str(program.parent), **given)
    conclusion = "failed" if code else "passed"
    assert (done.code, done.outputs) == (code, {"exit-code": str(code), "conclusion": conclusion})
    assert done.artifacts == {"benchmarks": f"{tmp_path}/benchctl-results"}
    words = (tmp_path / "benchctl.words").read_text().splitlines()
    assert words == [
        "gate",
        "--base",
        "main",
        "-k",
        "n=1 size=2",
        "--no-confirm",
        *given["scenario"].splitlines(),
    ]
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    for ref, requested, installed in (
        ("v0", "", f"benchctl=={version[1]}"),
        (f"v{version[1]}", "", f"benchctl=={version[1]}"),
        ("0" * 40, "", str(ROOT)),
        ("main", "", str(ROOT)),
        ("v0", "0.0.7", "benchctl==0.0.7"),
        ("v0", "source", str(ROOT)),
        ("v0", "dist/a.whl", "dist/a.whl"),
    ):
        run_action(tmp_path, tmp_path, ref, str(program.parent), version=requested, **given)
        assert (tmp_path / "pip.words").read_text().splitlines()[-2:] == ["--", installed]


HOSTILE = "$(touch injected); `touch injected` ${{ github.token }} ' \" && touch injected"


@pytest.mark.parametrize(
    ("code", "labels", "inputs", "conclusion"),
    [
        (1, ["accepted"], {"accept-label": "accepted"}, "accepted"),
        (1, ["accepted", HOSTILE], {"accept-label": HOSTILE}, "accepted"),
        (1, [HOSTILE, "acc"], {"accept-label": "accepted"}, "failed"),
        (1, ["accepted"], {}, "failed"),
        (1, None, {"accept-label": "accepted"}, "failed"),
        (3, ["accepted"], {"accept-label": "accepted"}, "failed"),
        (4, ["accepted"], {"accept-label": "accepted"}, "failed"),
        (1, [], {"mode": "advisory"}, "advisory"),
        (4, [], {"mode": "advisory"}, "advisory"),
        (3, [], {"mode": "advisory"}, "failed"),
        (0, [], {"mode": "advisory"}, "passed"),
        (0, [], {"mode": HOSTILE}, None),
    ],
)
def test_a_label_or_the_mode_decides_whether_a_regression_fails_the_step(
    tmp_path: Path,
    code: int,
    labels: list[str] | None,
    inputs: dict[str, str],
    conclusion: str | None,
) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    for name, ends in (("pip", 0), ("benchctl", code)):
        processes.executable(program.with_name(name), f"#!/bin/sh\nexit {ends}\n")
    copy = f'mkdir -p "$3/bin" && cp {program.parent}/* "$3/bin"'
    text = f'#!/bin/sh\nif [ "$1" = -c ]; then exec {sys.executable} "$@"; fi\n{copy}\n'
    processes.executable(program, text)
    pull: dict[str, Any] = {"title": HOSTILE, "head": {"ref": HOSTILE}}
    if labels is not None:
        pull["labels"] = [{"name": name} for name in labels]
    started = {"inputs": {"labels": "\n".join(labels or [])} if labels is not None else None}
    given = {"scenario": "bench/a.yaml", **inputs}
    # `/bench` passes the labels on as an input.
    for event in ({"action": "labeled", "pull_request": pull}, started):
        call = {"path": str(program.parent), "event": json.dumps(event), **given}
        done = run_action(tmp_path, tmp_path, **call)
        assert done.outputs.get("conclusion") == conclusion
        assert done.code == (code if conclusion == "failed" else 0 if conclusion else 2)
    assert not [*tmp_path.rglob("injected")]


@pytest.mark.parametrize(
    ("comments", "shas", "first", "expected", "setting"),
    [
        ([], ["abc"], GATE, None, ("never", 1)),
        ([], ["abc"], GATE, None, ("worse", 0)),
        ([], ["abc"], GATE, ["POST", "repos/a/b/issues/7/comments"], ("worse", 4)),
        # A result that is outdated is replaced also by one that passed.
        ([("Bot", MARKER)], ["abc"], GATE, ["PATCH", "repos/a/b/issues/comments/10"], ("worse", 0)),
        ([], ["abc"], GATE, ["POST", "repos/a/b/issues/7/comments"], EACH_TIME),
        ([("Bot", MARKER)], ["abc"], GATE, ["PATCH", "repos/a/b/issues/comments/10"], EACH_TIME),
        ([("User", MARKER)], ["abc"], GATE, ["POST", "repos/a/b/issues/7/comments"], EACH_TIME),
        ([("Bot", "other")], ["abc"], GATE, ["POST", "repos/a/b/issues/7/comments"], EACH_TIME),
        ([], ["older"], GATE, None, EACH_TIME),
        ([], ["abc", "abc"], GATE, None, EACH_TIME),
        ([], ["abc"], None, None, EACH_TIME),
        # The result of an earlier commit must not remain.
        ([("Bot", MARKER)], ["abc"], None, ["PATCH", "repos/a/b/issues/comments/10"], EACH_TIME),
        ([], ["abc"], "not of the gate", None, EACH_TIME),
    ],
)
@pytest.mark.slow
def test_one_comment_of_the_pull_request_is_updated(
    repository: Path,
    tmp_path: Path,
    comments: list[tuple[str, str]],
    shas: list[str],
    first: str | None,
    expected: list[str] | None,
    setting: tuple[str, int],
) -> None:
    init(repository, "--ci", "github", "--from", FROM)
    workflow = require_schema(
        "github-workflows", repository / ".github" / "workflows" / "benchmarks-comment.yml"
    )
    script = step(workflow, "Post or update the comment", "jobs", "comment")
    tool = tmp_path / "bin" / "gh"
    tool.parent.mkdir()
    processes.executable(tool, GH.format(python=sys.executable, folder=str(tmp_path)))
    listed = [
        {"id": 10 + n, "user": {"type": kind}, "body": f"{text}\r\nold"}
        for n, (kind, text) in enumerate(comments)
    ]
    (tmp_path / "comments.json").write_text(json.dumps([listed]))
    (tmp_path / "pulls.json").write_text(
        json.dumps([{"number": 7, "head": {"sha": sha}} for sha in shas])
    )
    if first is not None:
        (tmp_path / "comment.md").write_text(
            f"{first}\n### nothing is slower, @all\n" + "é" * 99999
        )
    given: Mapping[str, str] = {
        "REPOSITORY": "a/b",
        "RUN": "1",
        "COMMIT": "abc",
        "OWNER": "fork",
        "BRANCH": "x",
        "COMMENT": setting[0],
    }
    (tmp_path / "suite.json").write_text(json.dumps({"exit_code": setting[1]}))
    assert script["env"]["COMMENT"] == "always"
    assert {*script["env"]} == {*given, "GH_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-c", script["run"]],
        env={**os.environ, **given, "PATH": f"{tool.parent}:{os.environ['PATH']}"},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == int(first == "not of the gate")
    posted = tmp_path / "posted.jsonl"
    if expected is None:
        assert not posted.exists()
    else:
        *where, body = json.loads(posted.read_text())
        assert where == expected
        result = "_Measured by the code of this pull request._\n\n### nothing"
        assert body.startswith(f"{MARKER}\n{result if first else '_No result for abc: '}")
        assert "@all" not in body
        assert len(body) < 65536


@pytest.mark.parametrize(
    ("body", "pull", "started"),
    [
        ("/bench", {}, ""),
        ("/bench", {"labels": [{"name": HOSTILE}]}, ""),
        ("/bench --budget 20m -k size=1MiB", {}, "--budget\n20m\n-k\nsize=1MiB"),
        ("/bench --budget 20m\n$(touch injected)", {}, "--budget\n20m"),
        ("/bench", {"head": {"ref": HOSTILE, "sha": "abc", "repo": {"full_name": "a/b"}}}, ""),
        ("/bench", {"head": {"ref": "x", "sha": "abc", "repo": {"full_name": "fork/b"}}}, None),
        ("/bench", {"head": {"ref": "x", "sha": "abc", "repo": None}}, None),
        ("/bench", {"state": "closed"}, None),
        ("/benchmark", {}, None),
        ("/bench --budget", {}, None),
        ("/bench --budget 31m", {}, None),
        ("/bench --metric cpu", {}, None),
        ("/bench --set measure.cwd=/", {}, None),
        ("/bench -k $(touch${IFS}injected)", {}, None),
        (f"/bench {HOSTILE}", {}, None),
    ],
)
@pytest.mark.slow
def test_a_comment_starts_the_benchmarks_of_a_branch(
    repository: Path, tmp_path: Path, body: str, pull: dict[str, Any], started: str | None
) -> None:
    init(repository, "--ci", "github", "--from", FROM)
    folder = repository / ".github" / "workflows"
    workflow = require_schema("github-workflows", folder / "benchmarks-request.yml")
    condition = workflow["jobs"]["request"]["if"]
    assert "author_association" in condition
    assert "CONTRIBUTOR" not in condition
    script = step(workflow, "Start the benchmarks", "jobs", "request")
    known = {"number": 7, "state": "open", "title": HOSTILE, "base": {"ref": "main"}}
    known["labels"] = [{"name": "benchmarks-accepted"}, {"name": HOSTILE}]
    head = {"ref": "topic", "sha": "abc", "repo": {"full_name": "a/b"}}
    (tmp_path / "pull.json").write_text(json.dumps({**known, "head": head, **pull}))
    (tmp_path / "event.json").write_text(json.dumps({"comment": {"body": body}}))
    tool = tmp_path / "bin" / "gh"
    tool.parent.mkdir()
    processes.executable(
        tool,
        f"#!{sys.executable} -IS\nimport json, sys\n"
        f"with open({str(tmp_path / 'calls')!r}, 'a') as file: print(json.dumps(sys.argv[1:]), file=file)\n"
        f"if '/pulls/' in sys.argv[2]: print(open({str(tmp_path / 'pull.json')!r}).read())\n",
    )
    given = {"REPOSITORY": "a/b", "NUMBER": "7", "COMMENT": "9"}
    assert {*script["env"]} == {*given, "GH_TOKEN"}
    given |= {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        [sys.executable, "-c", script["run"]],
        env={**os.environ, **given},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0
    *_, reaction = calls = list(map(json.loads, (tmp_path / "calls").read_text().splitlines()))
    assert reaction[-1] == f"content={'confused' if started is None else 'rocket'}"
    runs = [call for call in calls if call[:2] == ["workflow", "run"]]
    ref = pull.get("head", head)["ref"]
    inputs = ["-f", "pull=7", "-f", "head=abc", "-f", f"arguments={started}"]
    # A branch whose workflow is older has no such input.
    inputs += [] if "labels" in pull else ["-f", f"labels=benchmarks-accepted\n{HOSTILE}"]
    expected = ["workflow", "run", "benchmarks.yml", "--repo", "a/b", "--ref", ref, *inputs]
    assert runs == ([] if started is None else [expected])
    assert not [*tmp_path.rglob("injected")]
