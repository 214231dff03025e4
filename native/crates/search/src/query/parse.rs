//! From text to a query, by recursive descent.
//!
//! Without a parser library: most of the code is error texts with their columns. A draft of the tokens with `winnow` had 155
//! lines in place of 164.

use std::fmt;

use super::{Pattern, Query};

/// Deepest nesting of parentheses and `not`s.
pub const MAX_DEPTH: usize = 64;

/// Error in a query, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Counted in characters, from 1.
    pub column: usize,
    /// In one line.
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for ParseError {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    And,
    Or,
    Not,
    Open,
    Close,
    Leaf(Query),
}

pub(super) fn parse(text: &str) -> Result<Query, ParseError> {
    let letters: Vec<char> = text.chars().collect();
    let mut reader = Reader {
        tokens: tokens(&letters)?,
        at: 0,
        end: letters.len() + 1,
        depth: 0,
    };
    let query = reader.parse_or()?;
    match reader.tokens.get(reader.at) {
        None => Ok(query),
        Some((column, _)) => Err(error(*column, "this `)` closes nothing")),
    }
}

fn error(column: usize, reason: impl Into<String>) -> ParseError {
    ParseError {
        column,
        reason: reason.into(),
    }
}

/// Tokens with their columns.
fn tokens(letters: &[char]) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let column = at + 1;
        let token = match letter {
            _ if letter.is_whitespace() => {
                at += 1;
                continue;
            }
            '(' | ')' => {
                at += 1;
                if letter == '(' {
                    Token::Open
                } else {
                    Token::Close
                }
            }
            '"' => parse_quoted(letters, &mut at)?,
            '/' => parse_regex(letters, &mut at)?,
            _ => parse_word(letters, &mut at)?,
        };
        tokens.push((column, token));
    }
    Ok(tokens)
}

/// `"…"` with `\"` and `\\`; a backslash before anything else is itself.
fn parse_quoted(letters: &[char], at: &mut usize) -> Result<Token, ParseError> {
    let column = *at + 1;
    *at += 1;
    let mut text = String::new();
    loop {
        match letters.get(*at) {
            None => return Err(error(column, "this quote is not closed")),
            Some('"') => break,
            Some('\\') if matches!(letters.get(*at + 1), Some('"' | '\\')) => {
                text.push(letters[*at + 1]);
                *at += 2;
            }
            Some(&letter) => {
                text.push(letter);
                *at += 1;
            }
        }
    }
    *at += 1;
    parse_literal(text, column)
}

/// `/…/flags`; a backslash takes the next character along.
fn parse_regex(letters: &[char], at: &mut usize) -> Result<Token, ParseError> {
    let column = *at + 1;
    *at += 1;
    let start = *at;
    loop {
        match letters.get(*at) {
            None => {
                return Err(error(
                    column,
                    "this regular expression is not closed by `/`; a word that begins with a slash is written in quotes",
                ));
            }
            Some('/') => break,
            Some('\\') => *at += 2,
            Some(_) => *at += 1,
        }
    }
    let text: String = letters[start..*at].iter().collect();
    *at += 1;
    if text.is_empty() {
        return Err(error(
            column,
            "an empty regular expression matches everything",
        ));
    }
    let from = *at;
    while letters.get(*at).is_some_and(char::is_ascii_alphanumeric) {
        *at += 1;
    }
    let flags_text = &letters[from..*at];
    for (index, flag) in flags_text.iter().enumerate() {
        if !"imsx".contains(*flag) || flags_text[..index].contains(flag) {
            return Err(error(
                from + index + 1,
                format!("`{flag}` is no flag, or given twice; flags are i, m, s, x"),
            ));
        }
    }
    let flags = "imsx"
        .chars()
        .filter(|flag| flags_text.contains(flag))
        .collect();
    let pattern = Pattern { text, flags };
    if let Err(cause) = pattern.compile() {
        // The first line of its message says that there is an error, the last one which.
        let text = cause.to_string();
        let reason = text.lines().last().unwrap_or_default();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        return Err(error(column, format!("not a regular expression: {reason}")));
    }
    Ok(Token::Leaf(Query::Regex(pattern)))
}

fn parse_word(letters: &[char], at: &mut usize) -> Result<Token, ParseError> {
    let start = *at;
    while letters
        .get(*at)
        .is_some_and(|letter| !letter.is_whitespace() && !matches!(letter, '(' | ')' | '"'))
    {
        *at += 1;
    }
    let word: String = letters[start..*at].iter().collect();
    Ok(match word.to_ascii_lowercase().as_str() {
        "and" => Token::And,
        "or" => Token::Or,
        "not" => Token::Not,
        _ => return parse_literal(word, start + 1),
    })
}

fn parse_literal(text: String, column: usize) -> Result<Token, ParseError> {
    if text.is_empty() {
        return Err(error(column, "an empty text is found everywhere"));
    }
    if text.contains('\0') {
        return Err(error(column, "a text cannot hold the character NUL"));
    }
    Ok(Token::Leaf(Query::Literal(text)))
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    /// Column after the last character.
    end: usize,
    depth: usize,
}

impl Reader {
    fn next_is(&self, token: &Token) -> bool {
        self.tokens
            .get(self.at)
            .is_some_and(|(_, next)| next == token)
    }

    fn parse_or(&mut self) -> Result<Query, ParseError> {
        let mut items = vec![self.parse_and()?];
        while self.next_is(&Token::Or) {
            self.at += 1;
            items.push(self.parse_and()?);
        }
        Ok(combine(items, false))
    }

    fn parse_and(&mut self) -> Result<Query, ParseError> {
        let mut items = vec![self.parse_term()?];
        loop {
            match self.tokens.get(self.at) {
                None | Some((_, Token::Or | Token::Close)) => return Ok(combine(items, true)),
                Some((_, Token::And)) => self.at += 1,
                Some(_) => {}
            }
            items.push(self.parse_term()?);
        }
    }

    fn parse_term(&mut self) -> Result<Query, ParseError> {
        let Some((column, token)) = self.tokens.get(self.at).cloned() else {
            let reason = if self.at == 0 {
                "the query is empty"
            } else {
                "a text, a regular expression or `(` is missing here"
            };
            return Err(error(self.end, reason));
        };
        self.at += 1;
        match token {
            Token::Leaf(query) => Ok(query),
            Token::Not | Token::Open => {
                if self.depth == MAX_DEPTH {
                    return Err(error(column, format!("nested deeper than {MAX_DEPTH}")));
                }
                self.depth += 1;
                let query = if token == Token::Not {
                    Query::Not(Box::new(self.parse_term()?))
                } else {
                    let query = self.parse_or()?;
                    if !self.next_is(&Token::Close) {
                        return Err(error(column, "this `(` is not closed"));
                    }
                    self.at += 1;
                    query
                };
                self.depth -= 1;
                Ok(query)
            }
            Token::And | Token::Or | Token::Close => {
                let word = match token {
                    Token::And => "and",
                    Token::Or => "or",
                    _ => ")",
                };
                Err(error(
                    column,
                    format!(
                        "nothing to search for before `{word}`; the word itself is written in quotes"
                    ),
                ))
            }
        }
    }
}

/// One query of several: a list in a list of its own kind is one list.
fn combine(mut items: Vec<Query>, all: bool) -> Query {
    if items.len() == 1
        && let Some(only) = items.pop()
    {
        return only;
    }
    let mut flat = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Query::All(inner) if all => flat.extend(inner),
            Query::Any(inner) if !all => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if all {
        Query::All(flat)
    } else {
        Query::Any(flat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> String {
        parse(text).unwrap().to_string()
    }

    #[test]
    fn precedence_and_adjacency() {
        assert_eq!(
            print("a b or not c AND d"),
            r#""a" and "b" or not "c" and "d""#
        );
        assert_eq!(print("a (b or c)"), r#""a" and ("b" or "c")"#);
        assert_eq!(print("not (a b) c"), r#"not ("a" and "b") and "c""#);
        assert_eq!(print("((a))"), r#""a""#);
        assert_eq!(print("a and (b and c)"), r#""a" and "b" and "c""#);
        assert_eq!(print("not not a"), r#"not not "a""#);
        assert_eq!(print("(not a)or(b)"), r#"not "a" or "b""#);
    }

    #[test]
    fn leaves() {
        assert_eq!(
            print(r#""and" "a \"b\" \\ \n""#),
            r#""and" and "a \"b\" \\ \\n""#
        );
        assert_eq!(
            print(r"/a\/b c/sim path/to"),
            r#"/a\/b c/ims and "path/to""#
        );
        assert_eq!(print("andy nota 漢字"), r#""andy" and "nota" and "漢字""#);
    }

    #[test]
    fn printing_is_stable() {
        for text in [
            "a b or (c or d) not (e f)",
            "not(not(a or b))",
            r#"/x/ or "\\""#,
        ] {
            let once = print(text);
            assert_eq!(print(&once), once);
            assert_eq!(parse(&once), parse(text));
        }
    }

    #[test]
    fn errors_name_the_column() {
        let at = |text: &str| {
            let error = parse(text).unwrap_err();
            (error.column, error.reason)
        };
        assert_eq!(at(""), (1, "the query is empty".to_owned()));
        assert_eq!(at("   ").0, 4);
        assert_eq!(at("é (b").0, 3);
        assert_eq!(at("a )").0, 3);
        assert_eq!(at("a or").0, 5);
        assert_eq!(at("or a").0, 1);
        assert_eq!(at("a \"b").0, 3);
        assert_eq!(at("a \"\"").0, 3);
        assert_eq!(at("/usr").0, 1);
        assert_eq!(at("/a/iq").0, 5);
        assert_eq!(at("/a/ii").0, 5);
        assert_eq!(at("x /(/").0, 3);
        assert!(
            at("x /(/").1.contains("unclosed group"),
            "{:?}",
            at("x /(/")
        );
        assert_eq!(at("//").0, 1);
        assert_eq!(at("()").0, 2);
    }

    #[test]
    fn depth_is_limited_and_length_is_not() {
        let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(
            parse(&nested(MAX_DEPTH + 1)).unwrap_err().column,
            MAX_DEPTH + 1
        );
        assert!(parse(&("not ".repeat(100_000) + "a")).is_err());
        assert!(parse(&"a or b ".repeat(10_000)).is_ok());
    }
}
