"""``benchctl init``: write a first scenario and its schema, a CI workflow, or a notebook."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import AFTER_DASHES, InputFile, WordsCommand, with_options
from bench_framework.cli.console import Console
from bench_framework.errors import Interrupted
from bench_framework.model.plan.invocation import CiService, CrateSelection
from bench_framework.text.lines import wrap

EXAMPLES = """
benchctl init
benchctl init -- --count data.txt
benchctl init --package cli --input data.txt -- {bin} --count {input}
benchctl init bench --crate ../parser --bin parse --yes -- words.txt
benchctl init --registry ripgrep -- word data.txt   # its last releases
benchctl init --registry ripgrep@14.1.0 --input data.txt -- word {input}
benchctl init --ci github bench/parse.yaml
benchctl init --notebook bench/parse.yaml
"""
SUBJECT = 10
COMMAND = WordsCommand


@dataclass(frozen=True, slots=True)
class InitDocument:
    """The result of `init`."""

    files: tuple[Path, ...]
    """The files that were written."""
    next: tuple[str, ...]
    """Commands or a sentence: the next steps."""
    guesses: tuple[tuple[str, str], ...] = ()
    """Subject and text of each guess about the crate."""


@with_options
def init(
    context: typer.Context,
    folder: Annotated[
        Path,
        Argument(
            metavar="DIR", help="Folder to write to. With --ci and --notebook, the scenario file."
        ),
    ] = Path("bench"),
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="-- ARGS",
            help="Arguments of one run of the program. If exactly one of them is a file, it "
            "becomes the input, {input}. Default with --input: {input}. Only `--`: the program needs "
            "no arguments.",
        ),
    ] = None,
    *,
    selection: CrateSelection,
    input_file: InputFile = None,
    registry: Annotated[
        str | None,
        Option(
            "--registry",
            metavar="NAME[@VERSION]",
            help="Released crate in place of a folder; cargo fetches it from its registry into the cache. "
            "Without a version, the scenario compares its last three releases.",
        ),
    ] = None,
    ci: Annotated[
        CiService | None,
        Option(help="Write a CI workflow that fails if the scenario becomes slower."),
    ] = None,
    source: Annotated[
        str | None,
        Option(
            "--from",
            metavar="URL@REV",
            help="Repository from which CI installs benchctl; default: that of this installation.",
        ),
    ] = None,
    notebook: Annotated[
        bool, Option("--notebook", help="Write a Jupyter notebook that analyses the newest record.")
    ] = False,
    yes: Annotated[
        bool, Option("--yes", help="Use defaults, even if there is a terminal.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a scenario for the crate in this folder, or an example scenario.

    In a crate, the scenario builds its binary. The binary, the features and the
    profile are read from `cargo metadata` and the sources. Each guess is printed.
    For a crate with benchmarks, without ARGS, it measures all of them, as `--bench
    all` does; on a terminal, benchctl asks if the crate has a binary, too.
    `--registry` does the same for a released crate. On a terminal, benchctl
    asks for what is missing. Outside of a crate, it writes an example. It also
    writes the JSON Schema of scenarios, for editors, and prints the command with
    which git ignores the records. `--ci` and `--notebook` write a CI workflow and
    a notebook for an existing scenario.
    """
    from bench_framework.workflow.scenarios import bench_scenario, crate_scenario
    from bench_framework.workflow.scenarios.new_files import (
        command_to_ignore,
        start_folder,
        write_ci,
        write_notebook,
    )

    console: Console = context.obj
    words = context.meta[AFTER_DASHES]  # typer makes None of an empty list
    given = (*astuple(selection), input_file, words, registry)
    if notebook or ci is not None or source is not None:
        if yes or any(v is not None for v in (*given, *((ci, source) if notebook else ()))):
            raise typer.BadParameter(
                "it writes no scenario: leave out the others",
                param_hint="--notebook" if notebook else "--ci",
            )
        if notebook:
            _print_files(console, *write_notebook(folder, console.results, force=force))
        elif ci is None:
            raise typer.BadParameter("add --ci github or --ci gitlab", param_hint="--from")
        else:
            _print_files(console, *write_ci(ci, folder, source=source, force=force))
        return
    options = crate_scenario.CrateOptions(
        **vars(selection), folder=folder, input=input_file, words=words, registry=registry
    )
    if registry is not None:
        console.say(f"reading the sources of {registry}")
    draft = crate_scenario.Draft("scenario")
    if crate_scenario.crate_above() or any(value is not None for value in given):
        terminal = sys.stdin.isatty() and sys.stderr.isatty() and not yes
        ask = _ask if terminal else None
        draft = bench_scenario.draft_of_benches(options, ask) or crate_scenario.draft_scenario(
            options, ask
        )
    files = start_folder(folder, name=draft.name, text=draft.text or None, force=force)
    for subject, text in draft.guesses:
        console.say_lines(
            "\n".join(wrap(text, console.width, f"{subject:<{SUBJECT}}", " " * SUBJECT))
        )
    for path in files:
        console.say(f"wrote {path}")
    following = [f"benchctl {word} {shlex.quote(str(files[0]))}" for word in draft.commands]
    if ignoring := command_to_ignore(console.results):
        following.insert(0, ignoring)
    if console.json:
        console.emit_json(InitDocument(tuple(files), tuple(following), tuple(draft.guesses)))
    else:
        console.say("next: check the scenario, then measure:")
        console.emit("\n".join(following))


def _print_files(console: Console, files: Sequence[Path], left: str) -> None:
    for path in files:
        console.say(f"wrote {os.path.relpath(path)}")
    if console.json:
        console.emit_json(InitDocument(tuple(files), (left,)))
    else:
        console.say(left)


def _ask(what: str, names: Sequence[str], default: str) -> str:
    def read(text: str) -> str:
        if names and text not in names:
            raise typer.BadParameter(f"choose one of: {', '.join(names)}")
        return text

    text = f"{what} ({', '.join(names)})" if names else what
    preset = default if default or not names else None
    try:
        answer: str = typer.prompt(
            text, default=preset, value_proc=read, show_default=bool(default), err=True
        )
    except typer.Abort:
        raise Interrupted("BX130.questions") from None
    return answer
