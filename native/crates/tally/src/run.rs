//! One run: count, order, write, answer.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use source::Input;
use tally::job::{Count, Job};
use tally::order;
use tally::output::Format;
use tally::table::Entry;
use worker::answer::{self, Answer, Outcome};
use worker::exit::Failure;
use worker::metrics;
use worker::recognition::join;

use crate::arguments::Options;
use crate::describe::METRICS;

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let job = Job {
        // Not probed here: a mode that cannot run says so itself, and a probe would be part of what is measured.
        mode: options.io,
        tokenizer: options.tokenizer,
        case: options.case,
        hasher: options.hasher,
        advice: options.madvise,
        block_bytes: options.block,
        threads: options.threads.map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        ),
        inputs: options
            .inputs
            .into_iter()
            .map(Input::from_argument)
            .collect(),
    };
    let mut count = (options.runtime.run)(&job)?;
    if count.carry_peak > options.block {
        let carried = count.carry_peak;
        count.notes.push(format!(
            "{carried} bytes without a safe cut were carried: memory grew beyond the block size"
        ));
    }

    let sorted = options.sorted;
    let (table, pool) = (std::mem::take(&mut count.table), count.pool.take());
    let mut entries: Vec<_> = if sorted {
        count
            .phases
            .time("sort", || order::by_count(&table, pool.as_ref()))
    } else {
        table.entries().collect()
    };
    if options.written {
        let shown = &entries[..entries.len().min(options.top.unwrap_or(usize::MAX))];
        count
            .phases
            .time("write", || write(options.format, shown))
            .map_err(|error| Failure::Work(format!("cannot write the words to stdout: {error}")))?;
    }
    if std::env::var_os(answer::ANSWERS).is_none() {
        return Ok(());
    }
    let digest = count.phases.time("answer", || {
        if !sorted {
            entries = order::by_count(&table, pool.as_ref());
        }
        order::digest(&entries)
    });
    let answer = Answer {
        count: table.total(),
        digest,
        more: BTreeMap::from([("distinct".to_owned(), table.distinct() as u64)]),
    };
    answer::deliver(outcome(answer, count))
}

fn write(format: Format, entries: &[Entry<'_>]) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    format(entries, &mut out)?;
    out.flush()
}

fn outcome(answer: Answer, count: Count) -> Outcome {
    // No tokenizer counts an empty input, and only a mapping is given advice.
    let effective = [
        ("io", &count.modes),
        ("runtime", &count.runtimes),
        ("tokenizer", &count.tokenizers),
        ("hasher", &count.hashers),
        ("madvise", &count.advices),
    ]
    .into_iter()
    .filter(|(_, values)| !values.is_empty())
    .map(|(axis, values)| (axis.to_owned(), join(values)))
    .collect();
    Outcome {
        answer,
        effective,
        threads: count.threads,
        metrics: metrics::values(METRICS, &count),
        phases: count.phases,
        bytes: count.bytes,
        notes: count.notes,
    }
}
