"""`server`: what a scenario may say, and the plan of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.execution.target import target_of
from bench_framework.model.plan.arguments import BIN, PORT, filled
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.server import Server
from bench_framework.model.record.run import Build
from bench_framework.store import wire
from tests.unit.scenario.conftest import Plans, Refuses

HEAD = "version: 1\nname: n\nquestion: q\nworker: {command: [/usr/bin/srv]}\n"
CLIENT = 'command: [load, "http://127.0.0.1:{port}/"]\n'
TEXT = 'server: {command: ["{bin}", "{port}"]}\n' + CLIENT
CRATE = "version: 1\nname: n\nquestion: q\nworker: {git: 'https://x.invalid/r', bin: srv}\n"
AXIS = "axes: {mode: {a: {args: [--a]}, b: {command: [./other, '{port}'], args: [--b]}}}\n"


def server_of(plan: Plan) -> Server:
    server = plan.cells[0].server
    assert server is not None
    return server


def test_a_plan_has_a_server_for_each_configuration(plans: Plans) -> None:
    plan = plans(TEXT + "axes: {n: [1, 2]}\nbaseline: {n: 1}\nenv: {N: '{n}'}", head=HEAD)
    assert plan.server
    address = ("127.0.0.1:", PORT)
    usual = Server(((BIN,), (PORT,)), "tcp", address, 10.0, "TERM", (), "sample", None)
    assert {cell.server for cell in plan.cells} == {usual}
    assert wire.load_plan(wire.dump_plan(plan)) == plan
    assert not plans("command: ['{bin}']").server


def test_the_default_command_of_a_server_is_that_of_the_worker(plans: Plans) -> None:
    head = HEAD.replace("srv", "srv, --log, '{port}'")
    assert server_of(plans("server: {}\n" + CLIENT, head=head)).command[1:] == (("--log",), (PORT,))
    server = server_of(plans("server: {ready: {line: up}}\n" + CLIENT, head=CRATE))
    assert (server.command, server.ready, server.awaited) == (((BIN,),), "line", ("up",))


def test_every_key_reaches_the_plan(plans: Plans) -> None:
    text = """
    server:
      command: ["{bin}", "{port}"]
      ready: {http: "http://localhost:{port}/{path}", within: 2m}
      stop: [kill-it, "{port}"]
      restart: session
      cpus: 0-1
    fixed: {path: up}
    """
    expected = Server(
        ((BIN,), (PORT,)),
        "http",
        ("http://localhost:", PORT, "/up"),
        120.0,
        "",
        (("kill-it",), (PORT,)),
        "session",
        "0-1",
    )
    assert server_of(plans(text + CLIENT, head=HEAD)) == expected
    by_signal = server_of(plans(TEXT.replace("]}", "], stop: INT}"), head=HEAD))
    assert (by_signal.signal, by_signal.stop) == ("INT", ())


def test_settings_of_axis_values_change_the_server_and_not_its_client(plans: Plans) -> None:
    plan = plans(TEXT + AXIS + "baseline: {mode: a}", head=HEAD)
    commands = [tuple(map(filled, c.server.command)) for c in plan.cells if c.server]
    assert commands[:2] == [("{bin}", "{port}", "--a"), ("{bin}", "{port}", "--b")]
    assert {cell.command for cell in plan.cells} == {(("load",), ("http://127.0.0.1:", PORT, "/"))}
    assert plan.variants[1].build is not None
    assert plan.variants[1].build.bin.endswith("/other")


def test_an_axis_that_only_the_client_uses_is_the_load(plans: Plans) -> None:
    text = "command: [load, '{clients}', '{port}', '{both}']\n" + TEXT.splitlines()[0]
    text = text.replace('"{port}"]', '"{port}", "{both}"]')
    axes = "\naxes: {clients: [1, 10], both: [x, y]}\nbaseline: {both: x}"
    plan = plans(text + axes, head=HEAD)
    assert {axis.name: axis.kind for axis in plan.axes} == {"clients": "input", "both": "run"}
    assert [given.label for given in plan.inputs] == ["clients=1", "clients=10"]
    without = "command: ['{bin}', '{clients}']\naxes: {clients: [1, 10]}\nbaseline: {clients: 1}"
    assert plans(without, head=HEAD).axes[0].kind == "run"


@pytest.mark.parametrize(
    "key", ["stop: [end, '{n}']", "ready: {http: 'http://127.0.0.1:{port}/{n}'}"]
)
def test_an_axis_that_the_start_or_end_of_a_server_uses_is_not_the_load(
    plans: Plans, key: str
) -> None:
    text = TEXT.replace('"]}', f'"], {key}}}').replace("[load", "[load, '{n}'")
    axes = "axes: {n: [1, 2]}\nbaseline: {n: 1}"
    assert plans(text + axes, head=HEAD).axes[0].kind == "run"


def test_a_regular_expression_uses_no_axis(plans: Plans) -> None:
    text = TEXT.replace('"]}', "\"], ready: {line: 'up{n}'}}").replace("[load", "[load, '{n}'")
    assert plans(text + "axes: {n: [1, 2]}", head=HEAD).axes[0].kind == "input"


def test_the_port_is_filled_into_every_command_of_a_cell(plans: Plans) -> None:
    text = TEXT + "prepare: [seed, '{port}']\ncleanup: [wipe, '{port}']\n"
    (cell,) = plans(text, "measure.control=false", head=HEAD).cells
    build = Build("program", ok=True, path="/usr/bin/srv")
    target = target_of(cell, build, None, {})
    assert target.argv == ("load", "http://127.0.0.1:{port}/")
    target = replace(target, env={"A": "1"}).at_port(4711)
    assert target.argv == ("load", "http://127.0.0.1:4711/")
    assert (target.prepare, target.cleanup) == ((("seed", "4711"),), (("wipe", "4711"),))
    assert target.server is not None
    assert target.server.argv == ("/usr/bin/srv", "4711")
    assert target.server.awaited == "127.0.0.1:4711"
    assert target.env == {"A": "1"}


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        ("{command: [/usr/bin/srv, '{port}'], contract: true}", "the worker protocol"),
        ("{git: 'https://x.invalid/r', bench: parse}", "`worker.bench`"),
    ],
)
def test_a_worker_that_is_no_server_is_refused(worker: str, words: str, refuses: Refuses) -> None:
    head = f"version: 1\nname: n\nquestion: q\nworker: {worker}\n"
    problems = refuses(TEXT, head=head).problems
    assert any(f"`server` cannot be combined with {words}" == p.message for p in problems)


def test_pgo_of_a_server_has_a_training_command(plans: Plans) -> None:
    axis = "axes: {{pgo: {{off: {{}}, on: {{pgo: {}}}}}}}\nbaseline: {{pgo: off}}\n"
    plan = plans(TEXT + axis.format("{train: ['{bin}', --self-test]}"), head=CRATE)
    assert len(plan.training) == 1


def test_the_scenarios_of_the_page_are_valid(
    refuses: Refuses, plans: Plans, tmp_path: Path
) -> None:
    manifest = (
        '[package]\nname = "echo-server"\nversion = "0.1.0"\n[features]\ntokio = []\nmonoio = []\n'
    )
    (tmp_path / "Cargo.toml").write_text(manifest)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text("")
    page = Path(__file__).parents[3] / "docs" / "servers.md"
    first, second = page.read_text(encoding="utf-8").split("```yaml\n")[1:]
    plan = plans(first.split("```")[0], "worker.crate=.", head="")
    assert [axis.kind for axis in plan.axes] == ["build", "input"]
    assert [metric.name for metric in plan.metrics] == ["p50", "p99"]
    assert plans(second.split("```")[0], head="").server
