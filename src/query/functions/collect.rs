//! Collect: the rows of groups, gathered over partitions.
//!
//! In: batches of rows, each row with the number of its group. Out: for each group its rows, sorted, to a statistic.
//! Rows with a NULL are left out. Sorted are rows by their text, then by their numbers, so that neither the order in
//! which they came nor the partition that they came from can change a bit of a result.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, ListArray, StringArray,
};
use datafusion::arrow::buffer::{OffsetBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::aggregate::{Cell, Plan};
use super::doc::ArgumentKind;

/// The rows of one group, sorted, as a statistic sees them.
#[derive(Debug, Default)]
pub(super) struct Group {
    columns: Vec<Vec<f64>>,
    strata: Vec<usize>,
    parameters: Vec<Parameter>,
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
#[derive(Debug, Clone, Copy, PartialEq)]
enum Parameter {
    Number(f64),
    Whole(i64),
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Parameter::Number(x) => write!(f, "{x}"),
            Parameter::Whole(n) => write!(f, "{n}"),
        }
    }
}

/// The rows of all groups so far.
#[derive(Debug)]
pub(super) struct Collected {
    plan: Plan,
    /// Group of each row.
    groups: Vec<usize>,
    /// A column a number argument.
    numbers: Vec<Vec<f64>>,
    /// Where the function takes a text: each row's, as its position in `names`.
    labels: Vec<usize>,
    names: Vec<String>,
    positions: HashMap<String, usize>,
    /// For each argument that is one value a group, the groups' values.
    parameters: Vec<Vec<Option<Parameter>>>,
    total_groups: usize,
}

impl Collected {
    pub(super) fn new(plan: Plan) -> Self {
        let arguments = plan.doc.arguments.iter();
        let numbers = arguments.clone().filter(|a| !a.per_group && a.kind == ArgumentKind::Number).count();
        let parameters = arguments.filter(|a| a.per_group).count();
        Collected {
            plan,
            groups: Vec::new(),
            numbers: vec![Vec::new(); numbers],
            labels: Vec::new(),
            names: Vec::new(),
            positions: HashMap::new(),
            parameters: vec![Vec::new(); parameters],
            total_groups: 0,
        }
    }

    fn grow(&mut self, total_groups: usize) {
        self.total_groups = self.total_groups.max(total_groups);
        for values in &mut self.parameters {
            values.resize(self.total_groups, None);
        }
    }

    /// Takes `arrays`, one an argument, into the groups that `group_of` names for their rows (None: not taken).
    fn add(&mut self, arrays: &[ArrayRef], group_of: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let columns = Columns::of(&self.plan, arrays)?;
        for row in 0..arrays.first().map_or(0, |a| a.len()) {
            let Some(group) = group_of(row) else { continue };
            self.set_parameters(&columns, row, group)?;
            if columns.numbers.iter().any(|c| c.is_null(row)) || columns.text.is_some_and(|c| c.is_null(row)) {
                continue;
            }
            self.groups.push(group);
            for (kept, column) in self.numbers.iter_mut().zip(&columns.numbers) {
                // -0 + 0 is 0: equal numbers are to be equal in the sorted order too.
                kept.push(column.value(row) + 0.0);
            }
            if let Some(text) = columns.text {
                self.add_label(text.value(row));
            }
        }
        Ok(())
    }

    fn add_label(&mut self, label: &str) {
        let position = match self.positions.get(label) {
            Some(&position) => position,
            None => {
                self.names.push(label.to_string());
                self.positions.insert(label.to_string(), self.names.len() - 1);
                self.names.len() - 1
            }
        };
        self.labels.push(position);
    }

    fn set_parameters(&mut self, columns: &Columns<'_>, row: usize, group: usize) -> Result<()> {
        for (i, (values, array)) in self.parameters.iter_mut().zip(&columns.parameters).enumerate() {
            let found = match array {
                ParameterColumn::Number(a) if a.is_valid(row) => Parameter::Number(a.value(row) + 0.0),
                ParameterColumn::Whole(a) if a.is_valid(row) => Parameter::Whole(a.value(row)),
                _ => continue,
            };
            let Some(known) = values.get_mut(group) else { return exec_err!("a group without a number") };
            match known {
                Some(before) if *before != found => {
                    let name = self.plan.doc.arguments.iter().filter(|a| a.per_group).nth(i).map_or("", |a| a.name);
                    return exec_err!(
                        "{} needs one {name} a group, found {before} and {found}: group by it",
                        self.plan.doc.signature()
                    );
                }
                _ => *known = Some(found),
            }
        }
        Ok(())
    }

    /// Rows of the first `groups` groups, group after group, and where each group starts (and the last one ends).
    fn rows_by_group(&self, groups: usize) -> (Vec<usize>, Vec<usize>) {
        let mut starts = vec![0; groups + 1];
        for &group in self.groups.iter().filter(|&&group| group < groups) {
            starts[group + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[groups]];
        for (row, &group) in self.groups.iter().enumerate().filter(|(_, group)| **group < groups) {
            rows[next[group]] = row;
            next[group] += 1;
        }
        (rows, starts)
    }

    /// The statistic of the first `groups` groups.
    fn results(&self, groups: usize) -> Result<ArrayRef> {
        let (mut rows, starts) = self.rows_by_group(groups);
        let mut by_name: Vec<usize> = (0..self.names.len()).collect();
        by_name.sort_unstable_by_key(|&position| &self.names[position]);
        let mut order_of_label = vec![0; self.names.len()];
        for (order, &position) in by_name.iter().enumerate() {
            order_of_label[position] = order;
        }
        let label = |row: usize| self.labels.get(row).map_or(0, |&position| order_of_label[position]);
        let compare = |&a: &usize, &b: &usize| {
            let by_numbers = || {
                let pairs = self.numbers.iter().map(|column| column[a].total_cmp(&column[b]));
                pairs.fold(Ordering::Equal, Ordering::then)
            };
            label(a).cmp(&label(b)).then_with(by_numbers)
        };
        let mut group = Group { columns: vec![Vec::new(); self.numbers.len()], ..Group::default() };
        let mut results = Vec::with_capacity(groups);
        for (number, ends) in starts.windows(2).enumerate() {
            let rows = &mut rows[ends[0]..ends[1]];
            rows.sort_unstable_by(compare);
            for (column, numbers) in group.columns.iter_mut().zip(&self.numbers) {
                column.clear();
                column.extend(rows.iter().map(|&row| numbers[row]));
            }
            group.strata.clear();
            group.strata.extend(rows.chunk_by(|&a, &b| label(a) == label(b)).map(<[usize]>::len));
            group.parameters.clear();
            group.parameters.extend(self.parameters.iter().filter_map(|values| values.get(number).copied().flatten()));
            let all_known = group.parameters.len() == self.parameters.len();
            let all_finite = group.columns.iter().flatten().all(|x| x.is_finite());
            results.push(if all_known && all_finite {
                (self.plan.statistic)(&group)?
            } else {
                vec![Cell::Null; self.plan.shape.width()]
            });
        }
        self.plan.shape.array(&results)
    }

    /// The first `groups` groups in the form in which partitions hand them on: lists of rows, and single values.
    fn states(&self, groups: usize) -> Result<Vec<ArrayRef>> {
        let (rows, starts) = self.rows_by_group(groups);
        let starts: Vec<i32> = starts
            .iter()
            .map(|&start| i32::try_from(start))
            .collect::<Result<_, _>>()
            .map_err(|_| exec_datafusion_err!("{} can't take over 2^31 rows at once", self.plan.doc.name))?;
        let list = |kind: ArgumentKind, values: ArrayRef| -> Result<ArrayRef> {
            let field = Arc::new(Field::new_list_field(kind.data_type(), true));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(starts.clone()));
            Ok(Arc::new(ListArray::try_new(field, offsets, values, None)?))
        };
        let (mut numbers, mut parameters) = (self.numbers.iter(), self.parameters.iter());
        let state = |argument: &super::doc::Argument| -> Result<ArrayRef> {
            if argument.per_group {
                let known = parameters.next().map_or(&[] as &[_], Vec::as_slice).iter().take(groups);
                return Ok(match argument.kind {
                    ArgumentKind::Whole => Arc::new(Int64Array::from_iter(known.map(|value| match value {
                        Some(Parameter::Whole(n)) => Some(*n),
                        _ => None,
                    }))),
                    _ => Arc::new(Float64Array::from_iter(known.map(|value| match value {
                        Some(Parameter::Number(x)) => Some(*x),
                        _ => None,
                    }))),
                });
            }
            if argument.kind == ArgumentKind::Text {
                let names = rows.iter().map(|&row| self.names[self.labels[row]].as_str());
                return list(argument.kind, Arc::new(StringArray::from_iter_values(names)));
            }
            let column = numbers.next().map_or(&[] as &[_], Vec::as_slice);
            list(argument.kind, Arc::new(Float64Array::from_iter_values(rows.iter().map(|&row| column[row]))))
        };
        self.plan.doc.arguments.iter().map(state).collect()
    }

    /// Takes in the states of other partitions.
    fn merge(&mut self, states: &[ArrayRef], group_of: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let unexpected = || exec_datafusion_err!("{}: a state of another type", self.plan.doc.name);
        let arguments = self.plan.doc.arguments;
        let first_list = arguments.iter().zip(states).find(|(argument, _)| !argument.per_group).map(|(_, state)| state);
        let lists = first_list.and_then(|state| state.as_list_opt::<i32>()).ok_or_else(unexpected)?;
        // One group a row of the lists' values; what is one value a group is repeated for each of them.
        let rows: Vec<usize> =
            (0..lists.len()).flat_map(|i| std::iter::repeat_n(i, lists.value_length(i) as usize)).collect();
        let (mut flat, mut repeated) = (Vec::new(), Vec::new());
        for (argument, state) in arguments.iter().zip(states) {
            if argument.per_group {
                repeated.push(state.clone());
            } else {
                let list = state.as_list_opt::<i32>().ok_or_else(unexpected)?;
                let (from, to) = (list.value_offsets().first(), list.value_offsets().last());
                let (from, to) = (from.map_or(0, |&o| o as usize), to.map_or(0, |&o| o as usize));
                flat.push(list.values().slice(from, to - from));
            }
        }
        let parameters = Columns::parameters(&self.plan, &repeated)?;
        let numbers: Vec<_> = flat.iter().filter_map(|a| a.as_primitive_opt::<Float64Type>()).collect();
        let text = flat.iter().find_map(|a| a.as_string_opt::<i32>());
        let columns = Columns { numbers, text, parameters };
        for state in 0..lists.len() {
            if let Some(group) = group_of(state) {
                self.set_parameters(&columns, state, group)?;
            }
        }
        for (row, &state) in rows.iter().enumerate() {
            let Some(group) = group_of(state) else { continue };
            self.groups.push(group);
            for (kept, column) in self.numbers.iter_mut().zip(&columns.numbers) {
                kept.push(column.value(row));
            }
            if let Some(text) = columns.text {
                self.add_label(text.value(row));
            }
        }
        Ok(())
    }

    /// How many groups are asked for.
    fn asked(&self, emit_to: EmitTo) -> usize {
        match emit_to {
            EmitTo::All => self.total_groups,
            EmitTo::First(n) => n.min(self.total_groups),
        }
    }

    /// Forgets the first `groups` groups; the next one becomes the first.
    fn forget(&mut self, groups: usize) {
        let kept: Vec<bool> = self.groups.iter().map(|&group| group >= groups).collect();
        let keep = |values: &mut Vec<usize>| {
            let mut flags = kept.iter();
            values.retain(|_| flags.next().copied().unwrap_or(false));
        };
        keep(&mut self.groups);
        keep(&mut self.labels);
        for group in &mut self.groups {
            *group -= groups;
        }
        for column in &mut self.numbers {
            let mut flags = kept.iter();
            column.retain(|_| flags.next().copied().unwrap_or(false));
        }
        for values in &mut self.parameters {
            values.drain(..groups.min(values.len()));
        }
        self.total_groups -= groups;
    }

    fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| 2 * name.capacity() + 64).sum();
        let numbers: usize = self.numbers.iter().map(Vec::capacity).sum();
        let parameters: usize = self.parameters.iter().map(Vec::capacity).sum();
        size_of_val(self) + names + 8 * (self.groups.capacity() + self.labels.capacity() + numbers + 3 * parameters)
    }
}

impl GroupsAccumulator for Collected {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total_groups: usize,
    ) -> Result<()> {
        self.grow(total_groups);
        let taken = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        self.add(values, |row| groups.get(row).copied().filter(|_| taken(row)))
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let groups = self.asked(emit_to);
        let results = self.results(groups)?;
        self.forget(groups);
        Ok(results)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let groups = self.asked(emit_to);
        let states = self.states(groups)?;
        self.forget(groups);
        Ok(states)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total_groups: usize) -> Result<()> {
        self.grow(total_groups);
        self.merge(states, |state| groups.get(state).copied())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, |a| a.len());
        let mut each_alone = Collected::new(self.plan);
        each_alone.update_batch(values, &(0..rows).collect::<Vec<_>>(), filter, rows)?;
        each_alone.states(rows)
    }

    fn size(&self) -> usize {
        self.bytes()
    }
}

/// The same for queries without `group by` and for windows.
#[derive(Debug)]
pub(super) struct OneGroup(Collected);

impl OneGroup {
    pub(super) fn new(plan: Plan) -> Self {
        let mut collected = Collected::new(plan);
        collected.grow(1);
        OneGroup(collected)
    }
}

impl Accumulator for OneGroup {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.add(values, |_| Some(0))
    }

    // A window asks again and again: the rows stay.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        ScalarValue::try_from_array(&self.0.results(1)?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.states(1)?.iter().map(|state| ScalarValue::try_from_array(state, 0)).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge(states, |_| Some(0))
    }

    fn size(&self) -> usize {
        self.0.bytes()
    }
}

/// The arrays of a batch by their role.
struct Columns<'a> {
    numbers: Vec<&'a Float64Array>,
    text: Option<&'a StringArray>,
    parameters: Vec<ParameterColumn<'a>>,
}

enum ParameterColumn<'a> {
    Number(&'a Float64Array),
    Whole(&'a Int64Array),
}

impl<'a> Columns<'a> {
    /// `arrays`: one an argument, of the types that [`coerce`](super::doc::FunctionDoc::coerce) names.
    fn of(plan: &Plan, arrays: &'a [ArrayRef]) -> Result<Self> {
        let mut columns = Columns { numbers: Vec::new(), text: None, parameters: Vec::new() };
        for (argument, array) in plan.doc.arguments.iter().zip(arrays) {
            match (argument.per_group, array.data_type()) {
                (true, _) => columns.parameters.push(ParameterColumn::of(plan, array)?),
                (false, DataType::Utf8) => columns.text = array.as_string_opt::<i32>(),
                (false, _) => columns.numbers.extend(array.as_primitive_opt::<Float64Type>()),
            }
        }
        let wanted = plan.doc.arguments.len();
        let found = columns.numbers.len() + columns.parameters.len() + usize::from(columns.text.is_some());
        if found != wanted {
            return exec_err!("{} was planned with other types", plan.doc.signature());
        }
        Ok(columns)
    }

    fn parameters(plan: &Plan, arrays: &'a [ArrayRef]) -> Result<Vec<ParameterColumn<'a>>> {
        arrays.iter().map(|array| ParameterColumn::of(plan, array)).collect()
    }
}

impl<'a> ParameterColumn<'a> {
    fn of(plan: &Plan, array: &'a ArrayRef) -> Result<Self> {
        let number = array.as_primitive_opt::<Float64Type>().map(ParameterColumn::Number);
        let whole = || array.as_primitive_opt::<Int64Type>().map(ParameterColumn::Whole);
        number.or_else(whole).ok_or_else(|| exec_datafusion_err!("{}: numbers were planned", plan.doc.signature()))
    }
}
