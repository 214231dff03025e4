//! The worker `search`: searches sessions, and describes itself and its runs.

mod arguments;
mod describe;
mod environment;
mod receipt;
mod run;

use std::io::{self, Write};
use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use worker::exit::{self, Failure};

fn main() -> ExitCode {
    worker::mapped::end_where_files_are_cut("search");
    let result = match Arguments::parse().command {
        Command::Describe => writeln!(io::stdout(), "{}", describe::describe().to_json())
            .map_err(|error| Failure::Work(format!("cannot write to stdout: {error}"))),
        Command::Run(options) => run::run(*options),
    };
    exit::conclude("search", result)
}
