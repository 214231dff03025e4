"""The notebook API: `load`, `figures` and `plot`; ``import bench_framework`` offers the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.store.frames import Frames


def load(record: str | Path = "@last", *, results: str | Path = "results") -> Frames:
    """A record as DataFrames: `runs` (one row per run), `cells`, `comparisons`, `claims`, `events`, `env`, `plan`.

    The `runs` of an imported set have one row per run and metric; it has no machine.

    Args:
        record: a record's folder, ``SCENARIO/ID``, ``@last`` or ``@prev``; or a ``report.html`` outside of its
            record that contains its runs: they are judged again, in a temporary folder.
        results: the folder in which names are looked up.

    Raises:
        UsageError: nothing of that name is found; RecordError: the record is damaged or of a newer version.
    """
    from pathlib import Path

    from bench_framework.store import finding, frames

    page = Path(record)
    if page.suffix == ".html" and page.is_file() and not (page.parent / "journal.jsonl").is_file():
        return _carried(page)
    folder = finding.resolve(Path(results), str(record))
    return frames.load(folder)


def figures(
    record: str | Path | Frames = "@last", *, results: str | Path = "results"
) -> dict[str, str]:
    """Name and title of every figure of a record's report, in its order; `plot` draws one.

    Args:
        record: what `load` takes, or what it gave.
        results: the folder in which names are looked up.

    Raises:
        UsageError: nothing of that name; RecordError: damaged or not judged.
    """
    from bench_framework.workflow import plots

    return {
        name: figure.title for name, figure in plots.figures_of(_frames(record, results)).items()
    }


def plot(
    name: str,
    record: str | Path | Frames = "@last",
    ax: Any = None,
    *,
    results: str | Path = "results",
) -> Any:
    """A figure of a record's report as matplotlib draws it: the same data, order and words as in the page.

    Args:
        name: of the figure, as in `figures`.
        record: what `load` takes, or what it gave: then nothing is read twice.
        ax: the Axes to draw on; without one, a new canvas of the figure's own size, without a display.
        results: the folder in which names are looked up.

    Returns:
        The Axes; ``axes.figure.savefig("x.svg")`` writes it.

    Raises:
        UsageError: as `figures`, or BX114, the report has no figure of that name. RecordError: as `figures`.
    """
    from bench_framework.workflow import plots

    return plots.plot(_frames(record, results), name, ax)


def _frames(record: str | Path | Frames, results: str | Path) -> Frames:
    """Return the frames of a record, opened unless they are given."""
    from bench_framework.store.frames import Frames

    return record if isinstance(record, Frames) else load(record, results=results)


def _carried(page: Path) -> Frames:
    """The record in a page, in a temporary folder that is removed with the frames."""
    import shutil
    import tempfile
    import weakref
    from pathlib import Path

    from bench_framework.store import frames
    from bench_framework.workflow.embedded_runs import unpack

    folder = Path(tempfile.mkdtemp(prefix="benchctl-page-"))
    try:
        found = frames.Frames(folder, unpack(page, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found
