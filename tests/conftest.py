"""Settings of every test."""

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling

# A test must not fail because the machine is busy: examples may take as long as they need.
settings.register_profile("thorough", deadline=None)
settings.register_profile("short", max_examples=20, deadline=None)
settings.load_profile("short")  # `nox -s full` selects the other one


class GroupedFiles(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Run the tests of a file in one process, and all end-to-end tests in one.

    The end-to-end tests share one installed wheel. The marker `xdist_group` has no effect with
    pytest 9.2 and pytest-xdist 3.8.
    """

    def _split_scope(self, nodeid: str) -> str:
        folder = "tests/end_to_end"
        return folder if nodeid.startswith(folder) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Return the scheduler for `--dist loadfile`."""
    return GroupedFiles(config, log) if config.getvalue("dist") == "loadfile" else None
