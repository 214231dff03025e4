//! Scores and exact tails of the label test, see `bench_framework/stats/run_labels.py`.
//!
//! A table has one row per round and one column per run, row after row. The functions use only `+ − × ÷ √` of
//! doubles, in a fixed order, so that their results have the same bits on every machine. Their definition in numpy
//! is `tests/unit/judging/label_definition.py`; a test compares the bits of both.

/// Quantile of the absolute differences within rounds that scales the Cauchy score.
///
/// At a low quantile, baseline and control alone set the scale, and a large effect has little weight.
const SCALE_QUANTILE: f64 = 0.4;
/// Smallest scale of the Cauchy score, for clocks so coarse that most differences are zero.
const SMALLEST_SCALE: f64 = 1e-6;
/// Ten to the number of decimals to which log values are rounded, because equal ratios differ in their last bits.
const RESOLUTION: f64 = 1e12;

/// How the scores of `tail` are rounded to integers, and their counts kept finite.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Sum over rounds of the score's range, after rounding.
    pub units: f64,
    /// Rounds after which label counts are divided.
    pub every: usize,
    /// Number of labels in so many rounds, runs to the power of `every`.
    pub labels: f64,
    /// Number of labels in the rounds after the last division.
    pub rest: f64,
}

/// Returns the values rounded to 12 decimals, with `shift` subtracted from the first of each row.
#[must_use]
pub fn shifted(values: &[f64], runs: usize, shift: f64) -> Vec<f64> {
    let mut moved = values.to_vec();
    for row in moved.chunks_exact_mut(runs) {
        row[0] -= shift;
        for value in row {
            *value = round_to_resolution(*value);
        }
    }
    moved
}

/// Returns the sum of log-rank and Cauchy score of each run; the sum of every row is zero.
///
/// `logs` contains ln(i ÷ 2) at index i, up to twice the number of values.
///
/// # Panics
///
/// `logs` is too short.
#[must_use]
pub fn main_score(values: &[f64], runs: usize, logs: &[f64]) -> Vec<f64> {
    let mut total: Vec<f64> = doubled_midranks(values)
        .into_iter()
        .map(|rank| logs[rank])
        .collect();
    centre(&mut total, runs);
    normalise(&mut total);
    let mut score = cauchy(values, runs);
    normalise(&mut score);
    for (sum, summand) in total.iter_mut().zip(score) {
        *sum += summand;
    }
    total
}

/// Returns the rank of each run's distance from the mean of its row, with the sign of it.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rank is far below 2⁵³")]
pub fn rank_score(values: &[f64], runs: usize) -> Vec<f64> {
    let mut distances = values.to_vec();
    centre(&mut distances, runs);
    for value in &mut distances {
        *value = round_to_resolution(*value);
    }
    let sizes: Vec<f64> = distances.iter().map(|value| value.abs()).collect();
    let mut score: Vec<f64> = distances
        .iter()
        .zip(doubled_midranks(&sizes))
        .map(|(&distance, rank)| sign(distance) * rank as f64)
        .collect();
    centre(&mut score, runs);
    score
}

/// Returns the doubled rank of each difference's size, with the sign of the difference; zeros get no rank.
#[must_use]
#[expect(clippy::cast_possible_wrap, reason = "a rank is far below 2⁶³")]
pub fn signed_ranks(differences: &[f64]) -> Vec<i64> {
    let sizes: Vec<f64> = differences
        .iter()
        .map(|value| round_to_resolution(*value).abs())
        .collect();
    let zeros = sizes.iter().filter(|size| **size == 0.0).count();
    differences
        .iter()
        .zip(sizes.iter().zip(doubled_midranks(&sizes)))
        .map(
            |(difference, (size, rank))| match rank as i64 - 2 * zeros as i64 {
                _ if *size == 0.0 => 0,
                rank if *difference < 0.0 => -rank,
                rank => rank,
            },
        )
        .collect()
}

/// Returns the chance of a sum as small as that of the first column, if a column is chosen in each row; with
/// `larger`, of a sum as large.
///
/// # Panics
///
/// There are fewer than two columns.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "steps are whole and within 0 … units"
)]
pub fn tail(score: &[f64], runs: usize, larger: bool, scale: &Scale) -> f64 {
    let ends = |row: &[f64]| {
        row.iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
                (low.min(value), high.max(value))
            })
    };
    let total = exact_sum(score.chunks_exact(runs).map(|row| {
        let (low, high) = ends(row);
        high - low
    }));
    if total == 0.0 {
        return 1.0;
    }
    let factor = scale.units / total;
    let mut observed = 0;
    let mut rows: Vec<Vec<usize>> = score
        .chunks_exact(runs)
        .map(|row| {
            let (low, _) = ends(row);
            let mut steps: Vec<usize> = row
                .iter()
                .map(|value| ((value - low) * factor).round_ties_even() as usize)
                .collect();
            observed += steps[0];
            steps.sort_unstable();
            steps
        })
        .collect();
    // Small steps first, so that the reached part of the array stays short.
    rows.sort_by_key(|steps| steps[runs - 1]);
    let length = rows.iter().map(|steps| steps[runs - 1]).sum::<usize>() + 1;
    let (mut counts, mut next) = (vec![0.0; length], vec![0.0; length]);
    counts[0] = 1.0;
    let mut top = 0;
    for (place, steps) in rows.iter().enumerate() {
        top += steps[runs - 1];
        // Only the sums that can still end in the tail are counted.
        let (start, end) = if larger {
            ((top + observed).saturating_sub(length - 1), top + 1)
        } else {
            (0, top.min(observed) + 1)
        };
        next[start..end].copy_from_slice(&counts[start..end]);
        // The first step of a row is 0.
        for &step in &steps[1..] {
            let first = step.max(start);
            if first < end {
                let moved = &counts[first - step..];
                for (sum, count) in next[first..end].iter_mut().zip(moved) {
                    *sum += count;
                }
            }
        }
        std::mem::swap(&mut counts, &mut next);
        if (place + 1) % scale.every == 0 {
            for count in &mut counts[start..end] {
                *count /= scale.labels;
            }
        }
    }
    let chances = |count: &f64| count / scale.rest;
    let sum: f64 = if larger {
        counts[observed..].iter().rev().map(chances).sum()
    } else {
        counts[..=observed].iter().map(chances).sum()
    };
    sum.min(1.0)
}

/// Σ D ÷ (s² + D²) over the differences D to the other runs of the row.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index, and it is rounded down"
)]
fn cauchy(values: &[f64], runs: usize) -> Vec<f64> {
    let pairs: Vec<(usize, usize)> = (0..runs)
        .flat_map(|a| (a + 1..runs).map(move |b| (a, b)))
        .collect();
    let mut sizes: Vec<f64> = values
        .chunks_exact(runs)
        .flat_map(|row| pairs.iter().map(|&(a, b)| (row[a] - row[b]).abs()))
        .collect();
    let place = (SCALE_QUANTILE * (sizes.len() - 1) as f64) as usize;
    let scale = sizes
        .select_nth_unstable_by(place, f64::total_cmp)
        .1
        .max(SMALLEST_SCALE);
    let mut score = vec![0.0; values.len()];
    for (sums, row) in score.chunks_exact_mut(runs).zip(values.chunks_exact(runs)) {
        for &(a, b) in &pairs {
            let difference = row[a] - row[b];
            let weighted = difference / (scale * scale + difference * difference);
            sums[a] += weighted;
            sums[b] -= weighted;
        }
    }
    score
}

/// Returns twice the rank of each value; equal values have their mean rank.
fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut ascending: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    ascending.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    #[expect(clippy::float_cmp, reason = "equal values, and both zeros, are a tie")]
    for ties in ascending.chunk_by(|a, b| a.0 == b.0) {
        for &(_, place) in ties {
            ranks[place] = 2 * first + ties.len() + 1;
        }
        first += ties.len();
    }
    ranks
}

/// Subtracts the mean of its row from every value.
#[expect(clippy::cast_precision_loss, reason = "the number of runs")]
fn centre(values: &mut [f64], runs: usize) {
    for row in values.chunks_exact_mut(runs) {
        let mean = row.iter().sum::<f64>() / runs as f64;
        for value in row {
            *value -= mean;
        }
    }
}

/// Divides the values by the root of the sum of their squares.
fn normalise(values: &mut [f64]) {
    let size = exact_sum(values.iter().map(|value| value * value)).sqrt();
    if size > 0.0 {
        for value in values {
            *value /= size;
        }
    }
}

fn round_to_resolution(value: f64) -> f64 {
    (value * RESOLUTION).round_ties_even() / RESOLUTION
}

fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Returns the sum of finite values, correctly rounded, as Python's `math.fsum`.
///
/// Source: J. R. Shewchuk, Adaptive precision floating-point arithmetic, 1997.
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for mut x in values {
        let mut kept = 0;
        for place in 0..partials.len() {
            let mut y = partials[place];
            if x.abs() < y.abs() {
                (x, y) = (y, x);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    let (mut sum, mut rest) = (0.0, 0.0);
    while let Some(y) = partials.pop() {
        let x = sum;
        sum = x + y;
        rest = y - (sum - x);
        if rest != 0.0 {
            break;
        }
    }
    // The rest is half a digit: what is left decides in which direction the sum is rounded.
    let same_sign = |left: &f64| (*left > 0.0 && rest > 0.0) || (*left < 0.0 && rest < 0.0);
    if partials.last().is_some_and(same_sign) {
        let further = sum + 2.0 * rest;
        #[expect(
            clippy::float_cmp,
            reason = "whether the rest was exactly half a digit"
        )]
        if further - sum == 2.0 * rest {
            sum = further;
        }
    }
    sum
}
