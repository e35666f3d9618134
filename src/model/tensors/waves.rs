//! Waves: in which order rows' recurrent states are computed, and where rows find the inputs before their own.
//!
//! In: rows and the steps of their states. Out: waves, each of rows that follow rows of waves before; indexes of inputs.
//! Positions of one sequence depend on one another; those of different sequences go together.

use std::collections::HashMap;

use candle_core::{Result, Tensor};

use super::super::decoder::Row;
use super::super::decoder::cache::Step;
use super::super::tree::NodeId;
use super::place::Place;

/// The waves of a batch.
#[derive(Debug)]
pub struct Waves {
    /// Rows of each wave.
    pub lengths: Vec<usize>,
    /// Rows in the order of waves.
    pub order: Tensor,
    /// Place of each row in that order.
    pub back: Tensor,
    /// Slots that states come from, in the order of waves.
    pub from: Tensor,
    /// Slots that they go to.
    pub to: Tensor,
    /// The inputs before each row's own.
    pub inputs: Inputs,
}

/// Where past inputs are: in a pool of this batch's inputs, then the past inputs of some slots.
#[derive(Debug)]
pub struct Inputs {
    /// The slots whose past inputs are in the pool.
    pub slots: Tensor,
    /// The inputs before each row's own, the furthest first: places in the pool, `[rows]` each.
    pub before: Vec<Tensor>,
    /// Slots that past inputs go to.
    pub to: Tensor,
    /// What goes there: places in the pool, `[slots * past]`.
    pub after: Tensor,
}

/// The waves of rows with these steps; each row sees `past` inputs before its own.
pub fn of(rows: &[Row<'_>], steps: &[Step], past: usize, place: &Place) -> Result<Waves> {
    let parents = parents(rows);
    let waves = waves(&parents);
    let order: Vec<usize> = waves.iter().flatten().copied().collect();
    let mut back = vec![0u32; order.len()];
    for (place, &row) in order.iter().enumerate() {
        if let Some(back) = back.get_mut(row) {
            *back = place as u32;
        }
    }
    let in_order = |of: fn(&Step) -> u32| order.iter().filter_map(|&row| steps.get(row).map(of)).collect::<Vec<u32>>();
    Ok(Waves {
        lengths: waves.iter().map(Vec::len).collect(),
        from: place.indexes(in_order(from_slot))?,
        to: place.indexes(in_order(to_slot))?,
        order: place.indexes(order.iter().map(|&row| row as u32).collect())?,
        back: place.indexes(back)?,
        inputs: inputs(&parents, steps, past, place)?,
    })
}

/// A slot's place in the arenas, whose first holds zeros.
fn to_slot(step: &Step) -> u32 {
    step.to + 1
}

fn from_slot(step: &Step) -> u32 {
    step.from.map_or(0, |slot| slot + 1)
}

/// The row that each row follows, where it is one of this batch.
fn parents(rows: &[Row<'_>]) -> Vec<Option<usize>> {
    let mut at: HashMap<NodeId, usize> = HashMap::with_capacity(rows.len());
    let mut parents = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let before = row.path.len().checked_sub(2).and_then(|before| row.path.get(before));
        parents.push(before.and_then(|node| at.get(node).copied()));
        row.path.last().map(|&node| at.insert(node, i));
    }
    parents
}

fn waves(parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut wave_of: Vec<usize> = Vec::with_capacity(parents.len());
    let mut waves: Vec<Vec<usize>> = Vec::new();
    for (row, parent) in parents.iter().enumerate() {
        let wave = parent.and_then(|parent| wave_of.get(parent)).map_or(0, |wave| wave + 1);
        wave_of.push(wave);
        if waves.len() <= wave {
            waves.resize(wave + 1, Vec::new());
        }
        if let Some(rows) = waves.get_mut(wave) {
            rows.push(row);
        }
    }
    waves
}

fn inputs(parents: &[Option<usize>], steps: &[Step], past: usize, place: &Place) -> Result<Inputs> {
    let rows = parents.len();
    let mut slots: Vec<u32> = Vec::new();
    // Of each row the places of the inputs before its own, and its own.
    let mut windows: Vec<Vec<u32>> = Vec::with_capacity(rows);
    for (row, (parent, step)) in parents.iter().zip(steps).enumerate() {
        let mut window = match parent.and_then(|parent| windows.get(parent)) {
            Some(window) => window.get(1..).unwrap_or_default().to_vec(),
            None => {
                let first = rows + slots.len() * past;
                slots.push(from_slot(step));
                (first..first + past).map(|place| place as u32).collect()
            }
        };
        window.push(row as u32);
        windows.push(window);
    }
    let before = |i: usize| place.indexes(windows.iter().filter_map(|window| window.get(i).copied()).collect());
    // The last that goes to a slot stays.
    let last: HashMap<u32, usize> = steps.iter().enumerate().map(|(row, step)| (to_slot(step), row)).collect();
    let (to, last): (Vec<u32>, Vec<usize>) = last.into_iter().unzip();
    let after = last.iter().filter_map(|&row| windows.get(row)).flat_map(|window| window.iter().skip(1).copied());
    Ok(Inputs {
        before: (0..past).map(before).collect::<Result<_>>()?,
        after: place.indexes(after.collect())?,
        slots: place.indexes(slots)?,
        to: place.indexes(to)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_one_wave_after_those_they_follow() {
        let paths: [&[NodeId]; 5] = [&[7, 1], &[7, 1, 2], &[9], &[7, 1, 2, 3], &[7, 1, 4]];
        let rows = paths.map(|path| Row { token: 0, path, capture: false, keep_before: false });
        assert_eq!(parents(&rows), [None, Some(0), None, Some(1), Some(0)]);
        assert_eq!(waves(&parents(&rows)), [vec![0, 2], vec![1, 4], vec![3]]);
    }

    #[test]
    fn inputs_come_from_the_batch_or_from_slots() {
        let place = Place { device: candle_core::Device::Cpu, dtype: candle_core::DType::F32 };
        let steps = [Step { from: Some(4), to: 4 }, Step { from: None, to: 0 }, Step { from: Some(4), to: 4 }];
        let inputs = inputs(&[None, None, Some(0)], &steps, 2, &place).unwrap();
        let list = |tensor: &Tensor| tensor.to_vec1::<u32>().unwrap();
        // A pool of three rows, two inputs of slot 5 and two zeros.
        assert_eq!(list(&inputs.slots), [5, 0]);
        assert_eq!(inputs.before.iter().map(list).collect::<Vec<_>>(), [[3, 5, 4], [4, 6, 0]]);
        let after: HashMap<u32, Vec<u32>> =
            list(&inputs.to).into_iter().zip(list(&inputs.after).chunks(2).map(<[u32]>::to_vec)).collect();
        assert_eq!(after, HashMap::from([(5, vec![0, 2]), (1, vec![6, 1])]));
    }
}
