//! Description of a worker: the object that `WORKER describe` prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The object that `describe` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Always [`crate::PROTOCOL`].
    pub protocol: u32,
    /// Name of the worker.
    pub name: String,
    /// Version of the worker.
    pub version: String,
    /// Cargo features compiled in, sorted.
    pub features: Vec<String>,
    /// The global allocator.
    pub allocator: Allocator,
    /// Axis name to its values.
    pub axes: BTreeMap<String, Axis>,
    /// Metrics that the worker reports in addition to the fixed keys.
    pub metrics: Vec<Metric>,
}

/// The global allocator, as it answers for itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allocator {
    /// `system`, `jemalloc`, `mimalloc`.
    pub name: String,
    /// Result of the allocator's version function, or `None` if it has none.
    pub version: Option<String>,
}

/// One named dimension with its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Description of the axis.
    pub about: String,
    /// The settings.
    pub values: Vec<Value>,
}

/// One setting of an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Kebab-case name, the same on the command line, in YAML and in CSV.
    pub name: String,
    /// Description of the value.
    pub about: String,
    /// Reason why the value is unavailable here, or `None`.
    pub unavailable: Option<String>,
    /// Reason why the value runs below what this machine offers, or `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited: Option<String>,
}

impl Value {
    /// A value that can run here.
    #[must_use]
    pub fn available(name: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            unavailable: None,
            limited: None,
        }
    }
}

/// A number that the worker reports in `metrics` of its answer line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Key in `metrics`.
    pub name: String,
    /// Unit of the number.
    pub unit: Unit,
    /// Direction in which the metric is better.
    pub direction: Direction,
    /// Description of the metric.
    pub about: String,
}

impl Metric {
    /// The metric `name`.
    #[must_use]
    pub fn new(name: &str, unit: Unit, direction: Direction, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit,
            direction,
            about: about.to_owned(),
        }
    }
}

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Seconds.
    S,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// A quotient.
    Ratio,
}

/// Direction in which a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither direction is better.
    None,
}

impl Description {
    /// The one line that `describe` prints, without its newline.
    ///
    /// # Panics
    /// Never: JSON can represent every value of the type.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and whole numbers serialise")
    }
}
