"""Output of perf and callgrind, symbols of both Rust manglings, and text that is no symbol."""

from collections import Counter
from pathlib import Path

import pytest

from bench_framework.execution.counting.callgrind import FunctionCosts
from bench_framework.execution.profiling.profiles import unwinding_of
from bench_framework.execution.profiling.samplers import (
    MOST_FRAMES,
    Samples,
    _frame,
    read_samples,
    samples_of,
)
from bench_framework.execution.symbols import plain_name
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.command_build import CommandBuild
from bench_framework.model.record.profile import Frame

FIXTURES = Path(__file__).parents[2] / "fixtures" / "perf"


def read(name: str) -> Samples:
    with (FIXTURES / name).open(encoding="utf-8") as lines:
        return read_samples(lines)


def test_stacks_begin_with_the_outermost_frame_and_names_are_demangled() -> None:
    samples = read("6.1-frame-pointers.txt")
    start, run = Frame("__libc_start_main", "libc.so.6"), Frame("tally::run", "tally")
    kernel = "[kernel.kallsyms]"
    assert samples.stacks == Counter(
        {
            (
                start,
                run,
                Frame("page_cache_ra_unbounded", kernel, kernel=True),
                Frame("__rcu_read_unlock", kernel, kernel=True),
            ): 1,
            (start, run, Frame("__memmove_avx_unaligned_erms", "libc.so.6")): 1,
            (start, run, run): 1,
            (Frame("[unknown]", "tally"), Frame("[unknown]")): 1,
        }
    )
    assert samples.total == 4
    assert samples.events == Counter({"cpu-clock": 4})
    assert samples.lost == 0


def test_only_programs_of_cargo_have_frame_pointers_for_sure() -> None:
    by_commands = BuildSpec("/sources", "prog", by_commands=CommandBuild((("make",),)))
    for spec in (None, BuildSpec("", "prog"), by_commands):
        assert unwinding_of(spec, "auto") == "dwarf"
    assert unwinding_of(BuildSpec("crate", "prog"), "auto") == "frame-pointers"
    assert unwinding_of(None, "frame-pointers") == "frame-pointers"


def test_an_older_perf_with_commands_offsets_inlined_functions_and_unusual_names() -> None:
    samples = read("5.10-with-command.txt")
    module = "tally"
    assert samples.stacks == Counter(
        {
            (
                Frame("main", module),
                Frame("Parser<(alloc::string::String, [u8; 4])>::next", module),
                Frame("parse", module),
            ): 1,
            (
                Frame("größe::naïve::{{closure}}", "x.so"),
                Frame("a;b <script>alert(1)</script>", "x.so"),
                Frame("operator()(int) const", "x.so"),
            ): 1,
            (Frame("[unknown]"),): 1,
            (Frame("[unknown]", "x.so"), Frame("innermost", "[ext4]", kernel=True)): 1,
        }
    )
    assert samples.events == Counter({"cycles:u": 4})
    assert samples.lost == 17


@pytest.mark.parametrize(
    "text", ["", "\n\n\n", "# only a comment\n", "perf: failed to open\n", "\tffff x (/y)\n"]
)
def test_text_without_samples_gives_none(text: str) -> None:
    assert read_samples(text.splitlines(keepends=True)).total == 0


CALLGRIND = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 1
cmd:  ./a
part: 1

positions: line
events: Ir Dr
summary: 180 9

ob=(1) /srv/tally
fl=(1) src/main.rs
fn=(1) tally::main::h0123456789abcdef
16 60 1
cfn=(2) tally::walk
calls=1 20
17 100 2
fi=(2) src/inlined.rs
+3 15 1

fn=(2)
20 70 3
cfn=(2)'2
calls=1 20
* 30 1

fn=(3) tally::walk'2
-2 20 1
cob=(2) /lib/libc.so.6
cfi=(9) memcpy.S
cfn=(4) memcpy
calls=3 1
21 10 1

ob=(2)
fl=(9)
fn=(4)
1 10 1

fn=(5) 0x0000000000001100
0 0 0
0 5 0
"""


def test_frames_of_a_program_with_many_offsets_do_not_fill_the_memory() -> None:
    lines = ["a 1 1.0: 1 cpu-clock:"]
    lines += [f" {ip:x} main+{ip:#x} (/bin/x)" for ip in range(MOST_FRAMES + 9)]
    assert read_samples(lines).stacks == {(Frame("main", "x"),) * (MOST_FRAMES + 9): 1}
    assert _frame.cache_info().currsize <= MOST_FRAMES


def test_callgrind_costs_are_exclusive_and_a_recursion_is_one_function() -> None:
    costs = FunctionCosts()
    costs.read(CALLGRIND.splitlines(keepends=True))
    samples = samples_of(costs)
    assert samples.stacks == Counter(
        {
            (Frame("tally::main", "tally"),): 75,
            (Frame("tally::walk", "tally"),): 90,
            (Frame("memcpy", "libc.so.6"),): 10,
            (Frame("[unknown]", "libc.so.6"),): 5,
        }
    )
    assert samples.total == 180, "the total in the summary line"
    assert samples.events == Counter({"Ir": 180})


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_RNvC6_123foo3bar", "123foo::bar"),
        ("_RC3foo.llvm.9D1C9369", "foo"),
        (
            "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
            "utf8_idents::საჭმელად_გემრიელი_სადილი",
        ),
        ("_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"),
        (
            (
                "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_"
                "6memchr7memrchrs_0E0Bb_"
            ),
            (
                "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition"
                "::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"
            ),
        ),
        (
            "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
            "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>",
        ),
        ("_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"),
        ("_RINvC1a4mainFUKCRhEjE", 'a::main::<unsafe extern "C" fn(&u8) -> usize>'),
    ],
)
def test_the_newer_mangling(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN4testE", "_ZN4testE"),  # without a hash it may be C++
        ("_ZN3foo3bar17h05af221e174051e9E", "foo::bar"),
        ("_ZN8$RF$test17h05af221e174051e9E", "&test"),
        (
            "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
            "<Test + 'static as foo::Bar<Test>>::bar",
        ),
        ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
        ("core::fmt::write::h0123456789abcdef.cold", "core::fmt::write.cold"),
        ("malloc", "malloc"),
        ("operator new(unsigned long)", "operator new(unsigned long)"),
        ("foo.llvm.1234567890ABCDEF", "foo"),
    ],
)
def test_the_older_mangling_and_the_hash(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    "symbol",
    ["_R", "_R0", "_RNv", "_RNvC6_123foo", "_RB_", "_RZZ", "_RNvC9999999999999999999x1y", "_Read"],
)
def test_what_is_no_such_name_stays_as_it_is(symbol: str) -> None:
    assert plain_name(symbol) == symbol
