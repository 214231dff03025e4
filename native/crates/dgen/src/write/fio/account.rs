//! The JSON report of fio on a job, with the figures of all threads combined.

use std::collections::BTreeMap;
use std::io;
use std::process::Output;

use serde::Deserialize;
use sink::Fault;

use crate::write::LatencySeconds;

/// Figures of all threads combined.
#[derive(Clone, Debug)]
pub struct Account {
    /// Such as `fio-3.33`.
    pub version: String,
    /// Bytes written.
    pub bytes: u64,
    /// Operations that completed.
    pub operations: u64,
    /// Completions with fewer bytes than requested.
    pub short: u64,
    /// Threads that completed an operation.
    pub threads: usize,
    /// Seconds of the slowest thread, which fio counts in thousandths; all begin together.
    pub elapsed_s: f64,
    /// The same with the last sync.
    pub synced_s: f64,
    /// The times of all operations.
    pub under_way_s: f64,
    /// Time of an operation.
    pub latency: LatencySeconds,
}

impl Account {
    /// Operations in flight, mean over the elapsed time.
    #[must_use]
    pub fn achieved_depth(&self) -> f64 {
        if self.elapsed_s > 0.0 {
            self.under_way_s / self.elapsed_s
        } else {
            0.0
        }
    }
}

/// Reason why fio's report is unavailable.
pub(super) enum ReportError {
    /// fio could not set its ring up; no thread that met this wrote anything.
    Setup(io::Error),
    Other(Fault),
}

impl From<ReportError> for Fault {
    fn from(failed: ReportError) -> Self {
        match failed {
            ReportError::Setup(source) => Fault::during("write with fio")(source),
            ReportError::Other(fault) => fault,
        }
    }
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "fio version")]
    version: String,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    error: i32,
    /// Thousandths of a second, the last sync included.
    #[serde(rename = "job_runtime")]
    runtime: f64,
    write: WriteFigures,
}

#[derive(Deserialize)]
struct WriteFigures {
    io_bytes: u64,
    total_ios: u64,
    short_ios: u64,
    /// Thousandths of a second.
    runtime: f64,
    lat_ns: Latency,
}

#[derive(Deserialize)]
struct Latency {
    max: f64,
    mean: f64,
    #[serde(rename = "N")]
    count: f64,
    /// Nanoseconds, and the operations that took about as many.
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
}

/// The account of an fio that has ended, if all its threads did so without error.
pub(super) fn read(output: &Output) -> Result<Account, ReportError> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let failed = || {
        let last = stderr.lines().rfind(|line| !line.trim().is_empty());
        let words = last.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned());
        ReportError::Other(Fault::Unavailable(format!("fio failed: {words}")))
    };
    // Warnings may precede the object, and so may the failed call with its function.
    let start = output
        .stdout
        .iter()
        .position(|&byte| byte == b'{')
        .ok_or_else(failed)?;
    let report: Report = serde_json::from_slice(&output.stdout[start..]).map_err(|error| {
        ReportError::Other(Fault::Unavailable(format!(
            "what fio printed cannot be read: {error}"
        )))
    })?;
    if let Some(job) = report.jobs.iter().find(|job| job.error != 0) {
        let source = io::Error::from_raw_os_error(job.error);
        let before = String::from_utf8_lossy(&output.stdout[..start]);
        return Err(if before.contains("func=io_queue_init") {
            ReportError::Setup(source)
        } else {
            ReportError::Other(Fault::during("write with fio")(source))
        });
    }
    if !output.status.success() {
        return Err(failed());
    }
    Ok(combine(report))
}

fn combine(report: Report) -> Account {
    let writes = || report.jobs.iter().map(|job| &job.write);
    let longest = |taken: &mut dyn Iterator<Item = f64>| taken.fold(0.0, f64::max) / 1e3;
    let elapsed_s = longest(&mut writes().map(|write| write.runtime));
    Account {
        bytes: writes().map(|write| write.io_bytes).sum(),
        operations: writes().map(|write| write.total_ios).sum(),
        short: writes().map(|write| write.short_ios).sum(),
        threads: writes().filter(|write| write.total_ios > 0).count(),
        elapsed_s,
        synced_s: longest(&mut report.jobs.iter().map(|job| job.runtime)).max(elapsed_s),
        under_way_s: writes()
            .map(|write| write.lat_ns.mean * write.lat_ns.count / 1e9)
            .sum(),
        latency: latency(writes().map(|write| &write.lat_ns)),
        version: report.version,
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn latency<'report>(threads: impl Iterator<Item = &'report Latency>) -> LatencySeconds {
    let mut bins = BTreeMap::<u64, u64>::new();
    let mut max = 0.0_f64;
    for thread in threads {
        max = max.max(thread.max);
        for (&ns, &operations) in &thread.bins {
            *bins.entry(ns).or_default() += operations;
        }
    }
    let all = bins.values().sum::<u64>() as f64;
    // The first bin that reaches the share, as fio itself has it. Its name may lie after the
    // largest.
    let at = |share: f64| {
        let mut reached = 0;
        let found = bins.iter().find(|&(_, &operations)| {
            reached += operations;
            reached as f64 >= share * all
        });
        found.map_or(0.0, |(&ns, _)| (ns as f64).min(max) / 1e9)
    };
    LatencySeconds {
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: max / 1e9,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn output(jobs: &str, before: &str) -> Output {
        Output {
            status: ExitStatus::from_raw(0),
            stdout: format!("{before}\n{{\"fio version\": \"fio-0\", \"jobs\": [{jobs}]}}").into(),
            stderr: Vec::new(),
        }
    }

    fn job(error: i32, operations: u64, runtime: u64, bins: &str) -> String {
        format!(
            r#"{{"error": {error}, "job_runtime": {}, "write": {{"io_bytes": {}, "total_ios": {operations}, "short_ios": 1,
            "runtime": {runtime}, "lat_ns": {{"max": 4100, "mean": 2000, "N": {operations}, "bins": {{{bins}}}}}}}}}"#,
            runtime + 5,
            operations * 4096,
        )
    }

    #[test]
    fn threads_are_those_that_wrote_and_their_histograms_are_one() {
        let jobs = [
            job(0, 2, 10, r#""1000": 1, "2000": 1"#),
            job(0, 0, 0, ""),
            job(0, 8, 30, r#""1000": 5, "3000": 2, "4200": 1"#),
        ];
        let account = read(&output(&jobs.join(","), "")).ok().unwrap();
        assert_eq!((account.threads, account.operations), (2, 10));
        assert_eq!((account.bytes, account.short), (10 * 4096, 3));
        let seconds =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        seconds(account.elapsed_s, 0.030);
        seconds(account.synced_s, 0.035);
        seconds(account.under_way_s, 20e-6);
        seconds(account.latency.p50, 1e-6);
        seconds(account.latency.p90, 3e-6);
        seconds(account.latency.p99, 4.1e-6);
        seconds(account.latency.max, 4.1e-6);
    }

    #[test]
    fn a_failure_of_one_thread_is_a_failure_of_the_job() {
        let jobs = [job(0, 2, 10, ""), job(12, 0, 0, "")].join(",");
        let setup = read(&output(
            &jobs,
            "fio: pid=1, err=12/file:engines/io_uring.c:998, func=io_queue_init, error=x",
        ));
        assert!(
            matches!(setup, Err(ReportError::Setup(error)) if error.raw_os_error() == Some(12))
        );
        let other = read(&output(&jobs, "fio: pid=1, err=12, func=xfer, error=x"));
        assert!(matches!(other, Err(ReportError::Other(Fault::Io { .. }))));
    }
}
