"""Metrics that a scenario declares, read from the output of a run after it, outside timing.

A number that cannot be read is missing, with the reason. It is never 0 or from an earlier run.
"""

import errno
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import AnswerError
from bench_framework.execution import benches
from bench_framework.execution.answers import AnswerReader, Signature, signature
from bench_framework.execution.process import scratch_folder
from bench_framework.execution.target import Target
from bench_framework.foreign import in_range, parse_json, read_regular
from bench_framework.model import json_path
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import AnyCode, PhraseCode
from bench_framework.model.plan.benches import Bench
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.reasons import Part, ReasonCode
from bench_framework.model.record.run import Block, Receipt
from bench_framework.text.reasons import phrase_of

LARGEST_BYTES: Final = 64 << 20
"""A larger text is not searched: that would take longer than many runs."""
_EXCERPT: Final = 40
"""Characters of a value that a message quotes."""
_NUMBER: Final = re.compile(r"[-+]?(\d+(_\d+)*\.?\d*|\.\d+)([eE][-+]?\d+)?")


Matches = Sequence[str | None]
"""The different values of a regular expression's first group."""


class _Duplicate:
    """The value of a duplicate key whose values differ: readers do not agree on one."""


class Missing(Exception):  # noqa: N818 -- the reason for one missing number
    """A metric cannot be read, for a reason."""

    def __init__(self, code: AnyCode, *details: Part) -> None:
        super().__init__(phrase_of(code, *details))


@dataclass(slots=True)
class MetricReader:
    """Reader of the declared metrics of one plan.

    `stdout` is the file with the output of the last run, `answer` that of `answer.file`.
    """

    declared: Sequence[DeclaredMetric]
    stdout: Path
    answer: Path | None
    reader: AnswerReader
    before: Signature = field(default=None, init=False)
    """State of the answer file before the block, which is ignored if the block does not change it."""

    @property
    def needs_stdout(self) -> bool:
        """True if the output of a program must be stored."""
        return any(metric.source in ("stdout", "harness") for metric in self.declared)

    def read(self, target: Target, block: Block, bench: Bench | None = None) -> Block:
        """Return the block with the metrics of its last run and the reasons for missing ones.

        `bench` is the benchmark that was run, if it was one.
        """
        values: dict[str, float] = {}
        missing: dict[str, str] = {}
        # Each text is read and searched once.
        text_of, matches_of = cache(self._text), cache(partial(self._matches, target))
        for metric in self.declared:
            if metric.source == "worker":
                continue
            try:
                if bench is not None and metric.source == "harness":
                    values[metric.name] = self._reported(target, bench)
                    continue
                if isinstance(text := text_of(metric.source), Missing):
                    raise text
                if not metric.regex:
                    values[metric.name] = _number_at(_document(text), metric.path, metric)
                    continue
                if isinstance(matches := matches_of(metric.source), Missing):
                    raise matches
                values[metric.name] = _number_of(matches[metric.name], metric)
            except Missing as reason:
                missing[metric.name] = str(reason)
        if values or missing:
            return replace(block, metrics=values, missing={**block.missing, **missing})
        return block

    def _reported(self, target: Target, bench: Bench) -> float:
        if isinstance(text := self._text("stdout"), Missing):
            raise text
        try:
            harness, home = benches.HARNESSES[bench.harness], benches.home_of(target.env)
            return harness.read(home, text, bench.id)
        except benches.NoTime as reason:
            raise Missing(ReasonCode.MESSAGE, str(reason)) from reason

    def _path(self, source: str) -> Path:
        path = self.stdout if source == "stdout" else self.answer
        assert path is not None
        return path

    def _matches(self, target: Target, source: str) -> Mapping[str, Matches] | Missing:
        """Return what the regular expressions match, in a process that can be killed."""
        metrics = [m for m in self.declared if m.source == source and m.regex]
        pairs = [(f"metrics.{m.name}", m.regex) for m in metrics]
        with scratch_folder() as scratch:
            edited = Path(scratch, "matches.json")
            try:
                finished, words = self.reader.search(pairs, target, self._path(source), edited)
            except AnswerError as error:
                return Missing(ReasonCode.MESSAGE, error.line)
            if finished.timed_out:
                return Missing(FaultCode.SEARCH_TOO_LONG, words, self.reader.timeout_s)
            if not finished.ok:
                return Missing(PhraseCode.BECAUSE, words, finished.how)
            groups = parse_json(edited.read_bytes())
        return {m.name: values for m, values in zip(metrics, groups, strict=True)}

    def _text(self, source: str) -> str | Missing:
        path = self._path(source)
        if source == "answer" and signature(path) == self.before:
            return Missing(FaultCode.NOT_WRITTEN, str(path))
        try:
            text = read_regular(path, LARGEST_BYTES)
        except OSError as error:
            if error.errno == errno.EFBIG:
                return Missing(FaultCode.LARGER_THAN, source, LARGEST_BYTES >> 20)
            return Missing(FaultCode.UNREADABLE, str(path), str(error.strerror))
        return text.decode("utf-8", errors="replace")

    def of_replies(
        self, lines: Sequence[bytes], receipts: Sequence[Receipt]
    ) -> tuple[tuple[Receipt, ...], dict[str, str]]:
        """Return the receipts with declared metrics added, and the reason for each missing one."""
        reported = [metric for metric in self.declared if metric.source == "worker"]
        missing: dict[str, str] = {}
        if not reported:
            return tuple(receipts), missing
        completed = []
        for line, receipt in zip(lines, receipts, strict=True):
            reply, metrics = parse_json(line), dict(receipt.metrics)
            for metric in reported:
                metrics.pop(metric.name, None)
                path = metric.path or ("metrics", metric.name)
                try:
                    metrics[metric.name] = _number_at(reply, path, metric)
                except Missing as reason:
                    missing.setdefault(metric.name, str(reason))
            completed.append(replace(receipt, metrics=metrics))
        return tuple(completed), missing


def _number_of(matches: Matches, metric: DeclaredMetric) -> float:
    if not matches:
        raise Missing(FaultCode.NO_MATCH, metric.regex, metric.source)
    if len(matches) > 1:
        listed = ", ".join(sorted(str(value)[:_EXCERPT] for value in matches)[:3])
        raise Missing(FaultCode.SEVERAL_MATCHES, metric.regex, listed)
    (written,) = matches
    if written is None or not _NUMBER.fullmatch(written):
        raise Missing(FaultCode.MATCH_NOT_NUMBER, metric.regex, _excerpt(written))
    return _finite(float(written), metric)


def _document(text: str) -> Any:
    """Parse the text as JSON; if it contains several documents, parse the last line."""
    try:
        return parse_json(text, members=_members)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    try:
        return parse_json(lines[-1], members=_members) if lines else None
    except ValueError as error:
        last = _excerpt(lines[-1])
        raise Missing(FaultCode.NOT_JSON, last) from error


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        members[key] = value if key not in members or members[key] == value else _Duplicate()
    return members


def _number_at(document: Any, path: Sequence[str | int], metric: DeclaredMetric) -> float:
    where = json_path.show(path)
    try:
        value = json_path.follow(document, path)
    except LookupError as error:
        raise Missing(PhraseCode.BECAUSE, f"`{where}`", error.args[0]) from error
    if isinstance(value, _Duplicate):
        raise Missing(FaultCode.DUPLICATE_KEY, where)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Missing(FaultCode.NOT_NUMBER, where, _excerpt(value))
    try:
        return _finite(float(value), metric)
    except OverflowError as error:
        raise Missing(FaultCode.TOO_LARGE_NUMBER, where) from error


def _finite(value: float, metric: DeclaredMetric) -> float:
    if not math.isfinite(scaled := value * metric.scale):
        raise Missing(FaultCode.NOT_FINITE, value)
    if not in_range(scaled):
        raise Missing(FaultCode.OUT_OF_RANGE, value)
    return scaled


def _excerpt(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
