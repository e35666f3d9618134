//! Engine: the page's code, run without a browser.
//!
//! In: the data of a page, and the id of a figure or table. Out: its files as texts: SVG and LaTeX.
//! Each figure has an engine of its own, so that figures can be made side by side and none changes another's bytes.

use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Runtime};
use serde::Deserialize;
use serde_json::json;

use super::code::{DRAWING, ECHARTS, FILES, SURROUNDINGS, script};
use crate::{Error, Result};

/// Most stack that the code may take, in bytes; a thread of ours has 2 MiB.
const STACK: usize = 1 << 20;

/// What is wanted of a figure.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Its drawings.
    pub pictures: bool,
    /// Its tables.
    pub tables: bool,
}

/// What was made of a figure.
#[derive(Debug, Deserialize)]
pub struct Made {
    /// Its files.
    pub files: Vec<Drawn>,
    /// What is not written, and why.
    pub notes: Vec<String>,
}

/// One state of a figure, or one table.
#[derive(Debug, Deserialize)]
pub struct Drawn {
    /// Name of its files, without an ending.
    pub name: String,
    /// The drawing; None where it has none, or none is wanted.
    pub svg: Option<String>,
    /// The table, in LaTeX; None as for the drawing.
    pub tex: Option<String>,
}

/// Ids of all figures and tables, in the order of the page.
///
/// # Errors
/// The code fails.
pub fn ids() -> Result<Vec<String>> {
    let ids = with_code("", |_, code| code.get("ids"));
    from_json("report", &ids.map_err(failed("report"))?)
}

/// Makes the files of one figure or table. `data` is the page's data as JSON.
///
/// # Errors
/// The code fails; the error names the figure.
pub fn made(data: &str, id: &str, wanted: Wanted) -> Result<Made> {
    let wanted = json!({ "pictures": wanted.pictures, "tables": wanted.tables }).to_string();
    let made = with_code(ECHARTS, |_, code| code.get::<_, Function>("filesOf")?.call((data, id, wanted.as_str())));
    from_json(id, &made.map_err(failed(id))?)
}

/// Starts an engine, runs the library and our code in it, and asks that code for a text.
fn with_code(
    library: &str,
    ask: impl for<'js> FnOnce(&Ctx<'js>, Object<'js>) -> rquickjs::Result<String>,
) -> Result<String, String> {
    let started = Runtime::new().and_then(|runtime| {
        runtime.set_max_stack_size(STACK);
        Context::full(&runtime)
    });
    let context = started.map_err(|e| format!("the JavaScript engine does not start: {e}"))?;
    context.with(|context| {
        let all = || {
            context.eval::<(), _>(SURROUNDINGS)?;
            context.eval::<(), _>(library)?;
            let code = context.eval::<Object, _>(script(&[DRAWING, &[FILES]]))?;
            ask(&context, code)
        };
        all().catch(&context).map_err(|e| e.to_string().trim_end().to_string())
    })
}

fn from_json<T: serde::de::DeserializeOwned>(id: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| failed(id)(e.to_string()))
}

fn failed(id: &str) -> impl Fn(String) -> Error + '_ {
    move |what| Error::Figure { figure: id.to_string(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted { pictures: true, tables: true };

    #[test]
    fn figures_and_tables_are_those_of_the_page() {
        let ids = ids().unwrap();
        assert_eq!(ids.first().map(String::as_str), Some("sgs"));
        assert!(ids.contains(&"coverage".to_string()), "{ids:?}");
    }

    #[test]
    fn what_fails_in_the_code_is_an_error_that_names_the_figure() {
        let no_tables = json!({ "runs": [{ "name": "r", "tables": {} }] }).to_string();
        let error = made(&no_tables, "dose", WANTED).unwrap_err().to_string();
        assert!(error.starts_with("figure dose: Error: "), "{error}");
        let error = made("{", "dose", WANTED).unwrap_err().to_string();
        assert!(error.contains("JSON") && error.starts_with("figure dose"), "{error}");
    }

    #[test]
    fn a_recursion_without_end_is_an_error() {
        let error = with_code("", |context, _| context.eval("(function f() { return f() + 1 })()")).unwrap_err();
        assert!(error.contains("stack"), "{error}");
    }
}
