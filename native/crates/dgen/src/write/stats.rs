//! Observations of a write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::time::Duration;

use sha2::{Digest, Sha256};
use sink::{Direct, Done, Durability, Evidence, Extents, Job, Latency, Resident};

use super::{FileContents, Options, name_of_direct, name_of_durability, strategy};

/// Seconds of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySeconds {
    /// Half of the operations took no longer.
    pub p50: f64,
    /// 90 of 100 took no longer.
    pub p90: f64,
    /// 99 of 100 took no longer.
    pub p99: f64,
    /// 999 of 1000 took no longer.
    pub p999: f64,
    /// None took longer.
    pub max: f64,
}

impl LatencySeconds {
    pub(crate) fn from_histogram(latency: &Latency) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "three digits are kept")]
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let at = |quantile| seconds(latency.0.value_at_quantile(quantile));
        Self {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: seconds(latency.0.max()),
        }
    }
}

/// Observations of a write.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Size of the files after closing; of a strategy that writes nothing, the bytes produced.
    pub bytes: u64,
    /// SHA-256 over what the contents are, which bytes completions reported, and the size; hexadecimal.
    pub digest: String,
    /// Actual value of each axis, by axis name.
    pub effective: BTreeMap<String, String>,
    /// Phase name to seconds, of phases that all threads share summed over them.
    pub phases_s: BTreeMap<&'static str, f64>,
    /// From the first contents to the last completion, in seconds.
    pub elapsed_s: f64,
    /// From the first contents until the file was synced as asked, in seconds.
    pub synced_s: f64,
    /// From the first contents to the first completion, in seconds.
    pub first_done_s: f64,
    /// Files.
    pub files: usize,
    /// Blocks in flight, mean over the elapsed time.
    pub achieved_depth: f64,
    /// Bytes of a buffer.
    pub buffer_bytes: usize,
    /// The most blocks that one thread may have in flight.
    pub depth: usize,
    /// Time of a block from its submission until its completion was seen.
    pub latency: LatencySeconds,
    /// Bytes of the previous file in the page cache; `None` if the kernel does not report them.
    pub cached_bytes_before: Option<u64>,
    /// Bytes of the files in the page cache after closing; `None` if the kernel does not report
    /// them.
    pub cached_bytes_after: Option<u64>,
    /// What else was counted: operations, buffers, threads, and notes on fallbacks and where threads ran.
    pub evidence: Evidence,
}

impl Stats {
    pub(super) fn new(
        options: &Options,
        job: &Job,
        expected: &FileContents,
        done: Done,
        cached: (Option<u64>, Option<u64>),
    ) -> Self {
        let seconds = |duration: Duration| duration.as_secs_f64();
        let evidence = &done.evidence;
        let first_done = evidence.first_done.map(|first| first - done.started);
        let elapsed_s = seconds(done.elapsed);
        Self {
            bytes: done.size,
            digest: digest(&identity(options, expected), &done.extents, done.size),
            effective: effective(options, job, evidence),
            phases_s: phases(options, &done),
            elapsed_s,
            synced_s: seconds(done.synced),
            first_done_s: first_done.map_or(0.0, seconds),
            files: done.extents.len(),
            achieved_depth: if elapsed_s > 0.0 && options.strategy.writes {
                seconds(evidence.in_flight) / elapsed_s
            } else {
                0.0
            },
            buffer_bytes: job.block_bytes.get(),
            depth: options.depth.get(),
            latency: LatencySeconds::from_histogram(&evidence.latency),
            cached_bytes_before: cached.0,
            cached_bytes_after: cached.1,
            evidence: done.evidence,
        }
    }
}

fn identity(options: &Options, expected: &FileContents) -> String {
    let contents = expected.identity(sink::size_of(options.size, options.files, 0));
    if options.strategy.writes {
        contents
    } else {
        format!("not written: {contents}")
    }
}

/// SHA-256 over what the contents are, which bytes of the file completions reported, and the final
/// size. Writers that all begin at offset 0 leave other extents than requested, and so another
/// digest.
fn digest(identity: &str, files: &[Extents], size: u64) -> String {
    let mut text = format!("{identity}\n");
    for (index, extents) in files.iter().enumerate() {
        // Writing to a string cannot fail.
        if files.len() > 1 {
            let _ = writeln!(text, "file {index} of {}", files.len());
        }
        for (start, end) in extents.iter() {
            let _ = writeln!(text, "{start}-{end}");
        }
        let _ = writeln!(text, "twice {}", extents.twice());
    }
    let _ = writeln!(text, "size {size}");
    digest_of(&text)
}

/// SHA-256 of a text, hexadecimal.
#[must_use]
pub fn digest_of(text: &str) -> String {
    worker::hex(&Sha256::digest(text.as_bytes()))
}

fn phases(options: &Options, done: &Done) -> BTreeMap<&'static str, f64> {
    let times = &done.evidence.times;
    let mut phases = BTreeMap::from([
        ("generate", times.generate.as_secs_f64()),
        ("loop", times.rest.as_secs_f64()),
    ]);
    if options.strategy.writes {
        phases.extend([
            ("open", done.opening.as_secs_f64()),
            ("submit", times.submit.as_secs_f64()),
            ("wait", times.wait.as_secs_f64()),
            ("write", times.write.as_secs_f64()),
            ("fsync", times.sync.as_secs_f64()),
            ("close", done.closing.as_secs_f64()),
        ]);
    }
    phases
}

fn effective(options: &Options, job: &Job, evidence: &Evidence) -> BTreeMap<String, String> {
    let ran = strategy::judge(options.strategy, evidence, job);
    let mut effective = BTreeMap::from([("strategy".to_owned(), ran.to_owned())]);
    let mut put = |axis: &str, value: String| effective.insert(axis.to_owned(), value);
    if let Some(pages) = evidence.resident.and_then(Resident::pages) {
        put("pages", pages.to_owned());
    }
    if options.strategy.writes {
        let files = options.files.get();
        put("backend", sink::judge(options.backend, evidence).to_owned());
        put("direct", direct(options.direct, evidence).to_owned());
        put(
            "durability",
            durability(options.durability, files, evidence),
        );
        put("dontcache", dontcache(evidence).to_owned());
    }
    effective
}

/// The value of the axis `direct` that fits what the descriptor was.
fn direct(requested: Direct, evidence: &Evidence) -> &'static str {
    name_of_direct(match (evidence.direct, requested) {
        (false, _) => Direct::Off,
        (true, Direct::Off) => Direct::Require,
        (true, requested) => requested,
    })
}

/// The value of the axis `durability` that fits the syncs that were counted.
fn durability(requested: Durability, files: usize, evidence: &Evidence) -> String {
    let (between, after) = (evidence.syncs_between > 0, evidence.syncs_after > 0);
    let fits = match requested {
        Durability::None => !between && !after && !evidence.dsync,
        Durability::EndFsync => after && !between && !evidence.dsync,
        Durability::Fdatasync(every) => {
            after
                && !evidence.dsync
                && syncs(every, files, evidence).contains(&evidence.syncs_between)
        }
        // A mapping of an empty file is never synced.
        Durability::Dsync => evidence.dsync || evidence.blocks == 0,
    };
    if fits {
        return name_of_durability(requested);
    }
    name_of_durability(match (evidence.dsync, between, after) {
        (true, ..) => Durability::Dsync,
        (false, true, _) => Durability::Fdatasync(mean_between(requested, evidence)),
        (false, false, true) => Durability::EndFsync,
        (false, false, false) => Durability::None,
    })
}

/// How many syncs there are between writes if each writer syncs after every so many blocks of a file. How the blocks were
/// shared out among the writers is not known, and each share may leave a rest that needs no sync.
fn syncs(every: u64, files: usize, evidence: &Evidence) -> RangeInclusive<u64> {
    let every = every.max(1);
    // Several writers of one file, or one of each: no writer of several files shares them.
    let shares = evidence.writers.max(files).max(1) as u64;
    let rests = shares.saturating_mul(every - 1);
    evidence.blocks.saturating_sub(rests).div_ceil(every)..=evidence.blocks / every
}

/// Blocks between two syncs, on average, rounded away from the number that was requested and not
/// kept.
fn mean_between(requested: Durability, evidence: &Evidence) -> u64 {
    let (blocks, syncs) = (evidence.blocks, evidence.syncs_between.max(1));
    match requested {
        Durability::Fdatasync(every) if syncs > blocks / every.max(1) => blocks / syncs,
        _ => blocks.div_ceil(syncs),
    }
}

/// Whether the kernel accepted `RWF_DONTCACHE` with every operation.
fn dontcache(evidence: &Evidence) -> &'static str {
    match evidence.dontcache {
        0 => "off",
        accepted if accepted >= evidence.operations - evidence.repeated => "on",
        _ => "in-part",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_writers_at_offset_0_show_in_the_digest() {
        let (mut right, mut wrong) = (Extents::default(), Extents::default());
        for writer in 0..8 {
            right.add(writer << 20, 1 << 20);
            wrong.add(0, 1 << 20);
        }
        let of = |identity, extents: &Extents, size| {
            digest(identity, std::slice::from_ref(extents), size)
        };
        assert_ne!(of("d", &right, 8 << 20), of("d", &wrong, 8 << 20));
        assert_ne!(of("d", &right, 8 << 20), of("e", &right, 8 << 20));
        assert_ne!(of("d", &right, 8 << 20), of("d", &right, 9 << 20));
        let two = [right.clone(), right.clone()];
        assert_ne!(of("d", &right, 8 << 20), digest("d", &two, 8 << 20));
    }

    #[test]
    fn the_reported_durability_matches_the_counted_syncs() {
        let evidence = |between, after, dsync| Evidence {
            syncs_between: between,
            syncs_after: after,
            dsync,
            blocks: 100,
            writers: 1,
            ..Evidence::default()
        };
        let requested = Durability::EndFsync;
        assert_eq!(
            durability(requested, 1, &evidence(0, 1, false)),
            "end-fsync"
        );
        assert_eq!(durability(requested, 1, &evidence(0, 0, false)), "none");
        assert_eq!(durability(requested, 1, &evidence(0, 0, true)), "dsync");
        let effective = |every, between, after, dsync| {
            let requested = Durability::Fdatasync(every);
            durability(requested, 1, &evidence(between, after, dsync))
        };
        assert_eq!(effective(10, 10, 1, false), "fdatasync:10");
        assert_eq!(effective(10, 0, 1, false), "end-fsync");
        assert_eq!(effective(10, 10, 1, true), "dsync");
        assert_eq!(effective(101, 0, 1, false), "fdatasync:101");
        assert_eq!(
            durability(Durability::None, 1, &evidence(1, 1, false)),
            "fdatasync:100"
        );
    }

    #[test]
    fn a_sync_interval_is_reported_only_if_it_was_respected() {
        for blocks in [1, 9, 10, 64, 100] {
            for every in [1, 3, 9, 10, 64, 100, 101] {
                for between in 0..=blocks {
                    let evidence = Evidence {
                        syncs_between: between,
                        syncs_after: 1,
                        blocks,
                        writers: 1,
                        ..Evidence::default()
                    };
                    let requested = Durability::Fdatasync(every);
                    assert_eq!(
                        durability(requested, 1, &evidence) == name_of_durability(requested),
                        between == blocks / every,
                        "{between} syncs of {blocks} blocks, asked for after every {every}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_share_of_the_blocks_may_leave_a_rest_that_is_not_synced_between() {
        let effective = |between, writers, files| {
            let evidence = Evidence {
                syncs_between: between,
                syncs_after: files as u64,
                blocks: 64,
                writers,
                ..Evidence::default()
            };
            durability(Durability::Fdatasync(3), files, &evidence)
        };
        // 8 shares of 8 blocks have 2 syncs each; the least that any shares need is (64 - 8 * 2) / 3.
        for (writers, files) in [(8, 1), (1, 8), (8, 8)] {
            assert_eq!(effective(15, writers, files), "fdatasync:5");
            assert_eq!(effective(16, writers, files), "fdatasync:3");
            assert_eq!(effective(21, writers, files), "fdatasync:3");
            assert_eq!(effective(22, writers, files), "fdatasync:2");
        }
    }

    #[test]
    fn the_reported_direct_mode_matches_the_descriptor() {
        let evidence = |direct| Evidence {
            direct,
            ..Evidence::default()
        };
        assert_eq!(direct(Direct::Try, &evidence(false)), "off");
        assert_eq!(direct(Direct::Try, &evidence(true)), "try");
        assert_eq!(direct(Direct::Require, &evidence(true)), "require");
        assert_eq!(direct(Direct::Off, &evidence(true)), "require");
    }
}
