//! Environment variables that runtimes read by themselves, checked before they do.
//!
//! `blocking` takes what it does not understand for its default and moves the rest into its range, smol makes no
//! thread at all of 0 and would wait forever: a run would not be what it was asked to be.

use std::env;

use search::engine::{Engine, Knob};

/// A variable of a runtime.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) knob: Knob,
    /// The largest number that its runtime takes; the smallest is 1.
    most: usize,
}

/// Every variable. The limit of `BLOCKING_MAX_THREADS` is that of the crate, which starts threads when there is work for
/// them; smol has none and starts all of them at once, so it gets that of `--threads`.
pub(crate) static VARIABLES: &[Variable] = &[
    Variable {
        name: "BLOCKING_MAX_THREADS",
        knob: Knob::BlockingMaxThreads,
        most: 10_000,
    },
    Variable {
        name: "SMOL_THREADS",
        knob: Knob::SmolThreads,
        most: 1024,
    },
];

/// Whether the variables that act on `engine` are numbers that their runtimes obey.
pub(crate) fn check(engine: &Engine) -> Result<(), String> {
    for variable in VARIABLES {
        if let Some(given) = env::var_os(variable.name)
            && engine.knobs.contains(&variable.knob)
        {
            let number = given.to_str().and_then(|text| text.parse().ok());
            if !number.is_some_and(|number| (1..=variable.most).contains(&number)) {
                return Err(format!(
                    "{} is `{}`; {} needs a whole number from 1 to {} there, or the variable unset",
                    variable.name,
                    given.display(),
                    engine.name,
                    variable.most
                ));
            }
        }
    }
    Ok(())
}
