//! Accumulate: how DataFusion hands rows to [`Collected`] and asks for results.
//!
//! In: batches, their rows numbered by group; states of other partitions. Out: results, or states for other partitions.

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};

use super::aggregate::Plan;
use super::collect::Collected;

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
        let mut each_alone = Collected::new(self.plan());
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
