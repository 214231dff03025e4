"""A hostile repository: which of its programs run, and whether benchctl changes anything in it.

Each trap adds programs or settings to a repository. The programs note their names, so that an attack sees
which of them ran. A trap names those that may run, which docs/limits.md lists. Before and after each command, every
file of the repository is compared, with HEAD, index, references and configuration.
"""

import hashlib
import random
import re
import shutil
import stat
from pathlib import Path

from harness import Attack, Box, require
from kills import crate_box
from traps import COMMITS, KINDS, Kind, Trap, hooks

from tests.integration.processes import git

SCENARIO = "project/scenario.yaml"
TRAPPED = ("gate", SCENARIO, "--base", "c0")
"""The command that meets each trap. It compares a commit with the working tree."""
COMMANDS = {
    "gate": ("gate", SCENARIO, "--base", "c0", "--head", "c3"),
    "bisect": ("bisect", SCENARIO, "--good", "c0", "--bad", "c3"),
    "history --backfill": ("history", SCENARIO, "--backfill", "c1..c3"),
    "plan --base": ("plan", SCENARIO, "--base", "c0"),
}
WORKS = (0, 1)
"""Exit codes of a command that measured: the last commits are slower."""
ENDS = (0, 1, 2, 3, 4)
"""Exit codes with a message. Others are internal errors."""
PLACES = ("no variables", "GIT_DIR", "GIT_DIR and all others", "GIT_DIR of another one")


def state(folder: Path) -> dict[str, str]:
    """Return the kind, mode and content of everything in a folder."""
    states = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        content = ""
        if stat.S_ISLNK(status.st_mode):
            content = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        states[str(path.relative_to(folder))] = f"{status.st_mode:o} {content}"
    return states


def ran(box: Trap) -> list[str]:
    return sorted(set(box.notes.read_text().split())) if box.notes.is_file() else []


def judged(
    box: Trap, words: tuple[str, ...], may_run: frozenset[str], codes: tuple[int, ...]
) -> str:
    """Run a command. Require one of the exit codes, a message, and that only programs ran that may."""
    code = box(*words)
    text = box.output()
    programs = ran(box)
    met = f"exit {code}" + (f" ({', '.join(programs)} ran)" if programs else "")
    require(code in codes, f"{met}: {text[-1500:]}")
    require(code in (0, 1) or re.search(r"error\[B[CX]\d+\]", text), f"{met}: no message")
    error = re.search(r"Traceback|BX900|BX237", text)
    require(not error, text[error.start() :][:900] if error else "")
    require(set(programs) <= may_run, f"{programs} ran: {text[-900:]}")
    return met


def require_unchanged(before: dict[str, str], now: dict[str, str]) -> None:
    changed = sorted(
        name for name in before.keys() | now.keys() if before.get(name) != now.get(name)
    )
    require(not changed, f"changed in the repository: {changed[:9]}")


def trap(prepared: Box, kind: Kind) -> Attack:
    """Attack a gate with one trap."""

    def case(path: Path, _: int, __: random.Random) -> str:
        box = trapped(prepared, path)
        kind.make(box)
        box.notes.unlink(missing_ok=True)
        folders = [
            folder
            for name in ("project", "others", "outside", "victim", "elsewhere")
            if (folder := box.path / name).is_dir()
        ]
        # git then reads the content of the file, with its filters, and not only the index.
        (box.project / "counter" / "src" / "main.rs").touch()
        before = {folder: state(folder) for folder in folders}
        met = judged(box, TRAPPED, kind.may_run, WORKS if kind.works else ENDS)
        for folder in folders:
            require_unchanged(before[folder], state(folder))
        return met

    return Attack(f"`gate` of a repository: {kind.make.__name__.replace('_', ' ')}", case, 1)


def surroundings(prepared: Box, name: str, *, quick: bool) -> Attack:
    """Attack a command by variables that name a repository, in a main and in a linked worktree."""

    # The other commands use the same functions, and build and measure more often.
    places = PLACES if name in {"gate", "plan --base"} and not quick else PLACES[2:3]

    def case(path: Path, number: int, _: random.Random) -> str:
        where, linked = places[number % len(places)], number >= len(places)
        box = trapped(prepared, path)
        main = box.project
        if linked:
            main = box.path / "main"
            box.project.rename(main)
            git(main, "checkout", "-q", "--detach")
            git(main, "worktree", "add", "-q", str(box.project), "main")
        other = box.path / "other"
        other.mkdir()
        git(other, "init", "-q", "-b", "main")
        git(other, "commit", "-q", "--allow-empty", "-m", "first")
        (other / "file").touch()
        git(other, "add", "file")
        for folder in (main, other):
            hooks(Trap(box.path), folder)
        top = git(other if "other" in where else box.project, "rev-parse", "--absolute-git-dir")
        tree = str(other if "other" in where else box.project)
        variables = {"GIT_DIR": top} if "GIT_DIR" in where else {}
        if "all" in where:
            variables |= {
                "GIT_WORK_TREE": tree,
                "GIT_INDEX_FILE": f"{top}/index",
                "GIT_OBJECT_DIRECTORY": git(Path(tree), "rev-parse", "--git-path", "objects"),
                "GIT_COMMON_DIR": git(Path(tree), "rev-parse", "--git-common-dir"),
                "GIT_PREFIX": "counter/",
                "GIT_NAMESPACE": "x",
            }
        box = Trap(path, tuple(variables.items()))
        folders = {box.project, main, other}
        before = {folder: state(folder) for folder in folders}
        met = judged(box, COMMANDS[name], frozenset(), WORKS)
        for folder in folders:
            require_unchanged(before[folder], state(folder))
        return f"{'linked' if linked else 'main'} worktree, {where}: {met}"

    return Attack(f"`{name}` with variables of git", case, 2 * len(places))


def trapped(prepared: Box, path: Path) -> Trap:
    shutil.copytree(prepared.path, path, symlinks=True)
    box = Trap(path)
    box.fail()
    return box


def attacks(folder: Path, *, quick: bool) -> list[Attack]:
    prepared = crate_box(folder / "repository", COMMITS, 2)
    kinds = KINDS[::9] if quick else KINDS
    commands = ["gate"] if quick else [*COMMANDS]
    return [
        *(trap(prepared, kind) for kind in kinds),
        *(surroundings(prepared, name, quick=quick) for name in commands),
    ]
