//! What candle says when it fails, as part of a message.
//!
//! In: an error of candle. Out: its text without the backtrace.
//! With `RUST_BACKTRACE` set candle prints a backtrace, dozens of lines of its own source, inside the text of its errors.

use std::fmt::Display;

/// The text of an error up to its backtrace, whose first frame is a line that starts with blanks and `0:`.
pub fn said(error: impl Display) -> String {
    let text = error.to_string();
    let frame = |line: &&str| line.starts_with([' ', '\t']) && line.trim_start().starts_with("0:");
    text.lines().take_while(|line| !frame(line)).collect::<Vec<_>>().join("\n").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Error;

    #[test]
    fn a_backtrace_is_cut_wherever_it_is_wrapped() {
        // Captured whatever the environment says, unlike candle's own.
        let backtrace = Box::new(std::backtrace::Backtrace::force_capture());
        let inner = Box::new(Error::Msg("no such\n  0 tensor".to_string()));
        let error = Error::WithBacktrace { inner, backtrace };
        assert!(error.to_string().lines().count() > 3, "{error}");
        assert_eq!(said(&error), "no such\n  0 tensor");
        assert_eq!(said(error.context("in a file")), "in a file\nno such\n  0 tensor");
        assert_eq!(said("plain"), "plain");
    }
}
