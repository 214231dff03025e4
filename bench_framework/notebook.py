"""The notebook API, also available from ``bench_framework``: records as DataFrames, tables and figures."""

import hashlib
import math
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

from bench_framework.errors import RecordError, UsageError
from bench_framework.execution.machine import host
from bench_framework.model.verdict import Verdict
from bench_framework.registry import registry
from bench_framework.report.blocks import Document, Figure
from bench_framework.report.charts import BADGES, LIGHT
from bench_framework.store import finding
from bench_framework.store.frames import Frames, concat as concat_frames
from bench_framework.text.numbers import DASH, show_ratio
from bench_framework.text.words import verdict_text

registry().listen(
    lambda failure: warnings.warn(
        f"the extension {failure.extension} cannot be loaded: {failure.cause}", stacklevel=2
    )
)


class LoadedRecord(Frames):
    """A record as DataFrames. A notebook shows its summary and its main figure."""

    @cached_property
    def document(self) -> Document:
        """The report. Raises `RecordError`: BX413, the record has no results; BX411, it is damaged."""
        from bench_framework.features.document import build_document
        from bench_framework.workflow.pages import report_data

        if self.judgement is None:
            raise RecordError("BX413.no-figures", name=self.path.name)
        return build_document(report_data(self.record, self.judgement))

    @cached_property
    def drawn(self) -> dict[str, Figure]:
        """The figures of the report by name. Their ids differ between the records of a notebook."""
        return {
            figure.anchor: replace(figure, anchor=f"{figure.anchor}-{self.record_id}")
            for figure in self.document.figures()
        }

    def _repr_html_(self) -> str | None:
        """Return the summary and the first figure of the report; `None` without results."""
        from bench_framework.report import figures
        from bench_framework.report.render import html

        if self.judgement is None:
            return None
        first = [*self.drawn.items()][:1]
        pictures = {name: figures.inline(figures.draw(f), f) for name, f in first}
        return html.render_summary(self.document, pictures)


Source: TypeAlias = str | Path | LoadedRecord
"""An argument of `load`, or its result."""


def load(record: str | Path = "@last", *, results: str | Path | None = None) -> LoadedRecord:
    """Load a record as DataFrames.

    Its attributes are `runs` (one row per run), `cells`, `comparisons`, `claims`, `events`, `env` and
    `plan`. The `runs` of an imported record have one row per run and metric, and it has no `env`.

    Args:
        record: the folder of a record, ``SCENARIO/ID``, ``SCENARIO`` for its newest record, ``@last``
            or ``@prev``; or a ``report.html`` that contains its runs, or its folder, whose results are
            recomputed in a temporary folder.
        results: the folder in which names are looked up; default: $BENCHCTL_RESULTS, or
            ``results``.

    Raises:
        UsageError: there is no such record.
        RecordError: the record is damaged or was written by a newer version.
    """
    from bench_framework.workflow.pages import PAGE
    from bench_framework.workflow.records.embedded_runs import is_published

    page = Path(record)
    if is_published(page):
        page /= PAGE
    if page.suffix == ".html" and page.is_file() and not (page.parent / "journal.jsonl").is_file():
        return _load_page(page)
    return LoadedRecord.load(finding.resolve(records_folder(results), str(record)))


def concat(
    records: Source | Iterable[Source] | Mapping[str, Source],
    table: str = "comparisons",
    *,
    results: str | Path | None = None,
) -> Any:
    """Return one table of several records as a DataFrame with a column `record`.

    Args:
        records: arguments of `load`, or its results; one or several. Their names are ``SCENARIO/ID``, or the keys of
            a mapping such as ``{"before": "@prev", "after": "@last"}``.
        table: ``runs``, ``builds``, ``cells``, ``comparisons``, ``events``, or another one of the records.
        results: see `load`.

    Raises:
        UsageError: there is no such record; BX114, there are no records, one is given twice, or a
            record has no table of this name.
        RecordError: a record is damaged or has no results yet.
    """
    if isinstance(records, Mapping):
        members = {name: _loaded(record, results) for name, record in records.items()}
        doubled = False
    else:
        several = [records] if isinstance(records, str | Path | LoadedRecord) else records
        loaded = [_loaded(record, results) for record in several]
        members = {f"{record.plan.name}/{record.record_id}": record for record in loaded}
        doubled = len(members) < len(loaded)
    if doubled or not members:
        raise UsageError("BX114.record-twice" if doubled else "BX114.no-records")
    return concat_frames(members, table)


def table(comparisons: Any = "@last", *, results: str | Path | None = None) -> Any:
    """Return comparisons as a table for a notebook (a pandas Styler), with coloured verdicts.

    The colours are readable on light and dark pages. Ratios are candidate ÷ baseline with the CI of
    the report.

    Args:
        comparisons: rows of `comparisons` of a record or of `concat`; or an argument of `load`, or its
            result, for the main metric of this record against its baseline.
        results: see `load`.

    Raises:
        UsageError: there is no such record; BX114, the rows are not those of `comparisons`.
        RecordError: the record is damaged or has no results yet.
    """
    if isinstance(comparisons, str | Path | LoadedRecord):
        record = _loaded(comparisons, results)
        rows = record.comparisons
        main = (rows["kind"] == "headline") & (rows["metric"] == record.plan.judge.headline)
        comparisons = rows[main].sort_values(["input", "ratio"], kind="stable")
    missing = _NEEDED - set(getattr(comparisons, "columns", ()))
    if missing:
        raise UsageError("BX114.no-comparisons", missing=", ".join(sorted(missing)))
    listed = comparisons.to_dict("records")
    names = ("record", "variant", "ref_variant", "input", "metric")
    frame = comparisons[[name for name in names if name in comparisons]].assign(
        **{
            "ratio [CI]": [_ratio(row) for row in listed],
            "verdict": [verdict_text(Verdict(row["verdict"]), row["metric"]) for row in listed],
        }
    )
    badges = [BADGES.get(row["verdict"]) for row in listed]
    looks = [
        f"background-color: {LIGHT[token]}; color: {LIGHT['ground']}" if token else ""
        for token in badges
    ]
    styler = frame.rename(columns={"ref_variant": "baseline"}).style
    # Equal tables have equal ids, so that a notebook that is executed again does not change.
    styler.set_uuid(hashlib.sha256(frame.to_csv().encode()).hexdigest()[:8])
    styler.apply(lambda _: looks, axis=0, subset=["verdict"]).hide(axis="index").format(
        escape="html"
    )
    left = {"selector": "th, td", "props": "text-align: left; white-space: nowrap"}
    return styler.set_table_styles([left]).set_table_attributes(
        'class="mathjax_ignore tex2jax_ignore"'
    )


_NEEDED: Final = {"metric", "verdict", "margin", "ratio", "lo", "hi"}
"""Columns of comparisons that `table` reads."""


def _ratio(row: Mapping[str, Any]) -> str:
    """Return the ratio of a row of comparisons with its interval: ``0.909 [0.893, 0.926]``."""
    ratio, lo, hi = (row[name] for name in ("ratio", "lo", "hi"))
    if not all(map(math.isfinite, (ratio, lo, hi))):
        return DASH
    return str(show_ratio(ratio, lo, hi, row["margin"], keep=row["verdict"] != "inconclusive"))


def figures(record: Source = "@last", *, results: str | Path | None = None) -> dict[str, str]:
    """Return the titles of all figures of a report by name, in the order of the report.

    Args:
        record: an argument of `load`, or its result.
        results: see `load`.

    Raises:
        RecordError: the record has no results yet; and the errors of `load`.
    """
    return {name: figure.title for name, figure in _loaded(record, results).drawn.items()}


def plot(
    name: str | None = None,
    record: Source = "@last",
    ax: Any = None,
    *,
    results: str | Path | None = None,
) -> Any:
    """Draw a figure of a report with matplotlib, with the same data, order and text as in the page.

    Args:
        name: name of the figure, see `figures`; default: the first one.
        record: an argument of `load`, or its result, which avoids reading the record again.
        ax: the Axes to draw on; default: a new off-screen canvas, which a notebook shows.
        results: see `load`.

    Returns:
        The Axes. ``axes.figure.savefig("x.svg")`` writes the figure to a file.

    Raises:
        UsageError: BX114, the report has no figure of that name; and the errors of `figures`.
    """
    from bench_framework.report.figures import PLOTS

    frames = _loaded(record, results)
    figure = frames.drawn.get(name if name is not None else next(iter(frames.drawn), ""))
    if figure is None:
        raise UsageError(
            "BX114.no-figure",
            record_id=frames.record_id,
            name=name or "",
            drawn=", ".join(frames.drawn) or "none",
        )
    return PLOTS[figure.chart](figure, ax)


def records_folder(results: str | Path | None) -> Path:
    """Return the folder in which names of records are looked up."""
    return Path(results or host.environment().get("BENCHCTL_RESULTS") or "results")


def _loaded(record: Source, results: str | Path | None) -> LoadedRecord:
    return record if isinstance(record, LoadedRecord) else load(record, results=results)


def _load_page(page: Path) -> LoadedRecord:
    """Unpack the record in a page to a temporary folder, which is removed together with the frames."""
    from bench_framework.workflow.records.embedded_runs import unpack

    folder = Path(tempfile.mkdtemp(prefix="benchctl-page-"))
    try:
        loaded = LoadedRecord(folder, unpack(page, folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(loaded, shutil.rmtree, folder, ignore_errors=True)
    return loaded
