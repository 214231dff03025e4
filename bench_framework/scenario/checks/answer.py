"""Checks of `answer`: regular expressions, and keys that have no effect on the worker protocol."""

from collections.abc import Iterator

from bench_framework.errors import Problem
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.scalars import compiled_regex
from bench_framework.scenario.schema.measure import EDITS


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `answer`."""
    part = scenario.spec.answer
    single = bool(part.ignore) and isinstance(scenario.document.data["answer"]["ignore"], str)
    paths: list[Path] = [
        ("answer", "ignore") if single else ("answer", "ignore", index)
        for index in range(len(part.ignore))
    ]
    texts = [*zip(paths, part.ignore, strict=True)]
    if part.extract is not None:
        texts.append((("answer", "extract"), part.extract))
    for path, text in texts:
        if isinstance(fault := compiled_regex(text), str):
            yield scenario.value_problem(
                path, "BC102.answer-not-a-regex", path=path[1], fault=fault
            )
    if scenario.spec.worker.follows_protocol:
        for key in (*EDITS, "check"):
            effective = key == "compare" or (key == "differs" and part.differs == "warn")
            if part.is_given(key) and not effective:
                yield scenario.key_problem(("answer", key), "BC108.answer-of-worker", key=key)
