"""Audit of pages that are not seed documents, with and without data."""

import json
import random
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.extensions.audit.page import quantities, read_page
from bench_framework.extensions.audit.report import (
    NOTHING,
    AuditDocument,
    as_markdown,
    as_text,
    audit,
)
from bench_framework.store.sessions import read_session
from tests.documents import valid

HYPERFINE = """\
# Search tools

Each command ran 20 times on an AMD Ryzen 9. The outputs were compared with diff and are identical.

| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |
|:---|---:|---:|---:|---:|
| `rg word` | 101.2 ± 1.5 | 99.0 | 104.0 | 1.00 |
| `grep word` | 452.7 ± 8.1 | 440.2 | 470.9 | 4.47 ± 0.10 |
| `ag word` | 250.3 ± 5.2 | 241.0 | 262.2 | 2.47 ± 0.06 |

`rg word` is 4.5x faster than `grep word`, and `ag word` is 2.5 times slower than `rg word`.
`rg word` is the fastest command here.
"""
PARSERS = """\
# Parser rewrite (10 runs each)

| Parser | Time | vs old | Memory |
|---|---|---|---|
| old | 340 ms ± 5 ms | baseline | 120 MB |
| new | 200 ms ± 4 ms | {factor} | 150 MB |

{sentence}
"""
SIZES = """\
# Sorting

| Size | quicksort (ms) | radix (ms) | Speedup |
|---|---|---|---|
| 1 MB | 10.0 | 5.0 | 2.0x |
| 10 MB | {middle} | 49.8 | 2.0x |
| 100 MB | 1010 | 505 | 2.0x |

{sentence}
"""


TWO_SETS = """\
# Reading files

## Before

| Mode | Mean, ms | SD, ms | Runs |
|---|--:|--:|--:|
| read (baseline) | 52.1 | 1.9 | 30 |
| io_uring | 51.8 | 2.0 | 30 |
| mmap | 61.4 | 2.2 | 30 |

mmap is 18 % slower than read.

## After

| Mode | Mean, ms | SD, ms | Runs |
|---|--:|--:|--:|
| read (baseline) | 60.2 | {sd} | 30 |
| io_uring with blocks of 1 MiB | 49.0 | 2.0 | 30 |

Blocks of 1 MiB make io_uring 5 % faster (51.8 ms → 49.0 ms).

## Large file

Each mode was run once.

| Mode | Time, ms |
|---|--:|
| read | 2110 |
| mmap | 1890 |

mmap is 10 % faster than read on the large file.
"""


def results(source: str, data: str | None = None) -> dict[str, str]:
    """Return the status of each statement by its text."""
    return {s.text: s.status for s in page(source, data).statements}


def page(source: str, data: str | None = None) -> AuditDocument:
    sessions = [read_session(data.encode(), "runs.json", 1)] if data is not None else []
    return audit(source, "page.md", sessions)


def runs(**means: float) -> str:
    """Return an export of hyperfine with 20 runs per command that vary by 2 %."""
    noise = random.Random(1)
    return json.dumps(
        {
            "results": [
                {
                    "command": name,
                    "times": [mean * noise.gauss(1, 0.02) for _ in range(20)],
                    "user": mean,
                    "system": 0.0,
                    "exit_codes": [0] * 20,
                }
                for name, mean in means.items()
            ]
        }
    )


def test_a_table_of_hyperfine_with_its_number_of_runs_is_supported() -> None:
    statuses = results(HYPERFINE)
    assert len(statuses) == 4
    assert set(statuses.values()) == {"supported"}


def test_without_the_number_of_runs_it_is_inconclusive() -> None:
    statuses = results(HYPERFINE.replace("Each command ran 20 times", "Measured"))
    assert set(statuses.values()) == {"inconclusive"}


@pytest.mark.parametrize(
    ("factor", "status"),
    [
        ("1.7x faster", "supported"),
        ("2.1x faster", "not supported"),
        ("1.7x slower", "not supported"),
        ("-41%", "supported"),
        ("+41%", "not supported"),
        ("~40% less time", "supported"),
        ("over 1.5x faster", "supported"),
        ("up to 1.5x faster", "not supported"),
    ],
)
def test_a_factor_of_a_table_must_follow_from_its_columns(factor: str, status: str) -> None:
    assert results(PARSERS.format(factor=factor, sentence="")) == {f"new, vs old: {factor}": status}


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("The new parser is 1.7x faster than the old parser.", "supported"),
        ("The old parser is 1.7 times slower than the new parser.", "supported"),
        ("The new parser takes 41 % less time than the old one.", "supported"),
        ("The new parser needs 25 % more memory than the old parser.", "inconclusive"),
        ("The new parser is faster than the old parser.", "supported"),
        ("The new parser is 41 % slower than the old parser.", "not supported"),
        ("The new parser is slower than the old parser.", "not supported"),
        ("The new parser needs 25 % less memory than the old parser.", "not supported"),
        ("The new parser uses 30 % less CPU time than the old parser.", "no data"),
        ("Memory usage of new and old is the same.", "not supported"),
        ("The old parser is the fastest.", "not supported"),
        ("The new parser is faster due to its arena allocator.", "no data"),
        ("The new parser is 1.7x faster than the old parser with the same output.", "supported"),
        ("The new parser is faster than the old parser at the same memory limit.", "supported"),
        ("The new parser is twice as fast as the old parser.", "supported"),
        ("The new parser is three times as fast as the old parser.", "not supported"),
        ("Compared to the old parser, the new parser is 1.7x faster.", "supported"),
        ("Compared to the old parser, the new parser is slower.", "not supported"),
        ("The old parser is not faster than the new parser.", None),
        ("Is the new parser slower than the old parser?", None),
        ("The new parser performs identically to the old parser.", "not supported"),
        ("On 8x faults, new and old print 20x repeated classes.", None),
        ("The lexer is 3x faster than the tokenizer.", "no data"),
        ("It will be twice as fast with SIMD: we expect a 2x speedup.", "no data"),
        ("Latency fell from 340 ms to 200 ms, an improvement of 41 %.", "inconclusive"),
        ("Latency fell from 340 ms to 200 ms, an improvement of 90 %.", "not supported"),
    ],
)
def test_a_sentence_must_follow_from_the_figures(sentence: str, status: str | None) -> None:
    assert results(PARSERS.format(factor="1.7x faster", sentence=sentence)).get(sentence) == status


def test_linear_needs_exponents_close_to_one() -> None:
    sentence = "Both scale linearly with the size."
    assert results(SIZES.format(middle="100", sentence=sentence))[sentence] == "inconclusive"
    assert results(SIZES.format(middle="400", sentence=sentence))[sentence] == "not supported"
    alone = f"# Sorting\n\n{sentence}\n"
    assert results(alone)[sentence] == "no data"


def test_no_regression_needs_the_version_before() -> None:
    sentence = "There is no performance regression."
    table = "| Version | Time |\n|---|---|\n| {} | 100 ms ± 1 ms |\n| v2 | {} ms ± 1 ms |\n"
    one = f"# Release (n = 30)\n\n| Mode | Time |\n|---|---|\n| fast | 100 ms |\n\n{sentence}\n"
    assert results(one)[sentence] == "no data"
    about = "The release v2 has no performance regression compared to v1."
    head = "# Release (n = 30)\n\n"
    assert results(f"{head}{table.format('v1', '100.1')}\n{about}\n")[about] == "supported"
    assert results(f"{head}{table.format('v1', '110')}\n{about}\n")[about] == "not supported"


def test_rows_with_different_results_are_not_compared() -> None:
    source = (
        "| Tool | Matches | Time | Relative |\n|---|---|---|---|\n"
        "| one | 536 | 100 ms | 1.00 |\n| two | 534 | 200 ms | 2.00 |\n"
    )
    assert list(results(source).values()) == ["not supported"]
    assert list(results(source.replace("534", "536")).values()) == ["inconclusive"]


def test_a_rate_above_the_limit_of_the_page_is_not_supported() -> None:
    source = "- Disk write limit: 1.3 GB/s\n\n| Way | Write rate |\n|---|---|\n| fast | {} GB/s |\n"
    assert results(source.format("1.9")) == {"fast: 1.9 GB/s": "not supported"}
    assert results(source.format("1.2")) == {}


def test_cpu_time_is_not_compared_with_wall_time() -> None:
    source = "- wall time of a: 10 s\n- CPU time of a: 20 s\n- Speedup: 2x\n"
    assert results(source)["Speedup: 2x"] == "not supported"


def test_a_column_of_spreads_with_its_unit_after_a_comma_is_read() -> None:
    assert results(TWO_SETS.format(sd=2.1))["mmap is 18 % slower than read."] == "supported"


@pytest.mark.parametrize(("sd", "moved"), [(2.1, True), (40, False)])
def test_figures_of_two_sets_are_compared_only_if_the_baseline_did_not_move(
    sd: float, moved: bool
) -> None:
    """With a standard deviation of 40 ms, the baseline is not shown to have moved."""
    sentence = "Blocks of 1 MiB make io_uring 5 % faster (51.8 ms → 49.0 ms)."
    assert (results(TWO_SETS.format(sd=sd))[sentence] == "not supported") is moved


def test_a_section_whose_modes_ran_once_has_single_runs() -> None:
    statements = page(TWO_SETS.format(sd=2.1)).statements
    (large,) = (s for s in statements if s.text.endswith("on the large file."))
    assert large.status == "inconclusive"
    assert "the page states a single run and no check" in large.reason


@pytest.mark.parametrize(
    ("new", "status"), [(0.2, "supported"), (0.3, "not supported"), (0.338, "not supported")]
)
def test_data_decide_a_factor(new: float, status: str) -> None:
    source = "# Parsers\n\nThe new parser is 1.7x faster than the old parser.\n"
    assert list(results(source).values()) == ["no data"]
    assert list(results(source, runs(old=0.34, new=new)).values()) == [status]


def test_a_figure_that_contradicts_its_runs_is_not_supported() -> None:
    source = "| Parser | Time |\n|---|---|\n| old | 340 ms |\n| new | 120 ms |\n"
    assert results(source, runs(old=0.34, new=0.2)) == {"new: 120 ms": "not supported"}


def test_a_page_without_statements_is_reported_as_such() -> None:
    result = page("# Title\n\nThis is a program. Best practices are applied. Use it for free.\n")
    assert result.summary == NOTHING
    assert result.exit_code == 0
    assert as_text(result, 80).strip() == f"page.md: {NOTHING}"


def test_markdown_and_text_contain_every_statement() -> None:
    result = page(PARSERS.format(factor="2.1x faster", sentence="It costs 9 % | memory."))
    assert "\n| Line | Statement | Result | Reason |\n" in as_markdown(result)
    assert as_markdown(result).count("\n| ") == len(result.statements) + 1
    assert "1 not supported" in as_text(result, 80)
    for width in (60, 80, 120):
        assert all(len(line) <= width for line in as_text(result, width).splitlines())


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("177.1ms", "time", 0.1771),
        ("1,698 ms", "time", 1.698),
        ("0.75-0.80 GB/s", "rate", 775e6),
        ("1.2 s ± 100 ms", "time", 1.2),
        ("904734.30 req/s", "req/s", 904734.3),
        ("9.6× faster", "ratio", 9.6),
        ("2.5 times slower", "ratio", 2.5),
        ("−17 %", "percent", 0.17),
        ("3 ns", "time", 3e-9),
        ("512 KiB", "size", 524288),
    ],
)
def test_quantities(text: str, kind: str, value: float) -> None:
    (quantity,) = quantities(text)
    assert quantity.kind == kind
    assert quantity.value == pytest.approx(value)


@pytest.mark.parametrize("text", ["version 1.2.3", "AMD 5950X", "ran 20 times", "5 apples", "v2 s"])
def test_other_numbers_are_no_quantities(text: str) -> None:
    assert not list(quantities(text))


def test_from_and_to_are_two_figures() -> None:
    assert [q.value for q in quantities("from 10 to 5 s")] == [10, 5]
    assert [q.value for q in quantities("from 10 s to 5 s")] == [10, 5]


@pytest.mark.parametrize(("title", "value"), [("n", "20"), ("N", "20"), ("Input size", "10 MB")])
def test_a_number_of_runs_or_one_size_keeps_the_names_of_the_rows(title: str, value: str) -> None:
    statuses = results(
        f"| Tool | Mean | sd | {title} |\n|---|---|---|---|\n| alpha | 10 ms | 0.1 ms | {value} |\n"
        f"| beta | 20 ms | 0.2 ms | {value} |\n\nbeta is 3x faster than alpha.\n"
    )
    assert statuses["beta is 3x faster than alpha."] == "not supported"


def test_in_the_first_column_n_is_the_input_size() -> None:
    source = "| n | fast | slow |\n|---|---|---|\n| 1000 | 1 ms | 2 ms |\n| 4000 | 4 ms | 32 ms |\n"
    figures = read_page(source).figures
    expected = [("fast", 1000, None), ("slow", 1000, None)]
    assert [(f.row, f.size, f.n) for f in figures[:2]] == expected


def test_zero_and_broken_tables_do_not_fail() -> None:
    source = (
        "| a | Time | Speedup |\n|---|---|---|\n| x | 0 ms | 0x |\n| y |\n| z | 5 ms | 1000000x |\n"
    )
    assert page(source).exit_code in (0, 1)
    share = (
        "| a | Input size | Memory | % of input |\n|---|---|---|---|\n| x | 1 MB | 0 MB | 5 % |\n"
    )
    assert set(results(share).values()) == {"no data"}
    assert page("|" * 500 + "\n" + "|-" * 500 + "\n").summary == NOTHING
    assert not read_page("> " * 90 + "fast").figures


def test_exit_codes_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.md"
    path.write_text(HYPERFINE, encoding="utf-8")
    out = tmp_path / "audit.md"
    assert run_command_line(["audit", str(path), "--out", str(out)]) == 0
    before = path.read_text(encoding="utf-8")
    assert run_command_line(["audit", str(path), "--out", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == before
    assert "4 supported" in capsys.readouterr().out
    assert out.read_text(encoding="utf-8").startswith("# Audit of report.md")
    path.write_text(HYPERFINE.replace("4.5x", "5.5x"), encoding="utf-8")
    assert run_command_line(["audit", str(path), "--json"]) == 1
    written = valid("audit", capsys.readouterr().out)
    assert written["counts"]["not_supported"] == 1
    assert written["exit_code"] == 1
    data = tmp_path / "runs.json"
    data.write_text(runs(old=1), encoding="utf-8")
    assert run_command_line(["audit", str(path), "--data", str(data), str(out)]) == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"PK\x00\x01", "is a binary file"),
        (b"x" * (1024 * 1024 + 1), "more than"),
        (b"[" * 20_001, "at most 20000 are read"),
        (None, "does not exist"),
    ],
)
def test_a_wrong_page_is_one_error(
    content: bytes | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.md"
    if content is not None:
        path.write_bytes(content)
    assert run_command_line(["audit", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error[BX456]")
    assert says in error
    assert "nothing was audited" in error


@pytest.mark.parametrize(
    ("content", "code"), [("a,b\n1,2\n", "BX451"), ("label,mean\nx,abc\n", "BX452"), ("", "BX450")]
)
def test_wrong_data_is_one_error(
    content: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, data = tmp_path / "page.md", tmp_path / "runs.csv"
    path.write_text(HYPERFINE, encoding="utf-8")
    data.write_text(content, encoding="utf-8")
    assert run_command_line(["audit", str(path), "--data", str(data)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error[{code}]")
    assert "nothing was audited" in error
