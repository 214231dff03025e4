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

    /// The seconds by phase name, rounded to whole microseconds: further digits are noise, which makes
    /// reports with embedded runs larger.
    #[must_use]
    pub fn into_seconds(mut self) -> BTreeMap<String, f64> {
        for seconds in self.seconds.values_mut() {
            *seconds = (*seconds * 1e6).round() / 1e6;
        }
        self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up_before_they_are_rounded_to_microseconds() {
        let mut phases = Phases::default();
        for _ in 0..1000 {
            phases.add("short", Duration::from_nanos(400));
        }
        phases.add("long", Duration::from_nanos(41_165_595));
        let seconds = phases.into_seconds();
        assert_eq!(seconds["short"].to_string(), "0.0004");
        assert_eq!(seconds["long"].to_string(), "0.041166");
    }
}
