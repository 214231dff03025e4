"""Options that `ab`, `sweep`, `ablate` and `init` share are declared once, as dataclasses."""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from bench_framework.cli.arguments import ProgramOptions, RequestOptions, with_options
from bench_framework.workflow.scenarios.command_lines import Ablation, Commands, Sweep


@pytest.mark.parametrize(
    ("options", "request_type"),
    [(RequestOptions, Commands), (ProgramOptions, Sweep), (ProgramOptions, Ablation)],
)
def test_each_option_is_a_field_of_its_request(options: Any, request_type: Any) -> None:
    values = options().values
    assert {field.name for field in fields(options)} < values.keys()
    assert values.keys() <= {field.name for field in fields(request_type)}


@dataclass(frozen=True)
class Pair:
    first: Annotated[str | None, typer.Option(metavar="A")] = None
    second: Annotated[int, typer.Option("--number", "-n")] = 2


def test_a_command_has_the_options_of_its_dataclass_and_its_own() -> None:
    received: list[object] = []

    @with_options
    def command(word: str = "w", *, pair: Pair, flag: bool = False) -> None:
        """Do something."""
        received.extend((word, pair, flag))

    assert [*inspect.signature(command).parameters] == ["word", "first", "second", "flag"]
    assert command.__doc__ == "Do something."
    app = typer.Typer()
    app.command()(command)
    assert (
        CliRunner().invoke(app, ["--word", "x", "--first", "a", "-n", "3", "--flag"]).exit_code == 0
    )
    assert CliRunner().invoke(app, []).exit_code == 0
    assert received == ["x", Pair("a", 3), True, "w", Pair(None, 2), False]
    assert "--pair" not in CliRunner().invoke(app, ["--help"]).output
