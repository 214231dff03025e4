//! `sonic-rs`.

use super::{Parser, Simd};
use crate::record::Line;

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
        sonic_rs::from_slice(line).map_err(|error| {
            // Its message draws the place in the text on further lines.
            let text = error.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        })
    }
}
