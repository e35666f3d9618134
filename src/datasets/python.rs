//! Python literals: lists and dicts that a CSV export wrote as text.
//!
//! In: text as `['a', "b's"]` or `{'topic': 'Art', 'urls': [...]}`. Out: the same as a JSON value.
//! Read are `repr` of Python's own types, `str` of NumPy arrays (no commas; `array([...], dtype=object)`) and JSON.

use serde_json::{Map, Number, Value};

/// Nesting beyond which a text is refused, so that no input can exhaust the stack.
const DEPTH: usize = 64;

/// The value that `text` writes.
///
/// # Errors
/// What was wrong and at which character, counted from 1.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0 };
    let value = reader.value(0)?;
    match reader.next_char() {
        None => Ok(value),
        Some(c) => Err(reader.fault(&format!("unexpected {c:?} after the end"))),
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn fault(&self, what: &str) -> String {
        format!("{what} at character {}", self.at + 1)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// The next character after spaces, which are skipped; it is not consumed.
    fn next_char(&mut self) -> Option<char> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.peek()
    }

    fn take(&mut self, wanted: char) -> Result<(), String> {
        match self.next_char() {
            Some(c) if c == wanted => {
                self.at += 1;
                Ok(())
            }
            Some(c) => Err(self.fault(&format!("{wanted:?} is wanted, {c:?} stands"))),
            None => Err(self.fault(&format!("{wanted:?} is wanted, the text ends"))),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEPTH {
            return Err(self.fault("nested too deeply"));
        }
        match self.next_char() {
            Some('[') => self.open().items(']', Vec::new(), depth).map(Value::Array),
            Some('(') => self.open().items(')', Vec::new(), depth).map(Value::Array),
            Some('{') => self.open().braces(depth),
            Some('\'' | '"') => self.string().map(Value::String),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            Some(c) if c.is_alphabetic() => self.word(depth),
            Some(c) => Err(self.fault(&format!("a value is wanted, {c:?} stands"))),
            None => Err(self.fault("a value is wanted, the text ends")),
        }
    }

    /// Steps over an opening bracket.
    fn open(&mut self) -> &mut Self {
        self.at += 1;
        self
    }

    /// The items of a list, tuple or set after those already read. NumPy prints no commas; a repr of Python never
    /// lets two items stand side by side, so a missing comma is not an error.
    fn items(&mut self, close: char, mut items: Vec<Value>, depth: usize) -> Result<Vec<Value>, String> {
        loop {
            if !items.is_empty() && self.next_char() == Some(',') {
                self.at += 1;
            }
            match self.next_char() {
                Some(c) if c == close => {
                    self.at += 1;
                    return Ok(items);
                }
                None => return Err(self.fault(&format!("{close:?} is wanted, the text ends"))),
                _ => items.push(self.value(depth + 1)?),
            }
        }
    }

    /// A dict, or a set where the first item is not followed by a colon.
    fn braces(&mut self, depth: usize) -> Result<Value, String> {
        let mut object = Map::new();
        loop {
            if self.next_char() == Some('}') {
                self.at += 1;
                return Ok(Value::Object(object));
            }
            let key = self.value(depth + 1)?;
            if object.is_empty() && matches!(self.next_char(), Some(',' | '}')) {
                return self.items('}', vec![key], depth).map(Value::Array);
            }
            self.take(':')?;
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            object.insert(key, self.value(depth + 1)?);
            if self.next_char() != Some('}') {
                self.take(',')?;
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.peek();
        self.at += 1;
        let mut text = String::new();
        loop {
            let c = self.peek().ok_or_else(|| self.fault("the text ends inside quotes"))?;
            self.at += 1;
            if Some(c) == quote {
                return Ok(text);
            }
            if c == '\\' {
                self.escape(&mut text)?;
            } else {
                text.push(c);
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let c = self.peek().ok_or_else(|| self.fault("the text ends after a backslash"))?;
        self.at += 1;
        match c {
            '\n' => {}
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\\' | '\'' | '"' | '/' => text.push(c),
            'x' => text.push(self.scalar(2)?),
            'u' => text.push(self.scalar(4)?),
            'U' => text.push(self.scalar(8)?),
            '0'..='7' => {
                self.at -= 1;
                let mut code = 0;
                for _ in 0..3 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    self.at += 1;
                }
                text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // Python keeps the backslash of what is no escape
            other => text.extend(['\\', other]),
        }
        Ok(())
    }

    /// A character by its hexadecimal code; JSON writes those beyond U+FFFF as a surrogate pair.
    fn scalar(&mut self, digits: usize) -> Result<char, String> {
        let high = self.hex(digits)?;
        let code = if (0xD800..0xDC00).contains(&high)
            && self.peek() == Some('\\')
            && self.chars.get(self.at + 1) == Some(&'u')
        {
            self.at += 2;
            let low = self.hex(4)?;
            if !(0xDC00..0xE000).contains(&low) {
                return Err(self.fault("half of a surrogate pair"));
            }
            0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        } else {
            high
        };
        char::from_u32(code).ok_or_else(|| self.fault("no character has this code"))
    }

    fn hex(&mut self, digits: usize) -> Result<u32, String> {
        let mut code: u32 = 0;
        for _ in 0..digits {
            let digit =
                self.peek().and_then(|c| c.to_digit(16)).ok_or_else(|| self.fault("a hexadecimal digit is wanted"))?;
            code = code.checked_mul(16).ok_or_else(|| self.fault("no character has this code"))? + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_')) {
            self.at += 1;
        }
        let digits: String = self.chars.iter().skip(start).take(self.at - start).filter(|&&c| c != '_').collect();
        if let Ok(whole) = digits.parse::<i64>() {
            return Ok(Value::from(whole));
        }
        match digits.parse::<f64>() {
            // nan and infinities have no place in JSON
            Ok(number) => Ok(Number::from_f64(number).map_or(Value::Null, Value::Number)),
            Err(_) => Err(format!("{digits:?} is no number, at character {}", start + 1)),
        }
    }

    /// None, True, False, their JSON spellings, nan; `u'...'` of Python 2; `array(...)` of NumPy.
    fn word(&mut self, depth: usize) -> Result<Value, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
            self.at += 1;
        }
        let word: String = self.chars.iter().skip(start).take(self.at - start).collect();
        match (word.as_str(), self.peek()) {
            ("None" | "null" | "nan" | "NaN", _) => Ok(Value::Null),
            ("True" | "true", _) => Ok(Value::Bool(true)),
            ("False" | "false", _) => Ok(Value::Bool(false)),
            ("u" | "U", Some('\'' | '"')) => self.string().map(Value::String),
            (name, Some('(')) if name.ends_with("array") => {
                self.at += 1;
                let value = self.value(depth + 1)?;
                if self.next_char() == Some(',') {
                    while self.peek().is_some_and(|c| c != ')') {
                        self.at += 1;
                    }
                }
                self.take(')')?;
                Ok(value)
            }
            _ => Err(format!("{word:?} is no value, at character {}", start + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_with_either_quote_and_escapes() {
        assert_eq!(
            parse(r#"['a', "it's", 'say "x"', 'it\'s', "b\"c"]"#).unwrap(),
            json!(["a", "it's", "say \"x\"", "it's", "b\"c"])
        );
        assert_eq!(
            parse(r"['a\\b', 'n\nt\t', '\xe9\u00e9\U0001f681', '\q', '\101']").unwrap(),
            json!(["a\\b", "n\nt\t", "éé🚁", "\\q", "A"])
        );
        assert_eq!(parse("[]").unwrap(), json!([]));
        assert_eq!(parse("('x',)").unwrap(), json!(["x"]));
        assert_eq!(parse("[u'x', None, True, -1.5, 1_000]").unwrap(), json!(["x", null, true, -1.5, 1000]));
    }

    #[test]
    fn dicts_sets_and_json() {
        assert_eq!(parse("{'topic': 'Art', 'n': {1: [2]}}").unwrap(), json!({"topic": "Art", "n": {"1": [2]}}));
        assert_eq!(parse("{'a', 'b'}").unwrap(), json!(["a", "b"]));
        assert_eq!(parse("{}").unwrap(), json!({}));
        assert_eq!(parse(r#"{"a": [true, null, "\ud83d\ude81"]}"#).unwrap(), json!({"a": [true, null, "🚁"]}));
    }

    #[test]
    fn numpy_arrays_without_commas_and_with_dtype() {
        assert_eq!(
            parse("['14 December 1972 UTC'\n 'December 1972']").unwrap(),
            json!(["14 December 1972 UTC", "December 1972"])
        );
        assert_eq!(
            parse("{'aliases': array(['a', 'b'], dtype=object), 'value': 'a'}").unwrap(),
            json!({"aliases": ["a", "b"], "value": "a"})
        );
    }

    #[test]
    fn faults_say_where() {
        for (text, place) in [
            ("['a'", "5"),
            ("['a", "4"),
            ("[a]", "2"),
            ("['a'] x", "7"),
            ("{'a' 1}", "6"),
            ("", "1"),
            ("['\\x1']", "6"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.ends_with(&format!("character {place}")), "{text}: {fault}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_instead_of_exhausting_the_stack() {
        assert!(parse(&"[".repeat(100_000)).unwrap_err().contains("nested too deeply"));
        assert!(parse(&"{".repeat(100_000)).unwrap_err().contains("nested too deeply"));
    }
}
