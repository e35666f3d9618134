//! The chat template: how a request becomes the text that a model was trained on.
//!
//! In: the template's source from the model's files, a user turn, with a system turn where one is set, and the options
//! that the user sets. Out: the prompt's text, ending where the model's turn begins.
//! Jinja by minijinja, with the settings and functions that the transformers library gives to templates; `python` makes
//! good where the two write or cut a text differently.

mod json;
mod python;

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, ErrorKind, context};
use regex::Regex;

use crate::{Error, Result, hash};

/// A template's text, and the file or key that it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it is from, for messages.
    pub from: String,
    /// The template.
    pub text: String,
}

/// Variables that the user gives to a template (`enable_thinking`, `date_string`), in the order given.
pub type Options = serde_json::Map<String, serde_json::Value>;

/// A compiled chat template.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    names: Vec<(&'static str, String)>,
    from: String,
    /// Variables that it uses and that are not given to every template.
    variables: Vec<String>,
    /// SHA-256 of the source.
    pub sha256: String,
}

const NAME: &str = "chat";

/// Variables that are never the user's to set.
const GIVEN: [&str; 2] = ["messages", "add_generation_prompt"];

/// The day that `strftime_now` gives to templates that ask for today's date: 26 July 2024, a Friday, noon.
///
/// Prompts must be the same whenever a run is made or resumed, so the clock is not read. It is the date that Llama 3
/// templates themselves fall back on.
const TODAY: [(char, &str); 14] = [
    ('d', "26"),
    ('e', "26"),
    ('m', "07"),
    ('b', "Jul"),
    ('B', "July"),
    ('Y', "2024"),
    ('y', "24"),
    ('a', "Fri"),
    ('A', "Friday"),
    ('j', "208"),
    ('H', "12"),
    ('I', "12"),
    ('M', "00"),
    ('S', "00"),
];

/// What one prompt may cost a template, where an instruction costs 1 and 64 bytes of text do: hundreds of times what the
/// longest templates need, and a second of work at most.
const FUEL: u64 = 5_000_000;

impl Template {
    /// Compiles a template. `names` are the variables for special tokens (`bos_token`, ...).
    ///
    /// # Errors
    /// [`Error::Model`] with the line of a syntax error.
    pub fn new(model: &str, source: &Source, names: &[(&'static str, String)]) -> Result<Template> {
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        let blocks = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(blocks.map_err(Error::model(model))?);
        environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", |format: String| today(&format));
        python::add_to(&mut environment);
        let text = readable(&source.text).map_err(Error::model(model))?;
        environment.add_template_owned(NAME, text.clone()).map_err(|e| {
            let what = format!("its chat template ({}) can't be read: {}", source.from, shown(&e, &text));
            Error::Model { model: model.to_string(), what }
        })?;
        let mut variables: Vec<String> = match environment.get_template(NAME) {
            Ok(template) => template.undeclared_variables(false).into_iter().collect(),
            Err(e) => return Err(Error::model(model)(e)),
        };
        let is_given = |name: &str| GIVEN.contains(&name) || names.iter().any(|(known, _)| *known == name);
        variables.retain(|name| !is_given(name) && !environment.globals().any(|(global, _)| global == name));
        variables.sort();
        let sha256 = hash::of_bytes(source.text.as_bytes());
        Ok(Template { environment, names: names.to_vec(), from: source.from.clone(), variables, sha256 })
    }

    /// Checks that the template uses every option.
    ///
    /// # Errors
    /// [`Error::Input`] naming the first that it does not, and the variables that it does use.
    pub fn check(&self, model: &str, options: &Options) -> Result<()> {
        let Some(unused) = options.keys().find(|name| !self.variables.contains(name)) else { return Ok(()) };
        let known = match self.variables.is_empty() {
            true => "none: it has no variables that can be set".to_string(),
            false => self.variables.join(", "),
        };
        Err(Error::input(format!("the chat template of {model} ({}) has no such option", self.from))
            .key(unused.as_str())
            .expected(known)
            .into())
    }

    /// The prompt for one user turn. Without a system prompt the template's own default, if it has one, stays.
    ///
    /// # Errors
    /// [`Error::Model`] with the line where the template fails or raises, as some do on a system turn.
    pub fn render(&self, model: &str, user: &str, system: Option<&str>, options: &Options) -> Result<String> {
        let turn = |role: &str, content: &str| context! { role => role, content => content };
        let messages: Vec<Value> =
            system.map(|text| turn("system", text)).into_iter().chain([turn("user", user)]).collect();
        let mut given: BTreeMap<&str, Value> =
            self.names.iter().map(|(name, token)| (*name, Value::from(token.as_str()))).collect();
        given.extend(["tools", "documents"].map(|name| (name, Value::from(()))));
        given.extend(options.iter().map(|(name, value)| (name.as_str(), Value::from(Serde(value)))));
        given.insert("messages", Value::from(messages));
        given.insert("add_generation_prompt", Value::from(true));
        let template = self.environment.get_template(NAME).map_err(Error::model(model))?;
        template.render(Value::from_pairs(given)).map_err(|e| {
            let what =
                format!("its chat template ({}) refused the prompt: {}", self.from, shown(&e, template.source()));
            Error::Model { model: model.to_string(), what }
        })
    }
}

/// The source with line ends as Jinja reads them, and without the tags around what a model is trained on
/// (`{% generation %}`): here they are blocks with a scope of their own, which is all that they are to a prompt.
fn readable(source: &str) -> Result<String, regex::Error> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let tag = Regex::new(r"\{%([-+]?)(\s*)(end)?generation(\s*)([-+]?)%\}")?;
    Ok(tag.replace_all(&source, "{%${1}${2}${3}with${4}${5}%}").into_owned())
}

/// What went wrong, and the line of the template where it did; of a long line, the part around it.
fn shown(e: &minijinja::Error, source: &str) -> String {
    let what = match (e.kind(), e.detail()) {
        (ErrorKind::InvalidOperation, Some(detail)) => detail.to_string(),
        (ErrorKind::OutOfFuel, _) => "it does not end, or writes far more than a prompt".to_string(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    let Some(number) = e.line() else { return what };
    let line = source.lines().nth(number.saturating_sub(1)).unwrap_or_default();
    let start: usize = source.split_inclusive('\n').take(number.saturating_sub(1)).map(str::len).sum();
    let from = e.range().map_or(0, |range| range.start.saturating_sub(start));
    let before = line.get(..from).map_or(0, |before| before.chars().count());
    let part: String = line.chars().skip(before.saturating_sub(60)).take(140).collect();
    format!("{what}\n  line {number}: {}", part.trim())
}

fn today(format: &str) -> String {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('%', Some(code)) => {
                chars.next();
                match TODAY.iter().find(|(known, _)| *known == code) {
                    Some((_, text)) => out.push_str(text),
                    None if code == '%' => out.push('%'),
                    None => out.extend(['%', code]),
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn source(text: &str) -> Source {
        Source { from: "chat_template.jinja".to_string(), text: text.to_string() }
    }

    fn template(text: &str) -> Template {
        Template::new("m", &source(text), &[("bos_token", "<s>".into())]).unwrap()
    }

    fn render(text: &str, user: &str, system: Option<&str>) -> Result<String> {
        template(text).render("m", user, system, &Options::new())
    }

    fn options(value: serde_json::Value) -> Options {
        value.as_object().unwrap().clone()
    }

    /// Templates of every feature that published ones use, and the prompts that transformers makes with them
    /// (`scripts/golden_templates.py`). Where it fails this must fail too.
    #[test]
    fn prompts_are_the_references() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/templates.jsonl");
        let (mut cases, mut wrong) = (0, Vec::new());
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let names = ["bos_token", "eos_token", "unk_token", "pad_token"];
            let names = names.map(|name| (name, row["names"][name].as_str().unwrap().to_string()));
            let template = Template::new("m", &source(row["template"].as_str().unwrap()), &names);
            for case in row["cases"].as_array().unwrap() {
                cases += 1;
                let ours = match &template {
                    Ok(template) => {
                        let (user, options) = (case["user"].as_str().unwrap(), options(case["options"].clone()));
                        template.check("m", &options).unwrap();
                        template.render("m", user, case["system"].as_str(), &options).map_err(|e| e.to_string())
                    }
                    Err(e) => Err(e.to_string()),
                };
                if ours.as_ref().ok().map(String::as_str) != case["text"].as_str() {
                    wrong.push(format!("{}: {case}\n  ours: {ours:?}", row["name"]));
                }
            }
        }
        assert!(cases > 500, "{cases} cases");
        assert!(wrong.is_empty(), "{} of {cases} differ:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn text_is_not_escaped() {
        let text = "<b> & \"q\" {{ x }}";
        assert_eq!(render("{{ messages[0].content }}", text, None).unwrap(), text);
        let json = render("{{ messages[0].content | tojson }}", "<b> & \\u003c 'é'", None).unwrap();
        assert_eq!(json, "\"<b> & \\\\u003c 'é'\"");
    }

    #[test]
    fn errors_name_the_template_and_show_the_line() {
        let message = Template::new("m", &source("a\n{{ b }}\n{% if %}\nc"), &[]).unwrap_err().to_string();
        for part in ["model m", "chat_template.jinja", "can't be read", "line 3: {% if %}"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let text = "a\n{% if messages[0].role == 'system' %}\n  {{ raise_exception('no system turn') }}\n{% endif %}";
        let message = render(text, "x", Some("s")).unwrap_err().to_string();
        for part in ["refused", "no system turn", "line 3: {{ raise_exception("] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let long = format!("{}{{{{ a.b.c }}}}{}", "x".repeat(900), "y".repeat(900));
        let message = render(&long, "x", None).unwrap_err().to_string();
        assert!(message.contains("{{ a.b.c }}") && message.len() < 400, "{message}");
    }

    #[test]
    fn dates_are_fixed() {
        let text = render("{{ strftime_now('%d %b %Y, 100%%') }}", "x", None).unwrap();
        assert_eq!(text, "26 Jul 2024, 100%");
    }

    #[test]
    fn options_are_variables_that_the_template_uses() {
        let t = template(
            "{{ bos_token }}{% if not day is defined %}{% set day = 'today' %}{% endif %}{{ day }}{% if think %}!{% endif %}",
        );
        let given = options(json!({"day": "Monday", "think": true}));
        t.check("m", &given).unwrap();
        assert_eq!(t.render("m", "x", None, &given).unwrap(), "<s>Monday!");
        for unused in ["thonk", "messages", "bos_token", "raise_exception"] {
            let message = t.check("m", &options(json!({ unused: 1 }))).unwrap_err().to_string();
            assert!(message.contains(unused) && message.contains("expected: day, think"), "{message}");
        }
        let message = template("x").check("m", &given).unwrap_err().to_string();
        assert!(message.contains("no variables"), "{message}");
    }
}
