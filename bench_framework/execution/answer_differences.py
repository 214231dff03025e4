"""Differences of two compared texts: the first differing lines, their share, and what would help."""

import itertools
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.text.answers import EMPTY_LINE, NO_LINE, line_difference
from bench_framework.text.numbers import shortest
from bench_framework.text.reasons import phrase_of

CONTEXT_LINES: Final = 10
_CONTEXT: Final = 20
"""Characters before a varying number that are proposed with it."""
LONGEST_LINE: Final = 160
"""Characters of a differing line in a message."""
_LONGEST_SEARCHED: Final = 4096
"""Characters of lines that are searched for what varies; the time is quadratic in the length."""
LARGEST_INDENTED: Final = 4 << 20
"""JSON above this size is not indented to show a difference: Python needs a second per 4 MiB."""
_NUMBER: Final = re.compile(rb"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
_FRACTIONAL: Final = re.compile(rb"[.eE]")
_VARYING: Final = (
    (PhraseCode.A_DATE, r"\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?"),
    (PhraseCode.A_TIME_OF_DAY, r"\d\d:\d\d(:\d\d(\.\d+)?)?"),
    (PhraseCode.A_TIME, r"[\d.]+ ?ms"),
    (PhraseCode.A_TIME, r"[\d.]+ ?([nuµm]?s|min)\b"),
    (PhraseCode.AN_ADDRESS, r"0x[0-9a-f]+"),
    (PhraseCode.A_PATH, r"/tmp/\S+"),  # noqa: S108 -- a pattern
)
"""Patterns of texts that vary from run to run."""
_LAST_DIGITS: Final = (1e-12, 1e-9, 1e-6)
"""Tolerances that are proposed, the smallest first."""


@dataclass(frozen=True, slots=True)
class LineDifference:
    """The first differing lines of two texts."""

    number: int
    """Number of the first one, from 1."""
    pairs: tuple[tuple[bytes | None, ...], ...]
    """The first lines that differ, of the reference and of the other text; `None` after its end."""
    policy: AnswerPolicy

    permuted: bool = False
    """True if the texts have the same lines in another order."""

    def details(self, theirs: str, ours: str, saved: str = "") -> tuple[tuple[str, str], ...]:
        """Return the first differing line of both sides with their labels, as a detail."""
        sides = tuple(zip((theirs, ours), _excerpts(*self.pairs[0]), strict=True))
        return (line_difference(self.number, self.policy, sides, saved),)

    def text(self) -> str:
        """Return the differing lines as a file."""
        lines = [
            f"{sign} {line.decode(errors='replace').rstrip()}\n"
            for pair in self.pairs
            for sign, line in zip("-+", pair, strict=True)
            if line is not None
        ]
        head = phrase_of(PhraseCode.DIFFERING_LINES, self.number)
        return "".join((f"{head}\n", *lines))

    def advice(self, *, varying: bool = False, option: bool = False) -> Phrase | None:
        """Return what differs and the form of `answer` that would ignore it; `None` if unknown.

        `varying` is true for two runs of one command. A number is then not a wrong result. With `option`,
        the form is for a command line.
        """
        policy, form = self.policy, partial(_form, self.policy, option=option)
        if self.permuted:
            return _differing(PhraseCode.THEIR_ORDER, form("compare", "sorted-lines"))
        both = [(left, right) for left, right in self.pairs if left is not None is not right]
        if len(both) < len(self.pairs):
            return None
        texts = [(a.decode(errors="replace"), b.decode(errors="replace")) for a, b in both]
        if (keys := _json_keys(texts, policy)) is not None:
            if not keys:
                return Phrase(PhraseCode.EQUAL_JSON, form("compare", "json"))
            ignored = f"{{ignore: [{', '.join((*policy.json_ignore, *keys))}]}}"
            return Phrase(PhraseCode.IN_KEYS, form("json", ignored))
        short = max(len(text) for pair in texts for text in pair) <= _LONGEST_SEARCHED
        for code, pattern in _VARYING if short else ():
            if _equal_without(pattern, texts):
                return _differing(code, form("ignore", _ignored(policy, pattern)))
        for tolerance in _LAST_DIGITS:
            if all(_is_close(a, b, tolerance, integers=False) for a, b in both):
                return _differing(PhraseCode.LAST_DIGITS, form("tolerance", shortest(tolerance)))
        pattern = _number_in_context(*texts[0]) if varying else ""
        if pattern and _equal_without(pattern, texts):
            return _differing(PhraseCode.A_NUMBER, form("ignore", _ignored(policy, pattern)))
        return None


def _equal_without(pattern: str, texts: Sequence[tuple[str, str]]) -> bool:
    return all(re.sub(pattern, "", a) == re.sub(pattern, "", b) for a, b in texts)


def first_difference(policy: AnswerPolicy, reference: Path, text: Path) -> LineDifference | None:
    """Return the first lines that differ; `None` if a file is missing or the lines are equal."""
    if not reference.is_file() or not text.is_file():
        return None
    with reference.open("rb") as expected, text.open("rb") as actual:
        same = _same(policy)
        both: list[Iterable[bytes]] = [expected, actual]
        if policy.compare == "json":
            both = [_indented(expected.read()), _indented(actual.read())]
        pairs = enumerate(itertools.zip_longest(*both), start=1)
        unequal = ((n, pair) for n, pair in pairs if not same(*pair))
        differing = list(itertools.islice(unequal, CONTEXT_LINES + 1))
    if not differing:
        return None
    permuted = (
        policy.compare == "exact"
        and reference.stat().st_size == text.stat().st_size
        and Counter(reference.read_bytes().splitlines()) == Counter(text.read_bytes().splitlines())
    )
    return LineDifference(differing[0][0], tuple(pair for _, pair in differing), policy, permuted)


def differing_share(policy: AnswerPolicy, reference: Path, text: Path) -> float:
    """Return the share of lines that differ, 0 to 1, of the longer text.

    Lines count in pairs from the start, or, if fewer differ then, after lines that only one text
    contains are left out.
    """
    theirs, ours = (path.read_bytes().splitlines() for path in (reference, text))
    same = _same(policy)
    pairs = sum(not same(*pair) for pair in itertools.zip_longest(theirs, ours))
    count = pairs
    if pairs and policy.tolerated_share:
        lost, added = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
        rest = zip(_without(theirs, lost), _without(ours, added), strict=True)
        count = min(pairs, max(lost.total(), added.total()) + sum(a != b for a, b in rest))
    return count / max(len(theirs), len(ours), 1)


def _without(lines: Sequence[bytes], surplus: Counter[bytes]) -> list[bytes]:
    """Return the lines without the last occurrences of those that the other text lacks."""
    left, common = Counter(surplus), []
    for line in reversed(lines):
        if left[line] > 0:
            left[line] -= 1
        else:
            common.append(line)
    return common[::-1]


def _same(policy: AnswerPolicy) -> Callable[[bytes | None, bytes | None], bool]:
    tolerance = policy.tolerance
    if not tolerance:
        return lambda a, b: a == b
    return lambda a, b: a == b or (a is not None is not b and _is_close(a, b, tolerance))


def _is_close(one: bytes, other: bytes, tolerance: float, *, integers: bool = True) -> bool:
    """Return whether two lines differ only in numbers, by at most the relative tolerance.

    Without `integers`, two differing integers are never close: they have no rounding error.
    """
    ours, theirs = _NUMBER.split(one.rstrip()), _NUMBER.split(other.rstrip())
    if len(ours) != len(theirs) or ours[::2] != theirs[::2]:
        return False
    pairs = [(a, b) for a, b in zip(ours[1::2], theirs[1::2], strict=True) if a != b]
    if not integers and any(not _FRACTIONAL.search(a + b) for a, b in pairs):
        return False
    numbers = ((float(a), float(b)) for a, b in pairs)
    return all(math.isfinite(a) and math.isclose(a, b, rel_tol=tolerance) for a, b in numbers)


def _indented(text: bytes) -> list[bytes]:
    """Return JSON in lines, or as it is if it is large."""
    if len(text) > LARGEST_INDENTED:
        return [text]
    return json.dumps(json.loads(text), indent=1).encode().splitlines()


def _json_keys(texts: Sequence[tuple[str, str]], policy: AnswerPolicy) -> list[str] | None:
    """Return the keys of JSON objects whose values differ; `None` if something else differs."""
    keys: dict[str, None] = {}
    for pair in texts:
        if policy.compare == "json":  # a line of the indented text
            matches = [re.fullmatch(r'\s*"([^"\\]+)": .*', text.rstrip()) for text in pair]
            names = {match[1] if match else None for match in matches}
            if None in names or len(names) > 1:
                return None
            keys |= dict.fromkeys(filter(None, names))
            continue
        try:
            one, other = (json.loads(text) for text in pair)
        except (ValueError, RecursionError):
            return None
        if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
            return None
        keys |= {key: None for key in one if one[key] != other[key]}
    return list(keys)


def _number_in_context(one: str, other: str) -> str:
    """Return a pattern of the first number that differs, with the text before it, or nothing."""
    ours, theirs = (_NUMBER.split(text.encode()) for text in (one, other))
    pairs = enumerate(zip(ours, theirs, strict=False))
    first = next((n for n, (a, b) in pairs if a != b), 0)
    before = ours[first - 1].decode(errors="replace")[-_CONTEXT:] if first % 2 else ""
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", before) + r"[\d.]+" if before.strip() else ""


def _differing(code: PhraseCode, form: Phrase) -> Phrase:
    return Phrase(PhraseCode.LINES_DIFFER, (Phrase(code), form))


def _ignored(policy: AnswerPolicy, pattern: str) -> str:
    quoted = ("'" + text.replace("'", "''") + "'" for text in (*policy.ignore, pattern))
    return f"[{', '.join(quoted)}]"


def _form(policy: AnswerPolicy, key: str, value: str, *, option: bool) -> Phrase:
    if option:
        return Phrase(PhraseCode.ANSWER_OPTION, _quoted(key, value))
    others = policy.edited or policy.file or policy.differs != "refuse" or policy.tolerance
    return Phrase(PhraseCode.ANSWER_KEY if others else PhraseCode.ANSWER_FORM, (key, value))


def _quoted(key: str, value: str) -> str:
    """Return a form of `answer` as a word of a command line."""
    text = value if key == "compare" else f"{{{key}: {value}}}"
    # Double quotes are easier to read if the form contains single quotes.
    plain = "'" in text and not re.search(r'[$`"!]|\\\\', text)
    return f'"{text}"' if plain else shlex.quote(text)


def _excerpts(*pair: bytes | None) -> tuple[str, ...]:
    """Return both lines as text. Of long lines, the part around the first difference is left."""
    texts = ["" if line is None else line.decode(errors="replace").rstrip() for line in pair]
    common = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
    longest = max(map(len, texts))
    start = max(0, common - LONGEST_LINE // 2) if longest > LONGEST_LINE else 0
    excerpts = []
    for line, text in zip(pair, texts, strict=True):
        part = text[start : start + LONGEST_LINE]
        part = f"{'…' if start else ''}{part}{'…' if start + LONGEST_LINE < len(text) else ''}"
        excerpts.append(NO_LINE if line is None else part or EMPTY_LINE)
    return tuple(excerpts)
