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
    worker::mapped::end_where_files_are_cut("search: a file became shorter while it was mapped");
    let result = match Arguments::parse().command {
        Command::Describe => exit::say(&describe::describe().to_json()),
        Command::Run(options) => run::run(*options),
    };
    exit::conclude("search", result)
}
