//! One line of a session, as every parser delivers it.
//!
//! The types are read by serde from maps alone, each key once, and borrow their text from the line
//! where it has no escapes. `docs/reference/search-worker.md` defines a valid line.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use worker::command_line::{Named, name_of};

use crate::timestamp::Timestamp;

/// A string. (`Option<Cow<str>>` would never borrow: serde's attribute does not reach inside.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// An object of which some keys are known. Derived code would also take an array of the values.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty = $key:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name<'a> { $($(#[$about])* pub $field: Option<$type>,)* }

        impl<'de> Deserialize<'de> for $name<'de> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ObjectVisitor<'a>(PhantomData<&'a ()>);
                impl<'a> Visitor<'a> for ObjectVisitor<'a> {
                    type Value = $name<'a>;

                    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                        out.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        $(let mut $field: Option<Option<$type>> = None;)*
                        while let Some(key) = map.next_key::<Text<'a>>()? {
                            match &*key.0 {
                                $($key => {
                                    if $field.is_some() {
                                        return Err(A::Error::duplicate_field($key));
                                    }
                                    $field = Some(map.next_value()?);
                                })*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok($name { $($field: $field.flatten(),)* })
                    }
                }
                deserializer.deserialize_map(ObjectVisitor(PhantomData))
            }
        }
    };
}

object! {
    /// A line.
    Line {
        /// `summary`, `system`, `user` or `assistant`.
        kind: Text<'a> = "type",
        /// Key of a summary.
        summary: Text<'a> = "summary",
        /// Key of a system line.
        content: Content<'a> = "content",
        /// Key of a user or assistant line.
        message: Body<'a> = "message",
        /// The session that the line belongs to.
        session: Text<'a> = "sessionId",
        /// The line's own name.
        uuid: Text<'a> = "uuid",
        /// When it was written.
        timestamp: Text<'a> = "timestamp",
    }
}

object! {
    /// The message of a user or assistant line.
    Body {
        /// Content of the message.
        content: Content<'a> = "content",
    }
}

object! {
    /// An element of a content list.
    Block {
        /// `text`, `tool_use`, `tool_result`, `thinking` or `image`.
        kind: Text<'a> = "type",
        /// Key of `text`.
        text: Text<'a> = "text",
        /// Key of `thinking`.
        thinking: Text<'a> = "thinking",
        /// Key of `tool_use`.
        name: Text<'a> = "name",
        /// Key of `tool_use`.
        input: Strings<'a> = "input",
        /// Key of `tool_result`.
        content: Content<'a> = "content",
    }
}

/// Content: a string, or a list of blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// A string.
    Text(Text<'a>),
    /// A list.
    Blocks(Vec<Block<'a>>),
}

impl<'de> Deserialize<'de> for Content<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string or a list of blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Text(Cow::Owned(text.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// All strings of a JSON value in the order in which they are written, without the keys of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings<'a>(pub Vec<Text<'a>>);

impl<'de> Deserialize<'de> for Strings<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut strings = Vec::new();
        Collect(&mut strings).deserialize(deserializer)?;
        Ok(Self(strings))
    }
}

/// Accepts values without strings.
macro_rules! ignore {
    ($($visit:ident: $type:ty,)*) => {
        $(fn $visit<E>(self, _: $type) -> Result<(), E> {
            Ok(())
        })*
    };
}

struct Collect<'list, 'a>(&'list mut Vec<Text<'a>>);

impl<'de> DeserializeSeed<'de> for Collect<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_, 'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<(), E> {
        self.0.push(Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push(Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    ignore! {
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Collect(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<Text<'de>>()?.is_some() {
            map.next_value_seed(Collect(self.0))?;
        }
        Ok(())
    }
}

/// Author of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A summary of a session; it has no time.
    Summary,
    /// The program that keeps the session.
    System,
    /// The user, or a tool that answers.
    User,
    /// The assistant.
    Assistant,
}

/// Every role and its name.
pub static ROLES: &[Named<Role>] = &[
    (Role::Summary, "summary", ""),
    (Role::System, "system", ""),
    (Role::User, "user", ""),
    (Role::Assistant, "assistant", ""),
];

impl Role {
    /// The text of `type`.
    #[must_use]
    pub fn name(self) -> &'static str {
        name_of(ROLES, &self).unwrap_or_default()
    }
}

/// A valid line.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<'a> {
    /// Author of the message.
    pub role: Role,
    /// When it was written; a line without a time is older than every other.
    pub time: Option<Timestamp>,
    /// `sessionId`, if it has one.
    pub session: Option<Text<'a>>,
    /// `uuid`, if it has one.
    pub uuid: Option<Text<'a>>,
    /// The pieces of its content text, in the order in which they are written.
    pub pieces: Vec<Text<'a>>,
}

/// Reason why a line of valid JSON is invalid.
pub type Fault = Cow<'static, str>;

impl<'a> Message<'a> {
    /// The message of a line.
    ///
    /// # Errors
    /// A key that its type requires is absent, a type is unknown, or the timestamp is invalid.
    pub fn from_line(line: Line<'a>) -> Result<Self, Fault> {
        let kind = line.kind.ok_or("no `type`")?;
        let Some((role, ..)) = ROLES.iter().find(|(_, name, _)| *name == kind.0) else {
            return Err(format!("no line type is called {:?}", kind.0).into());
        };
        let time = match &line.timestamp {
            None => None,
            Some(text) => Some(Timestamp::parse(&text.0).ok_or("`timestamp` is no time")?),
        };
        let mut pieces = Vec::new();
        match role {
            Role::Summary => pieces.push(line.summary.ok_or("a summary without `summary`")?),
            Role::System => {
                let content = line.content.ok_or("a system line without `content`")?;
                append(content, &mut pieces)?;
            }
            Role::User | Role::Assistant => {
                let content = line.message.and_then(|message| message.content);
                append(content.ok_or("no `content` in `message`")?, &mut pieces)?;
            }
        }
        Ok(Self {
            role: *role,
            time,
            session: line.session,
            uuid: line.uuid,
            pieces,
        })
    }

    /// Everything that a query looks at.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces
            .iter()
            .chain(&self.session)
            .chain(&self.uuid)
            .map(|text| &*text.0)
    }
}

fn append<'a>(content: Content<'a>, pieces: &mut Vec<Text<'a>>) -> Result<(), Fault> {
    let blocks = match content {
        Content::Text(text) => {
            pieces.push(text);
            return Ok(());
        }
        Content::Blocks(blocks) => blocks,
    };
    for block in blocks {
        let kind = block.kind.ok_or("a block without `type`")?;
        match &*kind.0 {
            "text" => pieces.push(block.text.ok_or("a text without `text`")?),
            "thinking" => pieces.push(block.thinking.ok_or("a thinking without `thinking`")?),
            "tool_use" => {
                pieces.push(block.name.ok_or("a tool_use without `name`")?);
                pieces.extend(block.input.into_iter().flat_map(|input| input.0));
            }
            "tool_result" => {
                if let Some(content) = block.content {
                    append(content, pieces)?;
                }
            }
            "image" => {}
            other => return Err(format!("no content type is called {other:?}").into()),
        }
    }
    Ok(())
}
