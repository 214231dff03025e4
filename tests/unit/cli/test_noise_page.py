"""Tests of the page and the options of `doctor --aa`."""

from dataclasses import replace

import pytest

from bench_framework.errors import MachineError
from bench_framework.extensions.doctor.command import noise_page
from bench_framework.extensions.doctor.documents import noise_document
from bench_framework.extensions.doctor.noise import NoiseFindings, NoiseProgram
from bench_framework.extensions.doctor.noise_rates import DetectionRate, Floor, NoiseSummary, Rate
from bench_framework.model.documents.plan import document_text
from tests.documents import valid

SUMMARY = NoiseSummary(
    level=0.05,
    relabelled=Rate.with_bounds(0, 400),
    as_measured=Rate.with_bounds(1, 10),
    floors=(Floor("factor", "wall", 0.0123, 0.02), Floor("factor", "cpu", 0.004, None)),
    detection_rates=(
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
FINDINGS = NoiseFindings(
    10,
    27,
    SUMMARY,
    {"factor": NoiseProgram("computes: 500 numbers to factor", control_is_a_copy=True)},
    61.0,
    False,
    None,
)


def words(findings: NoiseFindings, width: int = 100) -> str:
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
    wide = replace(
        SUMMARY, detection_rates=tuple(replace(f, program="wc -l") for f in SUMMARY.detection_rates)
    )
    for line in noise_page(replace(FINDINGS, summary=wide), width).splitlines():
        assert len(line) <= (max(80, width) if line.startswith("    ") else width), line


def test_the_conclusion_follows_the_findings() -> None:
    assert words(FINDINGS).endswith(
        "Every injected slowdown was detected, and the rate of false positives is within the limit."
    )
    first, second = SUMMARY.detection_rates
    weak = replace(SUMMARY, detection_rates=(replace(first, found=Rate.with_bounds(3, 5)), second))
    assert "Not always detected: +3 % of factor." in words(replace(FINDINGS, summary=weak))
    refuted = replace(FINDINGS, summary=replace(SUMMARY, relabelled=Rate.with_bounds(40, 400)))
    assert "verdicts of this machine are not reliable. Fix what" in words(refuted)
    assert refuted.exit_code == 3


def test_a_stopped_check_keeps_its_results() -> None:
    stopped = replace(FINDINGS, interrupted=True)
    assert "10 windows of 27 rounds in 1 min 01 s, stopped early." in words(stopped)
    assert stopped.exit_code == 130
    failed = replace(FINDINGS, failure=MachineError.from_texts("BX239", "wc failed"))
    assert failed.exit_code == 3
    assert noise_document(failed).failure == "wc failed"
    assert FINDINGS.exit_code == 0


def test_without_a_window_the_noise_is_unknown() -> None:
    nothing = replace(FINDINGS, windows=0, interrupted=True)
    assert words(nothing) == "No window was measured: the noise of this machine is unknown."


def test_a_program_that_could_not_be_copied_is_marked() -> None:
    program = NoiseProgram("computes", control_is_a_copy=False)
    assert "its copy is the same file" in words(replace(FINDINGS, programs={"factor": program}))


def test_the_page_and_the_document_name_the_cpus() -> None:
    assert "Pinned" not in words(FINDINGS)
    pinned = replace(FINDINGS, cpus="0,2")
    assert "500 numbers to factor). Pinned to CPUs: 0,2." in words(pinned)
    assert (noise_document(pinned).cpus, noise_document(FINDINGS).cpus) == ("0,2", None)


def test_the_document_contains_counts_and_bounds() -> None:
    document = valid("doctor", document_text(noise_document(FINDINGS)))
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
