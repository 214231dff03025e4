//! `sequential`: the calling thread, one file after the other.

use std::sync::Arc;

use super::{Engine, Part, by_parser};
use crate::job::Search;
use crate::parser::Parser;
use crate::scanner::Scanner;
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "sequential",
    about: "one thread, one file after the other",
    knobs: &[],
    host: Host::Plain,
    run: by_parser!(run),
};

fn run<P: Parser>(search: &Arc<Search>) -> Part {
    let mut scanner = Scanner::<P>::new(search, ENGINE.identity());
    for file in 0..search.job.sessions.len() {
        scanner.search_file(file)?;
    }
    let mut results = scanner.finish();
    results.observations.at_end(search);
    Ok(results)
}
