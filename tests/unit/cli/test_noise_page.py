"""Tests of the page and the options of `doctor --aa`."""

from dataclasses import replace

import pytest

from bench_framework.extensions.doctor.command import noise_page
from bench_framework.extensions.doctor.documents import NoiseDocument, NoiseProgram
from bench_framework.extensions.doctor.noise_rates import DetectionRate, Floor, Rate
from bench_framework.text.documents import document_text
from tests.documents import valid

FINDINGS = NoiseDocument(
    windows=10,
    rounds_per_window=27,
    cpus=None,
    elapsed_s=61.0,
    interrupted=False,
    failure=None,
    exit_code=0,
    level=0.05,
    refuted=False,
    confidence=0.95,
    false_verdicts_relabelled=Rate.with_bounds(0, 400),
    false_verdicts_as_measured=Rate.with_bounds(1, 10),
    programs={"factor": NoiseProgram("computes: 500 numbers to factor", control_is_a_copy=True)},
    noise_floors=(Floor("factor", "wall", 0.0123, 0.02), Floor("factor", "cpu", 0.004, None)),
    injected=(
        DetectionRate(
            "factor",
            0.03,
            Rate.with_bounds(5, 5),
            {"wall": Rate.with_bounds(4, 5), "cpu": Rate.with_bounds(5, 5)},
            {"wall": 0.0291, "cpu": -0.001},
        ),
        DetectionRate(
            "factor",
            0.1,
            Rate.with_bounds(5, 5),
            {"wall": Rate.with_bounds(5, 5), "cpu": Rate.with_bounds(5, 5)},
            {"wall": 0.0991},
        ),
    ),
)


def words(findings: NoiseDocument, width: int = 100) -> str:
    """Return the page as one line with plain spaces."""
    return " ".join(noise_page(findings, width).split())


def test_every_rate_has_its_bound_and_its_independent_windows() -> None:
    page = words(FINDINGS)
    assert (
        "0 false positives in 400 A/A families: at most 0.8 % with 95 % confidence; allowed: 5 %."
        in page
    )
    assert "The families reuse the rounds of 10 independent windows, with the labels of two" in page
    assert (
        "1 of 10 windows reported a difference between a program and its copy:"
        " at most 39.5 % with 95 % confidence." in page
    )


def test_the_tables_show_noise_floors_and_detected_slowdowns() -> None:
    lines = {" ".join(line.split()) for line in noise_page(FINDINGS, 80).splitlines()}
    assert {"factor wall 1.2 % (2.0 %)", "factor CPU 0.4 % (unbounded)"} <= lines
    assert "factor +3 % 5 of 5 54.9 % 4 of 5 +2.9 % 5 of 5 −0.1 %" in lines
    assert "factor +10 % 5 of 5 54.9 % 5 of 5 +9.9 % 5 of 5 unknown" in lines


@pytest.mark.parametrize("width", [60, 80, 120])
def test_sentences_fit_the_width_and_tables_fit_80_columns(width: int) -> None:
    wide = replace(FINDINGS, injected=tuple(replace(f, program="wc -l") for f in FINDINGS.injected))
    for line in noise_page(wide, width).splitlines():
        assert len(line) <= (max(80, width) if line.startswith("    ") else width), line


def test_the_conclusion_follows_the_findings() -> None:
    assert words(FINDINGS).endswith(
        "Every injected slowdown was detected, and the rate of false positives is within the limit."
    )
    first, second = FINDINGS.injected
    weak = replace(FINDINGS, injected=(replace(first, found=Rate.with_bounds(3, 5)), second))
    assert "Not always detected: +3 % of factor." in words(weak)
    refuted = replace(FINDINGS, refuted=True)
    assert "verdicts of this machine are not reliable. Fix what" in words(refuted)


def test_a_stopped_check_keeps_its_results() -> None:
    stopped = replace(FINDINGS, interrupted=True)
    assert "10 windows of 27 rounds in 1 min 01 s, stopped early." in words(stopped)


def test_without_a_window_the_noise_is_unknown() -> None:
    nothing = replace(FINDINGS, windows=0, interrupted=True)
    assert words(nothing) == "No window was measured: the noise of this machine is unknown."


def test_a_program_that_could_not_be_copied_is_marked() -> None:
    program = NoiseProgram("computes", control_is_a_copy=False)
    assert "its copy is the same file" in words(replace(FINDINGS, programs={"factor": program}))


def test_the_page_names_the_cpus() -> None:
    assert "Pinned" not in words(FINDINGS)
    pinned = replace(FINDINGS, cpus="0,2")
    assert "500 numbers to factor). Pinned to CPUs: 0,2." in words(pinned)


def test_the_document_contains_counts_and_bounds() -> None:
    document = valid("doctor", document_text(FINDINGS))
    assert document["windows"] == 10
    false = document["false_verdicts_relabelled"]
    assert (false["count"], false["tries"]) == (0, 400)
    assert false["at_most"] == pytest.approx(1 - 0.05 ** (1 / 400))
    expected = {"program": "factor", "metric": "cpu", "median": 0.004, "worst": None}
    assert document["noise_floors"][1] == expected
    assert document["injected"][0]["found_on"]["wall"]["count"] == 4
    assert document["injected"][0]["estimate"] == {"wall": 0.0291, "cpu": -0.001}
