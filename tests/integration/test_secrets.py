"""Tests that a measured record and git's configuration contain no secret of the scenario."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench_framework import masking
from bench_framework.errors import MachineError
from bench_framework.execution.build.revisions import Git
from bench_framework.execution.process import Launcher
from tests.integration import processes

SECRETS = ("hunter2hunter2", "s3cr3tvalue", "pa55word")
SCENARIO = """\
version: 1
name: secret
question: Is b slower?
worker: {command: [./program]}
env: {API_TOKEN: hunter2hunter2, URL: "https://me:pa55word@host/x"}
axes: {arm: [a, b]}
command: ["{bin}", "--password", s3cr3tvalue, "{arm}"]
baseline: {arm: a}
measure: {rounds: 1, until: rounds, warmup: 1}
answer: {compare: none}
"""
PROGRAM = """\
#!/bin/sh
[ "$API_TOKEN" = hunter2hunter2 ] && [ "$2" = s3cr3tvalue ] || exit 1
[ "$3" = b ] && { echo "$API_TOKEN" >&2; exit 2; }
exit 0
"""


@pytest.mark.real
def test_a_record_contains_no_secret(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(SCENARIO)
    processes.executable(tmp_path / "program", PROGRAM)
    benchctl = partial(processes.benchctl, tmp_path, env=processes.real())
    done = benchctl("run", "secret.yaml", "-S", "env.API_TOKEN=hunter2hunter2")
    assert "b failed in warm-up round 1 (exit status 2)" in done.stderr, done.stderr
    assert not [secret for secret in SECRETS if secret in done.stdout + done.stderr]
    [record] = (tmp_path / "results" / "secret").iterdir()
    for path in record.rglob("*"):
        if path.is_file() and "logs" not in path.parts:
            text = path.read_bytes()
            assert not [secret for secret in SECRETS if secret.encode() in text], path
    assert ",ok," in (record / "runs.csv").read_text()
    benchctl("verify", str(record), code=0)


def test_git_logs_in_with_a_url_that_it_does_not_store(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masking, "_secrets", {})
    url = masking.mask_document({"git": "https://me:pa55word@host/x.git"})["git"]
    assert Git(launcher, {"PATH": os.environ["PATH"], "HOME": "/"}).with_login(url).run(
        "ls-remote", "--get-url", "https://host/x.git"
    ) == ("https://me:pa55word@host/x.git")


def test_a_secret_that_is_not_known_is_an_error(launcher: Launcher) -> None:
    with pytest.raises(MachineError, match="does not contain") as caught:
        launcher.capture(["/bin/echo", "--token=***999***"], {})
    assert caught.value.code == "BX240"


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher
