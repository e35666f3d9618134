//! Timing: where a run's time and memory went.

use std::fmt;

use crate::model::Time;

/// Seconds by kind of work, tokens, and the process's peak memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timing {
    /// The whole run in this process.
    pub wall_seconds: f64,
    /// Reading weights.
    pub load_seconds: f64,
    /// Prefill, decoding and teacher forcing.
    pub model: Time,
    /// Validity of the variants.
    pub check_seconds: f64,
    /// BERTScore of responses.
    pub bertscore_seconds: f64,
    /// Writing Parquet.
    pub write_seconds: f64,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        let rate = |tokens: u64, seconds: f64| if seconds > 0.0 { tokens as f64 / seconds } else { 0.0 };
        let known = self.load_seconds
            + model.prefill_seconds
            + model.decode_seconds
            + model.forced_seconds
            + self.check_seconds
            + self.bertscore_seconds
            + self.write_seconds;
        writeln!(f, "time {:.2} s:", self.wall_seconds)?;
        writeln!(f, "  loading         {:7.2} s", self.load_seconds)?;
        for (what, seconds, tokens) in [
            ("prefill", model.prefill_seconds, model.prefill_tokens),
            ("decoding", model.decode_seconds, model.decode_tokens),
            ("teacher forcing", model.forced_seconds, model.forced_tokens),
        ] {
            writeln!(f, "  {what:15} {seconds:7.2} s  {tokens:7} tokens, {:5.0} a second", rate(tokens, seconds))?;
        }
        writeln!(f, "  variants' check {:7.2} s", self.check_seconds)?;
        writeln!(f, "  BERTScore       {:7.2} s", self.bertscore_seconds)?;
        writeln!(f, "  writing         {:7.2} s", self.write_seconds)?;
        write!(f, "  everything else {:7.2} s", (self.wall_seconds - known).max(0.0))?;
        if let Some(mib) = peak_memory_mib() {
            write!(f, "\npeak memory {mib} MiB")?;
        }
        Ok(())
    }
}

/// Most memory that this process held, where the system says so.
fn peak_memory_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib / 1024)
}
