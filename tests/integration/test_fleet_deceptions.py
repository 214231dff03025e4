"""A worker that deceives about its host or its record: the client reports it, and stores nothing."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_framework.extensions.fleet.cluster import versions
from tests.integration import fleet_deceptions as deceptions
from tests.integration.fleet_machines import (
    ONE_HAS_OTHER_OUTPUT,
    Machine,
    end,
    machine,
    start_scheduler,
    start_worker,
)

pytestmark = pytest.mark.slow


def first_in_ci(names: Iterable[str]) -> list[Any]:
    """Return the parameters of which CI runs the first, and a release runs the others, too."""
    first, *others = names
    return [first, *(pytest.param(name, marks=pytest.mark.release) for name in others)]


DECEPTIONS = [
    parameter
    for group in (
        deceptions.ARCHIVES,
        deceptions.RESULTS,
        deceptions.JOBS,
        deceptions.UPDATES,
        deceptions.EVENTS,
    )
    for parameter in first_in_ci(group)
]
RUN = ("run", "fleet.yaml", "-S", "measure.rounds=4", "--scheduler")
HARMLESS = frozenset(deceptions.EVENTS)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def liar(host: Machine) -> dict[str, str]:
    """Make a host lie, and return its variables."""
    site = host.path / "site" / "sitecustomize.py"
    if "fleet_deceptions" not in site.read_text():
        with site.open("a") as file:
            file.write(
                "import sys\n"
                "if 'worker' in os.environ.get('BENCHCTL_TEST_ROLE', ''):\n"
                "    os.environ.pop('BENCHCTL_TEST_ROLE')\n"
                "    from tests.integration.fleet_deceptions import install\n"
                "    install()\n"
            )
    return {"BENCHCTL_TEST_DECEPTIONS": str(host.path), "BENCHCTL_TEST_ROLE": "worker"}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine, str]]:
    """Return client, host and scheduler, with the record of an honest run."""
    folder = tmp_path_factory.mktemp("fleet")
    client, host = machine(folder / "client"), machine(folder / "host")
    try:
        address = start_scheduler(client)
        start_worker(host, address, "liar", **liar(host))
        client.call(*RUN, address, "--fresh", code=ONE_HAS_OTHER_OUTPUT)
        yield client, host, address
    finally:
        end([client, host])


def tree(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if "tmp" not in path.parts)


@pytest.mark.parametrize("lie", DECEPTIONS)
def test_a_lie_about_the_record_is_reported(fleet: tuple[Machine, Machine, str], lie: str) -> None:
    client, host, address = fleet
    (host.path / "lie").write_text(lie)
    before = tree(client.path / "results")
    text = client.call(*RUN, address, "--fresh", code=3)
    assert "BX900" not in text, text
    assert not CONTROL.search(text), text
    if lie in HARMLESS:
        assert "error[BX26" not in text, text
        client.call("fleet", "status", "--scheduler", address)
        return
    assert "error[BX26" in text or "error[BX237" in text, text
    assert tree(client.path / "results") == before
    assert not list(client.path.parent.rglob("escaped-by-a-lie"))  # the host has the same parent


@pytest.mark.release
@pytest.mark.parametrize("card", deceptions.CARDS)
def test_a_lie_about_the_host_does_not_harm_the_others(
    card: str, make: Callable[..., Machine]
) -> None:
    client, host, honest = make("client"), make("host"), make("honest")
    address = start_scheduler(client)
    start_worker(honest, address, "honest")
    start_worker(host, address, "liar", **liar(host), BENCHCTL_TEST_CARD=card)
    text = client.call("fleet", "status", "--scheduler", address)
    assert ("honest" in text, "liar" in text) == (True, True), text
    assert not CONTROL.search(text), text
    words = (*RUN, address, "--host")
    text = client.call(*words, "honest", code=ONE_HAS_OTHER_OUTPUT)
    text = client.call(*words, "liar", "--fresh", code=3)
    assert "error[BX26" in text, text
    assert len(client.records) == 1


@pytest.mark.parametrize("state", first_in_ci(deceptions.STATES))
def test_a_lie_about_the_state_is_not_shown(state: str, make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host")
    address = start_scheduler(client)
    start_worker(host, address, "liar", **liar(host), BENCHCTL_TEST_STATE=state)
    text = client.call("fleet", "status", "--scheduler", address)
    assert "liar" in text


@pytest.mark.release
def test_a_worker_that_claims_the_versions_of_the_client(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host")
    address = start_scheduler(client)
    more = liar(host) | {"BENCHCTL_TEST_VERSION": "9.9.9", "BENCHCTL_TEST_CLAIM": versions()}
    start_worker(host, address, "liar", **more)
    text = client.call(*RUN, address, code=3)
    assert "error[BX264]" in text, text
    assert not client.records
