//! Matching of a message against a query.

use memchr::memmem::Finder;
use regex::bytes::RegexBuilder;

use super::Query;
use crate::fold::{Fold, fold_into, fold_text};
use crate::record::Message;

/// A prepared query with its own buffers: one for each thread or task.
#[derive(Clone, Debug)]
pub struct Matcher {
    root: Node,
    fold: Fold,
    /// The pieces of the current message that were case-folded, each preceded by a NUL, which no
    /// literal contains.
    folded: String,
    /// Whether `folded` belongs to the current message.
    fresh: bool,
    /// Pieces that were folded by the full table.
    pub(crate) pieces_folded: u64,
    /// Those of them that are ASCII only.
    pub(crate) ascii_folded: u64,
    /// Literals that were looked for in a piece as it is.
    pub(crate) pieces_plain: u64,
}

#[derive(Clone, Debug)]
enum Node {
    Literal(Box<Literal>),
    Regex(regex::Regex),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

#[derive(Clone, Debug)]
struct Literal {
    /// In a text that is folded.
    needle: Finder<'static>,
    /// In a text of ASCII alone, if the folded literal is ASCII: only then it can be there.
    plain: Option<regex::bytes::Regex>,
}

impl Matcher {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// A literal is too long to be searched in any case.
    pub fn new(query: &Query, fold: Fold) -> Result<Self, String> {
        Ok(Self {
            root: node(query)?,
            fold,
            folded: String::new(),
            fresh: false,
            pieces_folded: 0,
            ascii_folded: 0,
            pieces_plain: 0,
        })
    }

    /// Returns whether the message matches.
    pub fn matches(&mut self, message: &Message<'_>) -> bool {
        self.fresh = false;
        let mut root = std::mem::replace(&mut self.root, Node::Any(Vec::new()));
        let result = self.evaluate(&mut root, message);
        self.root = root;
        result
    }

    fn evaluate(&mut self, node: &mut Node, message: &Message<'_>) -> bool {
        match node {
            Node::Literal(literal) => self.literal(literal, message),
            Node::Regex(regex) => message.texts().any(|text| regex.is_match(text)),
            Node::All(nodes) => nodes.iter_mut().all(|node| self.evaluate(node, message)),
            Node::Any(nodes) => nodes.iter_mut().any(|node| self.evaluate(node, message)),
            Node::Not(node) => !self.evaluate(node, message),
        }
    }

    fn literal(&mut self, literal: &Literal, message: &Message<'_>) -> bool {
        if self.fold == Fold::Ascii {
            for text in message.texts().filter(|text| text.is_ascii()) {
                self.pieces_plain += 1;
                if literal
                    .plain
                    .as_ref()
                    .is_some_and(|plain| plain.is_match(text.as_bytes()))
                {
                    return true;
                }
            }
        }
        if !self.fresh {
            self.fresh = true;
            self.folded.clear();
            for text in message.texts() {
                if self.fold == Fold::Unicode || !text.is_ascii() {
                    self.pieces_folded += 1;
                    self.ascii_folded += u64::from(text.is_ascii());
                    fold_into(text, &mut self.folded);
                    self.folded.push('\0');
                }
            }
        }
        literal.needle.find(self.folded.as_bytes()).is_some()
    }
}

fn node(query: &Query) -> Result<Node, String> {
    let several = |queries: &[Query]| queries.iter().map(node).collect::<Result<Vec<_>, _>>();
    Ok(match query {
        Query::Literal(text) => Node::Literal(Box::new(literal(text)?)),
        Query::Regex(pattern) => Node::Regex(pattern.compile().map_err(|error| error.to_string())?),
        Query::All(queries) => Node::All(several(queries)?),
        Query::Any(queries) => Node::Any(several(queries)?),
        Query::Not(query) => Node::Not(Box::new(node(query)?)),
    })
}

fn literal(text: &str) -> Result<Literal, String> {
    let needle = fold_text(text);
    let plain = if needle.is_ascii() {
        let regex = RegexBuilder::new(&regex::escape(&needle))
            .case_insensitive(true)
            .unicode(false)
            .build();
        Some(regex.map_err(|error| error.to_string())?)
    } else {
        None
    };
    Ok(Literal {
        needle: Finder::new(needle.as_bytes()).into_owned(),
        plain,
    })
}
