"""``benchctl help``: explanations of error codes, exit codes and commands."""

from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer import Argument

from bench_framework.cli.console import Console
from bench_framework.errors import UsageError
from bench_framework.text.errors import explanations
from bench_framework.text.lines import wrap

EXIT_CODES = """\
0    success
1    gate: a regression; verify: a difference; audit: a statement is not supported;
     bisect --step: the commit is bad; history --fail-on-change: a change;
     ab and gate --decide: discard; gate --self-test: the gate is broken
2    wrong usage, an invalid scenario, or a file, program or revision that does not exist
3    a build, a configuration or the machine failed; everything else is reported
4    gate: something could not be judged; bisect: no single commit was found;
     ab and gate --decide: more data
70   internal error; the traceback is saved and its path is printed
125  bisect --step: inconclusive, so git skips the commit
128  bisect --step: used instead of 2, 3, 4 and 70, so that `git bisect run` ends
130  interrupted; repeat the same command to resume

If several apply, the first of 3, 1, 4 is returned. The report is written before exit in every case."""

EXAMPLES = """
benchctl help exit-codes
benchctl help BC104
benchctl help run
"""
TOPICS = """\
benchctl help exit-codes   meaning of the exit codes
benchctl help CODE         meaning of an error or warning, such as BC104 or BX201
benchctl help COMMAND      usage of a command, the same as benchctl COMMAND --help

commands: {commands}
codes: {codes}"""


def explain(
    context: typer.Context,
    topic: Annotated[
        str | None,
        Argument(metavar="TOPIC", help="exit-codes, a code such as BC104 or BX201, or a command."),
    ] = None,
) -> None:
    """Explain an error code, the exit codes or a command; without a topic, list all topics."""
    console: Console = context.obj
    if topic in {"exit-codes", "exit_codes"}:
        console.emit(EXIT_CODES)
        return
    codes = {code: f"{code}: " + "\n\n".join(text) for code, text in explanations().items()}
    assert context.parent is not None
    commands: dict[str, Any] = getattr(context.parent.command, "commands", {})
    if topic is None:
        text = TOPICS.format(commands=", ".join(sorted(commands)), codes=", ".join(sorted(codes)))
        for line in text.splitlines():
            console.emit("\n".join(wrap(line, console.width, rest="  ")))
    elif topic.upper() in codes:
        console.emit(codes[topic.upper()])
    elif topic in commands:
        command = commands[topic]
        console.emit(
            command.get_help(type(context)(command, info_name=topic, parent=context.parent))
        )
    else:
        close = get_close_matches(topic, [*codes, *commands, "exit-codes"], n=1)
        hint = f"did you mean `{close[0]}`?  " if close else ""
        raise UsageError("BX100.no-help", topic=topic, hint=hint)
