"""Harnesses of benchmarks, by outputs that criterion, divan and libtest printed."""

import json
from pathlib import Path

import pytest

from bench_framework.execution.benches import HARNESSES, NoTime, environment_of, home_of
from bench_framework.execution.benches.harness import unique_ids

CRITERION, DIVAN, LIBTEST = (HARNESSES[name] for name in ("criterion", "divan", "libtest"))
NOWHERE = Path("/nonexistent")
# criterion 0.8.2, benches/parse.rs of semver 1.0.28.
SAMPLE = {
    "sampling_mode": "Linear",
    "iters": [
        *(69727.0, 139454.0, 209181.0, 278908.0, 348635.0),
        *(418362.0, 488089.0, 557816.0, 627543.0, 697270.0),
    ],
    "times": [
        *(2677759.0, 5456559.0, 8168149.0, 10726768.0, 14189305.0),
        *(16045931.0, 18820805.0, 21271854.0, 24107549.0, 36247068.0),
    ],
}
ID = "parse Version"


def criterion_files(home: Path, sample: object, full_id: str = ID) -> None:
    folder = home / full_id.replace("/", "_") / "new"
    folder.mkdir(parents=True)
    (folder / "sample.json").write_text(json.dumps(sample))
    (folder / "benchmark.json").write_text(json.dumps({"full_id": full_id, "title": full_id}))


def test_criterion_lists_its_benchmarks_in_two_forms() -> None:
    new = "u64[0]/itoa: benchmark\nu64[0]/std::fmt: benchmark\n\nparse Version: benchmark\n"
    assert CRITERION.parse_list(new) == ("u64[0]/itoa", "u64[0]/std::fmt", "parse Version")
    old = "Gnuplot not found, using plotters backend\nhex_encode: bench\n\nhex_decode: bench\n"
    assert CRITERION.parse_list(old) == ("hex_encode", "hex_decode")


def test_criterion_selects_an_id_by_an_anchored_expression() -> None:
    assert CRITERION.selection("u64[0]/a b+c.d") == (r"^u64\[0\]/a b\+c\.d$",)


def test_the_time_of_criterion_is_the_first_quartile_of_its_samples(tmp_path: Path) -> None:
    criterion_files(tmp_path, SAMPLE)
    value = CRITERION.read(tmp_path, "", ID)
    # criterion's estimates are 42.1 ns (slope) and 40.1 ns (mean), because of one interrupted sample.
    assert value == pytest.approx(2677759.0 / 69727.0 * 1e-9, rel=1e-12)


@pytest.mark.parametrize(
    ("sample", "full_id", "reason"),
    [
        (SAMPLE, "parse VersionReq", "criterion measured `parse VersionReq`"),
        ({"iters": [1.0], "times": [0.0]}, ID, "no time"),
        ({"iters": [1.0, 2.0], "times": [1.0]}, ID, "cannot be read"),
        ({"iters": [], "times": []}, ID, "cannot be read"),
    ],
)
def test_a_sample_of_criterion_without_a_time_has_a_reason(
    tmp_path: Path, sample: object, full_id: str, reason: str
) -> None:
    criterion_files(tmp_path, sample, full_id)
    with pytest.raises(NoTime, match=reason):
        CRITERION.read(tmp_path, "", ID)


def test_a_benchmark_of_criterion_that_was_not_measured_has_a_reason(tmp_path: Path) -> None:
    with pytest.raises(NoTime, match="wrote 0 files"):
        CRITERION.read(tmp_path, "", ID)


# divan 0.1.16, benches/bench.rs of annotate-snippets 0.11.5.
TREE = """\
bench
├─ fold
│  ├─ 0
│  ╰─ 100000
├─ slow      (ignored)
╰─ simple

"""
TABLE = """\
bench      fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ fold                  │               │               │               │         │
   ╰─ 100  3.765 µs      │ 55.1 µs       │ 3.895 µs      │ 4.675 µs      │ 100     │ 100

"""
# With counters of bytes, divan prints more rows below the times.
COUNTED = """\
copy       fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ copy    1.004 ns      │ 5.06 ms       │ 0.998 ns      │ 1.161 ms      │ 100     │ 204800
           1.02 GB/s     │ 1 GB/s        │ 1.01 GB/s     │ 1 GB/s        │         │
"""


def test_divan_lists_its_benchmarks_as_a_tree_or_as_ids() -> None:
    assert DIVAN.parse_list(TREE) == ("bench::fold::0", "bench::fold::100000", "bench::simple")
    terse = "bench::fold::0: benchmark\nbench::simple: benchmark\n"
    assert DIVAN.parse_list(terse) == ("bench::fold::0", "bench::simple")


def test_each_number_of_threads_of_divan_is_a_benchmark() -> None:
    tree = "bench\n├─ lock\n│  ├─ t=1\n│  ╰─ t=2\n╰─ one\n"
    ids = DIVAN.parse_list(tree)
    assert ids == ("bench::lock", "bench::one")
    ids = DIVAN.split(ids, tree)
    assert ids == ("bench::lock t=1", "bench::lock t=2", "bench::one")
    assert DIVAN.selection(ids[1]) == ("--exact", "bench::lock", "--threads", "2")
    assert DIVAN.selection(ids[2]) == ("--exact", "bench::one")


@pytest.mark.parametrize(
    ("table", "seconds"),
    [(TABLE, 3.895e-6), (COUNTED, 0.998e-9), (TABLE.replace("µ", "μ"), 3.895e-6)],
)
def test_the_time_of_divan_is_the_median_of_its_table(table: str, seconds: float) -> None:
    assert DIVAN.read(NOWHERE, table, "bench::fold::100") == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        "",
        TABLE + TABLE,
        TABLE.replace("3.895 µs", "0 ns"),
        "bench fastest │ slowest │ median │ mean │ samples │ iters\n╰─ simple  (ignored)\n",
    ],
)
def test_a_table_of_divan_without_one_time_has_a_reason(table: str) -> None:
    with pytest.raises(NoTime):
        DIVAN.read(NOWHERE, table, "bench::fold::100")


def test_the_time_of_libtest_is_the_median_that_it_prints() -> None:
    printed = (
        "\nrunning 1 test\n"
        "test tests::push ... bench:   1,234.56 ns/iter (+/- 12.30)\n\n"
        "test result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n"
    )
    assert LIBTEST.read(NOWHERE, printed, "tests::push") == pytest.approx(1234.56e-9, rel=1e-12)
    with pytest.raises(NoTime):
        LIBTEST.read(NOWHERE, printed, "tests::pop")


def test_an_id_that_occurs_twice_cannot_be_selected() -> None:
    assert unique_ids(["a", "b", "a", "c"]) == ("b", "c")


def test_every_harness_gets_a_private_folder() -> None:
    env = environment_of("/private")
    assert env["CRITERION_HOME"] == "/private"
    assert home_of(env) == Path("/private")
    assert all(
        harness.marker and harness.listings and harness.options for harness in HARNESSES.values()
    )
