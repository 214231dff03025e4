//! Characters that are segments by themselves: of class Other in UAX #29, so that a segment starts
//! before them and ends after the marks that follow them, whatever the neighbours are. They are
//! most of Chinese, Japanese and Thai text, and asking the segmenter for each would take most of
//! the time. Tests ask it about every character named here.

/// Known property of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    /// Class Other, a letter: a word.
    Word,
    /// Class Other, no letter: no word.
    Mark,
    /// Class `Extend`: joins the preceding text.
    Extends,
    /// Starts a segment after a character that is a segment by itself.
    Starts,
    Nothing,
}

fn property_of(letter: char) -> Property {
    match letter {
        // Hiragana, Han, Thai.
        '\u{3041}'..='\u{3096}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{0E01}'..='\u{0E30}'
        | '\u{0E32}'..='\u{0E33}'
        | '\u{0E40}'..='\u{0E46}' => Property::Word,
        // Ideographic comma and full stop, brackets.
        '\u{3001}'..='\u{3002}' | '\u{300A}'..='\u{3011}' => Property::Mark,
        // Thai vowel signs and tone marks.
        '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' => Property::Extends,
        // ASCII, Katakana, fullwidth ASCII.
        '\0'..='\u{7F}' | '\u{30A1}'..='\u{30FA}' | '\u{FF01}'..='\u{FF5E}' => Property::Starts,
        _ => Property::Nothing,
    }
}

/// Returns whether a segment starts before `letter`, whatever the preceding text.
pub(super) fn starts_segment(letter: char) -> bool {
    matches!(property_of(letter), Property::Word | Property::Mark)
}

/// Returns the end of the segment at the start of `text`, and whether it is a word, if `letter`,
/// its first character, is a segment by itself and the next character is known.
pub(super) fn segment(text: &str, letter: char) -> Option<(usize, bool)> {
    let is_word = match property_of(letter) {
        Property::Word => true,
        Property::Mark => false,
        Property::Extends | Property::Starts | Property::Nothing => return None,
    };
    let mut end = letter.len_utf8();
    for next in text[end..].chars() {
        match property_of(next) {
            // A sign on punctuation may be a letter by itself: leave that to the segmenter.
            Property::Extends if is_word => end += next.len_utf8(),
            Property::Extends | Property::Nothing => return None,
            Property::Word | Property::Mark | Property::Starts => break,
        }
    }
    Some((end, is_word))
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// One character of every class of UAX #29.
    const NEIGHBOURS: &str =
        "aא1_.':,\" \u{3000}ア\u{301}\u{200d}\u{ad}🇩👩❤\u{1f3fd}漢ก\u{e31}(\n\r\u{2028}ㄱ한";

    fn all() -> impl Iterator<Item = (char, Property)> {
        ('\0'..=char::MAX)
            .map(|letter| (letter, property_of(letter)))
            .filter(|(_, property)| *property != Property::Nothing)
    }

    #[test]
    fn a_segment_starts_before_every_character_that_starts_one() {
        for (letter, property) in all().filter(|(letter, _)| starts_segment(*letter)) {
            assert_eq!(
                letter.is_alphanumeric(),
                property == Property::Word,
                "{letter:?}"
            );
            assert!(
                letter
                    .to_lowercase()
                    .chain(letter.to_uppercase())
                    .all(|mapped| mapped == letter)
            );
            for before in NEIGHBOURS.chars() {
                for after in ['a', '1', '\u{301}', '漢'] {
                    let (left, right) = (format!("{before}"), format!("{letter}{after}"));
                    let whole = format!("{left}{right}");
                    let parts: Vec<_> = left
                        .split_word_bounds()
                        .chain(right.split_word_bounds())
                        .collect();
                    assert_eq!(
                        whole.split_word_bounds().collect::<Vec<_>>(),
                        parts,
                        "{whole:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn extending_and_starting_characters_match_the_segmenter() {
        for (letter, property) in all() {
            let behind = format!("漢{letter}");
            let segments: Vec<_> = behind.split_word_bounds().collect();
            match property {
                Property::Extends => assert_eq!(segments, [&behind], "{letter:?}"),
                _ => assert_eq!(segments[0], "漢", "{letter:?}"),
            }
        }
    }
}
