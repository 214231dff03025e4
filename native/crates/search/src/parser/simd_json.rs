//! `simd-json`: unescapes strings in place, so it works on a copy of the line.

use simd_json::{Buffers, Deserializer, Implementation};

use super::{Parser, Simd};
use crate::record::Line;

/// `simd-json`, with its buffers reused from line to line.
#[derive(Default)]
pub struct SimdJson {
    line: Vec<u8>,
    buffers: Buffers,
}

impl Parser for SimdJson {
    const NAME: &'static str = "simd-json";
    const ABOUT: &'static str =
        "simd-json through serde, buffers reused, the line copied because it is changed in place";

    /// It detects the set at run time, with its feature `runtime-detection`.
    fn simd() -> Simd {
        Simd::best(match Deserializer::algorithm() {
            Implementation::AVX2 => "avx2",
            Implementation::SSE42 => "sse4.2",
            Implementation::NEON => "neon",
            _ => "none",
        })
    }

    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Line<'a>, String> {
        self.line.clear();
        self.line.extend_from_slice(line);
        simd_json::serde::from_slice_with_buffers(&mut self.line, &mut self.buffers)
            .map_err(|error| error.to_string())
    }
}
