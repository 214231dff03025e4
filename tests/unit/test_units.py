"""Tests of sizes, durations and percentages."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench_framework import units
from bench_framework.text.numbers import format_clock, format_duration, format_size

SIZES = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "sizes.json").read_text(encoding="utf-8")
)
"""Sizes and their bytes, and texts that are no sizes. The Rust parser of the workers reads the same examples."""


@pytest.mark.parametrize(("text", "expected"), SIZES["bytes"].items())
def test_a_size_is_bytes(text: str, expected: int) -> None:
    assert units.parse_size(text) == expected


@pytest.mark.parametrize("text", [*SIZES["refused"], "200", f"{1 << 64}B", f"{'9' * 5000}B"])
def test_a_size_without_a_known_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"size|whole number"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("15m", 900), ("120s", 120), ("20ms", 0.02), ("1h", 3600), ("1.5s", 1.5), ("5µs", 5e-6)],
)
def test_a_duration_is_seconds(text: str, expected: float) -> None:
    assert units.parse_duration(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["15", "m", "15 minutes", "-3s"])
def test_a_duration_without_a_known_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        units.parse_duration(text)


def test_a_percentage_is_a_fraction() -> None:
    assert units.parse_percent("2%") == 0.02
    assert units.parse_percent("0.5 %") == 0.005
    with pytest.raises(ValueError, match="percentage"):
        units.parse_percent("0.02")


@given(st.integers(min_value=0, max_value=2**50))
def test_a_size_written_in_bytes_reads_back(size: int) -> None:
    assert units.parse_size(f"{size}B") == size


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0000004, "400 ns"),
        (0.0, "0 µs"),
        (0.0213, "21.3 ms"),
        (1.698, "1.70 s"),
        (412e-6, "412 µs"),
    ],
)
def test_a_time_is_printed_in_its_natural_unit(seconds: float, expected: str) -> None:
    assert format_duration(seconds).replace(units.THIN_SPACE, " ") == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(42, "42 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"), (60, "1 min")],
)
def test_a_waiting_time_is_printed_in_minutes_and_hours(seconds: float, expected: str) -> None:
    assert format_clock(seconds) == expected


def test_sizes_are_printed_in_iec_units() -> None:
    assert format_size(512) == f"512{units.THIN_SPACE}B"
    assert format_size(10 * 1024**2) == f"10.0{units.THIN_SPACE}MiB"
