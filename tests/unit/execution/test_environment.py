"""Variables that benchctl adds to the environment of its children."""

import sys
from pathlib import Path

import pytest

from bench_framework.execution.machine import host


def test_children_get_the_path_of_benchctls_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.PYTHON, "/somewhere/else/python")
    monkeypatch.setenv("KEPT", "as it is")
    env = host.environment()
    assert env[host.PYTHON] == sys.executable
    assert Path(env[host.PYTHON]).is_absolute()
    assert env["KEPT"] == "as it is"
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.delenv(host.PYTHON)
    assert host.PYTHON not in host.environment()
