//! A generator that is slowed down to a rate, for a disk that is slower than the real one.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Lateness that later blocks make up for. A sleep ends some 50 µs late; a generator that had to wait for a buffer must not
/// catch up.
const SLACK: Duration = Duration::from_micros(200);

/// The moment at which a generator of a given rate has its next block. Threads share one generator.
pub(super) struct Pace {
    bytes_per_s: f64,
    due: Mutex<Instant>,
}

impl Pace {
    pub(super) fn new(bytes_per_s: f64) -> Self {
        Self {
            bytes_per_s,
            due: Mutex::new(Instant::now()),
        }
    }

    /// Sleeps until the generator has `bytes` more, which the caller began to make at `start`. It does not spin: a source
    /// that is slower than the disk, such as a network, leaves the processor free.
    pub(super) fn wait(&self, start: Instant, bytes: usize) {
        let due = self.reserve(start, bytes);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }

    #[expect(clippy::cast_precision_loss, reason = "a block is smaller than 2^53")]
    fn reserve(&self, start: Instant, bytes: usize) -> Instant {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let from = start.checked_sub(SLACK).unwrap_or(start).max(*due);
        *due = from + Duration::from_secs_f64(bytes as f64 / self.bytes_per_s);
        *due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_due_at_the_rate_whoever_fills_them() {
        let pace = Pace::new(1e6);
        let start = *pace.due.lock().unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(pace.reserve(start, 1_000_000), start + second);
        // Another thread that began at the same moment gets the next block.
        assert_eq!(pace.reserve(start, 500_000), start + second * 3 / 2);
    }

    #[test]
    fn lateness_is_made_up_for_only_within_the_slack() {
        let pace = Pace::new(1e6);
        let start = *pace.due.lock().unwrap();
        let (second, late) = (Duration::from_secs(1), Duration::from_micros(100));
        assert_eq!(pace.reserve(start + late, 1_000_000), start + second);
        let idle = start + second * 10;
        assert_eq!(pace.reserve(idle, 1_000_000) + SLACK, idle + second);
    }
}
