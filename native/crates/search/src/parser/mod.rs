//! Parsers of a line: one file per parser, one line in the list below.

mod serde_json;
mod simd_json;
mod sonic_rs;

/// SIMD instruction set of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd {
    /// The set that it uses: `none`, `sse2`, `sse4.2`, `avx2` or `neon`.
    pub used: &'static str,
    /// The set that it would use if it were built for this processor.
    pub offered: &'static str,
}

impl Simd {
    /// The parser already uses the best set that it has for this processor.
    #[must_use]
    pub fn best(used: &'static str) -> Self {
        Self {
            used,
            offered: used,
        }
    }

    /// Reason why the parser runs below what this processor offers, or `None`.
    #[must_use]
    pub fn limitation(&self) -> Option<String> {
        (self.used != self.offered).then(|| {
            format!(
                "it was built for {}, and this processor has {}",
                self.used, self.offered
            )
        })
    }
}

use crate::record::Line;

pub use self::serde_json::SerdeJson;
pub use self::simd_json::SimdJson;
pub use self::sonic_rs::SonicRs;

/// Reads lines. Engines are generic over it: no call through a pointer per line.
pub trait Parser: Default + Send + 'static {
    /// Kebab-case name, reported by the code that parses.
    const NAME: &'static str;
    /// Description in one line.
    const ABOUT: &'static str;

    /// Its SIMD instruction set in this build, on this processor.
    fn simd() -> Simd;

    /// Reads one line without its line end.
    ///
    /// # Errors
    /// It is no JSON object of the form of [`Line`]; with the parser's own words.
    fn parse<'a>(&'a mut self, line: &'a [u8]) -> Result<Line<'a>, String>;
}

/// Something to do with a parser that is chosen at run time.
pub trait Work {
    /// Result of the parser.
    type Output;

    /// Does it.
    fn with<P: Parser>(self) -> Self::Output;
}

/// A parser by name.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// [`Parser::NAME`].
    pub name: &'static str,
    /// [`Parser::ABOUT`].
    pub about: &'static str,
    /// [`Parser::simd`].
    pub simd: fn() -> Simd,
}

macro_rules! parsers {
    ($($parser:ident,)*) => {
        /// Every parser, in the order in which help lists them.
        pub static PARSERS: &[Choice] = &[$(Choice {
            name: $parser::NAME,
            about: $parser::ABOUT,
            simd: $parser::simd,
        },)*];

        /// Does `work` with the parser `choice`.
        ///
        /// # Panics
        /// `choice` does not come from [`PARSERS`].
        pub fn dispatch<W: Work>(choice: Choice, work: W) -> W::Output {
            match choice.name {
                $($parser::NAME => work.with::<$parser>(),)*
                other => unreachable!("{other} is not in the list of parsers"),
            }
        }
    };
}

parsers! {
    SerdeJson,
    SimdJson,
    SonicRs,
}

/// The parser named `name`.
#[must_use]
pub fn parser(name: &str) -> Option<Choice> {
    PARSERS.iter().copied().find(|parser| parser.name == name)
}

/// Deepest nesting of a line. It is that of values which `serde_json` builds; what it skips may nest without end, and the
/// other parsers have other limits or none, so the limit is kept here, before a parser is asked.
pub const MAX_DEPTH: usize = 127;

/// Whether brackets outside strings nest deeper than [`MAX_DEPTH`]; such a line is bad.
#[must_use]
pub fn too_deep(line: &[u8]) -> bool {
    // `[` and `{` differ in one bit; most lines have too few of them to nest deeply, and are seen at once.
    let openers: usize = line
        .chunks(255)
        .map(|part| {
            let count = part
                .iter()
                .fold(0_u8, |sum, byte| sum + u8::from(byte | 0x20 == b'{'));
            usize::from(count)
        })
        .sum();
    openers > MAX_DEPTH && depth(line) > MAX_DEPTH
}

fn depth(line: &[u8]) -> usize {
    let (mut deepest, mut depth, mut at) = (0_usize, 0_usize, 0);
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                // To the closing quote; an escape takes the byte after it along.
                while let Some(end) = memchr::memchr2(b'"', b'\\', &line[at.min(line.len())..]) {
                    at += end + 1;
                    if line[at - 1] == b'"' {
                        break;
                    }
                    at += 1;
                }
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_built_for_less_than_the_processor_has_says_so() {
        let old = Simd {
            used: "sse2",
            offered: "avx2",
        };
        let limited = old.limitation().unwrap();
        assert!(limited.contains("built for sse2") && limited.contains("has avx2"));
        assert_eq!(Simd::best("neon").limitation(), None);
    }

    #[test]
    fn only_the_parser_that_chooses_at_compile_time_can_be_limited() {
        for parser in PARSERS {
            let simd = (parser.simd)();
            let compiled = parser.name == SonicRs::NAME;
            assert!(compiled || simd.limitation().is_none(), "{}", parser.name);
        }
        assert_eq!((parser("serde-json").unwrap().simd)().used, "none");
        let detected = (parser("simd-json").unwrap().simd)().used;
        #[cfg(target_arch = "x86_64")]
        assert_eq!(detected == "avx2", std::is_x86_feature_detected!("avx2"));
        let built = (parser("sonic-rs").unwrap().simd)().used;
        assert_eq!(built == "avx2", cfg!(target_feature = "avx2"));
        let _ = detected;
    }

    #[test]
    fn every_parser_checks_escapes_in_strings_that_it_skips() {
        fn accepts(line: &[u8]) -> [bool; 3] {
            [
                SerdeJson.parse(line).is_ok(),
                SimdJson::default().parse(line).is_ok(),
                SonicRs.parse(line).is_ok(),
            ]
        }
        let line = |text: &str| format!(r#"{{"type":"user","extra":"{text}"}}"#).into_bytes();
        for valid in [r"\\u", r"\u0041", r"\\\u00e9", r"\\\\u"] {
            assert_eq!(accepts(&line(valid)), [true; 3], "{valid}");
        }
        for invalid in ["\\u\0d83e", r"\u12", r"\uzzzz", r"\\\u12"] {
            assert_eq!(accepts(&line(invalid)), [false; 3], "{invalid}");
        }
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert_eq!(depth(br#"{"a":[{"b":"[[[\"[{"}]}"#), 3);
        assert_eq!(depth(b"]]]["), 1);
        assert_eq!(depth(br#""\\"[[]"#), 2);
        assert_eq!(depth(br#"["\"#), 1);
        assert!(!too_deep(&[b"[".repeat(127), b"]".repeat(127)].concat()));
        assert!(too_deep(&[b"[".repeat(128), b"]".repeat(128)].concat()));
        assert!(!too_deep(&b"[]".repeat(1000)));
    }
}
