"""A wheel needs no checkout: it contains templates, scenarios and the sources of the workers, and nothing else."""

from pathlib import Path

import pytest

from tests.end_to_end.wheel_contents import differences

pytestmark = pytest.mark.slow


def test_the_wheel_contains_what_a_run_needs_and_nothing_else(wheel: Path) -> None:
    assert differences(wheel) == []
