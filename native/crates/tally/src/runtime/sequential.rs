//! `sequential`: the calling thread reads and counts in turn.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use worker::exit::Failure;

use super::{Runtime, merge};
use crate::crew::Crew;
use crate::cut::Stitcher;
use crate::job::{Count, Job, not_text, unreadable};

pub(super) static RUNTIME: Runtime = Runtime {
    name: "sequential",
    about: "one thread reads and counts in turn",
    run,
};

fn run(job: &Job) -> Result<Count, Failure> {
    let mut count = Count::default();
    let crew = Crew::new(job, 0);
    let options = job.options();
    for input in &job.inputs {
        let start = Instant::now();
        let mut counting = Duration::ZERO;
        let opened = source::open(job.mode, input).map_err(|error| unreadable(input, &error))?;
        let whole = opened.is_whole();
        let mut stitcher = Stitcher::default();
        let observed = opened.visit_blocks(&options, &mut |block| {
            let start = Instant::now();
            if whole {
                crew.count(block, 0);
            } else {
                stitcher.feed(block, &mut |piece, offset| crew.count(piece, offset));
            }
            counting += start.elapsed();
            if crew.failed() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let rest = Instant::now();
        stitcher.finish(&mut |piece, offset| crew.count(piece, offset));
        counting += rest.elapsed();
        count.note(observed.map_err(|error| unreadable(input, &error))?);
        if let Some(bad) = crew.bad() {
            return Err(not_text(input, bad));
        }
        count.carry_peak = count.carry_peak.max(stitcher.peak);
        count.phases.add("count", counting);
        count
            .phases
            .add("read", start.elapsed().saturating_sub(counting));
    }
    merge(crew, &mut count);
    Ok(count)
}
