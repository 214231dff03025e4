//! The command line, as transcripts in `tests/cli/*.toml`; `TRYCMD=overwrite cargo test --test cli` writes them again.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cli/*.toml");
}
