//! Functions that are built statement by statement.

use crate::{Block, Elem, Elements, Index, Literal, Op, Statement, Type, Value};
use std::collections::HashMap;

/// The body of a function that is being built.
///
/// ```
/// use surject_code::{Builder, Elem, Op, Type, Value};
/// let (mut b, [x]) = Builder::new();
/// let two = b.int(2);
/// let twice = b.op(Op::same("arith.muli", [x, two], Type::I64));
/// let body = b.finish();
/// assert_eq!(body.len(), 2);
/// assert_eq!(body[1].results, [twice]);
/// ```
#[derive(Debug)]
pub struct Builder {
    next: u32,
    /// What the function does first: constants and memory.
    first: Vec<Statement>,
    constants: HashMap<Literal, Value>,
    /// The blocks that are open, the innermost last.
    open: Vec<Vec<Statement>>,
}

impl Builder {
    /// Nothing yet, of a function with so many parameters, and these.
    pub fn new<const N: usize>() -> (Builder, [Value; N]) {
        let parameters = std::array::from_fn(|i| Value::numbered(i as u32));
        let builder =
            Builder { next: N as u32, first: Vec::new(), constants: HashMap::new(), open: vec![Vec::new()] };
        (builder, parameters)
    }

    /// A value that nothing defines yet.
    pub fn fresh(&mut self) -> Value {
        self.next += 1;
        Value::numbered(self.next - 1)
    }

    /// Adds an operation that defines these values.
    pub fn define(&mut self, results: Vec<Value>, op: Op) {
        if let Some(block) = self.open.last_mut() {
            block.push(Statement { results, op });
        }
    }

    /// Adds an operation with one result: its value.
    pub fn op(&mut self, op: Op) -> Value {
        let value = self.fresh();
        self.define(vec![value], op);
        value
    }

    /// Adds an operation without results.
    pub fn effect(&mut self, op: Op) {
        self.define(Vec::new(), op);
    }

    /// Adds an operation with one result to what the function does first.
    pub fn at_first(&mut self, op: Op) -> Value {
        let value = self.fresh();
        self.first.push(Statement { results: vec![value], op });
        value
    }

    /// A constant, which is made once, at the beginning.
    pub fn constant(&mut self, literal: Literal) -> Value {
        if let Some(&known) = self.constants.get(&literal) {
            return known;
        }
        let value = self.at_first(Op::Constant(literal.clone()));
        self.constants.insert(literal, value);
        value
    }

    /// The same bits in every lane.
    pub fn splat(&mut self, elem: Elem, bits: u64, lanes: usize) -> Value {
        self.constant(Literal::new(elem, Elements::Splat(bits, lanes)))
    }

    /// An `i64`.
    pub fn int(&mut self, value: i64) -> Value {
        self.splat(Elem::I64, value as u64, 1)
    }

    /// An operation on two `i64`.
    pub fn arith(&mut self, name: &'static str, a: Value, b: Value) -> Value {
        self.op(Op::same(name, [a, b], Type::I64))
    }

    /// A pointer so many bytes further on.
    pub fn offset(&mut self, pointer: Value, bytes: Value) -> Value {
        self.op(Op::Element { pointer, index: Index::At(bytes), of: Elem::I8.ty(1) })
    }

    /// Closes the block that was opened last as a loop of this variable, from the first bound up to the second.
    pub fn close_loop(&mut self, variable: Value, [low, high, step]: [Value; 3]) {
        let body = self.close(Vec::new());
        self.effect(Op::For { variable, bounds: [low, high, step], carried: Vec::new(), body });
    }

    /// Closes the block that was opened last as what is done where a condition holds.
    pub fn close_if(&mut self, condition: Value) {
        let then = self.close(Vec::new());
        self.effect(Op::If { condition, then, otherwise: Block::default() });
    }

    /// Opens a block: what is added from now on is inside of it.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the block that was opened last, which yields these values.
    pub fn close(&mut self, yields: Vec<(Value, Type)>) -> Block {
        Block { statements: self.open.pop().unwrap_or_default(), yields }
    }

    /// The body.
    pub fn finish(self) -> Vec<Statement> {
        let mut body = self.first;
        body.extend(self.open.into_iter().flatten());
        body
    }
}
