//! Words of 128 random bits: keys and counters to words, and words to numbers.
//!
//! A word is four parts of 32 bits, each in a tensor of its own, so that no tensor has an axis that shapes do not have.
//! Words are made and converted, and nothing else: they are neither results nor state.

use super::Builder;
use super::assign::access;
use super::fetch::{impossible, internal};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeId, NodeKind, StepId};
use crate::operator::{CONVERSION, Cell, Rule, Term};
use surject_index::{Fill, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, Fields, Scalar, TypeError, Var};
use surject_notation::source::Slot;
use surject_projection::{Piece, Projections};
use surject_shape::Logic;

/// The four parts of a word, lowest first.
type Word = [FieldId; 4];

/// Whether an assignment is about words.
pub(super) fn is_word_rule(rule: &Rule) -> bool {
    matches!(&rule.value, Term::Apply(p, _)
        if rounds(p.name).is_some() || matches!(p.name, CONVERSION | "uint4x32_to_prec_uniform1"))
}

/// The rounds of a primitive that makes words.
fn rounds(primitive: &str) -> Option<u32> {
    match primitive {
        "threefry4x32_crypto" => Some(20),
        "threefry4x32_light" => Some(2),
        _ => None,
    }
}

impl Builder<'_> {
    /// Refuses a tensor of words where numbers are needed.
    pub(super) fn refuse_words(&self, node: NodeId) -> Result<(), TensorError> {
        if !self.words.contains_key(&node) {
            return Ok(());
        }
        let known = &self.data.nodes[node.0 as usize];
        let message = format!("`{}` holds words of random bits, and numbers are needed", known.label);
        Err(TensorError::new(TensorErrorKind::Sort, message)
            .with_help("convert it: `uint4x32_to_prec_uniform(words)`")
            .at(known.place.clone()))
    }

    /// Carries out an assignment that makes words or converts them.
    pub(super) fn word_rule(
        &mut self,
        step: StepId,
        rule: &Rule,
        target: NodeId,
        slot: Slot,
        projections: &Projections,
    ) -> Result<(), TensorError> {
        let Term::Apply(primitive, terms) = &rule.value else { return Ok(()) };
        if let Logic::Uint4x32ToPrec { coefficient } = self.data.steps[step.0 as usize].logic {
            return self.convert_words(step, target, coefficient, terms);
        }
        if primitive.name == CONVERSION {
            let message = "a conversion that uses all bits has no spec".to_string();
            let help = "give the result its shape by its use, or convert with `uint4x32_to_prec_uniform1`";
            return Err(self.wrong(step, TensorErrorKind::Unsupported, message, help));
        }
        let pieces = self.pieces(step, projections).map_err(|e| {
            let step = &self.data.steps[step.0 as usize];
            self.data.explained_step(TensorError::from(e), step)
        })?;
        let whole = match &pieces[..] {
            [piece] => access(piece, slot).filter(|a| a.is_total()).map(|a| (piece, a.push().0)),
            _ => None,
        };
        let Some((piece, map)) =
            whole.filter(|(_, map)| map.bijective_given(self.data.declared.given()).is_yes())
        else {
            let message = "random words are written once at each position".to_string();
            let help = "make the words first, and accumulate the numbers that they are converted to";
            return Err(self.wrong(step, TensorErrorKind::Accumulation, message, help));
        };
        if primitive.name == "uint4x32_to_prec_uniform1" {
            let word = self.word(step, piece, projections, &terms[0])?;
            let value = self.unit_interval(&piece.space, [word[0], word[1]]).map_err(internal)?;
            let field = self.function.fields.acc(AccOp::Set, map, value).map_err(internal)?;
            self.store(target, field, None);
            return Ok(());
        }
        if !matches!(self.data.nodes[target.0 as usize].kind, NodeKind::Result(_) | NodeKind::Local(_)) {
            let message = "random words are not kept in a tensor that assignments write".to_string();
            let help = "give them a name: `let words = threefry4x32(key, counter);`";
            return Err(self.wrong(step, TensorErrorKind::Unsupported, message, help));
        }
        let word = self.word(step, piece, projections, &rule.value)?;
        let mut parts = Vec::with_capacity(4);
        for part in word {
            let field = self.function.fields.acc(AccOp::Set, map.clone(), part).map_err(internal)?;
            parts.push(self.store(target, field, None));
        }
        if let Ok(parts) = <[Var; 4]>::try_from(parts) {
            self.words.insert(target, parts);
        }
        Ok(())
    }

    /// The word of a term at the points of a piece.
    fn word(
        &mut self,
        step: StepId,
        piece: &Piece,
        projections: &Projections,
        term: &Term,
    ) -> Result<Word, TensorError> {
        match term {
            Term::Number(x) => {
                let fields = &mut self.function.fields;
                let low = constant(fields, &piece.space, *x as u32);
                Ok(low_word(fields, &piece.space, low))
            }
            Term::Cell(cell) => self.word_of_cell(step, piece, projections, *cell),
            // The notation bounds the depth of a term.
            Term::Apply(p, terms) => match (rounds(p.name), &terms[..]) {
                (Some(rounds), [key, counter]) => {
                    let key = self.word(step, piece, projections, key)?;
                    let counter = self.word(step, piece, projections, counter)?;
                    threefry4x32(&mut self.function.fields, &piece.space, key, counter, rounds)
                        .map_err(internal)
                }
                _ => {
                    let message = format!("`{}` does not give words of random bits", p.name);
                    let help = "keys and counters are words, numbers, or tensors of numbers";
                    Err(self.wrong(step, TensorErrorKind::Unsupported, message, help))
                }
            },
        }
    }

    fn word_of_cell(
        &mut self,
        step: StepId,
        piece: &Piece,
        projections: &Projections,
        cell: Cell,
    ) -> Result<Word, TensorError> {
        let (node, slot) = self.data.resolve(step, cell)?;
        if let (true, Some(value)) = (self.is_number(node), self.number_of(node)?) {
            let fields = &mut self.function.fields;
            let low = constant(fields, &piece.space, value as u32);
            return Ok(low_word(fields, &piece.space, low));
        }
        let Some(map) = access(piece, slot).filter(|a| a.is_total()).map(|a| a.read_map(Fill(0))) else {
            let message = "random words have no padding".to_string();
            return Err(self.wrong(
                step,
                TensorErrorKind::Unsupported,
                message,
                "use a spec without padding",
            ));
        };
        if let Some(parts) = self.words.get(&node).copied() {
            let mut word = Vec::with_capacity(4);
            for part in parts {
                let tensor = self.function.tensor(part);
                word.push(self.function.fields.read(map.clone(), tensor).map_err(internal)?);
            }
            return <[FieldId; 4]>::try_from(word)
                .map_err(|_| impossible("a word of four parts".to_string()));
        }
        let var = self.seen(node, step, slot, projections)?;
        let tensor = self.function.tensor(var);
        let fields = &mut self.function.fields;
        let number = fields.read(map, tensor).map_err(internal)?;
        let low = whole(fields, number);
        Ok(low_word(fields, &piece.space, low))
    }

    /// Numbers from all bits of a list of words, in the memory order of the target.
    fn convert_words(
        &mut self,
        step: StepId,
        target: NodeId,
        coefficient: u64,
        terms: &[Term],
    ) -> Result<(), TensorError> {
        let dtype = self.dtype;
        if coefficient != 16 / dtype.size().max(1) as u64 {
            let message =
                format!("the shapes were inferred for {coefficient} numbers a word, not for {dtype}");
            let help = "say the element type before shapes are inferred: `graph.set_element(dtype)`";
            return Err(self.wrong(step, TensorErrorKind::Unsupported, message, help));
        }
        let [Term::Cell(cell)] = terms else {
            let message = "a conversion of random words has one operand".to_string();
            return Err(self.wrong(step, TensorErrorKind::Operator, message, "name the words: `v1`"));
        };
        let node = self.data.resolve(step, *cell)?.0;
        let list = self.space(node)?;
        let word = match self.words.get(&node).copied() {
            Some(parts) => parts.map(|part| self.function.tensor(part)),
            None if self.is_number(node) => {
                let value = self.number_of(node)?.unwrap_or_default();
                let fields = &mut self.function.fields;
                let low = constant(fields, &list, value as u32);
                low_word(fields, &list, low)
            }
            None => {
                let tensor = self.function.tensor(self.current[&node]);
                let fields = &mut self.function.fields;
                let low = whole(fields, tensor);
                low_word(fields, &list, low)
            }
        };
        // One number after the other of each word, then all in a row, then in the shape of the result.
        let lanes = list.product(&Space::of(&[coefficient]));
        let last = list.rank();
        let read = IndexMap::projection(&lanes, &(0..last).collect::<Vec<_>>());
        let lane = self.function.fields.index(&lanes, last, DType::I32).map_err(internal)?;
        let mut numbers: Option<FieldId> = None;
        for k in (0..coefficient as usize).rev() {
            let bits = self.lane_bits(&list, word, coefficient as usize, k).map_err(internal)?;
            let number = self.unit_interval(&list, bits).map_err(internal)?;
            let fields = &mut self.function.fields;
            let number = fields.read(read.clone(), number).map_err(internal)?;
            numbers = Some(match numbers {
                None => number,
                Some(others) => {
                    let here = fields.constant(&lanes, Scalar::from_i128(DType::I32, k as i128));
                    let here = fields.binary(BinaryOp::Eq, lane, here).map_err(internal)?;
                    fields.select(here, number, others).map_err(internal)?
                }
            });
        }
        let Some(numbers) = numbers else { return Ok(()) };
        let row = IndexMap::linearise(&lanes).map_err(|e| impossible(e.to_string()))?;
        let row = self.function.fields.acc(AccOp::Set, row, numbers).map_err(internal)?;
        let row = self.plain_store("uniform", row);
        let row = self.function.tensor(row);
        let shape = IndexMap::linearise(&self.space(target)?).map_err(|e| impossible(e.to_string()))?;
        let field = self.function.fields.read(shape, row).map_err(internal)?;
        self.store(target, field, None);
        Ok(())
    }

    /// The random bits of one number of a word, the highest bits first.
    fn lane_bits(
        &mut self,
        space: &Space,
        word: Word,
        lanes: usize,
        lane: usize,
    ) -> Result<[FieldId; 2], TypeError> {
        Ok(match lanes {
            // Two parts each.
            2 => [word[2 * lane], word[2 * lane + 1]],
            4 => [word[lane], word[lane]],
            // Half a part, or less.
            _ => {
                let per_part = lanes / 4;
                let part = word[lane / per_part];
                let fields = &mut self.function.fields;
                let by = constant(fields, space, (32 / per_part * (lane % per_part)) as u32);
                let bits = fields.binary(BinaryOp::Shl, part, by)?;
                [bits, bits]
            }
        })
    }
}

fn constant(fields: &mut Fields, space: &Space, value: u32) -> FieldId {
    fields.constant(space, Scalar::from_i128(DType::U32, value.into()))
}

/// A number as a whole number of 32 bits.
fn whole(fields: &mut Fields, number: FieldId) -> FieldId {
    let whole = fields.convert(DType::I32, number);
    fields.convert(DType::U32, whole)
}

/// The word of which only the lowest part is not zero.
fn low_word(fields: &mut Fields, space: &Space, low: FieldId) -> Word {
    let zero = constant(fields, space, 0);
    [low, zero, zero, zero]
}

/// Threefry-4x32 (Salmon et al., SC 2011) with so many rounds.
fn threefry4x32(
    fields: &mut Fields,
    space: &Space,
    key: Word,
    counter: Word,
    rounds: u32,
) -> Result<Word, TypeError> {
    const ROTATIONS: [[u32; 2]; 8] =
        [[10, 26], [11, 21], [13, 27], [23, 5], [6, 20], [17, 11], [25, 10], [18, 20]];
    const PARITY: u32 = 0x1BD1_1BDA;
    let mut parity = constant(fields, space, PARITY);
    for part in key {
        parity = fields.binary(BinaryOp::Xor, parity, part)?;
    }
    let keys = [key[0], key[1], key[2], key[3], parity];
    let mut x = counter;
    for (part, key) in x.iter_mut().zip(key) {
        *part = fields.binary(BinaryOp::Add, *part, key)?;
    }
    for round in 0..rounds {
        let partners = if round % 2 == 0 { [(0, 1), (2, 3)] } else { [(0, 3), (2, 1)] };
        for ((a, b), by) in partners.into_iter().zip(ROTATIONS[round as usize % 8]) {
            x[a] = fields.binary(BinaryOp::Add, x[a], x[b])?;
            let (left, right) = (constant(fields, space, by), constant(fields, space, 32 - by));
            let left = fields.binary(BinaryOp::Shl, x[b], left)?;
            let right = fields.binary(BinaryOp::ShrLogical, x[b], right)?;
            let rotated = fields.binary(BinaryOp::Or, left, right)?;
            x[b] = fields.binary(BinaryOp::Xor, rotated, x[a])?;
        }
        if round % 4 == 3 {
            let group = round / 4 + 1;
            for (k, part) in x.iter_mut().enumerate() {
                *part = fields.binary(BinaryOp::Add, *part, keys[(group as usize + k) % 5])?;
            }
            let group = constant(fields, space, group);
            x[3] = fields.binary(BinaryOp::Add, x[3], group)?;
        }
    }
    Ok(x)
}
