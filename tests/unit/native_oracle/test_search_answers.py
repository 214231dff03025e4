"""The search of `docs/reference/search-worker.md` by the plainest means: slow, obvious and independent of the worker.

A query is given as a tree (`["and", …]`, `["or", …]`, `["not", x]`, `["regex", pattern, flags]`, or a text), so that
nothing of the worker's parser is trusted. `python test_search_answers.py` writes the answers of the fixtures again.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

Tree = Any
FIXTURES = Path(__file__).parents[2] / "fixtures" / "search"
DEEPEST = 127
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", re.ASCII)
KNOWN_LINE = {"type", "summary", "content", "message", "sessionId", "uuid", "timestamp"}
KNOWN_BLOCK = {"type", "text", "thinking", "name", "input", "content"}


class BadLineError(Exception):
    """A line is not what it must be."""


@dataclass(frozen=True)
class Pairs:
    """A JSON object as it is written, with keys that come twice."""

    items: tuple[tuple[str, Any], ...]

    def known(self, keys: set[str]) -> dict[str, Any]:
        """The keys that matter, each once; `null` is absent."""
        parsed: dict[str, Any] = {}
        for key, value in self.items:
            if key in keys:
                if key in parsed:
                    raise BadLineError(f"{key} twice")
                parsed[key] = value
        return {key: value for key, value in parsed.items() if value is not None}


@dataclass(frozen=True)
class Message:
    """A line that is what it must be."""

    role: str
    time: tuple[int, int] | None
    session: str | None
    uuid: str | None
    pieces: tuple[str, ...]

    def texts(self) -> tuple[str, ...]:
        """Everything that a query looks at."""
        return (*self.pieces, *(text for text in (self.session, self.uuid) if text is not None))


def text(value: Any) -> str:
    """A string, or the line is bad; a lone surrogate is not one."""
    if not isinstance(value, str):
        raise BadLineError("not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadLineError("a lone surrogate") from None
    return value


def depth(line: str) -> int:
    """How deep brackets outside strings nest."""
    deepest = now = 0
    for bracket in re.findall(r"[\[{\]}]", re.sub(r'"(?:\\.|[^"\\])*"?', "", line)):
        now = now + 1 if bracket in "[{" else max(now - 1, 0)
        deepest = max(deepest, now)
    return deepest


def refuse(word: str) -> Any:
    """`NaN` and `Infinity` are no JSON."""
    raise BadLineError(word)


def parse_line(raw: bytes) -> Message:
    """The message of a line.

    Raises:
        BadLineError: it is not one.
    """
    try:
        line = raw.decode()
    except UnicodeDecodeError:
        raise BadLineError("not UTF-8") from None
    if depth(line) > DEEPEST:
        raise BadLineError("too deep")
    try:
        parsed = json.loads(
            line,
            object_pairs_hook=lambda items: Pairs(tuple(items)),
            parse_constant=refuse,
            parse_int=float,
        )
    except ValueError as error:
        raise BadLineError(str(error)) from None
    if not isinstance(parsed, Pairs) or line.strip(" \t\r\n") != line.strip():
        raise BadLineError("not an object")
    known = parsed.known(KNOWN_LINE)
    for key in ("type", "summary", "sessionId", "uuid", "timestamp"):
        if key in known:
            text(known[key])
    item = list(content(known["content"])) if "content" in known else None
    body_content = None
    if "message" in known:
        if not isinstance(known["message"], Pairs):
            raise BadLineError("message")
        body = known["message"].known({"content"})
        body_content = list(content(body["content"])) if "content" in body else None
    role = known.get("type")
    pieces = {
        "summary": [known["summary"]] if "summary" in known else None,
        "system": resolved(item),
        "user": resolved(body_content),
        "assistant": resolved(body_content),
    }.get(role or "")
    if pieces is None:
        raise BadLineError(f"type {role!r}")
    when = known.get("timestamp")
    return Message(
        str(role),
        None if when is None else time_of(when),
        known.get("sessionId"),
        known.get("uuid"),
        tuple(pieces),
    )


def content(value: Any) -> Iterator[str | None]:
    """The pieces of a content; `None` stands for what would be bad if the line used it."""
    if isinstance(value, str):
        yield text(value)
        return
    if not isinstance(value, list):
        raise BadLineError("content")
    for block in value:
        if not isinstance(block, Pairs):
            raise BadLineError("block")
        known = block.known(KNOWN_BLOCK)
        for key in ("type", "text", "thinking", "name"):
            if key in known:
                text(known[key])
        strings = [text(part) for part in all_strings(known.get("input"))]
        inner = list(content(known["content"])) if "content" in known else []
        kind = known.get("type")
        if kind in {"text", "thinking"}:
            yield known.get(kind)
        elif kind == "tool_use":
            yield known.get("name")
            yield from strings
        elif kind == "tool_result":
            yield from inner
        elif kind != "image":
            yield None


def resolved(pieces: list[str | None] | None) -> list[str] | None:
    """The pieces, or `None` if one is missing."""
    if pieces is None or None in pieces:
        return None
    return [piece for piece in pieces if piece is not None]


def all_strings(value: Any) -> Iterator[str]:
    """Strings of a JSON value as they are written, without keys; a key and a number must be sound all the same."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from all_strings(item)
    elif isinstance(value, Pairs):
        for key, item in value.items:
            text(key)
            yield from all_strings(item)
    elif isinstance(value, float) and value in {float("inf"), float("-inf")}:
        raise BadLineError("a number beyond 64 bits")


def time_of(given: str) -> tuple[int, int]:
    """Seconds and nanoseconds since 1970."""
    parsed = TIME.fullmatch(given)
    if parsed is None:
        raise BadLineError("timestamp")
    stem, fraction, zone = parsed.groups()
    try:
        when = datetime.fromisoformat(stem + ("+00:00" if zone == "Z" else zone))
    except ValueError:
        raise BadLineError("timestamp") from None
    passed = when - datetime(1970, 1, 1, tzinfo=UTC)
    return passed.days * 86_400 + passed.seconds, int((fraction or "0").ljust(9, "0"))


def matches(tree: Tree, message: Message) -> bool:
    """Return whether a message matches a query."""
    if isinstance(tree, str):
        return any(tree.casefold() in item.casefold() for item in message.texts())
    word, *rest = tree
    if word == "and":
        return all(matches(part, message) for part in rest)
    if word == "or":
        return any(matches(part, message) for part in rest)
    if word == "not":
        return not matches(rest[0], message)
    pattern, flags = rest
    regex = re.compile(pattern, sum(getattr(re, flag.upper()) for flag in flags))
    return any(regex.search(item) for item in message.texts())


def digest(message: Message, offset: int, name: str) -> bytes:
    """SHA-256 over every field behind its length."""
    moment = b""
    if message.time is not None:
        seconds, nanoseconds = message.time
        moment = seconds.to_bytes(8, "little", signed=True) + nanoseconds.to_bytes(4, "little")
    fields = [name.encode(), offset.to_bytes(8, "little"), message.role.encode(), moment]
    for item in (message.session, message.uuid):
        fields += [b"0" if item is None else b"1", (item or "").encode()]
    fields += [piece.encode() for piece in message.pieces]
    return hashlib.sha256(
        b"".join(len(field).to_bytes(8, "little") + field for field in fields)
    ).digest()


def search(folder: Path, tree: Tree, limit: int, condition: dict[str, str]) -> dict[str, Any]:
    """Total, digest, bad lines by name and number."""
    combined = 0
    total = 0
    hits = []
    bad = []
    files = sorted(folder.rglob("*.jsonl"), key=lambda path: str(path.relative_to(folder)).encode())
    for number, path in enumerate(files):
        name = str(path.relative_to(folder))
        offset = 0
        for count, raw in enumerate(path.read_bytes().split(b"\n"), start=1):
            start, offset = offset, offset + len(raw) + 1
            if not raw.strip(b" \t\r"):
                continue
            try:
                message = parse_line(raw)
            except BadLineError:
                bad.append(f"{name}:{count}")
                continue
            if not (passes(condition, message) and matches(tree, message)):
                continue
            total += 1
            item = digest(message, start, name)
            combined ^= int.from_bytes(item, "big")
            age = (0, 0, 0) if message.time is None else (-1, -message.time[0], -message.time[1])
            hits.append((age, number, start, item))
    newest = hashlib.sha256(b"".join(hit[3] for hit in sorted(hits)[:limit])).hexdigest()[:32]
    both = f"{combined.to_bytes(32, 'big').hex()[:32]}-{newest}"
    return {"total": total, "digest": both, "bad": bad}


def passes(condition: dict[str, str], message: Message) -> bool:
    """Return whether a message passes; one without a time is neither before nor after anything."""
    return (
        condition.get("role") in {None, message.role}
        and condition.get("session") in {None, message.session}
        and (
            "before" not in condition
            or (message.time is not None and message.time < time_of(condition["before"]))
        )
        and (
            "after" not in condition
            or (message.time is not None and message.time > time_of(condition["after"]))
        )
    )


def answers() -> list[dict[str, Any]]:
    """The questions of the fixtures with their answers."""
    return [
        {**query, **search(FIXTURES / "corpus", query["tree"], query["limit"], query["condition"])}
        for query in json.loads((FIXTURES / "questions.json").read_text(encoding="utf-8"))
    ]


def test_the_answers_are_what_the_plain_search_finds() -> None:
    stored = json.loads((FIXTURES / "answers.json").read_text(encoding="utf-8"))
    assert stored == answers()
    assert len({answer["digest"] for answer in stored}) > len(stored) // 2
    assert all(answer["bad"] for answer in stored)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ('{"type":"summary","summary":"s"}', ("s",)),
        ('{"type":"system","content":"c","message":{}}', ("c",)),
        (
            '{"type":"user","message":{"content":[{"type":"tool_use","name":"n","input":{"k":["a",{"b":"c"},1]}}]}}',
            ("n", "a", "c"),
        ),
        (
            '{"type":"user","message":{"content":[{"type":"tool_result","content":"r"},{"type":"image"}]}}',
            ("r",),
        ),
    ],
)
def test_text_of_each_kind(line: str, pieces: tuple[str, ...]) -> None:
    assert parse_line(line.encode()).pieces == pieces


def test_time_is_a_point_in_time() -> None:
    assert time_of("1970-01-01T01:00:00.5+01:00") == (0, 500_000_000)
    with pytest.raises(BadLineError):
        time_of("2025-02-29T00:00:00Z")


if __name__ == "__main__":
    written = json.dumps(answers(), indent=1, ensure_ascii=False) + "\n"
    (FIXTURES / "answers.json").write_text(written, encoding="utf-8")
