"""Metrics that a scenario declares, read from what a run printed or reported; after it, outside timing.

A number that is not where it should be is missing, with the reason: never 0, and never one of an earlier run.
"""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model import json_path
from bench_framework.model.run import Event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench_framework.execution.target import Target
    from bench_framework.model.metrics import DeclaredMetric
    from bench_framework.model.run import Block, Receipt

LARGEST_BYTES: Final = 64 << 20
"""A larger text is not searched: it would take longer than many a run."""
_SHOWN: Final = 40
_NUMBER: Final = re.compile(r"[-+]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][-+]?\d+)?")


class _Twice:
    """What stands under a key that an object has twice, with different values: no reader knows which is meant."""


class Missing(Exception):  # noqa: N818 -- no error of ours: the reason why one number is not known
    """A metric cannot be read; the message says why."""


@dataclass(slots=True)
class Readings:
    """Reads the declared metrics of one plan.

    Attributes:
        declared: what to read.
        stdout: the file that holds what the last run printed.
        answer: the file named by `answer.file`.
    """

    declared: Sequence[DeclaredMetric]
    stdout: Path
    answer: Path | None
    _before: tuple[int, ...] | None = field(default=None, init=False)

    @property
    def needs_stdout(self) -> bool:
        """Whether what a program prints must be kept."""
        return any(metric.source == "stdout" for metric in self.declared)

    def mark(self) -> None:
        """A block begins: a file that is the same after it was not written by it."""
        self._before = _signature(self.answer)

    def read(self, block: Block) -> Block:
        """The block with what its last run printed, and with why the rest is missing."""
        found: dict[str, float] = {}
        missing: dict[str, str] = {}
        texts: dict[str, str | Missing] = {}
        for metric in self.declared:
            if metric.source == "worker":
                continue
            if metric.source not in texts:
                texts[metric.source] = self._text(metric.source)
            try:
                text = texts[metric.source]
                if isinstance(text, Missing):
                    raise text
                found[metric.name] = number_in(text, metric)
            except Missing as why:
                missing[metric.name] = str(why)
        return (
            replace(block, metrics=found, missing={**block.missing, **missing}) if found or missing else block
        )

    def _text(self, source: str) -> str | Missing:
        path = self.stdout if source == "stdout" else self.answer
        assert path is not None
        if source == "answer" and _signature(path) == self._before:
            return Missing(f"the run did not write {path}")
        try:
            with path.open("rb") as file:
                text = file.read(LARGEST_BYTES + 1)
        except OSError as error:
            return Missing(f"{path} cannot be read: {error.strerror}")
        if len(text) > LARGEST_BYTES:
            return Missing(f"{source} holds more than {LARGEST_BYTES >> 20} MiB")
        return text.decode("utf-8", errors="replace")

    def of_replies(self, lines: Sequence[bytes], receipts: Sequence[Receipt]) -> tuple[Receipt, ...]:
        """The receipts of a worker's runs with the declared metrics among its own, in stored units.

        Those that are missing are not there; `unreported` says why.
        """
        wanted = [metric for metric in self.declared if metric.source == "worker"]
        if not wanted:
            return tuple(receipts)
        found = []
        for line, receipt in zip(lines, receipts, strict=True):
            said, own = json.loads(line), dict(receipt.metrics)
            for metric in wanted:
                own.pop(metric.name, None)
                try:
                    own[metric.name] = _number_at(said, metric.path or ("metrics", metric.name), metric)
                except Missing:
                    continue
            found.append(replace(receipt, metrics=own))
        return tuple(found)

    def unreported(self, lines: Sequence[bytes]) -> dict[str, str]:
        """Declared metrics that a worker's lines do not hold, each with the reason of the first such line."""
        missing: dict[str, str] = {}
        for line in lines:
            for metric in self.declared:
                if metric.source != "worker":
                    continue
                try:
                    _number_at(json.loads(line), metric.path or ("metrics", metric.name), metric)
                except Missing as why:
                    missing.setdefault(metric.name, str(why))
        return missing


def number_in(text: str, metric: DeclaredMetric) -> float:
    """A metric's value in what was printed, in stored units.

    Raises:
        Missing: it is not there, is there several times with different values, or is no number.
    """
    if not metric.regex:
        return _number_at(_document(text), metric.path, metric)
    found = {match[1] for match in re.finditer(metric.regex, text, re.MULTILINE)}
    if not found:
        raise Missing(f"`{metric.regex}` matches nothing in {metric.source}")
    if len(found) > 1:
        values = ", ".join(sorted(str(value)[:_SHOWN] for value in found)[:3])
        raise Missing(f"`{metric.regex}` matches different values: {values}")
    (written,) = found
    if written is None or not _NUMBER.fullmatch(written):
        raise Missing(f"`{metric.regex}` finds {_shown(written)}, which is no number")
    return _finite(float(written), metric)


def _document(text: str) -> Any:
    """The text as JSON; if it is several documents, the last line."""
    try:
        return json.loads(text, object_pairs_hook=_members)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    except RecursionError as error:
        raise Missing("the JSON is nested too deeply") from error
    try:
        return json.loads(lines[-1], object_pairs_hook=_members) if lines else None
    except (ValueError, RecursionError) as error:
        raise Missing(f"neither the whole text nor its last line is JSON: {_shown(lines[-1])}") from error


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        found[key] = value if key not in found or found[key] == value else _Twice()
    return found


def _number_at(document: Any, path: Sequence[str | int], metric: DeclaredMetric) -> float:
    where = json_path.show(path)
    try:
        value = json_path.follow(document, path)
    except LookupError as error:
        raise Missing(f"`{where}`: {error.args[0]}") from error
    if isinstance(value, _Twice):
        raise Missing(f"`{where}` stands there twice, with different values")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Missing(f"`{where}` is {_shown(value)}, which is no number")
    try:
        return _finite(float(value), metric)
    except OverflowError as error:
        raise Missing(f"`{where}` is larger than any number that can be kept") from error


def _finite(value: float, metric: DeclaredMetric) -> float:
    scaled = value * metric.scale
    if not math.isfinite(scaled):
        raise Missing(f"{value} is no finite number")
    return scaled


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _signature(path: Path | None) -> tuple[int, ...] | None:
    if path is None:
        return None
    try:
        found = os.stat(path)  # noqa: PTH116 -- one call, between runs
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def missing_events(target: Target, block: Block) -> list[Event]:
    """BX217: what this block lacks, and why; a cell has it once, for the first round that lacks something."""
    told = "; ".join(f"{name}: {why}" for name, why in block.missing.items())
    return [
        Event(
            "BX217",
            f"{target.cell.label}: a metric cannot be read ({told})",
            "error",
            block.cell_id,
            block.round,
            effect="a round without the number is in no comparison of that metric; its other figures stand",
            help="see to what the program prints, or to `metrics` in the scenario",
        )
    ]
