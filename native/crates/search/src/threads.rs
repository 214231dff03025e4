//! Threads, as they can be seen from inside the process.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use std::{fs, process, thread};

/// Kind of the current thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A thread of a rayon pool.
    Rayon,
    /// A thread inside a tokio runtime.
    Tokio,
    /// A thread of the pool of the crate `blocking`.
    Blocking,
    /// A thread of smol's global executor.
    Smol,
    /// A thread that runs our own executor.
    Own,
    /// Any other: the one that the program began with.
    Plain,
}

/// Name prefix of threads that run an executor of this crate, followed by a number.
pub(crate) const EXECUTOR_PREFIX: &str = "executor-";

impl Host {
    pub(crate) fn observe() -> Self {
        if rayon::current_thread_index().is_some() {
            return Self::Rayon;
        }
        if tokio::runtime::Handle::try_current().is_ok() {
            return Self::Tokio;
        }
        match thread::current().name() {
            Some(name) if name.starts_with(EXECUTOR_PREFIX) => Self::Own,
            Some(name) if name.starts_with(BLOCKING) => Self::Blocking,
            Some(name) if name.starts_with(SMOL) => Self::Smol,
            _ => Self::Plain,
        }
    }

    /// The name of an engine whose work belongs to this kind of thread, as the current thread sees it.
    pub(crate) fn label(self, engine: &str) -> String {
        let host = Self::observe();
        if host == self {
            engine.to_owned()
        } else {
            format!("{engine} on a thread of kind {host:?}")
        }
    }
}

/// Name prefix of the threads of the crate `blocking` and of smol's global executor.
const BLOCKING: &str = "blocking-";
const SMOL: &str = "smol-";

/// Name prefixes of threads of a rayon pool, set here, and of tokio's worker and blocking threads,
/// set by tokio.
pub(crate) const RAYON: &str = "rayon-";
const TOKIO: &str = "tokio-";

/// Threads of the process, by the kernel's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadCounts {
    /// All of them, the first one included.
    pub(crate) all: usize,
    /// Those of the pool or executor that shares out the work.
    pub(crate) executor: usize,
    /// Those that may block, of tokio or of the crate `blocking`.
    pub(crate) blocking: usize,
}

/// Time after which a thread without a name is assumed to have none, such as a thread of a
/// preloaded library. Such a thread belongs to no pool.
const NAMING_TIMEOUT: Duration = Duration::from_millis(100);

impl ThreadCounts {
    /// Counts the threads. On a thread inside a tokio runtime, its workers are distinguished from
    /// its blocking threads.
    pub(crate) fn count() -> Self {
        let workers = tokio::runtime::Handle::try_current()
            .map_or(0, |runtime| runtime.metrics().num_workers());
        let begun = Instant::now();
        loop {
            let names: Vec<_> = names().collect();
            if have_unique_names(&names) || begun.elapsed() >= NAMING_TIMEOUT {
                return count(names.into_iter(), workers);
            }
            thread::yield_now();
        }
    }
}

/// Returns whether every thread has set its name.
///
/// A thread names itself when it first runs. Until then it has the name of its parent, which is the
/// first thread (`names[0]`) or a thread of an executor. Those names are unique, so a duplicate
/// shows a thread that has not named itself yet. Threads of tokio and of the crate `blocking`
/// create only threads of the same kind.
fn have_unique_names(names: &[String]) -> bool {
    let first = names.first();
    let mut unique = BTreeSet::new();
    names
        .iter()
        .filter(|&name| Some(name) == first || EXECUTORS.iter().any(|own| name.starts_with(own)))
        .all(|name| unique.insert(name))
}

/// Name prefixes of executor threads, each followed by a number.
const EXECUTORS: [&str; 3] = [RAYON, SMOL, EXECUTOR_PREFIX];

fn count(names: impl Iterator<Item = String>, tokio_workers: usize) -> ThreadCounts {
    let mut counts = ThreadCounts::default();
    let mut tokio = 0;
    for name in names {
        counts.all += 1;
        if name.starts_with(TOKIO) {
            tokio += 1;
        } else if name.starts_with(BLOCKING) {
            counts.blocking += 1;
        } else if EXECUTORS.iter().any(|own| name.starts_with(own)) {
            counts.executor += 1;
        }
    }
    counts.executor += tokio.min(tokio_workers);
    counts.blocking += tokio.saturating_sub(tokio_workers);
    counts
}

/// The names of all threads, that of the first one before the others.
fn names() -> impl Iterator<Item = String> {
    let first = process::id().to_string();
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let mut threads: Vec<_> = threads
        .filter_map(|thread| Some(thread.ok()?.path()))
        .collect();
    threads.sort_by_key(|thread| !thread.ends_with(&first));
    // One that has ended since the list was read has no name any more.
    threads
        .into_iter()
        .filter_map(|thread| fs::read_to_string(thread.join("comm")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_of(names: &[&str], workers: usize) -> (usize, usize, usize) {
        let counts = count(names.iter().map(|&name| name.to_owned()), workers);
        (counts.all, counts.executor, counts.blocking)
    }

    #[test]
    fn kinds_are_distinguished_by_name() {
        assert_eq!(counts_of(&["search", "rayon-0", "rayon-1"], 0), (3, 2, 0));
        assert_eq!(
            counts_of(&["search", "smol-1", "blocking-1", "blocking-2"], 0),
            (4, 1, 2)
        );
        assert_eq!(counts_of(&["search", "executor-0"], 0), (2, 1, 0));
        assert_eq!(
            counts_of(
                &[
                    "search",
                    "tokio-rt-worker",
                    "tokio-rt-worker",
                    "tokio-rt-worker"
                ],
                2
            ),
            (4, 2, 1)
        );
    }

    #[test]
    fn a_thread_with_the_name_of_its_parent_is_too_new() {
        let unique_names = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
            have_unique_names(&names)
        };
        assert!(unique_names(&[]));
        assert!(unique_names(&["search", "rayon-0", "rayon-1"]));
        assert!(!unique_names(&["search", "rayon-0", "search"]));
        assert!(!unique_names(&["search", "smol-1", "smol-1"]));
        assert!(!unique_names(&["search", "executor-0", "executor-0"]));
        // Whatever made these, they are what they are called.
        assert!(unique_names(&[
            "search",
            "tokio-rt-worker",
            "tokio-rt-worker"
        ]));
        assert!(unique_names(&["search", "blocking-1", "blocking-1"]));
        assert!(unique_names(&["search", "iou-wrk-7", "iou-wrk-7"]));
    }

    #[test]
    fn the_first_thread_comes_first() {
        let own = fs::read_to_string(format!("/proc/self/task/{}/comm", process::id())).unwrap();
        assert_eq!(names().next(), Some(own));
    }

    #[test]
    fn threads_that_run_are_counted() {
        let (leave, left) = std::sync::mpsc::channel::<()>();
        let (arrive, arrived) = std::sync::mpsc::channel();
        let before = ThreadCounts::count();
        let thread = thread::Builder::new()
            .name(format!("{EXECUTOR_PREFIX}0"))
            .spawn(move || {
                arrive.send(Host::observe()).unwrap();
                left.recv().unwrap();
            })
            .unwrap();
        assert_eq!(arrived.recv().unwrap(), Host::Own);
        // Other tests start and end threads meanwhile; none of them has this name.
        assert_eq!(ThreadCounts::count().executor - before.executor, 1);
        leave.send(()).unwrap();
        thread.join().unwrap();
    }
}
