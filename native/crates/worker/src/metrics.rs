//! Metrics of a worker: what `describe` says about each, and how its value follows from the result of a run.

use std::collections::BTreeMap;

use crate::describe::{Direction, Metric, Unit};

/// A metric of runs with results of the type `R`.
pub struct ResultMetric<R: 'static> {
    /// Key in `metrics`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Direction in which the metric is better.
    pub direction: Direction,
    /// Description of the metric.
    pub about: &'static str,
    /// The value after a run; `None` if it is unknown.
    pub value: fn(&R) -> Option<f64>,
}

/// Returns the metrics as `describe` lists them.
#[must_use]
pub fn describe<R>(metrics: &[ResultMetric<R>]) -> Vec<Metric> {
    metrics
        .iter()
        .map(|of| Metric::new(of.name, of.unit, of.direction, of.about))
        .collect()
}

/// Returns the values after a run, by name.
pub fn values<R>(metrics: &[ResultMetric<R>], result: &R) -> BTreeMap<String, f64> {
    metrics
        .iter()
        .filter_map(|of| Some((of.name.to_owned(), (of.value)(result)?)))
        .collect()
}

/// A number that can be the value of a metric.
pub trait Number {
    /// Returns the value; `None` if it is unknown.
    fn value(self) -> Option<f64>;
}

impl Number for f64 {
    fn value(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    fn value(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl Number for usize {
    fn value(self) -> Option<f64> {
        (self as u64).value()
    }
}

impl Number for Option<u64> {
    fn value(self) -> Option<f64> {
        self.and_then(Number::value)
    }
}

/// Defines `METRICS` for results of a type: name, unit, direction, value and description of each.
#[macro_export]
macro_rules! metrics {
    ($result:ty { $($name:literal: $unit:ident $direction:ident, |$of:ident| $value:expr, $about:literal;)* }) => {
        pub(crate) static METRICS: &[$crate::metrics::ResultMetric<$result>] = &[$($crate::metrics::ResultMetric {
            name: $name,
            unit: $crate::describe::Unit::$unit,
            direction: $crate::describe::Direction::$direction,
            about: $about,
            value: |$of| $crate::metrics::Number::value($value),
        },)*];
    };
}
