//! The worker `tally`: counts words, and describes itself and its runs.

mod arguments;
mod describe;
mod run;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use worker::exit;

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Describe => exit::print_line(&describe::describe().to_json()),
        Command::Run(options) => run::run(*options),
    };
    exit::conclude("tally", result)
}
