"""What `doctor --aa` says of what it found, and what its options refuse."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.cli.noise_page import noise_page
from bench_framework.errors import MachineError
from bench_framework.features.noise.compute import Floor, Found, NoiseSummary, Rate
from bench_framework.workflow.noise import NoiseFindings, noise_document

SUMMARY = NoiseSummary(
    level=0.05,
    relabelled=Rate(0, 400),
    as_measured=Rate(1, 10),
    floors=(Floor("factor", "wall", 0.0123, 0.02), Floor("factor", "cpu", 0.004, None)),
    found=(
        Found(
            "factor",
            0.03,
            {"wall": Rate(4, 5), "cpu": Rate(5, 5)},
            Rate(5, 5),
            {"wall": 0.0291, "cpu": -0.001},
        ),
        Found("factor", 0.1, {"wall": Rate(5, 5), "cpu": Rate(5, 5)}, Rate(5, 5), {"wall": 0.0991}),
    ),
)
FINDINGS = NoiseFindings(
    10,
    27,
    SUMMARY,
    {"factor": "computes: 500 numbers to factor"},
    61.0,
    False,
    None,
    {"factor": True},
)


def words(findings: NoiseFindings, width: int = 100) -> str:
    """The page with its lines joined and its thin spaces plain."""
    return " ".join(noise_page(findings, width).split())


def test_every_rate_stands_with_its_bound_and_its_independent_windows() -> None:
    said = words(FINDINGS)
    assert (
        "0 false verdicts in 400 A/A families, at most 0.8 % with 95 % confidence; asked: at most 5 %."
        in said
    )
    assert "Independent are 10 windows: the 400 families are their rounds with the labels" in said
    assert (
        "1 of 10 windows told a program from its copy: at most 39.5 % with 95 % confidence." in said
    )


def test_the_tables_give_floors_and_what_was_found() -> None:
    lines = {" ".join(line.split()) for line in noise_page(FINDINGS, 80).splitlines()}
    assert {"factor wall 1.2 % (2.0 %)", "factor CPU 0.4 % (no end)"} <= lines
    assert "factor +3 % 5 of 5 54.9 % 4 of 5 +2.9 % 5 of 5 −0.1 %" in lines
    assert "factor +10 % 5 of 5 54.9 % 5 of 5 +9.9 % 5 of 5 not known" in lines


@pytest.mark.parametrize("width", [60, 80, 120])
def test_sentences_keep_to_the_width_and_the_tables_to_80(width: int) -> None:
    wide = replace(SUMMARY, found=tuple(replace(f, program="wc -l") for f in SUMMARY.found))
    for line in noise_page(replace(FINDINGS, summary=wide), width).splitlines():
        assert len(line) <= (max(80, width) if line.startswith("    ") else width), line


def test_the_conclusion_follows_the_findings() -> None:
    assert words(FINDINGS).endswith(
        "Every injected slowdown was found, and equal programs were told apart no more often than allowed."
    )
    first, second = SUMMARY.found
    weak = replace(SUMMARY, found=(replace(first, either=Rate(3, 5)), second))
    assert "Not always found: +3 % of factor." in words(replace(FINDINGS, summary=weak))
    refuted = replace(FINDINGS, summary=replace(SUMMARY, relabelled=Rate(40, 400)))
    assert "Equal programs were told apart more often than 5 %: do not trust verdicts" in words(
        refuted
    )
    assert refuted.exit_code == 3


def test_what_was_stopped_says_so_and_keeps_what_it_found() -> None:
    stopped = replace(FINDINGS, interrupted=True)
    assert "10 windows of 27 rounds in 1 min 01 s, stopped early." in words(stopped)
    assert stopped.exit_code == 130
    failed = replace(FINDINGS, failure=MachineError("wc failed", code="BX239"))
    assert failed.exit_code == 3
    assert noise_document(failed)["failure"] == "wc failed"
    assert FINDINGS.exit_code == 0


def test_without_a_window_nothing_is_said_of_the_machine() -> None:
    nothing = replace(FINDINGS, windows=0, interrupted=True)
    assert (
        words(nothing) == "No window was measured: nothing is said about the noise of this machine."
    )


def test_a_program_that_could_not_be_copied_says_so() -> None:
    assert "its copy is the same file" in words(replace(FINDINGS, copied={"factor": False}))


def test_the_document_holds_counts_and_bounds() -> None:
    document = json.loads(json.dumps(noise_document(FINDINGS)))
    assert document["windows"] == 10
    false = document["false_verdicts_relabelled"]
    assert (false["count"], false["tries"]) == (0, 400)
    assert false["at_most"] == pytest.approx(1 - 0.05 ** (1 / 400))
    assert document["noise_floors"][1] == {
        "program": "factor",
        "metric": "cpu",
        "median": 0.004,
        "worst": None,
    }
    assert document["injected"][0]["found_on"]["wall"]["count"] == 4
    assert document["injected"][0]["estimate"] == {"wall": 0.0291, "cpu": -0.001}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--for", "15m"], "--for belongs to --aa"),
        (["--aa", "--for", "15"], "--for 15"),
        (["--aa", "--for", "0s"], "no time to measure in"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_measured(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["doctor", *options]) == 2
    assert message in capsys.readouterr().err
