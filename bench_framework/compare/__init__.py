"""Judging one metric of two configurations: samples, tests, interim analyses, verdicts."""
