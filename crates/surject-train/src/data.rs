//! Which examples a step sees: splits, minibatches, and rows taken from tensors.

use crate::{Random, TrainError};
use std::collections::BTreeMap;
use surject_runtime::{Buffer, DType, Scalar};

/// Examples to learn from and examples held out, as rows of the data, each in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The rows to learn from.
    pub train: Vec<usize>,
    /// The rows held out.
    pub test: Vec<usize>,
}

impl Split {
    /// Holds out a fraction of every class, rounded to the nearest number of examples. The choice depends on the
    /// seed and on the labels only.
    pub fn stratified(labels: &[usize], fraction: f64, seed: u64) -> Result<Split, TrainError> {
        if !(0.0..1.0).contains(&fraction) {
            let reason = format!("the fraction held out is {fraction}; it is at least 0 and below 1");
            return Err(TrainError::Batch { reason });
        }
        let mut random = Random::stream(seed, "split");
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        labels.iter().enumerate().for_each(|(row, &label)| members.entry(label).or_default().push(row));
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for rows in members.values_mut() {
            random.shuffle(rows);
            let (held_out, rest) = rows.split_at((rows.len() as f64 * fraction).round() as usize);
            test.extend_from_slice(held_out);
            train.extend_from_slice(rest);
        }
        train.sort_unstable();
        test.sort_unstable();
        Ok(Split { train, test })
    }

    /// Holds out a fraction of the rows `0..rows`.
    pub fn random(rows: usize, fraction: f64, seed: u64) -> Result<Split, TrainError> {
        Split::stratified(&vec![0; rows], fraction, seed)
    }
}

/// The order in which the examples are seen: for each epoch the minibatches, for each minibatch its rows.
///
/// Compiled steps have a fixed number of examples, so the rows that are left over at the end of an epoch are not
/// seen in it; every epoch has an order of its own, so they are others each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    epochs: Vec<Vec<Vec<usize>>>,
    batch: usize,
}

impl Order {
    /// Shuffles the rows once an epoch and cuts them into minibatches.
    pub fn new(rows: &[usize], batch: usize, epochs: usize, seed: u64) -> Result<Order, TrainError> {
        if batch == 0 || batch > rows.len() {
            let reason = format!("minibatches of {batch} cannot be made of {} examples", rows.len());
            return Err(TrainError::Batch { reason });
        }
        let mut random = Random::stream(seed, "order");
        let mut rows = rows.to_vec();
        let mut epoch = || {
            random.shuffle(&mut rows);
            rows.chunks_exact(batch).map(<[usize]>::to_vec).collect()
        };
        Ok(Order { epochs: (0..epochs).map(|_| epoch()).collect(), batch })
    }

    /// The minibatches of each epoch.
    pub fn epochs(&self) -> impl Iterator<Item = &[Vec<usize>]> {
        self.epochs.iter().map(Vec::as_slice)
    }

    /// The number of steps of an epoch.
    pub fn steps(&self) -> usize {
        self.epochs.first().map_or(0, Vec::len)
    }

    /// The number of steps of all epochs.
    pub fn all_steps(&self) -> usize {
        self.epochs.iter().map(Vec::len).sum()
    }

    /// The order as a tensor `i64[epochs, steps, batch]`, so that other programs can see the same examples.
    pub fn to_buffer(&self) -> Buffer {
        let flat = self.epochs.iter().flatten().flatten();
        index_buffer(flat.copied(), &[self.epochs.len(), self.steps(), self.batch])
    }
}

/// Rows as a tensor `i64[n]`.
pub fn rows_to_buffer(rows: &[usize]) -> Buffer {
    index_buffer(rows.iter().copied(), &[rows.len()])
}

fn index_buffer(rows: impl Iterator<Item = usize>, shape: &[usize]) -> Buffer {
    let mut buffer = Buffer::zeros(DType::I64, shape);
    for (bytes, row) in buffer.bytes_mut().chunks_exact_mut(8).zip(rows) {
        bytes.copy_from_slice(&(row as i64).to_le_bytes());
    }
    buffer
}

/// Cuts rows into pieces of `batch`, each with the number of rows that count; the last piece is filled up with its
/// last row. This is for evaluation with a step of a fixed number of examples.
pub fn padded_batches(rows: &[usize], batch: usize) -> Result<Vec<(Vec<usize>, usize)>, TrainError> {
    if batch == 0 {
        return Err(TrainError::Batch { reason: "minibatches of 0 examples cannot be made".to_string() });
    }
    let fill = |piece: &[usize]| {
        let mut filled = piece.to_vec();
        filled.resize(batch, piece[piece.len() - 1]);
        (filled, piece.len())
    };
    Ok(rows.chunks(batch).map(fill).collect())
}

/// Writes the rows of `data` (along its first axis) into `into`, whose first axis has as many.
pub fn gather_into(data: &Buffer, rows: &[usize], into: &mut Buffer) -> Result<(), TrainError> {
    let (Some((&count, rest)), Some((&taken, to))) = (data.shape().split_first(), into.shape().split_first())
    else {
        return Err(TrainError::Batch { reason: "a tensor without axes has no rows".to_string() });
    };
    if taken != rows.len() || rest != to || data.dtype() != into.dtype() {
        let (from, to) = (crate::params::type_of(data), crate::params::type_of(into));
        return Err(TrainError::Batch { reason: format!("{} rows of {from} do not make {to}", rows.len()) });
    }
    if let Some(row) = rows.iter().find(|row| **row >= count) {
        return Err(TrainError::Batch { reason: format!("there is no row {row} in {count} rows") });
    }
    let size = data.dtype().size() * rest.iter().product::<usize>();
    if size > 0 {
        for (piece, &row) in into.bytes_mut().chunks_exact_mut(size).zip(rows) {
            piece.copy_from_slice(&data.bytes()[row * size..][..size]);
        }
    }
    Ok(())
}

/// The rows of `data` (along its first axis), in the order given.
pub fn gather(data: &Buffer, rows: &[usize]) -> Result<Buffer, TrainError> {
    let mut shape = data.shape().to_vec();
    if let Some(first) = shape.first_mut() {
        *first = rows.len();
    }
    let mut into = Buffer::zeros(data.dtype(), &shape);
    gather_into(data, rows, &mut into)?;
    Ok(into)
}

/// The labels as `f32[n, classes]`: 1 at the label, 0 elsewhere.
pub fn one_hot(labels: &[usize], classes: usize) -> Result<Buffer, TrainError> {
    if let Some(label) = labels.iter().find(|label| **label >= classes) {
        return Err(TrainError::Batch {
            reason: format!("there is no class {label} among {classes} classes"),
        });
    }
    let mut buffer = Buffer::zeros(DType::F32, &[labels.len(), classes]);
    labels
        .iter()
        .enumerate()
        .for_each(|(row, label)| buffer.set(row * classes + label, Scalar::one(DType::F32)));
    Ok(buffer)
}

/// A tensor `f32` with these elements in row-major order; an error if their number is another.
pub fn f32_buffer(values: &[f32], shape: &[usize]) -> Result<Buffer, TrainError> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Buffer::from_bytes(DType::F32, shape, &bytes).ok_or_else(|| TrainError::Batch {
        reason: format!("{} values do not make a tensor of sizes {shape:?}", values.len()),
    })
}

/// The elements of a tensor `f32`; an error for another element type.
pub fn f32_values(buffer: &Buffer) -> Result<Vec<f32>, TrainError> {
    if buffer.dtype() != DType::F32 {
        let reason = format!("{} where f32 is needed", crate::params::type_of(buffer));
        return Err(TrainError::Signature { reason });
    }
    let read = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    Ok(buffer.bytes().chunks_exact(4).map(read).collect())
}
