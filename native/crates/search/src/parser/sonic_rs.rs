//! `sonic-rs`.

use super::Parser;
use crate::record::Line;

/// `sonic-rs`.
#[derive(Debug, Default)]
pub struct SonicRs;

impl Parser for SonicRs {
    const NAME: &'static str = "sonic-rs";
    const ABOUT: &'static str = "sonic-rs through serde";

    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Line<'a>, String> {
        sonic_rs::from_slice(line).map_err(|error| {
            // Its message draws the place in the text on further lines.
            let text = error.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        })
    }
}
