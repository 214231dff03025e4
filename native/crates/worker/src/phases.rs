//! Time of a run by phase, measured with the monotonic clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Seconds per named phase. A phase that is entered often adds up.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    seconds: BTreeMap<String, f64>,
}

impl Phases {
    /// Adds `spent` to the phase `name`.
    pub fn add(&mut self, name: &str, spent: Duration) {
        *self.seconds.entry(name.to_owned()).or_insert(0.0) += spent.as_secs_f64();
    }

    /// Runs `work` and adds its time to the phase `name`.
    pub fn time<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(name, start.elapsed());
        result
    }

    /// The seconds by phase name.
    #[must_use]
    pub fn into_seconds(self) -> BTreeMap<String, f64> {
        self.seconds
    }
}
