"""Tests that docs/limits.md states the limits that the code has."""

import re
from pathlib import Path

import pytest

from bench_framework import foreign
from bench_framework.cli.app import LEAST
from bench_framework.execution import (
    answers,
    block_checks,
    declared_metrics,
    process,
    tuning,
    worker,
)
from bench_framework.execution.block import KEPT_BYTES
from bench_framework.execution.build import messages
from bench_framework.execution.machine import launcher
from bench_framework.masking import SHORTEST
from bench_framework.scenario import document
from bench_framework.scenario.checks.matrix import MAX_CELLS, MAX_PRODUCT
from bench_framework.scenario.schema.types import MAX_ROUNDS
from bench_framework.store import baselines, sessions
from bench_framework.workflow.cache import STALE_S

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PAGE = Path(__file__).parents[2] / "docs" / "limits.md"
ROWS = dict(
    re.findall(r"^\| (.*?) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("text of a scenario", f"{foreign.MAX_SCENARIO_BYTES // MIB} MiB"),
        ("text of a scenario", f"{document.MAX_NODES:,} values"),
        ("product of all axes", f"{MAX_PRODUCT:,} comb"),
        ("configurations", f"{MAX_CELLS // 1000} 000"),
        ("`measure.rounds`", f"{MAX_ROUNDS:,}"),
        ("label of an imported command", f"{sessions.MOST_LABEL} ch"),
        ("archive of `baseline import`", f"{baselines.MOST_FILES // 1000} 000 regular files"),
        ("archive of `baseline import`", f"{baselines.MOST_ARCHIVE_BYTES // GIB} GiB"),
        ("file of a saved baseline", f"{baselines.MOST_BYTES // KIB} KiB"),
        ("imported file", f"{sessions.MOST_BYTES // MIB} MiB"),
        ("limits of the shell", f"{LEAST['RLIMIT_NOFILE'][0]} open"),
        ("limits of the shell", f"of {LEAST['RLIMIT_FSIZE'][0] // MIB} MiB"),
        ("limits of the shell", f"{LEAST['RLIMIT_AS'][0] // GIB} GiB"),
        ("output of `describe`", f"{process.MOST_CAPTURED // MIB} MiB"),
        ("output of `describe`", f"last {launcher.TAIL_BYTES // KIB} KiB"),
        ("output of cargo", f"{messages.MOST_MESSAGES // MIB} MiB"),
        ("output of `tuning`", f"{tuning.LARGEST_BYTES // MIB} MiB"),
        ("stdout of a timed run that is", f"{answers.LARGEST_ANSWER // GIB} GiB"),
        ("stdout of a timed run that is", f"last {KEPT_BYTES // KIB} KiB"),
        ("stdout of a timed run with `compare", f"{answers.LARGEST_READ // MIB} MiB"),
        ("stdout of a timed run with `answer.ignore", f"{answers.LARGEST_EDITED // MIB} MiB"),
        ("`answer.file` |", f"{answers.LARGEST_EDITED // MIB} MiB with `ignore`"),
        ("`answer.file` |", f"{answers.LARGEST_ANSWER // GIB} GiB"),
        ("output of the baseline", f"{block_checks.LARGEST_REFERENCE_BYTES // MIB} MiB"),
        ("text in which", f"{declared_metrics.LARGEST_BYTES // MIB} MiB"),
        ("answers of a worker", f"{worker.MOST_ANSWERS // MIB} MiB"),
        ("secret that is masked", f"at least {SHORTEST} char"),
        ("draft of a killed", f"{STALE_S / 3600:g} hour"),
    ],
)
def test_the_page_states_each_limit(row: str, words: str) -> None:
    [text] = [f"{name} | {rest}" for name, rest in ROWS.items() if f"{name} |".startswith(row)]
    assert words.replace(",", " ") in text
