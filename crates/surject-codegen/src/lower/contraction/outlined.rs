//! Outlined code: the parts of a kernel that are functions of their own, beside the tiles, in which time is spent.
//!
//! What is left is the way from one tile to the next, and that may be compiled with the least effort (`program/cold.rs`).

use crate::CodegenError;
use crate::code::{Symbol, Value};
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Node};
use crate::lower::contraction::Tiles;
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Type;
use std::hash::{DefaultHasher, Hash, Hasher};
use surject_ir::AccOp;

/// What is around tiles of fewer cycles is not outlined.
const LONG_TILE: f64 = 400.0;

/// What is lost where a kernel is compiled with the least effort, in cycles: for every tile, for one whose rows may have
/// to be packed, and for one that goes through memory.
const LOST_TILE: f64 = 2.5;

const LOST_PLACE: f64 = 7.5;

const LOST_STORE: f64 = 300.0;

/// The share of the cycles of a tile that may be lost by storing.
const SELDOM: f64 = 0.005;

/// What a function is given: names of pointers and of numbers, and the loops and tensors it knows as its caller does.
pub(crate) struct Given<'a> {
    pub(crate) pointers: &'a [Value],
    pub(crate) numbers: &'a [Value],
    pub(crate) loops: &'a [LoopId],
    pub(crate) tensors: &'a [Buf],
}

impl Tiles<'_> {
    fn tiles(&self) -> i64 {
        let s = &self.sizes;
        s.batch * ((s.rows + s.high - 1) / s.high) * s.all_panels
    }

    /// Are tiles functions, and long ones?
    fn has_functions(&self) -> bool {
        let Node::Reduce { op, body, .. } = self.dag[self.c.node].node else { return false };
        op == AccOp::Add && self.is_product(body) && self.sizes.pass == 0
    }

    /// The cycles of a tile.
    fn cycles_of_tile(&self) -> f64 {
        self.c.cycles(&self.sizes, self.dag.extent(self.c.lane)) / self.tiles().max(1) as f64
    }

    /// Is packing rows a function as well?
    pub(crate) fn is_outlined(&self) -> bool {
        self.has_functions() && self.cycles_of_tile() >= LONG_TILE
    }

    /// Is storing a function as well? Not where it is seldom done.
    pub(crate) fn stores_outlined(&self) -> bool {
        self.outlined && LOST_STORE * self.through_memory() > SELDOM * self.cycles_of_tile()
    }

    /// How many cycles longer the kernel takes if it is compiled with the least effort: functions are not.
    pub(crate) fn loss(&self) -> Option<f64> {
        let always = self.windows.as_ref().is_some_and(|w| w.always);
        let store = if self.stores_outlined() { 0.0 } else { LOST_STORE * self.through_memory() };
        let place = if always { 0.0 } else { LOST_PLACE };
        let known = self.has_functions() && (self.outlined || always && !self.fresh);
        known.then(|| self.tiles() as f64 * (LOST_TILE + place + store))
    }

    /// Writes something as a function, and calls it. The function is named by what it does: kernels share it.
    pub(crate) fn outlined(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (name, given): (&str, Given<'_>),
        write: impl FnOnce(&mut Emitter<'_>, ScopeId, &[Value], &[Value]) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let mut own = self.emitter();
        let root = own.root();
        let mut arguments: Vec<Value> = Vec::new();
        let mut argument = |own: &mut Emitter<'_>, value, ty| {
            arguments.push(value);
            own.parameter(ty)
        };
        let pointers: Vec<Value> =
            given.pointers.iter().map(|&value| argument(&mut own, value, Type::Pointer)).collect();
        let numbers: Vec<Value> =
            given.numbers.iter().map(|&value| argument(&mut own, value, Type::I64)).collect();
        for &l in given.loops {
            let position = argument(&mut own, em.lin(&Lin::var(l), scope), Type::I64);
            own.bind(root, l, position);
        }
        for &tensor in given.tensors {
            let pointer = argument(&mut own, em.pointer(tensor)?, Type::Pointer);
            own.pointers.insert(tensor, pointer);
        }
        write(&mut own, root, &pointers, &numbers)?;
        own.fence();
        let mut function = em.close_apart(own, Symbol::Named(String::new()));
        let mut hasher = DefaultHasher::new();
        function.hash(&mut hasher);
        function.symbol = Symbol::Named(format!("{name}_{:016x}", hasher.finish()));
        em.call_shared(scope, function, &arguments);
        Ok(())
    }
}
