//! Case folding of literals and texts: one definition, two ways of getting there.
//!
//! A literal is found where its full case folding (Unicode's `CaseFolding.txt`, statuses C and F, not locale-dependent,
//! no normalisation) is part of the full case folding of a piece of text: `STRASSE` finds `straße`. Both ways give
//! that answer for every query and every text.

use caseless::Caseless;
use worker::command_line::Named;

/// Implementation of case folding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Every text is folded by the full table.
    Unicode,
    /// A text of ASCII alone is compared byte by byte without being copied; any other is folded by the full table.
    Ascii,
}

/// Every method with its name and description, in the order in which help lists them.
pub static FOLDS: &[Named<Fold>] = &[
    (
        Fold::Unicode,
        "unicode",
        "every text is folded by Unicode's full table, then searched",
    ),
    (
        Fold::Ascii,
        "ascii",
        "a text of ASCII alone is searched as it is, any other as by `unicode`: the same answers",
    ),
];

/// Appends the full case folding of `text` to `out`.
pub fn fold_into(text: &str, out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = rest
            .as_bytes()
            .iter()
            .position(|byte| !byte.is_ascii())
            .unwrap_or(rest.len());
        let from = out.len();
        out.push_str(&rest[..ascii]);
        out[from..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let other = rest
            .as_bytes()
            .iter()
            .position(u8::is_ascii)
            .unwrap_or(rest.len());
        out.extend(rest[..other].chars().default_case_fold());
        rest = &rest[other..];
    }
}

/// The full case folding of `text`.
#[must_use]
pub fn fold_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_table_is_used() {
        assert_eq!(fold_text("HeLLo"), "hello");
        assert_eq!(fold_text("Straße STRAẞE"), "strasse strasse");
        assert_eq!(fold_text("ΟΔΟΣ ὀδός"), "οδοσ ὀδόσ");
        assert_eq!(fold_text("\u{212a}elvin ſun ﬁne"), "kelvin sun fine");
        assert_eq!(fold_text("İ"), "i\u{307}");
        assert_eq!(fold_text(""), "");
    }

    #[test]
    fn a_run_of_one_kind_and_the_other() {
        assert_eq!(fold_text("aÉbÀÇCd漢字E"), "aébàçcd漢字e");
    }
}
