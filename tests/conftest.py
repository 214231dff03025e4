"""Settings of every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A test must not fail because the machine is busy: examples may take as long as they need.
settings.register_profile("without-deadline", parent=settings.default, deadline=None)
settings.load_profile("without-deadline")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process of pytest-xdist.

    The end-to-end tests share one process, because they share one installed wheel.
    """
    for item in items:
        folder = item.path.parent
        group = folder if folder.name == "end_to_end" else item.path
        item.add_marker(pytest.mark.xdist_group(str(group)))
