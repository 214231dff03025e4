//! `serde-json`: the parser that the others are measured against, and that judges what they refuse.

use super::{Parser, Simd};
use crate::record::Line;

/// `serde_json`.
#[derive(Debug, Default)]
pub struct SerdeJson;

impl Parser for SerdeJson {
    const NAME: &'static str = "serde-json";
    const ABOUT: &'static str = "serde_json";

    fn simd() -> Simd {
        Simd::best("none")
    }

    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Line<'a>, String> {
        // From bytes it would not look at the UTF-8 of strings that it skips.
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
