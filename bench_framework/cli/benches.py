"""The scenario of `--bench`, for `gate` and `bisect`."""

from collections.abc import Iterable
from typing import Final

from bench_framework.errors import UsageError

WITHOUT_FILE: Final = "--bench"
"""Place of the errors of this scenario."""


def text_of_benches(
    targets: list[str] | None,
    ids: list[str] | None,
    package: str | None,
    others: Iterable[object],
) -> str:
    """Return the scenario of `--bench`, `--id` and `--package`, empty without `--bench`.

    Raises `UsageError`: BX100, one of `others` is given too, or an option without `--bench`; BX124, there is no crate.
    """
    if not targets:
        if ids or package:
            raise UsageError("BX100.option-of-benches")
        return ""
    if any(others):
        raise UsageError("BX100.not-with-benches")
    from bench_framework.workflow.scenarios.bench_scenario import bench_scenario

    return bench_scenario(targets, ids or (), package)
