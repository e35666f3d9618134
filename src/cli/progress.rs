//! Progress on stderr: a bar with rate and time left; plain lines now and then where stderr is no terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{log, say};
use crate::model::hub::Transfer;
use crate::query::Step;
use crate::run::Progress;

/// Between plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(15);

/// A terminal; but not one on which the lines of `--verbose` stand.
fn target() -> ProgressDrawTarget {
    if log::is_on() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// Draws a run's progress on stderr.
#[derive(Debug)]
pub struct Stderr {
    quiet: bool,
    bar: Mutex<Option<Bar>>,
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    what: String,
    started: Instant,
    done_before: u64,
    said: Instant,
}

impl Bar {
    /// Whether a plain line is due, as nobody sees the bar.
    fn is_due(&mut self) -> bool {
        let is_due = self.bar.is_hidden() && self.said.elapsed() >= PLAIN_EVERY;
        if is_due {
            self.said = Instant::now();
        }
        is_due
    }
}

impl Stderr {
    /// Progress that says nothing where `quiet`.
    pub fn new(quiet: bool) -> Self {
        Stderr { quiet, bar: Mutex::new(None) }
    }

    /// Draws a bar in place of what is there.
    fn put(&self, what: &str, total: u64, done: u64, style: &str) {
        self.with_bar(|slot| {
            let bar = ProgressBar::with_draw_target(Some(total), target()).with_message(what.to_string());
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_position(done);
            bar.reset_eta();
            bar.tick();
            let now = Instant::now();
            *slot = Some(Bar { bar, what: what.to_string(), started: now, done_before: done, said: now });
        });
    }

    fn with_bar(&self, f: impl FnOnce(&mut Option<Bar>)) {
        if !self.quiet
            && let Ok(mut bar) = self.bar.lock()
        {
            f(&mut bar);
        }
    }
}

impl Progress for Stderr {
    fn say(&self, text: &str) {
        self.with_bar(|bar| match bar {
            Some(b) => b.bar.suspend(|| say(text)),
            None => say(text),
        });
    }

    fn begin(&self, what: &str, total: u64, done: u64) {
        if done > 0 {
            self.say(&format!("{what}: {done} of {total} wordings were done before"));
        }
        self.put(what, total, done, "{msg} {wide_bar} {pos}/{len} wordings, {per_sec}, {eta} left");
    }

    fn reach(&self, wordings: u64) {
        self.with_bar(|slot| {
            let Some(b) = slot else { return };
            b.bar.set_position(wordings);
            if b.is_due() {
                let (done, total) = (b.bar.position(), b.bar.length().unwrap_or(0));
                let rate = (done - b.done_before) as f64 / b.started.elapsed().as_secs_f64();
                let left = Duration::from_secs_f64((total.saturating_sub(done)) as f64 / rate.max(1e-9));
                let left = indicatif::HumanDuration(Duration::from_secs(left.as_secs()));
                say(&format!("{}: {done}/{total} wordings, {rate:.1} a second, {left} left", b.what));
            }
        });
    }

    fn end(&self) {
        self.with_bar(|slot| {
            if let Some(b) = slot.take() {
                b.bar.finish_and_clear();
                let (done, seconds) = (b.bar.position(), b.started.elapsed().as_secs_f64());
                say(&format!("{}: {done} wordings done, {seconds:.0} s", b.what));
            }
        });
    }
}

impl Transfer for Stderr {
    fn begin(&self, what: &str, bytes: u64) {
        let style = "{msg} {wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left";
        self.put(&format!("fetching {what}"), bytes, 0, style);
    }

    fn reach(&self, bytes: u64) {
        self.with_bar(|slot| {
            let Some(b) = slot else { return };
            b.bar.set_position(bytes);
            if b.is_due() {
                let (done, total) = (HumanBytes(bytes), HumanBytes(b.bar.length().unwrap_or(0)));
                say(&format!("{}: {done} of {total}", b.what));
            }
        });
    }

    fn end(&self) {
        self.with_bar(|slot| {
            if let Some(b) = slot.take() {
                b.bar.finish_and_clear();
                let (bytes, seconds) = (HumanBytes(b.bar.position()), b.started.elapsed().as_secs_f64());
                say(&format!("{}: {bytes}, {seconds:.0} s", b.what));
            }
        });
    }
}

/// Says on stderr which tables are being derived, and each one's rows and time when it is written.
#[derive(Debug)]
pub struct Tables {
    /// None where nothing is said.
    spinner: Option<ProgressBar>,
    /// Those that are being derived.
    open: Vec<String>,
}

impl Tables {
    /// Progress that says nothing where `quiet`.
    pub fn new(quiet: bool) -> Self {
        let spinner = ProgressBar::with_draw_target(None, target());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
            spinner.set_style(style);
        }
        Tables { spinner: (!quiet).then_some(spinner), open: Vec::new() }
    }

    /// Takes in a step of the analysis.
    pub fn tell(&mut self, step: Step<'_>) {
        let Some(spinner) = &self.spinner else { return };
        match step {
            Step::Begin(name) => {
                self.open.push(name.to_string());
                spinner.enable_steady_tick(Duration::from_millis(200));
            }
            Step::End(made) => {
                spinner.suspend(|| say(&format!("{:28} {:9} rows {:7.2} s", made.name, made.rows, made.seconds)));
                self.open.retain(|name| *name != made.name);
            }
        }
        spinner.set_message(self.open.join(", "));
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}
