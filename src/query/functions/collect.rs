//! Collect: the rows of groups, gathered over partitions.
//!
//! In: batches of rows, each row with the number of its group. Out: for each group its rows, sorted, to a statistic.
//! Rows with a NULL are left out. Sorted are rows by their text, then by their numbers, so that neither the order in
//! which they came nor the partition that they came from can change a bit of a result.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray, StringArray};
use datafusion::arrow::buffer::{OffsetBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{Field, Float64Type};
use datafusion::common::{Result, exec_datafusion_err, exec_err};
use datafusion::logical_expr::EmitTo;

use super::aggregate::{Cell, Plan};
use super::columns::Columns;
use super::doc::ArgumentKind;
use super::group::{Group, Parameter};

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

    pub(super) fn plan(&self) -> Plan {
        self.plan
    }

    /// Makes room for the parameters of so many groups.
    pub(super) fn grow(&mut self, total_groups: usize) {
        self.total_groups = self.total_groups.max(total_groups);
        for values in &mut self.parameters {
            values.resize(self.total_groups, None);
        }
    }

    /// Takes `arrays`, one an argument, into the groups that `group_of` names for their rows (None: not taken).
    pub(super) fn add(&mut self, arrays: &[ArrayRef], group_of: impl Fn(usize) -> Option<usize>) -> Result<()> {
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
            let Some(found) = array.value(row) else { continue };
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
    pub(super) fn results(&self, groups: usize) -> Result<ArrayRef> {
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
            let all_finite = group.columns.iter().flatten().all(|x| x.is_finite())
                && !group.parameters.iter().any(|parameter| parameter.is_nan());
            results.push(if all_known && all_finite {
                (self.plan.statistic)(&group)?
            } else {
                vec![Cell::Null; self.plan.shape.width()]
            });
        }
        self.plan.shape.array(&results)
    }

    /// The first `groups` groups in the form in which partitions hand them on: lists of rows, and single values.
    pub(super) fn states(&self, groups: usize) -> Result<Vec<ArrayRef>> {
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
    pub(super) fn merge(&mut self, states: &[ArrayRef], group_of: impl Fn(usize) -> Option<usize>) -> Result<()> {
        let unexpected = || exec_datafusion_err!("{}: a state of another type", self.plan.doc.name);
        let arguments = self.plan.doc.arguments;
        let first_list = arguments.iter().zip(states).find(|(argument, _)| !argument.per_group).map(|(_, state)| state);
        let lists = first_list.and_then(|state| state.as_list_opt::<i32>()).ok_or_else(unexpected)?;
        // For each row in the lists the state that it is of.
        let rows: Vec<usize> =
            (0..lists.len()).flat_map(|i| std::iter::repeat_n(i, lists.value_length(i) as usize)).collect();
        let (mut flat, mut single) = (Vec::new(), Vec::new());
        for (argument, state) in arguments.iter().zip(states) {
            if argument.per_group {
                single.push(state.clone());
            } else {
                let list = state.as_list_opt::<i32>().ok_or_else(unexpected)?;
                let (from, to) = (list.value_offsets().first(), list.value_offsets().last());
                let (from, to) = (from.map_or(0, |&o| o as usize), to.map_or(0, |&o| o as usize));
                flat.push(list.values().slice(from, to - from));
            }
        }
        let parameters = Columns::parameters(&self.plan, &single)?;
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
    pub(super) fn asked(&self, emit_to: EmitTo) -> usize {
        match emit_to {
            EmitTo::All => self.total_groups,
            EmitTo::First(n) => n.min(self.total_groups),
        }
    }

    /// Forgets the first `groups` groups; the next one becomes the first.
    pub(super) fn forget(&mut self, groups: usize) {
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

    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.names.iter().map(|name| 2 * name.capacity() + 64).sum();
        let numbers: usize = self.numbers.iter().map(Vec::capacity).sum();
        let parameters: usize = self.parameters.iter().map(Vec::capacity).sum();
        size_of_val(self) + names + 8 * (self.groups.capacity() + self.labels.capacity() + numbers + 3 * parameters)
    }
}
