//! The end of the channel where the results of an asynchronous engine arrive.

use async_channel::{Receiver, Sender};
use worker::exit::Failure;

use crate::found::Found;
use crate::job::{CHANNEL, Search};

/// Message of a task.
pub(super) type Part = Result<Found, Failure>;

/// The channel that the job asks for.
pub(super) fn channel(search: &Search) -> (Sender<Part>, Receiver<Part>) {
    if search.job.bounded {
        async_channel::bounded(CHANNEL)
    } else {
        async_channel::unbounded()
    }
}

/// Merges parts until every sender is gone. A task that panicked sends nothing, and its files are missed.
pub(super) async fn merge(search: &Search, parts: Receiver<Part>) -> Part {
    let mut found = Found::new(search.job.limit);
    while let Ok(part) = parts.recv().await {
        found.merge(part?);
    }
    let files = search.job.sessions.len() as u64;
    if found.seen.files != files {
        return Err(Failure::Work(format!(
            "{} of {files} files were searched: a task ended early",
            found.seen.files
        )));
    }
    let bounded = if parts.capacity().is_some() {
        "bounded"
    } else {
        "unbounded"
    };
    found.seen.channels.insert(bounded);
    found.seen.at_end(search);
    Ok(found)
}
