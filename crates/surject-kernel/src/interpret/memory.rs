//! Memory of a run: elements, which of them are written, and who accessed them last.

use super::FaultKind;
use super::agent::Stamp;
use crate::Space;
use surject_ir::{Buffer, DType, Scalar};

/// A tensor outside of a kernel: its elements, and which of them anything has written.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    dtype: DType,
    bytes: Vec<u8>,
    written: Vec<bool>,
}

impl Tensor {
    /// Elements that nothing has written.
    pub fn unwritten(dtype: DType, elements: usize) -> Tensor {
        Tensor { dtype, bytes: vec![0; elements * dtype.size()], written: vec![false; elements] }
    }

    /// These elements, which have one type. No elements are of `f32`.
    pub fn of(elements: &[Scalar]) -> Tensor {
        let dtype = elements.first().map_or(DType::F32, |e| e.dtype());
        let mut tensor = Tensor::unwritten(dtype, elements.len());
        elements.iter().enumerate().for_each(|(i, &e)| tensor.set(i, e));
        tensor
    }

    /// The elements of a buffer, row by row.
    pub fn of_buffer(buffer: &Buffer) -> Tensor {
        let (dtype, bytes) = (buffer.dtype(), buffer.bytes().to_vec());
        Tensor { dtype, written: vec![true; buffer.len()], bytes }
    }

    /// A buffer of this shape with its elements; `None` where something is not written, or the shape has another number
    /// of elements.
    pub fn to_buffer(&self, shape: &[usize]) -> Option<Buffer> {
        let whole = self.written.iter().all(|&w| w);
        Buffer::from_bytes(self.dtype, shape, &self.bytes).filter(|_| whole)
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// The bytes of all elements; those that nothing has written are 0.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Elements of these bytes, all of them written; what is left over of the last one is not used.
    pub fn of_bytes(dtype: DType, bytes: &[u8]) -> Tensor {
        let elements = bytes.len() / dtype.size();
        let bytes = bytes[..elements * dtype.size()].to_vec();
        Tensor { dtype, bytes, written: vec![true; elements] }
    }

    /// An element; `None` where nothing is written, or there is none.
    pub fn get(&self, i: usize) -> Option<Scalar> {
        let size = self.dtype.size();
        self.written.get(i)?.then(|| Scalar::from_bytes(self.dtype, &self.bytes[i * size..]))
    }

    /// Writes an element of its type, if there is one.
    pub fn set(&mut self, i: usize, value: Scalar) {
        let size = self.dtype.size();
        if let Some(place) = self.bytes.get_mut(i * size..(i + 1) * size) {
            place.copy_from_slice(&value.to_bytes()[..size]);
            self.written[i] = true;
        }
    }

    /// Makes an element undefined.
    pub(super) fn forget(&mut self, i: usize) {
        self.written[i] = false;
    }
}

/// Who accessed an element last, as far as others must not do so at the same time.
#[derive(Clone, Debug, Default)]
struct Last {
    write: Option<(Stamp, bool)>,
    /// Two readers: of a third one, one of these is another one. Where phases order readers, all that run beside each other.
    reads: Vec<Stamp>,
}

/// How an element is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    /// Read and written at once: two of these at the same time are no race.
    Atomic,
}

/// A piece of memory in a run.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) space: Space,
    pub(super) tensor: Tensor,
    /// Of memory that several agents see.
    last: Vec<Last>,
    /// Do phases of barriers order who reads it?
    phased: bool,
}

impl Object {
    pub(super) fn new(name: &str, space: Space, tensor: Tensor) -> Object {
        let shared = matches!(space, Space::Global | Space::Shared);
        let last = if shared { vec![Last::default(); tensor.len()] } else { Vec::new() };
        Object { name: name.to_string(), space, tensor, last, phased: false }
    }

    /// The same, in a kernel in which phases of barriers order accesses, or not.
    pub(super) fn phased(self, phased: bool) -> Object {
        Object { phased, ..self }
    }

    /// The number of an element that exists.
    pub(super) fn element(&self, at: i128) -> Result<usize, FaultKind> {
        let elements = self.tensor.len();
        match usize::try_from(at) {
            Ok(at) if at < elements => Ok(at),
            _ => Err(FaultKind::OutOfBounds { memory: self.name.clone(), element: at, elements }),
        }
    }

    /// An element, as someone reads it.
    pub(super) fn load(&mut self, at: i128, who: &Stamp) -> Result<Scalar, FaultKind> {
        let element = self.element(at)?;
        self.order(element, Kind::Read, who)?;
        self.tensor.get(element).ok_or_else(|| FaultKind::Unwritten { memory: self.name.clone(), element })
    }

    /// Writes an element.
    pub(super) fn store(&mut self, at: i128, value: Scalar, who: &Stamp) -> Result<(), FaultKind> {
        let element = self.element(at)?;
        self.order(element, Kind::Write, who)?;
        self.tensor.set(element, value);
        Ok(())
    }

    /// Notes an access, after all that it must come after.
    pub(super) fn order(&mut self, element: usize, kind: Kind, who: &Stamp) -> Result<(), FaultKind> {
        let Some(last) = self.last.get_mut(element) else { return Ok(()) };
        let race = |other: &Stamp| FaultKind::Race {
            memory: self.name.clone(),
            element,
            other: if other.to_string().is_empty() { "its surroundings".into() } else { other.to_string() },
        };
        if let Some((other, atomic)) = &last.write
            && !(*atomic && kind == Kind::Atomic)
            && other.runs_beside(who)
        {
            return Err(race(other));
        }
        if kind != Kind::Read {
            if let Some(other) = last.reads.iter().find(|other| other.runs_beside(who)) {
                return Err(race(other));
            }
            *last = Last { write: Some((who.clone(), kind == Kind::Atomic)), reads: Vec::new() };
            return Ok(());
        }
        if self.phased {
            // Of one agent the last time stands for those before.
            last.reads.retain(|other| other.runs_beside(who) && !other.is_same_agent(who));
            last.reads.push(who.clone());
            return Ok(());
        }
        // Readers that came before are ordered, and any that comes after them is also after this one, or runs beside it.
        match &mut last.reads[..] {
            [first, ..] if first == who => {}
            [first, second] if first.runs_beside(who) => *second = who.clone(),
            [first] if first.runs_beside(who) => last.reads.push(who.clone()),
            _ => last.reads = vec![who.clone()],
        }
        Ok(())
    }
}
