//! `sequential`: the calling thread reads and counts in turn.

use std::time::{Duration, Instant};

use worker::exit::Failure;

use super::{Runtime, each_input, go_on};
use crate::crew::Crew;
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};

pub(super) static RUNTIME: Runtime = Runtime {
    name: "sequential",
    about: "one thread reads and counts in turn",
    run,
};

fn run(job: &Job) -> Result<Count, Failure> {
    let mut count = Count::default();
    let crew = Crew::new(job, 0);
    each_input(job, &crew, &mut count, "count", |input, opened, count| {
        let mut counting = Duration::ZERO;
        let whole = opened.is_whole();
        let mut stitcher = Stitcher::default();
        let observed = opened.visit_blocks(&job.options(), &mut |block| {
            let start = Instant::now();
            if whole {
                crew.count(block, 0);
            } else {
                stitcher.feed(block, &mut |piece, offset| crew.count(piece, offset));
            }
            counting += start.elapsed();
            go_on(&crew)
        });
        let rest = Instant::now();
        stitcher.finish(&mut |piece, offset| crew.count(piece, offset));
        counting += rest.elapsed();
        count.note(observed.map_err(unreadable(input))?);
        count.carry_peak = count.carry_peak.max(stitcher.peak);
        Ok(counting)
    })?;
    crew.finish(&mut count);
    Ok(count)
}
