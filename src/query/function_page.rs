//! Function page: the reference of the functions that SQL gets from this program.
//!
//! In: the functions' own documentation. Out: Markdown. The tests run every example that stands here.

use std::fmt::Write;

use super::dictionary::cell;
use super::functions::{FunctionDoc, reference};

/// The reference as Markdown; `docs/functions.md` is this.
pub(super) fn functions() -> String {
    let mut page = String::from(
        "# Functions\n\nMade by `make dictionary` from `src/query/functions/`: change the text there, not this page. \
         These are the functions that\n`sago sql` and the models in `sql/` have beside those of\n\
         [DataFusion](https://datafusion.apache.org/user-guide/sql/). Each example is run as a test.\n\n\
         | function | what it is |\n|---|---|\n",
    );
    let all = reference();
    for function in &all {
        let kind = if function.is_aggregate { "of a group" } else { "of a row" };
        let _ = writeln!(page, "| [`{}`](#{}) | {kind} |", function.signature(), function.name);
    }
    all.iter().for_each(|function| page.push_str(&section(function)));
    page
}

fn section(function: &FunctionDoc) -> String {
    let mut text = format!("\n## {}\n\n`{}`: {}\n", function.name, function.signature(), cell(function.what));
    if !function.arguments.is_empty() {
        text.push_str("\n| argument | type | meaning |\n|---|---|---|\n");
    }
    for argument in function.arguments {
        let per_group = if argument.per_group { "; one value a group" } else { "" };
        let (kind, what) = (argument.kind.words(), cell(argument.what));
        let _ = writeln!(text, "| {} | {kind} | {what}{per_group} |", argument.name);
    }
    let _ = write!(text, "\nGives: {}. Source: {}.\n", cell(function.returns), cell(function.source));
    let _ = write!(text, "\n```sql\n{}\n-- {}\n```\n", function.example, function.result);
    text
}
