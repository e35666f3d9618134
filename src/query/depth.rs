//! Depth: how deep a query's expressions may nest.
//!
//! In: the text of a query. Out: an error where planning it could overrun the stack.
//! The planner recurses over an expression; `1 + 1 + 1 ...` is as deep as it has terms, and no parser limit stops it.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::{Error, Result};

/// Operators and keywords that may build on one another; what a person or a program writes has a few dozen.
const LIMIT: usize = 2000;

/// Within one pair of parentheses: operators since the last comma, and the most there were before it.
#[derive(Default)]
struct Level {
    since_comma: usize,
    most: usize,
    /// Whether commas link (tables of FROM, parts of WITH) rather than list.
    links: bool,
}

impl Level {
    fn depth(&self) -> usize {
        self.since_comma.max(self.most)
    }
}

/// Refuses a query that could be deeper than the threads of a session can plan. The depth is an upper bound, counted
/// over tokens: parsing such a query may already be too much.
pub(super) fn check(sql: &str) -> Result<()> {
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, sql).tokenize() else {
        // The parser says what is wrong, and where.
        return Ok(());
    };
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    for token in &tokens {
        match token {
            Token::Whitespace(_) | Token::SemiColon | Token::Number(..) | Token::SingleQuotedString(_) => {}
            Token::Word(word) if word.keyword == Keyword::NoKeyword => {}
            Token::LParen | Token::LBracket => outer.push(std::mem::take(&mut level)),
            Token::RParen | Token::RBracket => {
                let inner = level.depth();
                level = outer.pop().unwrap_or_default();
                // What stands around the parentheses may build on what is in them.
                level.since_comma += inner + 1;
            }
            Token::Comma if !level.links => {
                level.most = level.depth();
                level.since_comma = 0;
            }
            other => {
                if let Token::Word(word) = other {
                    level.links = match word.keyword {
                        Keyword::FROM | Keyword::WITH => true,
                        Keyword::SELECT | Keyword::VALUES | Keyword::WHERE | Keyword::GROUP | Keyword::ORDER => false,
                        _ => level.links,
                    };
                }
                level.since_comma += 1;
            }
        }
        if level.depth() > LIMIT {
            return Err(Error::input("the query is nested too deeply")
                .found(format!("more than {LIMIT} operators and keywords that build on one another"))
                .fix("put the values into a file or a list (`x in (1, 2, 3)`) instead of a chain of operators")
                .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_bounded_and_lists_are_not() {
        for one in [" + 1", " or true", "::int", " union all select 1", "[1]"] {
            assert!(check(&format!("select 1{}", one.repeat(20_000))).is_err(), "{one}");
            assert!(check(&format!("select 1{}", one.repeat(200))).is_ok(), "{one}");
        }
        assert!(check(&format!("select 1 from t{}", ", t".repeat(20_000))).is_err());
        let list: Vec<String> = (0..20_000).map(|i| format!("({i}, -{i}.5 + 1)")).collect();
        assert!(check(&format!("select * from (values {}) as t (a, b)", list.join(", "))).is_ok());
    }

    #[test]
    fn models_stay_far_below() {
        for source in super::super::models::built_in() {
            assert!(check(&source.sql).is_ok(), "{}", source.name);
        }
    }
}
