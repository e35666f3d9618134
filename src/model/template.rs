//! The chat template: how a request becomes the text that a model was trained on.
//!
//! In: the template's source from the model's metadata, and a user turn, with a system turn where one is set.
//! Out: the prompt's text, ending where the model's turn begins.
//! Jinja by minijinja, with the settings and functions that the transformers library gives to templates.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, ErrorKind, context};

use crate::{Error, Result, hash};

/// A compiled chat template.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    names: Vec<(&'static str, String)>,
    /// The source.
    pub source: String,
    /// SHA-256 of the source.
    pub sha256: String,
}

const NAME: &str = "chat";

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

impl Template {
    /// Compiles a template. `names` are the variables for special tokens (`bos_token`, ...).
    ///
    /// # Errors
    /// [`Error::Model`] with the place of a syntax error.
    pub fn new(model: &str, source: &str, names: &[(&'static str, String)]) -> Result<Template> {
        let mut environment = Environment::new();
        let blocks = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(blocks.map_err(Error::model(model))?);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", |format: String| today(&format));
        environment.add_filter("tojson", |value: Value, options: Kwargs| to_json(&value, options));
        let wrong = |e: minijinja::Error| Error::Model {
            model: model.to_string(),
            what: format!("its chat template can't be read: {e}"),
        };
        environment.add_template_owned(NAME, source.to_string()).map_err(wrong)?;
        let sha256 = hash::of_bytes(source.as_bytes());
        Ok(Template { environment, names: names.to_vec(), source: source.to_string(), sha256 })
    }

    /// The prompt for one user turn. Without a system prompt the template's own default, if it has one, stays.
    ///
    /// # Errors
    /// [`Error::Model`] where the template fails or raises, as some do on a system turn.
    pub fn render(&self, model: &str, user: &str, system: Option<&str>) -> Result<String> {
        let turn = |role: &str, content: &str| context! { role => role, content => content };
        let messages: Vec<Value> =
            system.map(|text| turn("system", text)).into_iter().chain([turn("user", user)]).collect();
        let names: BTreeMap<&str, String> = self.names.iter().map(|(name, token)| (*name, token.clone())).collect();
        let names = Value::from(names);
        let wrong = |e: minijinja::Error| Error::Model {
            model: model.to_string(),
            what: format!("its chat template refused the prompt: {e}"),
        };
        let template = self.environment.get_template(NAME).map_err(wrong)?;
        let context =
            context! { messages => messages, add_generation_prompt => true, tools => (), documents => (), ..names };
        template.render(context).map_err(wrong)
    }
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

/// JSON as transformers' filter writes it: minijinja's, without the escapes that make it safe inside HTML.
fn to_json(value: &Value, options: Kwargs) -> Result<Value, minijinja::Error> {
    let json = minijinja::filters::tojson(value, None, options)?;
    let mut rest = json.as_str().unwrap_or_default();
    let mut out = String::with_capacity(rest.len());
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let plain = [("\\u003c", '<'), ("\\u003e", '>'), ("\\u0026", '&'), ("\\u0027", '\'')];
        rest = match plain.iter().find_map(|(code, c)| escape.strip_prefix(code).map(|rest| (c, rest))) {
            Some((c, after)) => {
                out.push(*c);
                after
            }
            // Any other escape is two characters at least, the second of which may be a backslash.
            None => {
                let (kept, after) = escape.split_at(escape.len().min(2));
                out.push_str(kept);
                after
            }
        };
    }
    out.push_str(rest);
    Ok(Value::from_safe_string(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(source: &str) -> Template {
        Template::new("m", source, &[("bos_token", "<s>".into())]).unwrap()
    }

    #[test]
    fn turns_tokens_and_python_methods() {
        let t = template(
            "{{ bos_token }}{% for m in messages %}[{{ m['role'].upper() }}] {{ m.content.strip() }}\n{% endfor %}{% if add_generation_prompt %}[A]{% endif %}",
        );
        assert_eq!(t.render("m", " hi ", None).unwrap(), "<s>[USER] hi\n[A]");
        assert_eq!(t.render("m", "hi", Some("be brief")).unwrap(), "<s>[SYSTEM] be brief\n[USER] hi\n[A]");
    }

    #[test]
    fn blocks_swallow_the_newline_after_them_and_the_blanks_before() {
        let t = template("a\n   {% if true %}\nb\n   {% endif %}\nc");
        assert_eq!(t.render("m", "", None).unwrap(), "a\nb\nc");
    }

    #[test]
    fn text_is_not_escaped() {
        let t = template("{{ messages[0].content }}");
        assert_eq!(t.render("m", "<b> & \"q\" {{ x }}", None).unwrap(), "<b> & \"q\" {{ x }}");
        let t = template("{{ messages[0].content | tojson }}");
        assert_eq!(t.render("m", "<b> & \\u003c 'é'", None).unwrap(), "\"<b> & \\\\u003c 'é'\"");
    }

    #[test]
    fn a_template_may_refuse_and_dates_are_fixed() {
        let t = template("{% if messages[0].role == 'system' %}{{ raise_exception('no system turn') }}{% endif %}ok");
        assert!(t.render("m", "x", Some("s")).unwrap_err().to_string().contains("no system turn"));
        let t = template("{{ strftime_now('%d %b %Y, 100%%') }}");
        assert_eq!(t.render("m", "x", None).unwrap(), "26 Jul 2024, 100%");
        assert!(Template::new("m", "{% if %}", &[]).unwrap_err().to_string().contains("chat template"));
    }
}
