//! Prompt: statements as a person types them.
//!
//! In: lines of a terminal. Out: their rows; an error is said and the next statement awaited.
//! Enter ends a statement after its `;`, Ctrl-C clears what was typed or ends a running query, Ctrl-D leaves.

use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};

use super::complete::Words;
use super::console::Console;
use crate::cli::say;
use crate::model::cache_dir::cache_dir;
use crate::query::{is_whole, script};
use crate::{Error, Result};

/// Statements that are remembered.
const REMEMBERED: usize = 5000;

/// Asks and answers until the user leaves.
pub(super) fn run(console: &mut Console) -> Result<()> {
    let config = Config::builder()
        .behavior(Behavior::PreferTerm)
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(REMEMBERED)
        .and_then(|config| config.history_ignore_dups(true))
        .map_err(unreadable)?
        .build();
    let mut editor: Editor<Typing, FileHistory> = Editor::with_config(config).map_err(unreadable)?;
    editor.set_helper(Some(Typing { words: Words::of(&console.catalog()?) }));
    let history = cache_dir().join("sql_history");
    let kept = history.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    // The first time there is none.
    let _ = editor.load_history(&history);
    interrupts(console)?;
    say("Statements end with ;  \\d lists the tables, \\? the commands, \\q or Ctrl-D leaves.");
    loop {
        let text = match editor.readline("sago> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(other) => return Err(unreadable(other)),
        };
        if !text.trim().is_empty() {
            // What can't be remembered is answered all the same.
            let _ = editor.add_history_entry(text.trim_end());
            if kept {
                let _ = editor.append_history(&history);
            }
        }
        if !answer(console, &text)? {
            return Ok(());
        }
    }
}

/// Answers what was typed, up to its first error; gives whether to go on.
fn answer(console: &mut Console, text: &str) -> Result<bool> {
    for piece in script(text, None) {
        match console.take(&piece) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(Error::Io { doing, path, source }) if source.kind() == ErrorKind::BrokenPipe => {
                return Err(Error::Io { doing, path, source });
            }
            Err(Error::Interrupted) => {
                say("stopped");
                break;
            }
            Err(error) => {
                say(&format!("error: {error}"));
                break;
            }
        }
    }
    Ok(true)
}

/// From now on a signal ends the running query; where none runs, and the second time, it ends the program. (While a line
/// is typed, Ctrl-C is a key and no signal.)
fn interrupts(console: &Console) -> Result<()> {
    let (stop, is_busy) = console.interrupter();
    let end = move || {
        if !is_busy.load(Ordering::SeqCst) || stop.ask() {
            std::process::exit(2);
        }
    };
    ctrlc::set_handler(end).map_err(|e| Error::io("listen for", "Ctrl-C")(io::Error::other(e)))
}

fn unreadable(error: ReadlineError) -> Error {
    Error::io("read", "the terminal")(io::Error::other(error))
}

/// What happens while a line is typed.
struct Typing {
    words: Words,
}

impl Helper for Typing {}
impl Highlighter for Typing {}

impl Hinter for Typing {
    type Hint = String;
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.words.complete(line, at))
    }
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_done = is_whole(context.input());
        Ok(if is_done { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}
