//! Threads, as they can be seen from inside the process.

use std::fs;
use std::thread;

/// What kind of thread something runs on, seen from the thread.
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
    /// A thread that runs an executor of our own.
    Own,
    /// Any other: the one that the program began with.
    Plain,
}

/// What threads that run an executor of our own are called.
pub(crate) const OWN_THREAD: &str = "search-executor";

impl Host {
    pub(crate) fn observe() -> Self {
        if rayon::current_thread_index().is_some() {
            return Self::Rayon;
        }
        if tokio::runtime::Handle::try_current().is_ok() {
            return Self::Tokio;
        }
        match thread::current().name() {
            Some(OWN_THREAD) => Self::Own,
            Some(name) if name.starts_with(BLOCKING) => Self::Blocking,
            Some(name) if name.starts_with(SMOL) => Self::Smol,
            _ => Self::Plain,
        }
    }
}

/// How the crate `blocking` names its threads, and smol those of its global executor.
const BLOCKING: &str = "blocking-";
const SMOL: &str = "smol-";

/// How threads of a rayon pool are named here, and tokio's by tokio, workers and blocking ones alike.
pub(crate) const RAYON: &str = "rayon-";
const TOKIO: &str = "tokio-";

/// Threads of the process, by the kernel's list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alive {
    /// All of them, the first one included.
    pub(crate) all: usize,
    /// Those of the pool or executor that shares out the work.
    pub(crate) executor: usize,
    /// Those that may block, of tokio or of the crate `blocking`.
    pub(crate) blocking: usize,
}

impl Alive {
    /// Counts them. On a thread inside a tokio runtime its workers are told apart from its blocking threads.
    pub(crate) fn count() -> Self {
        let workers = tokio::runtime::Handle::try_current()
            .map_or(0, |runtime| runtime.metrics().num_workers());
        count(names(), workers)
    }
}

fn count(names: impl Iterator<Item = String>, tokio_workers: usize) -> Alive {
    let mut alive = Alive::default();
    let mut tokio = 0;
    for name in names {
        alive.all += 1;
        if name.starts_with(TOKIO) {
            tokio += 1;
        } else if name.starts_with(BLOCKING) {
            alive.blocking += 1;
        } else if [RAYON, SMOL, OWN_THREAD]
            .iter()
            .any(|own| name.starts_with(own))
        {
            alive.executor += 1;
        }
    }
    alive.executor += tokio.min(tokio_workers);
    alive.blocking += tokio.saturating_sub(tokio_workers);
    alive
}

fn names() -> impl Iterator<Item = String> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    // One that has ended since the list was read has no name any more.
    threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(names: &[&str], workers: usize) -> (usize, usize, usize) {
        let alive = count(names.iter().map(|&name| name.to_owned()), workers);
        (alive.all, alive.executor, alive.blocking)
    }

    #[test]
    fn kinds_are_told_by_name() {
        assert_eq!(counted(&["search", "rayon-0", "rayon-1"], 0), (3, 2, 0));
        assert_eq!(
            counted(&["search", "smol-1", "blocking-1", "blocking-2"], 0),
            (4, 1, 2)
        );
        assert_eq!(counted(&["search", "search-executor"], 0), (2, 1, 0));
        assert_eq!(
            counted(
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
    fn threads_that_run_are_counted() {
        let (leave, left) = std::sync::mpsc::channel::<()>();
        let (arrive, arrived) = std::sync::mpsc::channel();
        let before = Alive::count();
        let thread = thread::Builder::new()
            .name(OWN_THREAD.to_owned())
            .spawn(move || {
                arrive.send(Host::observe()).unwrap();
                left.recv().unwrap();
            })
            .unwrap();
        assert_eq!(arrived.recv().unwrap(), Host::Own);
        // Other tests start and end threads meanwhile; none of them has this name.
        assert_eq!(Alive::count().executor - before.executor, 1);
        leave.send(()).unwrap();
        thread.join().unwrap();
    }
}
