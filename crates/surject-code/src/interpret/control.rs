//! Statements: control flow, memory, and what calls what.

use super::arithmetic::{self, own, width};
use super::{Done, Fault, FaultKind, Frame, Process, Word, instruction};
use crate::{Block, Carry, Elem, Index, Op, Statement, Symbol, Type, Value};

/// Addresses of functions: numbers that are no address of memory.
const FUNCTIONS: u64 = 0x10;

/// What ends a statement before it is done: something that it must not do, here or in what it calls.
pub(super) enum Stop {
    Here(FaultKind),
    There(Fault),
}

impl From<FaultKind> for Stop {
    fn from(kind: FaultKind) -> Stop {
        Stop::Here(kind)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::There(fault)
    }
}

impl<'m> Process<'m> {
    /// Runs statements in order.
    pub(super) fn statements(
        &mut self,
        frame: &mut Frame<'m>,
        statements: &'m [Statement],
    ) -> Result<(), Fault> {
        for statement in statements {
            self.statement(frame, statement).map_err(|stop| match stop {
                Stop::There(fault) => fault,
                Stop::Here(kind) => {
                    let text = crate::print::statements(std::slice::from_ref(statement));
                    let line = text.lines().next().unwrap_or_default().to_string();
                    let function = frame.place.function.symbol.name().to_string();
                    Fault { kind, function: Some(function), statement: Some(line) }
                }
            })?;
        }
        Ok(())
    }

    fn statement(&mut self, frame: &mut Frame<'m>, statement: &'m Statement) -> Result<(), Stop> {
        let Statement { results, op } = statement;
        let word = match op {
            Op::For { .. } | Op::If { .. } | Op::While { .. } | Op::Switch { .. } => {
                return self.control(frame, results, op);
            }
            Op::Call { function, operands, result } => {
                let words = operands.iter().map(|&(v, _)| frame.get(v).cloned());
                let words = words.collect::<Done<Vec<Word>>>()?;
                self.called(frame, function, &words, operands, *result)?
            }
            Op::AddressOf(symbol) => {
                let missing = || FaultKind::NoFunction(symbol.name().to_string());
                let id = self.find(frame.place.module, symbol).ok_or_else(missing)?;
                Some(Word::One(FUNCTIONS + id as u64))
            }
            _ => match (self.tile_instruction(frame, op), self.memory_op(frame, op)?) {
                (Some(done), _) => done.map(|()| None)?,
                (None, Some(done)) => done,
                (None, None) => Some(self.value(frame, op)?),
            },
        };
        if let (Some(&result), Some(word)) = (results.first(), word) {
            frame.set(result, word);
        }
        Ok(())
    }

    /// Calls a function: one that is defined, the thread pool, or another of the runtime.
    fn called(
        &mut self,
        frame: &Frame<'m>,
        symbol: &Symbol,
        words: &[Word],
        operands: &[(Value, Type)],
        result: Option<Type>,
    ) -> Result<Option<Word>, Stop> {
        if let Some(id) = self.find(frame.place.module, symbol) {
            self.run(id, words)?;
            return Ok(None);
        }
        let bits: Vec<u64> = words.iter().map(|w| w.lanes().first().copied().unwrap_or_default()).collect();
        if symbol.name() == "surject_parallel" {
            let &[function, tasks, workers, table] = &bits[..] else {
                return Err(FaultKind::NoFunction("surject_parallel with other operands".into()).into());
            };
            self.tasks(function, [tasks as i64, workers as i64], table)?;
            return Ok(None);
        }
        if let Some(status) = self.sorts(symbol.name(), &bits)? {
            return Ok(Some(Word::One(status)));
        }
        let types: Vec<Type> = operands.iter().map(|o| o.1).collect();
        Ok(self.outside(symbol.name(), &bits, &types, result)?.map(Word::One))
    }

    /// The number of the function at an address.
    pub(super) fn function_at(&self, address: u64) -> Done<usize> {
        let id = address.checked_sub(FUNCTIONS).and_then(|id| usize::try_from(id).ok());
        let missing = || FaultKind::NoFunction(format!("at {address:#x}"));
        id.filter(|&id| id < self.functions.len()).ok_or_else(missing)
    }

    /// Runs all tasks of a function, each on one of several workers, in a random order.
    fn tasks(&mut self, function: u64, [tasks, workers]: [i64; 2], table: u64) -> Result<(), Stop> {
        let id = self.function_at(function)?;
        let mut order: Vec<i64> = (0..tasks).collect();
        let alone = !std::mem::replace(&mut self.parallel, true);
        if alone {
            self.memory.begin_call();
            for i in (1..order.len()).rev() {
                order.swap(i, self.random.below(i as u64 + 1) as usize);
            }
        }
        let mut ran = Ok(());
        for task in order {
            let worker = if alone { self.random.below(workers.min(tasks).max(1) as u64) } else { 0 };
            if alone {
                self.memory.set_worker(Some(worker as u32));
            }
            ran = self.run(id, &[Word::One(task as u64), Word::One(worker), Word::One(table)]);
            if ran.is_err() {
                break;
            }
        }
        if alone {
            self.memory.set_worker(None);
            self.parallel = false;
        }
        Ok(ran?)
    }

    fn control(&mut self, frame: &mut Frame<'m>, results: &[Value], op: &'m Op) -> Result<(), Stop> {
        match op {
            Op::For { variable, bounds: [low, high, step], carried, body } => {
                let [low, high, step] =
                    [frame.one(*low)?, frame.one(*high)?, frame.one(*step)?].map(|b| b as i64);
                if step <= 0 {
                    return Err(FaultKind::Unknown("a loop with a step below 1".into()).into());
                }
                let mut values = inits(frame, carried)?;
                let mut at = low;
                while at < high {
                    frame.set(*variable, Word::One(at as u64));
                    bind(frame, carried.iter().map(|c| c.name), &values);
                    self.statements(frame, &body.statements)?;
                    values = yielded(frame, body)?;
                    let Some(next) = at.checked_add(step) else { break };
                    at = next;
                }
                bind(frame, results.iter().copied(), &values);
            }
            Op::If { condition, then, otherwise } => {
                let block = if frame.one(*condition)? & 1 == 1 { then } else { otherwise };
                self.statements(frame, &block.statements)?;
                let values = yielded(frame, block)?;
                bind(frame, results.iter().copied(), &values);
            }
            Op::While { carried, before, condition, parameters, after } => {
                let mut values = inits(frame, carried)?;
                loop {
                    bind(frame, carried.iter().map(|c| c.name), &values);
                    self.statements(frame, &before.statements)?;
                    let given = yielded(frame, before)?;
                    if frame.one(*condition)? & 1 == 0 {
                        bind(frame, results.iter().copied(), &given);
                        break;
                    }
                    bind(frame, parameters.iter().map(|p| p.0), &given);
                    self.statements(frame, &after.statements)?;
                    values = yielded(frame, after)?;
                }
            }
            Op::Switch { value, cases } => {
                let number = usize::try_from(frame.one(*value)?).unwrap_or(usize::MAX);
                if let Some(case) = cases.get(number).or(cases.last()) {
                    self.statements(frame, &case.statements)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// An operation on memory, and its result if it has one; `None`: it is none.
    /// It is long because it is flat: one arm an operation.
    fn memory_op(&mut self, frame: &Frame<'m>, op: &Op) -> Done<Option<Option<Word>>> {
        let done = match op {
            Op::Element { pointer, index, of } => {
                let (from, size) = (frame.lanes(*pointer)?, size(*of) as u64);
                let ahead = |i: u64| from[0].wrapping_add(i.wrapping_mul(size));
                Some(match *index {
                    Index::Number(number) => Word::One(ahead(number as u64)),
                    Index::At(value) => Word::One(ahead(frame.one(value)?)),
                    Index::Each(values, _) => {
                        Word::of(frame.lanes(values)?.iter().map(|&i| ahead(i)).collect())
                    }
                })
            }
            Op::Load { pointer, ty, alignment, .. } => {
                let at = frame.one(*pointer)?;
                self.memory.aligned(at, alignment.unwrap_or_else(|| natural(*ty)))?;
                Some(Word::of(decode(&self.memory.read(at, size(*ty))?, *ty)))
            }
            Op::Store { value, pointer, ty, alignment, .. } => {
                let at = frame.one(*pointer)?;
                self.memory.aligned(at, alignment.unwrap_or_else(|| natural(*ty)))?;
                self.memory.write(at, &encode(frame.lanes(*value)?, *ty))?;
                None
            }
            Op::MaskedLoad { pointer, mask, other, ty, alignment } => {
                let at = frame.one(*pointer)?;
                self.memory.aligned(at, *alignment)?;
                let step = width(*ty) as u64;
                let places = (0..).map(|lane| at.wrapping_add(lane * step));
                Some(self.read_lanes(frame, places, [*mask, *other], *ty)?)
            }
            Op::Gather { pointers, mask, other, ty, alignment } => {
                let places = frame.lanes(*pointers)?;
                self.aligned_lanes(frame, places, *mask, *alignment)?;
                Some(self.read_lanes(frame, places.iter().copied(), [*mask, *other], *ty)?)
            }
            Op::MaskedStore { value, pointer, mask, ty, alignment } => {
                let at = frame.one(*pointer)?;
                self.memory.aligned(at, *alignment)?;
                let step = width(*ty) as u64;
                let places = (0..).map(|lane| at.wrapping_add(lane * step));
                self.write_lanes(frame, places, [*mask, *value], *ty)?;
                None
            }
            Op::Scatter { value, pointers, mask, ty, alignment } => {
                let places = frame.lanes(*pointers)?;
                self.aligned_lanes(frame, places, *mask, *alignment)?;
                self.write_lanes(frame, places.iter().copied(), [*mask, *value], *ty)?;
                None
            }
            Op::Alloca { count, of, .. } => {
                let count = usize::try_from(frame.one(*count)?).unwrap_or(usize::MAX);
                Some(Word::One(self.memory.on_stack(count.saturating_mul(size(*of))).0))
            }
            Op::Copy { to, from, bytes } => {
                let bytes = usize::try_from(frame.one(*bytes)?).unwrap_or(usize::MAX);
                if bytes > 0 {
                    let moved = self.memory.read(frame.one(*from)?, bytes)?;
                    self.memory.write(frame.one(*to)?, &moved)?;
                }
                None
            }
            Op::Fill { to, byte, bytes } => {
                let bytes = usize::try_from(frame.one(*bytes)?).unwrap_or(usize::MAX);
                let filled = vec![frame.one(*byte)? as u8; bytes];
                if bytes > 0 {
                    self.memory.write(frame.one(*to)?, &filled)?;
                }
                None
            }
            // It may be asked for what is not there.
            Op::Prefetch(..) => None,
            Op::AtomicRmw { kind, pointer, value, ty } => {
                let (at, value) = (frame.one(*pointer)?, frame.one(*value)?);
                self.memory.aligned(at, natural(*ty))?;
                let old = decode(&self.memory.read(at, size(*ty))?, *ty)[0];
                let new = arithmetic::atomic(kind, *ty, old, value)?;
                self.memory.write(at, &encode(&[new], *ty))?;
                Some(Word::One(old))
            }
            _ => return Ok(None),
        };
        Ok(Some(done))
    }

    fn aligned_lanes(&self, frame: &Frame<'m>, places: &[u64], mask: Value, alignment: usize) -> Done<()> {
        let mut asked = frame.lanes(mask)?.iter().zip(places).filter(|(on, _)| **on & 1 == 1);
        asked.try_for_each(|(_, &at)| self.memory.aligned(at, alignment))
    }

    fn read_lanes(
        &mut self,
        frame: &Frame<'m>,
        places: impl Iterator<Item = u64>,
        [mask, other]: [Value; 2],
        ty: Type,
    ) -> Done<Word> {
        let (one, mut lanes) = (ty.element(), Vec::with_capacity(ty.lanes()));
        for ((&on, &other), at) in frame.lanes(mask)?.iter().zip(frame.lanes(other)?).zip(places) {
            lanes.push(match on & 1 {
                1 => decode(&self.memory.read(at, width(ty))?, one)[0],
                _ => other,
            });
        }
        Ok(Word::of(lanes))
    }

    fn write_lanes(
        &mut self,
        frame: &Frame<'m>,
        places: impl Iterator<Item = u64>,
        [mask, value]: [Value; 2],
        ty: Type,
    ) -> Done<()> {
        for ((&on, &value), at) in frame.lanes(mask)?.iter().zip(frame.lanes(value)?).zip(places) {
            if on & 1 == 1 {
                self.memory.write(at, &encode(&[value], ty.element()))?;
            }
        }
        Ok(())
    }

    /// The value of an operation that depends on its operands alone.
    fn value(&mut self, frame: &Frame<'m>, op: &Op) -> Done<Word> {
        let lanes = match op {
            Op::Constant(literal) => literal.lanes(),
            Op::Register(number) => vec![u64::from(*number as u8)],
            Op::Same { name, operands, ty } => {
                let all = operands.iter().map(|&v| frame.lanes(v)).collect::<Done<Vec<_>>>()?;
                arithmetic::same(name, *ty, &all, &mut self.random)?
            }
            Op::Compare { predicate, sides: [a, b], ty, .. } => {
                arithmetic::compare(predicate, *ty, frame.lanes(*a)?, frame.lanes(*b)?)?
            }
            Op::Select { condition: (c, _), values: [a, b], .. } => {
                let (c, a, b) = (frame.lanes(*c)?, frame.lanes(*a)?, frame.lanes(*b)?);
                let on = |i: usize| c.get(i).or(c.first()).is_some_and(|c| c & 1 == 1);
                a.iter().zip(b).enumerate().map(|(i, (&a, &b))| if on(i) { a } else { b }).collect()
            }
            Op::Cast { name, value, from, to } => {
                arithmetic::cast(name, frame.lanes(*value)?, *from, *to, &mut self.random)?
            }
            Op::Shuffle { sides: [a, b], order, .. } => {
                let (a, b) = (frame.lanes(*a)?, frame.lanes(*b)?);
                let lane = |i: usize| a.get(i).or_else(|| b.get(i - a.len())).copied();
                // A negative number leaves a lane open.
                order.iter().map(|&i| usize::try_from(i).ok().and_then(lane).unwrap_or(0x5a5a)).collect()
            }
            Op::Extract { vector, lane, .. } => {
                vec![*frame.lanes(*vector)?.get(*lane).ok_or(FaultKind::Undefined(*vector))?]
            }
            Op::Insert { value, vector, lane, .. } => {
                let mut lanes = frame.lanes(*vector)?.to_vec();
                *lanes.get_mut(*lane).ok_or(FaultKind::Undefined(*vector))? = frame.one(*value)?;
                lanes
            }
            Op::First { vector, to, .. } => frame.lanes(*vector)?[..to.lanes()].to_vec(),
            Op::FromElements(values, _) => values.iter().map(|&v| frame.one(v)).collect::<Done<_>>()?,
            Op::Reduction { kind, vector, ty } => {
                vec![arithmetic::reduction(kind, *ty, frame.lanes(*vector)?)?]
            }
            Op::Intrinsic { name, operands, .. } => {
                let all = operands.iter().map(|&(v, _)| frame.lanes(v)).collect::<Done<Vec<_>>>()?;
                let types: Vec<Type> = operands.iter().map(|o| o.1).collect();
                instruction::run(name, &all, &types)?
            }
            other => return Err(FaultKind::Unknown(format!("{other:?}"))),
        };
        Ok(Word::of(lanes))
    }
}

fn inits(frame: &Frame<'_>, carried: &[Carry]) -> Done<Vec<Word>> {
    carried.iter().map(|c| frame.get(c.init).cloned()).collect()
}

fn yielded(frame: &Frame<'_>, block: &Block) -> Done<Vec<Word>> {
    block.yields.iter().map(|y| frame.get(y.0).cloned()).collect()
}

fn bind(frame: &mut Frame<'_>, names: impl Iterator<Item = Value>, values: &[Word]) {
    names.zip(values).for_each(|(name, word)| frame.set(name, word.clone()));
}

/// The bytes of a value in memory.
fn size(ty: Type) -> usize {
    width(ty) * ty.lanes()
}

/// What an address of such a value is a multiple of where nothing else is said.
fn natural(ty: Type) -> usize {
    size(ty).next_power_of_two()
}

fn decode(bytes: &[u8], ty: Type) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(width(ty)).map(word).collect()
}

fn encode(lanes: &[u64], ty: Type) -> Vec<u8> {
    let elem = if let Type::Lanes(elem, _) = ty { elem } else { Elem::I64 };
    lanes.iter().flat_map(|&bits| own(elem, bits).to_le_bytes().into_iter().take(width(ty))).collect()
}
