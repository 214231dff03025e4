"""Symbols of both Rust manglings, and text that is no symbol."""

import pytest

from bench_framework.execution.profiling.samplers import plain_name


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
