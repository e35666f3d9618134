//! Doc: what a function takes, gives and is made from, declared once.
//!
//! In: the declarations beside each function. Out: the checks of its argument types, DataFusion's documentation, and
//! [`reference`](super::reference), from which a page is made and whose examples are run as tests.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{DocSection, Documentation};

/// A function of SQL, described.
#[derive(Debug, Clone, Copy)]
pub struct FunctionDoc {
    /// Name in SQL.
    pub name: &'static str,
    /// Whether it makes one value of the rows of a group.
    pub is_aggregate: bool,
    /// What it takes, in order.
    pub arguments: &'static [Argument],
    /// What it gives: a type, for a struct its fields.
    pub returns: &'static str,
    /// What it computes; where it is NULL.
    pub what: &'static str,
    /// A query of one row that uses it.
    pub example: &'static str,
    /// What the example gives: the cells of its row, divided by ` | `.
    pub result: &'static str,
    /// Where the formula comes from.
    pub source: &'static str,
}

// A name stands for one function.
impl PartialEq for FunctionDoc {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FunctionDoc {}

impl Hash for FunctionDoc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl FunctionDoc {
    /// The call as one writes it: `t_test_p(x, popmean)`.
    pub fn signature(&self) -> String {
        let names: Vec<_> = self.arguments.iter().map(|argument| argument.name).collect();
        format!("{}({})", self.name, names.join(", "))
    }

    /// The documentation that DataFusion shows for `show functions`.
    pub(super) fn documentation(&self) -> Documentation {
        let label = if self.is_aggregate { "Statistics of a group" } else { "Statistics of a row" };
        let section = DocSection { include: true, label, description: None };
        let what = format!("{} Gives: {}. Source: {}.", self.what, self.returns, self.source);
        let example = format!("```sql\n> {};\n{}\n```", self.example, self.result);
        let documentation = Documentation::builder(section, what, self.signature()).with_sql_example(example);
        let with_argument = |doc: datafusion::logical_expr::DocumentationBuilder, argument: &Argument| {
            doc.with_argument(argument.name, argument.what)
        };
        self.arguments.iter().fold(documentation, with_argument).build()
    }

    /// The types that the arguments are brought to.
    ///
    /// # Errors
    /// Another number of arguments, or a type that does not fit; says what was expected.
    pub(super) fn coerce(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if types.len() != self.arguments.len() {
            return plan_err!("{} takes {} arguments, found {}", self.signature(), self.arguments.len(), types.len());
        }
        for (argument, found) in self.arguments.iter().zip(types) {
            if !argument.kind.takes(found) {
                return plan_err!(
                    "{} expects {} for {}, found {found}",
                    self.signature(),
                    argument.kind.words(),
                    argument.name
                );
            }
        }
        Ok(self.arguments.iter().map(|argument| argument.kind.data_type()).collect())
    }
}

/// An argument of a function.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Its name in the signature.
    pub name: &'static str,
    /// The type that it must have.
    pub kind: ArgumentKind,
    /// Whether it must be one value for all rows of a group.
    pub per_group: bool,
    /// What it means.
    pub what: &'static str,
}

/// An argument that may differ from row to row.
pub(super) const fn argument(name: &'static str, kind: ArgumentKind, what: &'static str) -> Argument {
    Argument { name, kind, per_group: false, what }
}

/// An argument of an aggregate that is one value for all rows of a group.
pub(super) const fn per_group(name: &'static str, kind: ArgumentKind, what: &'static str) -> Argument {
    Argument { name, kind, per_group: true, what }
}

/// The types of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A number of any type; computed with as a double.
    Number,
    /// A whole number.
    Whole,
    /// A text.
    Text,
    /// A list of numbers.
    Numbers,
    /// A list of whole numbers.
    Wholes,
    /// A list of texts.
    Texts,
}

impl ArgumentKind {
    fn takes(self, found: &DataType) -> bool {
        if found.is_null() {
            return true;
        }
        match (self, found) {
            (ArgumentKind::Number, _) => found.is_numeric(),
            (ArgumentKind::Whole, _) => found.is_integer(),
            // Columns that come from the path of a file may be dictionaries.
            (ArgumentKind::Text, DataType::Dictionary(_, value)) => value.is_string(),
            (ArgumentKind::Text, _) => found.is_string(),
            (_, DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _)) => {
                let element = field.data_type();
                element.is_null()
                    || match self {
                        ArgumentKind::Numbers => element.is_numeric(),
                        ArgumentKind::Wholes => element.is_integer(),
                        _ => element.is_string(),
                    }
            }
            _ => false,
        }
    }

    /// The type in words.
    pub fn words(self) -> &'static str {
        match self {
            ArgumentKind::Number => "a number",
            ArgumentKind::Whole => "a whole number (bigint)",
            ArgumentKind::Text => "a text",
            ArgumentKind::Numbers => "a list of numbers",
            ArgumentKind::Wholes => "a list of whole numbers",
            ArgumentKind::Texts => "a list of texts",
        }
    }

    pub(super) fn data_type(self) -> DataType {
        let list = |element| DataType::List(Arc::new(Field::new_list_field(element, true)));
        match self {
            ArgumentKind::Number => DataType::Float64,
            ArgumentKind::Whole => DataType::Int64,
            ArgumentKind::Text => DataType::Utf8,
            ArgumentKind::Numbers => list(DataType::Float64),
            ArgumentKind::Wholes => list(DataType::Int64),
            ArgumentKind::Texts => list(DataType::Utf8),
        }
    }
}
