//! Memory of a run: elements, which of them are written, and who accessed them last.

use super::FaultKind;
use super::agent::Stamp;
use crate::Space;
use rustc_hash::FxHashMap;
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

/// Who accessed an element last, as far as others must not do so at the same time: of each kind of access those that nothing
/// orders.
#[derive(Clone, Debug, Default)]
struct Last {
    write: Option<Stamp>,
    atomics: Vec<Stamp>,
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
    /// Elements that copies in the background write, and who began these.
    under_way: FxHashMap<usize, Stamp>,
    /// Do phases of barriers order who reads it?
    phased: bool,
}

impl Object {
    pub(super) fn new(name: &str, space: Space, tensor: Tensor) -> Object {
        let shared = matches!(space, Space::Global | Space::Shared);
        let last = if shared { vec![Last::default(); tensor.len()] } else { Vec::new() };
        let under_way = FxHashMap::default();
        Object { name: name.to_string(), space, tensor, last, under_way, phased: false }
    }

    /// The same, in a kernel in which phases of barriers order accesses, or not.
    pub(super) fn phased(self, phased: bool) -> Object {
        Object { phased, ..self }
    }

    /// The same, without notes of who accesses its elements.
    pub(super) fn untracked(self) -> Object {
        Object { last: Vec::new(), ..self }
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

    /// A copy in the background begins to write an element, which is undefined until it ends.
    pub(super) fn copy_begins(&mut self, element: usize, who: &Stamp) -> Result<(), FaultKind> {
        self.order(element, Kind::Write, who)?;
        self.tensor.forget(element);
        self.under_way.insert(element, who.clone());
        Ok(())
    }

    /// It ends: for who waits for it the element has its value.
    pub(super) fn copy_ends(&mut self, element: usize, value: Scalar, who: &Stamp) -> Result<(), FaultKind> {
        self.under_way.remove(&element);
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
        // Who reads there finds nothing.
        if kind != Kind::Read
            && let Some(other) = self.under_way.get(&element)
        {
            return Err(race(other));
        }
        let reads = last.reads.iter().filter(|_| kind != Kind::Read);
        let atomics = last.atomics.iter().filter(|_| kind != Kind::Atomic);
        if let Some(other) = last.write.iter().chain(reads).chain(atomics).find(|o| o.runs_beside(who)) {
            return Err(race(other));
        }
        match kind {
            // All that came before is ordered, and what runs beside any of it runs beside this.
            Kind::Write => *last = Last { write: Some(who.clone()), ..Last::default() },
            Kind::Read => keep(&mut last.reads, who, self.phased),
            Kind::Atomic => keep(&mut last.atomics, who, self.phased),
        }
        Ok(())
    }
}

/// Adds an access to others of its kind. Those that come before it go: what runs beside them runs beside it. Of many that
/// are alike two are enough: any other one runs beside one of these. Where phases order agents, no two are alike.
fn keep(accesses: &mut Vec<Stamp>, who: &Stamp, phased: bool) {
    match &accesses[..] {
        [.., other] if other == who => return,
        [] => return accesses.push(who.clone()),
        _ => {}
    }
    // Those of tasks and blocks that are over are alike for all that comes.
    let mut over = 0;
    accesses.retain(|other| {
        let is_over = !phased && other.is_of_another_block(who);
        over += usize::from(is_over);
        other.runs_beside(who) && !other.is_same_agent(who) && (over <= 1 || !is_over)
    });
    if phased || accesses.iter().filter(|other| other.is_like(who)).count() < 2 {
        accesses.push(who.clone());
    }
}
