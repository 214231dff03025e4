//! Description of this worker.

use std::collections::BTreeMap;

use tally::{case, hasher, order, output, runtime, tokenizer};
use worker::describe::{Axis, Description, Direction, Metric, Unit, Value};

pub(crate) fn describe() -> Description {
    let varied = |about: &str, values: Vec<Value>| Axis {
        about: about.to_owned(),
        values,
    };
    let listed = |values: &[(&str, &str)]| {
        values
            .iter()
            .map(|(name, about)| Value::available(name, about))
            .collect()
    };
    let modes = source::MODES.iter().map(|mode| Value {
        unavailable: (mode.probe)(),
        ..Value::available(mode.name, mode.about)
    });
    let runtimes = runtime::RUNTIMES
        .iter()
        .map(|runtime| Value::available(runtime.name, runtime.about));
    let tokenizers = tokenizer::TOKENIZERS
        .iter()
        .map(|tokenizer| Value::available(tokenizer.name, tokenizer.about));
    let hashers = hasher::HASHERS
        .iter()
        .map(|hasher| Value::available(hasher.name, hasher.about));
    let advice = source::ADVICE.iter().map(|advice| Value {
        unavailable: (advice.probe)(),
        ..Value::available(advice.name, advice.about)
    });
    let formats = output::FORMATS
        .iter()
        .map(|format| Value::available(format.name, format.about));
    let axes = [
        ("allocator", worker::allocator::axis()),
        (
            "case",
            varied(
                "what happens to a word before it is counted",
                case::Case::values(),
            ),
        ),
        (
            "format",
            varied("format of the word list", formats.collect()),
        ),
        (
            "hasher",
            varied("how a word finds its place in the table", hashers.collect()),
        ),
        ("io", varied("how bytes are read", modes.collect())),
        (
            "madvise",
            varied("advice to the kernel on a mapping", advice.collect()),
        ),
        (
            "output",
            varied("where the word list goes", listed(output::OUTPUTS)),
        ),
        ("runtime", varied("who does the work", runtimes.collect())),
        (
            "sort",
            varied("order of the word list", listed(order::SORTS)),
        ),
        ("tokenizer", varied("what a word is", tokenizers.collect())),
    ];
    Description {
        protocol: worker::PROTOCOL,
        name: "tally".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        features: features(),
        allocator: worker::allocator::observe(),
        axes: axes
            .into_iter()
            .map(|(name, axis)| (name.to_owned(), axis))
            .collect::<BTreeMap<_, _>>(),
        metrics: vec![
            Metric {
                name: "carry_peak_bytes".to_owned(),
                unit: Unit::Bytes,
                direction: Direction::None,
                about: "most bytes carried from a block to the next, because no safe cut was found"
                    .to_owned(),
            },
            Metric {
                name: "read_calls".to_owned(),
                unit: Unit::Count,
                direction: Direction::Lower,
                about: "read(2) calls on the inputs".to_owned(),
            },
            Metric {
                name: "ring_completions".to_owned(),
                unit: Unit::Count,
                direction: Direction::None,
                about: "operations that an io_uring completed".to_owned(),
            },
        ],
    }
}

fn features() -> Vec<String> {
    let test_double = cfg!(feature = "test-swap-io").then_some("test-swap-io");
    worker::allocator::features()
        .chain(test_double)
        .map(str::to_owned)
        .collect()
}
