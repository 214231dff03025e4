"""Settings of every test."""

import os

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling

# A test must not fail because the machine is busy: examples may take as long as they need.
settings.register_profile("thorough", deadline=None)
settings.register_profile("short", max_examples=20, deadline=None)
settings.load_profile("short")  # `nox -s full` selects the other one

# Nor may it depend on the user's configuration of git, except that git may read the repository of another user.
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
os.environ |= {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}


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
