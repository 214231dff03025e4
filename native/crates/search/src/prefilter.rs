//! Lines that cannot match, seen before they are parsed.
//!
//! A query that demands an ASCII text can only match a line that has this text, in any case, in its raw JSON, unless the
//! JSON hides it. What can hide it is part of the pattern, so a line that it may be hidden in is parsed:
//!
//! - `\uXXXX` of a character whose case folding has an ASCII letter. These are U+0000 to U+007F and a few more, all
//!   below U+0200 or in the rows U+1E.., U+21.. and U+FB.. (a test goes through all characters).
//! - Those few characters as they are, such as the Kelvin sign.
//! - `\"`, `\\`, `\/`, `\n` and the like: the demanded text is cut at these characters and its longest part taken.

use std::fmt::Write as _;

use regex::bytes::{Regex, RegexBuilder};

use crate::fold::fold_text;
use crate::query::Query;

/// First bytes of the code points that may hide ASCII behind `\u`.
const HIDING_ROWS: &str = "00|01|1e|21|fb";

/// Finds lines that may match.
#[derive(Clone, Debug)]
pub(crate) struct Prefilter {
    pattern: Regex,
}

impl Prefilter {
    /// The prefilter of a query, or `None` if it demands no ASCII text of a line.
    pub(crate) fn new(query: &Query) -> Option<Self> {
        let literals = demand(query)?;
        let mut pattern = format!(r"\\u(?:{HIDING_ROWS})");
        for hiding in hiding_characters(&literals) {
            for byte in hiding.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(
                    pattern,
                    "{}\\x{byte:02x}",
                    if byte >= 0xc0 { "|" } else { "" }
                );
            }
        }
        for text in &literals {
            pattern.push('|');
            pattern.push_str(&regex::escape(text));
        }
        // `\x..` above 0x7f has no case without Unicode.
        let pattern = RegexBuilder::new(&pattern)
            .unicode(false)
            .case_insensitive(true)
            .build()
            .ok()?;
        Some(Self { pattern })
    }

    /// Returns the next position from `from` on that requires parsing of its line.
    pub(crate) fn find(&self, block: &[u8], from: usize) -> Option<usize> {
        self.pattern.find_at(block, from).map(|range| range.start())
    }
}

/// Folded ASCII texts of which a matching message has at least one.
fn demand(query: &Query) -> Option<Vec<String>> {
    match query {
        Query::Literal(text) => {
            let folded = fold_text(text);
            let longest = folded
                .split(|letter: char| {
                    !(letter.is_ascii_graphic() || letter == ' ')
                        || matches!(letter, '"' | '\\' | '/')
                })
                .max_by_key(|part| part.len())?;
            (!longest.is_empty()).then(|| vec![longest.to_owned()])
        }
        // The texts of one part suffice: those whose shortest is longest are the rarest.
        Query::All(queries) => queries
            .iter()
            .filter_map(demand)
            .max_by_key(|texts| texts.iter().map(String::len).min()),
        Query::Any(queries) => queries
            .iter()
            .map(demand)
            .collect::<Option<Vec<_>>>()
            .map(|texts| texts.concat()),
        Query::Regex(_) | Query::Not(_) => None,
    }
}

/// Characters outside ASCII whose folding has a character of a demanded text.
fn hiding_characters(literals: &[String]) -> impl Iterator<Item = char> {
    let rows = [0x80..0x200, 0x1e00..0x1f00, 0x2100..0x2200, 0xfb00..0xfc00];
    rows.into_iter()
        .flatten()
        .filter_map(char::from_u32)
        .filter(move |letter| {
            let folded = fold_text(letter.encode_utf8(&mut [0; 4]));
            folded
                .chars()
                .any(|part| part.is_ascii() && literals.iter().any(|text| text.contains(part)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand_of(text: &str) -> Option<Vec<String>> {
        demand(&Query::parse(text).unwrap())
    }

    #[test]
    fn required_literals_of_a_query() {
        let texts =
            |list: &[&str]| Some(list.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        assert_eq!(demand_of("Zyzzyva"), texts(&["zyzzyva"]));
        assert_eq!(demand_of("a or bc"), texts(&["a", "bc"]));
        assert_eq!(demand_of("a bcd not xyzxyz"), texts(&["bcd"]));
        assert_eq!(demand_of("a or /b/"), None);
        assert_eq!(demand_of("not a"), None);
        assert_eq!(demand_of(r#""usr/local \"x\"""#), texts(&["local "]));
        assert_eq!(demand_of("漢字"), None);
        assert_eq!(demand_of("straße"), texts(&["strasse"]));
    }

    #[test]
    fn no_other_character_folds_to_ascii() {
        for letter in '\u{80}'..=char::MAX {
            if fold_text(letter.encode_utf8(&mut [0; 4])).contains(|part: char| part.is_ascii()) {
                let row = format!("{:02x}", u32::from(letter) >> 8);
                assert!(
                    HIDING_ROWS.split('|').any(|known| known == row),
                    "{letter:?}"
                );
                let all: String = ('a'..='z').collect();
                assert!(
                    hiding_characters(&[all]).any(|known| known == letter),
                    "{letter:?}"
                );
            }
        }
    }

    #[test]
    fn hidden_matches_are_found() {
        let prefilter = Prefilter::new(&Query::parse("task").unwrap()).unwrap();
        for line in [
            r#"{"text":"a TaSk"}"#,
            r#"{"text":"\u0074ask"}"#,
            "\"tas\u{212a}\"",
            r#""ta\u017Fk""#,
            r#""tas\u212ak""#,
            "\"ta\u{17f}k\"",
            "\"ta\u{fb06}\"",
        ] {
            assert!(prefilter.find(line.as_bytes(), 0).is_some(), "{line}");
        }
        assert_eq!(prefilter.find(br#"{"text":"t-a-s-k \u4f60 \n"}"#, 0), None);
    }
}
