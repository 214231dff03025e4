"""Tests of fingerprints: which facts of a machine make its times another series."""

from dataclasses import replace

import pytest

from bench_framework.model.record.machine import fingerprint
from bench_framework.text.builds import condition
from tests.unit.machine import HOST


def test_it_names_the_facts() -> None:
    print_ = fingerprint(HOST)
    assert print_.facts == {
        "CPU": "EPYC",
        "cores": "2",
        "memory": "8 GiB",
        "kernel": "6.1.0-28",
        "governor": "none",
    }
    assert print_.digest == "ed7078490139", "records of earlier versions are another series"


def test_it_is_the_same_after_a_reboot_and_an_update_of_tools() -> None:
    later = replace(
        HOST,
        host_id="h2",  # another machine of the same kind
        boot_id="b2",
        ram_bytes=HOST.ram_bytes - (40 << 20),  # an update of the kernel reserves more memory
        hyperfine="1.21.0",
        rustc="r2",
        load1=3.0,
        variables=(("LANG", "C"),),
    )
    assert fingerprint(later) == fingerprint(HOST)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"cpu": "Xeon"}, "CPU: EPYC → Xeon"),
        ({"cores": 4}, "cores: 2 → 4"),
        ({"ram_bytes": 16 << 30}, "memory: 8 GiB → 16 GiB"),
        ({"kernel": "6.8.0"}, "kernel: 6.1.0-28 → 6.8.0"),
        ({"governor": "performance"}, "governor: none → performance"),
    ],
)
def test_every_fact_changes_it(change: dict[str, object], difference: str) -> None:
    ours, other = fingerprint(HOST), fingerprint(replace(HOST, **change))  # type: ignore[arg-type]  # the test's fields
    assert ours.digest != other.digest
    assert tuple(map(condition, ours.differences(other))) == (difference,)
    assert ours.differences(ours) == ()
