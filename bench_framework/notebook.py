"""The notebook API: `load`, `figures` and `plot`, also available from ``bench_framework``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.store.frames import Frames


def load(record: str | Path = "@last", *, results: str | Path | None = None) -> Frames:
    """Load a record as DataFrames.

    Its attributes are `runs` (one row per run), `cells`, `comparisons`, `claims`, `events`, `env` and
    `plan`. The `runs` of an imported record have one row per run and metric, and it has no `env`.

    Args:
        record: the folder of a record, ``SCENARIO/ID``, ``@last`` or ``@prev``; or a ``report.html``
            that contains its runs, whose results are recomputed in a temporary folder.
        results: the folder in which names are looked up; default: $BENCHCTL_RESULTS, or
            ``results``.

    Raises:
        UsageError: there is no such record.
        RecordError: the record is damaged or was written by a newer version.
    """
    from pathlib import Path

    from bench_framework.execution.machine import host
    from bench_framework.store import finding, frames
    from bench_framework.workflow.embedded_runs import is_published
    from bench_framework.workflow.pages import PAGE

    page = Path(record)
    if is_published(page):
        page /= PAGE
    if page.suffix == ".html" and page.is_file() and not (page.parent / "journal.jsonl").is_file():
        return _load_page(page)
    root = Path(results or host.environment().get("BENCHCTL_RESULTS") or "results")
    return frames.load(finding.resolve(root, str(record)))


def figures(
    record: str | Path | Frames = "@last", *, results: str | Path | None = None
) -> dict[str, str]:
    """Return the titles of all figures of a report by name, in the order of the report.

    Args:
        record: an argument of `load`, or its result.
        results: the folder in which names are looked up; default: $BENCHCTL_RESULTS, or
            ``results``.

    Raises:
        UsageError: there is no such record.
        RecordError: the record is damaged or has no results yet.
    """
    return {f.anchor: f.title for f in _figures_of(_frames(record, results))}


def plot(
    name: str,
    record: str | Path | Frames = "@last",
    ax: Any = None,
    *,
    results: str | Path | None = None,
) -> Any:
    """Draw a figure of a report with matplotlib, with the same data, order and text as in the page.

    Args:
        name: name of the figure, see `figures`.
        record: an argument of `load`, or its result, which avoids reading the record again.
        ax: the Axes to draw on; default: a new off-screen canvas.
        results: the folder in which names are looked up; default: $BENCHCTL_RESULTS, or
            ``results``.

    Returns:
        The Axes. ``axes.figure.savefig("x.svg")`` writes the figure to a file.

    Raises:
        UsageError: there is no such record; BX114, the report has no figure of that name.
        RecordError: the record is damaged or has no results yet.
    """
    from bench_framework.errors import UsageError
    from bench_framework.report.figures import PLOTS

    frames = _frames(record, results)
    by_name = {figure.anchor: figure for figure in _figures_of(frames)}
    if name not in by_name:
        raise UsageError(
            f"the report of {frames.record_id} has no figure {name!r}",
            code="BX114",
            fix=f"figures: {', '.join(by_name) or 'none'}",
        )
    figure = by_name[name]
    return PLOTS[figure.chart](figure, ax)


def _figures_of(frames: Frames) -> Iterable[Figure]:
    """Return the figures of a report. Raises `RecordError`: BX413, no results; BX411, damaged."""
    from bench_framework.errors import RecordError
    from bench_framework.features.document import build_document
    from bench_framework.workflow.pages import report_data

    judgement = frames.judgement
    if judgement is None:
        raise RecordError(
            f"record {frames.path.name} has no figures: it has no results yet",
            code="BX413",
            fix="finish it with `benchctl run`, or use `benchctl report RECORD` for the rounds "
            "measured so far",
        )
    return build_document(report_data(frames.record, judgement)).figures()


def _frames(record: str | Path | Frames, results: str | Path | None) -> Frames:
    """Return the given frames, or load those of a record."""
    from bench_framework.store.frames import Frames

    return record if isinstance(record, Frames) else load(record, results=results)


def _load_page(page: Path) -> Frames:
    """Unpack the record in a page to a temporary folder, which is removed together with the frames."""
    import shutil
    import tempfile
    import weakref
    from pathlib import Path

    from bench_framework.store import frames
    from bench_framework.workflow.embedded_runs import unpack

    folder = Path(tempfile.mkdtemp(prefix="benchctl-page-"))
    try:
        loaded = frames.Frames(folder, unpack(page, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(loaded, shutil.rmtree, folder, ignore_errors=True)
    return loaded
