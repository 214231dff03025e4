//! `sonic-rs`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Parser, Simd};
use crate::record::Line;

static UNICODE_ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br"\u"));

/// `sonic-rs`.
#[derive(Debug, Default)]
pub struct SonicRs;

impl Parser for SonicRs {
    const NAME: &'static str = "sonic-rs";
    const ABOUT: &'static str = "sonic-rs through serde";

    /// It chooses at compile time, so the flags of the build decide (`-C target-cpu=native`).
    fn simd() -> Simd {
        let used = if cfg!(target_feature = "avx2") {
            "avx2"
        } else if cfg!(target_feature = "sse2") {
            "sse2"
        } else if cfg!(target_feature = "neon") {
            "neon"
        } else {
            "none"
        };
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            return Simd {
                used,
                offered: "avx2",
            };
        }
        Simd::best(used)
    }

    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Line<'a>, String> {
        if has_invalid_unicode_escape(line) {
            return Err("`\\u` is not followed by four hexadecimal digits".to_owned());
        }
        sonic_rs::from_slice(line).map_err(|error| {
            // Its message draws the place in the text on further lines.
            let text = error.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        })
    }
}

/// Whether an escape `\u` is not followed by four hexadecimal digits. `sonic-rs` does not check this in strings that it
/// skips.
fn has_invalid_unicode_escape(line: &[u8]) -> bool {
    UNICODE_ESCAPE.find_iter(line).any(|at| {
        let before = line[..at].iter().rev().take_while(|b| **b == b'\\').count();
        let digits = line.get(at + 2..at + 6);
        let valid = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        before % 2 == 0 && !valid
    })
}
