//! Search for the fastest block size, depth and number of threads on a disk: a short trial of each,
//! limited in time.
//!
//! Trials are made in passes, each in its own order, so that a slow moment of the disk does not
//! meet the same trial twice. Every trial writes its own file and removes it.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::data::Settings;
use crate::random::Random;
use crate::write::{Fault, FileError, Options, write_file};

/// Best settings of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Bytes of a block.
    pub block_bytes: NonZeroUsize,
    /// Blocks that one thread has in flight.
    pub depth: NonZeroUsize,
    /// Threads.
    pub threads: NonZeroUsize,
}

/// One combination, and how fast it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Settings that were tried.
    #[serde(flatten)]
    pub tried: Choice,
    /// Seconds of each trial, syncs included; none if the time was up before.
    pub seconds: Vec<f64>,
    /// Bytes per second, median of the trials.
    pub bytes_per_s: Option<f64>,
}

/// Result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The folder.
    pub folder: String,
    /// Actual value of each axis, by axis name.
    pub effective: BTreeMap<String, String>,
    /// Bytes of each trial.
    pub trial_bytes: u64,
    /// Seconds that the probe took.
    pub seconds: f64,
    /// Every combination.
    pub rows: Vec<Row>,
    /// The one to use.
    pub choice: Choice,
    /// Reason for this choice.
    pub basis: String,
}

impl Table {
    /// Bytes per second of the choice, or `None` if it was not tried.
    #[must_use]
    pub fn bytes_per_s(&self) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.tried == self.choice)?;
        row.bytes_per_s
    }
}

const BLOCKS: [usize; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];
const DEPTHS: [usize; 5] = [1, 2, 4, 8, 16];
/// The most bytes of buffers of a trial. Beyond, memory is spent that no disk of this size of machine asks for.
const MAX_POOL: usize = 32 << 20;
/// Passes that the time is shared out for.
const PASSES: u32 = 2;
/// Share of the best rate from which rates count as equal, because few trials cannot distinguish
/// them. Among equal rates, the combination with the least memory wins.
const CLOSE: f64 = 0.95;
/// Written once to learn how much a trial may write.
const FIRST_BYTES: u64 = 16 << 20;
/// Bounds of what a trial writes.
const TRIAL_BYTES: (u64, u64) = (4 << 20, 256 << 20);
/// The random stream of the order of trials.
const STREAM: u64 = u64::from_le_bytes(*b"dgen-prb");

/// Tries combinations in `folder` for about `limit`, with everything else as in `options`; its size
/// is not used. `progress` receives the number of completed trials; `Break` ends the probe.
///
/// # Errors
/// A trial failed, or `progress` ended the probe.
#[expect(
    clippy::cast_precision_loss,
    reason = "sizes of trials are far below 2^53"
)]
pub fn probe(
    folder: &Path,
    options: &Options,
    limit: Duration,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Table, FileError> {
    let start = Instant::now();
    let deadline = start + limit;
    let mut rows: Vec<Row> = combinations()
        .map(|tried| Row {
            tried,
            seconds: Vec::new(),
            bytes_per_s: None,
        })
        .collect();
    let (first, effective) = trial(folder, options, FIRST_BYTES, None)?;
    let trials = f64::from(PASSES) * rows.len() as f64;
    let fair = FIRST_BYTES as f64 / first * (limit.as_secs_f64() - first) / trials;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a range of whole numbers"
    )]
    let bytes = fair.clamp(TRIAL_BYTES.0 as f64, TRIAL_BYTES.1 as f64) as u64;
    let mut made = 0;
    'passes: for pass in 0..PASSES {
        let mut random = Random::new(u64::from(pass), STREAM, 0);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_cached_key(|_| random.next());
        for index in order {
            if Instant::now() >= deadline {
                break 'passes;
            }
            let row = &mut rows[index];
            let (seconds, _) = trial(folder, options, bytes, Some(row.tried))?;
            row.seconds.push(seconds);
            row.bytes_per_s = Some(bytes as f64 / median(&row.seconds));
            made += 1;
            if progress(made) == ControlFlow::Break(()) {
                return Err(FileError::new(folder, Fault::Stopped));
            }
        }
    }
    let (choice, basis) = choose(&rows).unwrap_or_else(|| {
        let given = Choice {
            block_bytes: options.buffer_bytes,
            depth: options.depth,
            threads: options.threads,
        };
        (
            given,
            "the time was up before the first trial: nothing was compared".to_owned(),
        )
    });
    Ok(Table {
        folder: folder.display().to_string(),
        effective,
        trial_bytes: bytes,
        seconds: start.elapsed().as_secs_f64(),
        rows,
        choice,
        basis,
    })
}

fn combinations() -> impl Iterator<Item = Choice> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = [1, 2, 4, 8]
        .into_iter()
        .filter(move |&threads| threads <= processors);
    threads.flat_map(|threads| {
        DEPTHS.into_iter().flat_map(move |depth| {
            BLOCKS.into_iter().filter_map(move |block| {
                let some = NonZeroUsize::new;
                (block * depth * threads <= MAX_POOL).then_some(Choice {
                    block_bytes: some(block)?,
                    depth: some(depth)?,
                    threads: some(threads)?,
                })
            })
        })
    })
}

/// Runs one trial and returns its seconds and the actual mode.
fn trial(
    folder: &Path,
    options: &Options,
    bytes: u64,
    tried: Option<Choice>,
) -> Result<(f64, BTreeMap<String, String>), FileError> {
    let path = folder.join(format!(".dgen-probe-{}", std::process::id()));
    let mut options = Options {
        size: bytes,
        settings: Settings::default(),
        ..options.clone()
    };
    if let Some(tried) = tried {
        options.buffer_bytes = tried.block_bytes;
        options.depth = tried.depth;
        options.threads = tried.threads;
        options.buffers = tried.depth.saturating_mul(tried.threads);
    }
    let written = write_file(&path, &options, &mut |_| ControlFlow::Continue(()));
    // Without a file there is nothing to remove.
    let _ = fs::remove_file(&path);
    let stats = written?;
    Ok((stats.synced_s.max(f64::MIN_POSITIVE), stats.effective))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Returns the row with the least memory, then the fewest threads, among the rows nearly as fast as
/// the fastest; and the reason.
fn choose(rows: &[Row]) -> Option<(Choice, String)> {
    let rate = |row: &Row| row.bytes_per_s.unwrap_or(0.0);
    let tried = rows.iter().filter(|row| row.bytes_per_s.is_some()).count();
    let best = rows.iter().map(rate).fold(0.0, f64::max);
    let close: Vec<_> = rows
        .iter()
        .filter(|row| row.bytes_per_s.is_some() && rate(row) >= CLOSE * best)
        .collect();
    let chosen = close.iter().min_by_key(|row| {
        let Choice {
            block_bytes,
            depth,
            threads,
        } = row.tried;
        (block_bytes.get() * depth.get() * threads.get(), threads)
    })?;
    let trials: usize = rows.iter().map(|row| row.seconds.len()).sum();
    let basis = format!(
        "{} of {tried} combinations were within {:.0} % of the fastest ({:.0} MB/s); this one needs the least memory; \
         {trials} trials, {} of {} combinations not tried",
        close.len(),
        (1.0 - CLOSE) * 100.0,
        best / 1e6,
        rows.len() - tried,
        rows.len()
    );
    Some((chosen.tried, basis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(block: usize, depth: usize, rate: Option<f64>) -> Row {
        let some = |count| NonZeroUsize::new(count).unwrap();
        Row {
            tried: Choice {
                block_bytes: some(block),
                depth: some(depth),
                threads: some(1),
            },
            seconds: vec![1.0; usize::from(rate.is_some())],
            bytes_per_s: rate,
        }
    }

    #[test]
    fn the_least_memory_wins_among_similar_rates_and_skipped_trials_are_reported() {
        let rows = [
            row(4096, 1, Some(50.0)),
            row(4096, 4, Some(96.0)),
            row(4096, 16, Some(100.0)),
            row(4096, 2, None),
        ];
        let (choice, basis) = choose(&rows).unwrap();
        assert_eq!(choice, rows[1].tried);
        assert!(basis.contains("1 of 4 combinations not tried"), "{basis}");
        assert!(choose(&rows[3..]).is_none());
    }

    #[test]
    fn a_probe_ends_in_time_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            backend: sink::mode("pwrite").unwrap(),
            ..Options::new(0, Settings::default())
        };
        // No time at all: the first trial is made, and the table says that nothing was compared.
        let table = probe(folder.path(), &options, Duration::ZERO, &mut |_| {
            ControlFlow::Continue(())
        });
        let table = table.unwrap();
        assert!(table.basis.contains("nothing was compared"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let text = serde_json::to_string(&table).unwrap();
        let read: Table = serde_json::from_str(&text).unwrap();
        assert_eq!(read, table);
        assert!(serde_json::from_str::<Table>("{}").is_err());
    }
}
