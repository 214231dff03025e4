//! `dgen`: seeded data from the command line, and the worker that writes them.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use command::{describe, probe, sessions, text, validate, write};
use worker::exit;

/// Writes seeded data: a pure function of its arguments.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what this worker is, as one JSON object
    Describe,
    /// Do the work once
    #[command(subcommand)]
    Run(Box<Run>),
    /// Try which block size, depth and number of threads write fastest to a disk
    Probe(probe::Options),
    /// Compare a file with the data that it was written with
    Validate(Box<validate::Options>),
    /// Write a text corpus and print its SHA-256
    Text(text::Options),
    /// Write a folder of JSONL sessions and print the SHA-256 of its list of SHA-256
    Sessions(Box<sessions::Options>),
}

#[derive(Debug, Subcommand)]
enum Run {
    /// Write a file of seeded data
    Write(write::Options),
}

fn main() -> ExitCode {
    worker::mapped::exit_on_truncation("dgen: a file became shorter while it was mapped");
    // A file larger than the limit is then an error of the write, not the end of the process.
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let result = match Arguments::parse().command {
        Command::Describe => exit::print_line(&describe::describe().to_json()),
        Command::Run(run) => match *run {
            Run::Write(options) => write::run(options),
        },
        Command::Probe(options) => probe::run(&options),
        Command::Validate(options) => validate::run(&options),
        Command::Text(options) => text::run(&options),
        Command::Sessions(options) => sessions::run(&options),
    };
    exit::conclude("dgen", result)
}
