"""Options that `ab`, `sweep`, `ablate` and `init` share are declared once, as dataclasses."""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from bench_framework.cli.arguments import OPTIONS, names_in, with_options
from bench_framework.model.plan.invocation import CrateSelection, RequestOptions


@pytest.mark.parametrize("kind", [RequestOptions, CrateSelection])
def test_each_field_has_an_option(kind: Any) -> None:
    assert {field.name for field in fields(kind)} <= {*OPTIONS}


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


def test_a_list_has_each_of_its_names_once() -> None:
    assert names_in("wall, cpu,wall") == ("wall", "cpu")
