//! What a parser can do at best: one thread, every line of every file parsed into the worker's
//! types, nothing searched. Prints lines and bytes. `tests/validation/bench/peers_search.py` compares the
//! engines with it.

use std::fs;
use std::process::ExitCode;

use search::corpus;
use search::parser::{Parser, Work, dispatch, parser};

struct ParseOnly<'files>(&'files [corpus::Session]);

impl Work for ParseOnly<'_> {
    type Output = std::io::Result<(u64, usize)>;

    fn with<P: Parser>(self) -> Self::Output {
        let (mut lines, mut bytes) = (0, 0);
        let mut parser = P::default();
        for session in self.0 {
            let contents = fs::read(&session.path)?;
            bytes += contents.len();
            for line in contents.split(|byte| *byte == b'\n') {
                if let Ok(line) = parser.parse(line) {
                    lines += 1;
                    std::hint::black_box(line);
                }
            }
        }
        Ok((lines, bytes))
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let chosen = arguments.next().and_then(|name| parser(&name));
    let inputs: Vec<_> = arguments.map(Into::into).collect();
    let (Some(chosen), Ok(sessions)) = (chosen, corpus::sessions(&inputs)) else {
        eprintln!(
            "usage: parse_only PARSER INPUT…, with a parser that the worker knows and inputs that hold sessions"
        );
        return ExitCode::from(2);
    };
    match dispatch(chosen, ParseOnly(&sessions)) {
        Ok((lines, bytes)) => {
            println!("{lines} lines, {bytes} bytes");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("parse_only: {error}");
            ExitCode::FAILURE
        }
    }
}
