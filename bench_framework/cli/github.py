"""GitHub's workflow commands: problems of a scenario as annotations on its lines."""

import os

from bench_framework.errors import Problem, ScenarioError

MOST_ANNOTATIONS = 10
"""GitHub shows ten annotations of a kind per step and drops the others silently."""


def on_github() -> bool:
    """Return True if this process runs in a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotation_lines(error: ScenarioError) -> list[str]:
    """Return one ``::error`` command per problem, at most ten; the tenth gives the number of others."""
    lines = [_annotation(problem) for problem in error.problems[:MOST_ANNOTATIONS]]
    if (rest := len(error.problems) - MOST_ANNOTATIONS) > 0:
        lines[-1] += f" (and {rest} more, see the log)"
    return lines


def gate_lines(sentences: list[str]) -> list[str]:
    """Return one ``::error`` command per regression, at most ten; the tenth gives the number of others."""
    lines = [
        f"::error title=benchctl gate::{_escape(text)}" for text in sentences[:MOST_ANNOTATIONS]
    ]
    if len(sentences) > MOST_ANNOTATIONS:
        lines[-1] += f" (and {len(sentences) - MOST_ANNOTATIONS} more, see the job summary)"
    return lines


def _annotation(problem: Problem) -> str:
    properties = {"file": problem.file or "", "title": problem.code}
    if problem.at is not None:
        properties |= {
            "line": str(problem.at.line),
            "col": str(problem.at.column),
            "endColumn": str(problem.at.column + problem.at.length),
        }
    joined = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items() if value)
    return f"::error {joined}::{_escape(problem.message)}"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
