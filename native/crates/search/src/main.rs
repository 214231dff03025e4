//! The worker `search`: searches sessions, and describes itself and its runs.

mod arguments;
mod describe;
mod receipt;
mod run;

use std::panic::{self, PanicHookInfo};
use std::process::{self, ExitCode};
use std::thread;

use arguments::{Arguments, Command};
use clap::Parser;
use worker::exit::{self, Failure};

fn main() -> ExitCode {
    let first = thread::current().id();
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == first {
            exit_with(panic);
        }
        previous(panic);
    }));
    worker::mapped::exit_on_truncation("search: a file became shorter while it was mapped");
    let result = match Arguments::parse().command {
        Command::Describe => exit::print_line(&describe::describe().to_json()),
        Command::Run(options) => run::run(*options),
    };
    exit::conclude("search", result)
}

/// Ends the process with one line. tokio and smol panic on the thread that calls them if the system refuses them a
/// thread, and unwinding would then wait forever for the threads that tokio had started.
fn exit_with(panic: &PanicHookInfo<'_>) -> ! {
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("unknown reason");
    let place = panic
        .location()
        .map_or_else(String::new, |at| format!(" ({at})"));
    let failure = Failure::Work(format!("panicked: {message}{place}"));
    let _ = exit::conclude("search", Err(failure));
    process::exit(i32::from(exit::FAILED))
}
