//! `sequential`: the calling thread reads and counts in turn.

use std::time::{Duration, Instant};

use worker::exit::Failure;

use super::{Runtime, continue_unless_bad, each_input};
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};
use crate::workers::Workers;

pub(super) static RUNTIME: Runtime = Runtime {
    name: "sequential",
    about: "one thread reads and counts in turn",
    run,
};

fn run(job: &Job) -> Result<Count, Failure> {
    let mut count = Count::default();
    let workers = Workers::new(job, 0);
    each_input(
        job,
        &workers,
        &mut count,
        "count",
        |input, reader, count| {
            let mut counting = Duration::ZERO;
            let is_whole = reader.is_whole();
            let mut stitcher = Stitcher::default();
            let observation = reader.for_each_block(&job.options(), &mut |block| {
                let start = Instant::now();
                if is_whole {
                    workers.count(block, 0);
                } else {
                    stitcher.feed(block, &mut |piece, offset| workers.count(piece, offset));
                }
                counting += start.elapsed();
                continue_unless_bad(&workers)
            });
            let rest = Instant::now();
            stitcher.finish(&mut |piece, offset| workers.count(piece, offset));
            counting += rest.elapsed();
            count.note(observation.map_err(unreadable(input))?);
            count.carry_peak = count.carry_peak.max(stitcher.peak);
            Ok(counting)
        },
    )?;
    workers.finish(&mut count);
    Ok(count)
}
