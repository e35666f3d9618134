//! Group: what a statistic is computed of.
//!
//! In: the rows of one group. Out: its columns, strata and parameters, to the aggregates of this folder.

/// The rows of one group, sorted, as a statistic sees them.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) strata: Vec<usize>,
    pub(super) parameters: Vec<Parameter>,
}

impl Group {
    /// The numbers of the `i`th number argument, one a row; finite, and 0 never as -0.
    pub(super) fn column(&self, i: usize) -> &[f64] {
        self.columns.get(i).map_or(&[], Vec::as_slice)
    }

    /// Numbers of rows with the same text, in the order of the texts; they add up to all rows. One stratum where the
    /// function takes no text.
    pub(super) fn strata(&self) -> &[usize] {
        &self.strata
    }

    /// The `i`th argument that is one value a group, as a number.
    pub(super) fn number(&self, i: usize) -> f64 {
        match self.parameters.get(i) {
            Some(Parameter::Number(x)) => *x,
            Some(Parameter::Whole(n)) => *n as f64,
            None => f64::NAN,
        }
    }

    /// The same where it is a whole number.
    pub(super) fn whole(&self, i: usize) -> i64 {
        match self.parameters.get(i) {
            Some(Parameter::Whole(n)) => *n,
            _ => 0,
        }
    }
}

/// The value of an argument that is one value a group.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parameter {
    Number(f64),
    Whole(i64),
}

impl Parameter {
    pub(super) fn is_nan(self) -> bool {
        matches!(self, Parameter::Number(x) if x.is_nan())
    }
}

impl PartialEq for Parameter {
    /// NaN is one value too: it makes a result NULL, not a conflict.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Parameter::Number(a), Parameter::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Parameter::Whole(a), Parameter::Whole(b)) => a == b,
            _ => false,
        }
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Parameter::Number(x) => write!(f, "{x}"),
            Parameter::Whole(n) => write!(f, "{n}"),
        }
    }
}
