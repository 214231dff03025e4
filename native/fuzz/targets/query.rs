//! A query printed and read again is the same query; what it finds is what a plain reading of its tree finds, in both ways of
//! folding; and an error is at a place in the text.
//!
//! The input is a query and the texts of a message.

#![no_main]

use std::borrow::Cow;

use libfuzzer_sys::fuzz_target;
use search::fold::{FOLDS, fold_text};
use search::query::{Matcher, Query};
use search::record::{Message, Role, Text};

fuzz_target!(|input: (&str, Vec<&str>)| {
    let (text, pieces) = input;
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(wrong) => {
            assert!(
                (1..=text.chars().count() + 1).contains(&wrong.column),
                "{wrong}"
            );
            assert!(!wrong.reason.contains('\n'), "{wrong}");
            return;
        }
    };
    let printed = query.to_string();
    let again = Query::parse(&printed);
    assert_eq!(again.as_ref(), Ok(&query), "{printed}");
    assert_eq!(again.map(|query| query.to_string()), Ok(printed));

    let message = Message {
        role: Role::User,
        time: None,
        session: None,
        uuid: None,
        pieces: pieces
            .into_iter()
            .map(|piece| Text(Cow::Borrowed(piece)))
            .collect(),
    };
    let expected = query_matches(&query, &message);
    for (fold, name, _) in FOLDS {
        // A literal or expression may be too large; then it is so for both ways.
        let Ok(mut matcher) = Matcher::new(&query, *fold) else {
            continue;
        };
        // Twice: what the first left behind must not show.
        for _ in 0..2 {
            assert_eq!(matcher.matches(&message), expected, "{name} {query}");
        }
    }
});

fn query_matches(query: &Query, message: &Message<'_>) -> bool {
    match query {
        Query::Literal(text) => message
            .texts()
            .any(|own| fold_text(own).contains(&fold_text(text))),
        Query::Regex(pattern) => {
            let has = |flag| pattern.flags.contains(flag);
            let regex = regex::RegexBuilder::new(&pattern.text)
                .case_insensitive(has('i'))
                .multi_line(has('m'))
                .dot_matches_new_line(has('s'))
                .ignore_whitespace(has('x'))
                .build()
                .expect("a query contains only expressions that compile");
            message.texts().any(|own| regex.is_match(own))
        }
        Query::All(queries) => queries.iter().all(|query| query_matches(query, message)),
        Query::Any(queries) => queries.iter().any(|query| query_matches(query, message)),
        Query::Not(query) => !query_matches(query, message),
    }
}
