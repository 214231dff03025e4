"""Find words and names that docs/style.md rules out. `python tests/docs/language.py [PATH...]`."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("deny-list.toml")
READ = {".md", ".py", ".pyi", ".rs", ".toml", ".yaml", ".j2", ".js", ".css", ".sh"}
NOT_READ = ("tests/fixtures/search/", "native/Cargo.lock", "docs/reference/scenario.schema.json")
REPORTS = ("tests/golden/report.md", "tests/golden/report-")
DOCSTRING_STARTS = ("What", "Whether", "Of", "That")


@dataclass(frozen=True)
class Rule:
    """A pattern of words, what to write instead, and where it applies."""

    words: str
    pattern: re.Pattern[str]
    say: str
    reports_only: bool
    unless: re.Pattern[str] | None


@dataclass(frozen=True)
class Finding:
    """One place with a word that the style guide rules out."""

    path: str
    line: int
    word: str
    say: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word!r}: write {self.say}"


@lru_cache
def rules() -> tuple[tuple[Rule, ...], frozenset[str], tuple[tuple[str, str | None], ...]]:
    """Read the deny-list: rules, names, and exceptions as (path, words)."""
    data = tomllib.loads(LIST.read_text(encoding="utf-8"))
    read = tuple(
        Rule(
            entry["words"],
            whole_words(entry["words"]),
            entry["say"],
            entry.get("where") == "reports",
            re.compile(entry["unless"]) if "unless" in entry else None,
        )
        for entry in data["deny"]
    )
    allowed = tuple((entry["path"], entry.get("words")) for entry in data["allow"])
    assert all(entry["reason"] for entry in data["allow"])
    return read, frozenset(data["names"]["deny"]), allowed


@lru_cache
def any_rule() -> re.Pattern[str]:
    """Return a pattern that finds each line in which a rule may find something."""
    return whole_words("|".join(rule.words for rule in rules()[0]))


def whole_words(words: str) -> re.Pattern[str]:
    """Compile a pattern of words, which may be separated by spaces or underscores."""
    text = rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])".replace(" ", r"[\s_]+")
    return re.compile(text, re.IGNORECASE)


def tracked_files() -> list[str]:
    """Return the text files of the repository, as git lists them."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [
        path
        for path in listed.stdout.splitlines()
        if (Path(path).suffix in READ or path.startswith("tests/golden/"))
        and not path.startswith(NOT_READ)
        and (ROOT / path).is_file()
    ]


def findings(path: str) -> Iterator[Finding]:
    """Yield every finding in one file; `path` is relative to the root."""
    read, names, allowed = rules()
    exceptions = [words for pattern, words in allowed if fnmatch(path, pattern)]
    if None in exceptions:
        return
    text = (ROOT / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if not any_rule().search(line):
            continue
        for rule in read:
            if rule.reports_only and not path.startswith(REPORTS):
                continue
            for match in rule.pattern.finditer(line):
                excepted = any(re.fullmatch(str(e), match[0], re.IGNORECASE) for e in exceptions)
                if not excepted and not (rule.unless and rule.unless.search(line)):
                    yield Finding(path, number, match[0], rule.say)
    if path.endswith(".py"):
        yield from name_findings(path, ast.parse(text), names, exceptions)


def name_findings(
    path: str, tree: ast.Module, denied: frozenset[str], exceptions: list[str | None]
) -> Iterator[Finding]:
    """Yield names that are participles or pronouns, and docstrings that start with a conjunction."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.arg):
            names = [node.arg]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        for name in names:
            excepted = any(re.fullmatch(str(words), name) for words in exceptions)
            if name.lower().strip("_") in denied and not excepted:
                yield Finding(path, getattr(node, "lineno", 0), name, "a noun that says what it is")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str) and text.split(" ", 1)[0].strip() in DOCSTRING_STARTS:
                yield Finding(
                    path, node.lineno, text.split(" ", 1)[0], "an imperative verb or a noun phrase"
                )


def main() -> int:
    """Print the findings of the given files or folders, or of the whole repository."""
    prefixes = tuple(sys.argv[1:])
    paths = [p for p in tracked_files() if not prefixes or p.startswith(prefixes)]
    places = [place for path in paths for place in findings(path)]
    sys.stdout.writelines(f"{place}\n" for place in places)
    sys.stderr.write(f"{len(places)} places in {len({p.path for p in places})} files\n")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
