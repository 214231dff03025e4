//! `sequential`: the calling thread, one file after the other.

use std::sync::Arc;

use worker::exit::Failure;

use super::Engine;
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand};
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "sequential",
    about: "one thread, one file after the other",
    knobs: &[],
    run: |search| dispatch(search.job.parser, Sequential(search)),
};

struct Sequential<'search>(&'search Arc<Search>);

impl Work for Sequential<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Plain,
        };
        let mut scanner = Scanner::<P>::new(self.0, stand);
        for file in 0..self.0.job.sessions.len() {
            scanner.file(file)?;
        }
        let mut found = scanner.finish();
        found.seen.at_end(self.0);
        Ok(found)
    }
}
