//! `dgen run write --strategy fio`, and the check of the file that fio writes.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use dgen::write::fio::{Report, write_file};
use dgen::write::{Direct, Options, digest_of, name_of_direct, open_regular};
use worker::answer::{self, Answer, Outcome};
use worker::exit::{Failure, print_line};
use worker::metrics::Number;
use worker::phases::Phases;

use super::failure;

const PAGE: usize = 4096;

pub(crate) fn run(options: &Options, file: &Path) -> Result<(), Failure> {
    let report = write_file(file, options).map_err(failure("write"))?;
    answer::deliver_of_child(outcome(options, report))
}

fn outcome(options: &Options, report: Report) -> Outcome {
    let mut phases = Phases::default();
    phases.add("open", report.opening);
    phases.add("fio", report.process);
    phases.add("close", report.closing);
    let metrics = metrics(options, &report);
    let (fio, mut notes) = (report.account, report.notes);
    let contents = format!("contents of {}\nsize {}\n", fio.version, fio.bytes);
    notes.push(format!(
        "written by {} with contents of its own",
        fio.version
    ));
    Outcome {
        answer: Answer {
            count: fio.bytes,
            digest: digest_of(&contents),
            more: BTreeMap::from([("blocks".to_owned(), fio.operations)]),
        },
        effective: effective(options, report.cached_bytes_after),
        threads: fio.threads,
        phases,
        bytes: fio.bytes,
        metrics,
        notes,
    }
}

/// What can be seen from here: that fio wrote, and whether that left anything in the page cache. Which calls fio made, and
/// when it synced, only fio knows.
fn effective(options: &Options, cached: Option<u64>) -> BTreeMap<String, String> {
    let mut effective = BTreeMap::from([("strategy".to_owned(), options.strategy.name.to_owned())]);
    let direct = match (cached, options.direct) {
        (None, _) => return effective,
        (Some(0), Direct::Off) => Direct::Require,
        (Some(0), asked) => asked,
        (Some(_), _) => Direct::Off,
    };
    effective.insert("direct".to_owned(), name_of_direct(direct).to_owned());
    effective
}

fn metrics(options: &Options, report: &Report) -> BTreeMap<String, f64> {
    let fio = &report.account;
    [
        ("achieved_depth", fio.achieved_depth().value()),
        ("buffer_bytes", options.buffer_bytes.get().value()),
        ("cached_bytes_after", report.cached_bytes_after.value()),
        ("cached_bytes_before", report.cached_bytes_before.value()),
        ("depth", options.depth.get().value()),
        ("elapsed_s", fio.elapsed_s.value()),
        ("latency_max_s", fio.latency.max.value()),
        ("latency_p50_s", fio.latency.p50.value()),
        ("latency_p90_s", fio.latency.p90.value()),
        ("latency_p999_s", fio.latency.p999.value()),
        ("latency_p99_s", fio.latency.p99.value()),
        ("operations", fio.operations.value()),
        ("short", fio.short.value()),
        ("synced_s", fio.synced_s.value()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

/// Checks a file whose contents fio chose. It is valid if it has the expected size and contains no page of zeros;
/// holes and ranges that were never written are zeros.
pub(crate) fn validate(path: &Path, size: Option<u64>) -> Result<(), Failure> {
    let unread = |error| Failure::Work(format!("cannot read {}: {error}", path.display()));
    let (bytes, zeros) = count(path).map_err(unread)?;
    print_line(&serde_json::json!({
        "bytes": bytes,
        "size_expected": size.unwrap_or(bytes),
        "size_actual": bytes,
        "zero_pages": zeros,
        "contents": null,
    }))?;
    let path = path.display();
    match size.filter(|&size| size != bytes) {
        Some(size) => Err(Failure::Work(format!(
            "{path} has {bytes} bytes instead of {size}"
        ))),
        None if zeros > 0 => Err(Failure::Work(format!(
            "{path} has {zeros} pages of zeros, which fio does not write"
        ))),
        None => Ok(()),
    }
}

/// Bytes of a regular file, and how many of its pages hold zeros alone.
fn count(path: &Path) -> io::Result<(u64, u64)> {
    let mut file = open_regular(path)?;
    let mut buffer = Vec::new();
    let (mut bytes, mut zeros) = (0, 0);
    while (&mut file)
        .take(PAGE as u64 * 256)
        .read_to_end(&mut buffer)?
        > 0
    {
        bytes += buffer.len() as u64;
        let empty = buffer
            .chunks(PAGE)
            .filter(|page| page.iter().all(|&byte| byte == 0));
        zeros += empty.count() as u64;
        buffer.clear();
    }
    Ok((bytes, zeros))
}
