//! `rayon-chunked`: the threads of a pool take pieces of files, so that one large file does not
//! delay the end.

use std::sync::Arc;

use worker::exit::Failure;

use super::rayon::share_out;
use super::{Engine, Knob};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::Stand;
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "rayon-chunked",
    about: "a rayon pool, one piece of --chunk bytes of a file at a time for each thread",
    knobs: &[Knob::Chunk, Knob::Threads],
    run: |search| dispatch(search.job.parser, Chunked(search)),
};

struct Chunked<'search>(&'search Arc<Search>);

/// A piece of a file.
struct Chunk {
    file: usize,
    from: u64,
    to: u64,
}

impl Work for Chunked<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Rayon,
        };
        let job = &self.0.job;
        let mut chunks = Vec::new();
        for (file, session) in job.sessions.iter().enumerate() {
            let mut from = 0;
            // An empty file has one chunk, too: it is opened like the others.
            loop {
                let to = from + job.chunk_bytes;
                // A file that grew since it was listed is searched to its end, as by the other engines.
                let last = to >= session.size;
                let to = if last { u64::MAX } else { to };
                chunks.push(Chunk { file, from, to });
                if last {
                    break;
                }
                from = to;
            }
        }
        share_out::<P, _>(self.0, stand, &chunks, |scanner, chunk| {
            scanner.chunk(chunk.file, chunk.from, chunk.to)
        })
    }
}
