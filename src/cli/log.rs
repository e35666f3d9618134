//! Log: what the program does, step by step, on stderr.
//!
//! In: how often `--verbose` was given. Out: lines with the seconds since the start; files and steps, then also every
//! file that is written and every query that is asked. Libraries say nothing here.

use std::sync::OnceLock;
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};

use super::say;

/// Lines on stderr, from when it was begun.
struct Lines(OnceLock<Instant>);

static LINES: Lines = Lines(OnceLock::new());

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = env!("CARGO_CRATE_NAME");
        metadata.target().strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let seconds = self.0.get_or_init(Instant::now).elapsed().as_secs_f64();
            say(&format!("{seconds:9.3} s  {}", record.args()));
        }
    }

    fn flush(&self) {}
}

/// Begins to write lines; without `--verbose` none. A program that has a log of its own keeps it.
pub(super) fn begin(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::Info,
        _ => LevelFilter::Debug,
    };
    LINES.0.get_or_init(Instant::now);
    if log::set_logger(&LINES).is_ok() {
        log::set_max_level(level);
    }
}

/// Whether lines are written: then nothing that draws over them may stand on the terminal.
pub(super) fn is_on() -> bool {
    log::max_level() > LevelFilter::Off
}
