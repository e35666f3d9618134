//! `sago`: parse, carry out, say what went wrong, exit.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use sago::cli::Arguments;

fn main() -> ExitCode {
    match Arguments::parse().carry_out() {
        Ok(done) => done.into(),
        // Whoever read our output has seen enough.
        Err(sago::Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Where even stderr is closed the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
