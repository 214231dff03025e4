"""What benchctl adds to the environment of the programs that it starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench_framework.execution import host


def test_children_are_told_which_python_runs_benchctl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.PYTHON, "/somewhere/else/python")
    monkeypatch.setenv("KEPT", "as it is")
    found = host.environment()
    assert found[host.PYTHON] == sys.executable
    assert Path(found[host.PYTHON]).is_absolute()
    assert found["KEPT"] == "as it is"
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.delenv(host.PYTHON)
    assert host.PYTHON not in host.environment()
