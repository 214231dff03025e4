//! Conditions on a message in addition to the query.

use crate::record::{Message, Role};
use crate::timestamp::Timestamp;

/// A message must satisfy every condition that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// It is from this one.
    pub role: Option<Role>,
    /// Its session has exactly this name.
    pub session: Option<String>,
    /// It was written before this; one without a time was not.
    pub before: Option<Timestamp>,
    /// It was written after this; one without a time was not.
    pub after: Option<Timestamp>,
}

impl Filter {
    /// Returns whether a message passes the filter.
    #[must_use]
    pub fn passes(&self, message: &Message<'_>) -> bool {
        let time = |condition: &dyn Fn(Timestamp) -> bool| message.time.is_some_and(condition);
        self.role.is_none_or(|role| role == message.role)
            && self.session.as_ref().is_none_or(|session| {
                message
                    .session
                    .as_ref()
                    .is_some_and(|own| own.0 == session.as_str())
            })
            && self.before.is_none_or(|limit| time(&|own| own < limit))
            && self.after.is_none_or(|limit| time(&|own| own > limit))
    }
}
