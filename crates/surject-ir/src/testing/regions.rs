//! Random statements other than assignments.

use super::Generator;
use crate::{
    BinaryOp, Block, DType, FieldId, LibOp, Region, Scalar, Statement, StatementKind, TensorType, Var, Window,
};
use std::sync::Arc;
use surject_index::Space;

impl Generator<'_> {
    pub(super) fn region_statement(&mut self) {
        match self.rng.below(14) {
            0 => self.literal(),
            1 => self.choice(),
            2 => self.counted_loop(),
            3 => self.sort(),
            4 => self.fold(),
            5 => self.slice(),
            _ => self.library_statement(),
        }
    }

    /// A region: `fill` adds steps and says what is yielded. What it defines is forgotten afterwards.
    pub(super) fn region(
        &mut self,
        params: &[TensorType],
        fill: impl FnOnce(&mut Self, &[FieldId]) -> Vec<Var>,
    ) -> Region {
        let outer = std::mem::take(&mut self.statements);
        let known = self.pool.len();
        let params: Vec<Var> = params.iter().map(|t| self.f.var("", t.clone())).collect();
        let fields: Vec<FieldId> = params.iter().map(|&p| self.know(p)).collect();
        let results = fill(self, &fields);
        self.pool.truncate(known);
        let statements = std::mem::replace(&mut self.statements, outer);
        Region { params, body: Block { statements, results } }
    }

    pub(super) fn push(&mut self, kind: StatementKind) {
        let origin = self.rng.chance(1, 2).then(|| Arc::from(format!("random:{}", self.rng.below(99))));
        let statement = Statement { kind, origin };
        let targets = statement.targets().to_vec();
        self.statements.push(statement);
        targets.into_iter().for_each(|t| {
            self.know(t);
        });
    }

    pub(super) fn targets(&mut self, types: &[TensorType]) -> Vec<Var> {
        types.iter().map(|t| self.f.var("", t.clone())).collect()
    }

    /// Stores some field of this type.
    pub(super) fn stored(&mut self, ty: &TensorType) -> Var {
        let field = self.like(ty.dtype, &ty.space);
        self.store(field)
    }

    fn choice(&mut self) {
        let index = self.stored(&TensorType::scalar(DType::I32));
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let ty = TensorType::new(dtype, space);
        let branches = (0..1 + self.rng.below(3))
            .map(|_| {
                self.region(&[], |g, _| {
                    let steps = g.rng.below(3);
                    g.steps(steps);
                    vec![g.stored(&ty)]
                })
            })
            .collect();
        let targets = self.targets(&[ty]);
        self.push(StatementKind::If { targets, index, branches });
    }

    /// A loop that counts from 0 and carries one more value.
    fn counted_loop(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let types = [TensorType::scalar(DType::I32), TensorType::new(dtype, space)];
        let zero = self.f.fields.constant(&Space::scalar(), Scalar::zero(DType::I32));
        let inits = vec![self.store(zero), self.store(of)];
        let limit = Scalar::from_i128(DType::I32, self.rng.below(3) as i128);
        let cond = self.region(&types, |g, params| {
            let limit = g.f.fields.constant(&Space::scalar(), limit);
            let less = g.f.fields.binary(BinaryOp::Lt, params[0], limit);
            less.map(|l| vec![g.store(l)]).unwrap_or_default()
        });
        let body = self.region(&types, |g, params| {
            let one = g.f.fields.constant(&Space::scalar(), Scalar::one(DType::I32));
            let next = g.f.fields.binary(BinaryOp::Add, params[0], one);
            let steps = g.rng.below(4);
            g.steps(steps);
            let next = next.map(|n| g.store(n));
            next.map(|n| vec![n, g.stored(&types[1])]).unwrap_or_default()
        });
        let targets = self.targets(&types);
        self.push(StatementKind::While { targets, inits, cond, body });
    }

    fn sort(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        if space.rank() == 0 || dtype.is_complex() {
            return;
        }
        let (axis, stable) = (self.rng.below(space.rank()), self.rng.chance(1, 2));
        let of = self.numbers(of);
        let args = vec![self.store(of)];
        let op = *self.rng.pick(&[BinaryOp::Lt, BinaryOp::Gt]);
        let less = self.region(&[TensorType::scalar(dtype), TensorType::scalar(dtype)], |g, p| {
            g.f.fields.binary(op, p[0], p[1]).map(|f| vec![g.store(f)]).unwrap_or_default()
        });
        let targets = self.targets(&[TensorType::new(dtype, space)]);
        let op = LibOp::Sort { axis, stable };
        self.push(StatementKind::Call { targets, op, args, regions: vec![less] });
    }

    /// A reduction, or one over windows.
    fn fold(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let init = self.f.fields.constant(&Space::scalar(), Scalar::one(dtype));
        let args = vec![self.store(of), self.store(init)];
        let scalars = [TensorType::scalar(dtype), TensorType::scalar(dtype)];
        let join = self.region(&scalars, |g, p| {
            let op = *g.rng.pick(&[BinaryOp::Add, BinaryOp::Max]);
            g.f.fields.binary(op, p[0], p[1]).map(|f| vec![g.store(f)]).unwrap_or_default()
        });
        let rank = space.rank();
        let op = if self.rng.chance(1, 2) {
            LibOp::Reduce { axes: (0..rank).filter(|_| self.rng.chance(1, 2)).collect() }
        } else {
            let mut entries = |n: usize| (0..rank).map(|_| 1 + self.rng.below(n) as u64).collect::<Vec<_>>();
            let (sizes, strides, base_dilations, window_dilations) =
                (entries(3), entries(2), entries(2), entries(2));
            let padding = (0..rank).map(|_| (self.rng.below(3) as i64, self.rng.below(3) as i64)).collect();
            LibOp::ReduceWindow {
                window: Window { sizes, strides, base_dilations, window_dilations, padding },
            }
        };
        let types = self.f.types(&args);
        if let Ok(results) = op.infer(&types, &[self.f.region_type(&join)]) {
            let targets = self.targets(&results);
            self.push(StatementKind::Call { targets, op, args, regions: vec![join] });
        }
    }

    fn slice(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let sizes: Vec<u64> = space
            .extents()
            .iter()
            .map(|e| self.rng.below(e.as_const().unwrap_or(0) as usize + 1) as u64)
            .collect();
        let mut args = vec![self.store(of)];
        for _ in 0..space.rank() {
            args.push(self.stored(&TensorType::scalar(DType::I32)));
        }
        let targets = self.targets(&[TensorType::new(dtype, Space::of(&sizes))]);
        self.push(StatementKind::Call { targets, op: LibOp::DynamicSlice { sizes }, args, regions: vec![] });
    }
}
