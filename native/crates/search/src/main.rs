//! The worker `search`: searches sessions, and describes itself and its runs.

mod arguments;
mod describe;
mod receipt;
mod run;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use worker::exit;

fn main() -> ExitCode {
    worker::mapped::exit_on_truncation("search: a file became shorter while it was mapped");
    let result = match Arguments::parse().command {
        Command::Describe => exit::print_line(&describe::describe().to_json()),
        Command::Run(options) => run::run(*options),
    };
    exit::conclude("search", result)
}
