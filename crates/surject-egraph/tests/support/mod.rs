//! Programs as a front end builds them: one store an operation.
#![allow(dead_code)]

use surject_index::{Affine, IndexMap, ReshapePlan, Space};
use surject_ir::{
    AccOp, BinaryOp, Buffer, DType, FieldId, FieldKind, Function, Program, Scalar, Statement, StatementKind,
    TensorType, UnaryOp, Var,
};

pub struct Builder {
    pub f: Function,
}

impl Builder {
    pub fn new() -> Builder {
        Builder { f: Function::new("main") }
    }

    pub fn param(&mut self, name: &str, sizes: &[u64]) -> Var {
        let var = self.f.var(name, TensorType::new(DType::F32, Space::of(sizes)));
        self.f.params.push(var);
        var
    }

    pub fn store(&mut self, field: FieldId) -> Var {
        let target = self.f.var_for("t", field);
        self.f.body.statements.push(Statement::new(StatementKind::Store { target, field }));
        target
    }

    pub fn sizes(&self, x: Var) -> Vec<u64> {
        self.f.ty(x).space.extents().iter().map(|e| e.as_const().unwrap()).collect()
    }

    pub fn un(&mut self, op: UnaryOp, x: Var) -> Var {
        let x = self.f.tensor(x);
        let field = self.f.fields.unary(op, x).unwrap();
        self.store(field)
    }

    pub fn bin(&mut self, op: BinaryOp, x: Var, y: Var) -> Var {
        let (x, y) = (self.f.tensor(x), self.f.tensor(y));
        let field = self.f.fields.binary(op, x, y).unwrap();
        self.store(field)
    }

    pub fn constant(&mut self, value: f64, sizes: &[u64]) -> Var {
        let field = self.f.fields.constant(&Space::of(sizes), Scalar::from_f64(DType::F32, value));
        self.store(field)
    }

    pub fn broadcast(&mut self, x: Var, sizes: &[u64], dims: &[usize]) -> Var {
        let map = IndexMap::broadcast_in_dim(&Space::of(sizes), &self.f.ty(x).space, dims).unwrap();
        self.read(x, map)
    }

    pub fn read(&mut self, x: Var, map: IndexMap) -> Var {
        let x = self.f.tensor(x);
        let field = self.f.fields.read(map, x).unwrap();
        if matches!(self.f.fields[field].kind, FieldKind::Tensor(_)) {
            return self.store(field);
        }
        self.store(field)
    }

    pub fn transpose(&mut self, x: Var, perm: &[usize]) -> Var {
        let space = self.f.ty(x).space.clone();
        let out = space.select(perm);
        let mut comps = vec![Affine::fixed(perm.len(), 0); perm.len()];
        for (i, &p) in perm.iter().enumerate() {
            comps[p] = Affine::axis(perm.len(), i);
        }
        self.read(x, IndexMap::total(out, space, comps).unwrap())
    }

    /// As an importer does: `acc set r_to_b (read r_to_a x)`.
    pub fn reshape(&mut self, x: Var, sizes: &[u64]) -> Var {
        let from = self.f.ty(x).space.clone();
        let to = Space::of(sizes);
        let plan = IndexMap::reshape(&from, &to).expect("a reshape");
        let t = self.f.tensor(x);
        let field = match plan {
            ReshapePlan::Refined { read, write, .. } => {
                let t = self.f.fields.read(read, t).unwrap();
                if write.is_identity() { t } else { self.f.fields.acc(AccOp::Set, write, t).unwrap() }
            }
            ReshapePlan::ViaFlat { flatten: from, unflatten: to } => {
                let t = self.f.fields.acc(AccOp::Set, from, t).unwrap();
                self.f.fields.read(to, t).unwrap()
            }
        };
        self.store(field)
    }

    /// Reduces axes, with the initial value as JAX writes it for sums.
    pub fn reduce(&mut self, op: AccOp, x: Var, axes: &[usize]) -> Var {
        let space = self.f.ty(x).space.clone();
        let kept: Vec<usize> = (0..space.rank()).filter(|a| !axes.contains(a)).collect();
        let map = IndexMap::projection(&space, &kept);
        let t = self.f.tensor(x);
        let mut field = self.f.fields.acc(op, map, t).unwrap();
        if op == AccOp::Add {
            let zero = self.f.fields.constant(&space.select(&kept), Scalar::zero(DType::F32));
            field = self.f.fields.binary(BinaryOp::Add, zero, field).unwrap();
        }
        self.store(field)
    }

    /// dot_general: batch axes, contracting axes.
    pub fn dot(&mut self, a: Var, b: Var, batch: &[(usize, usize)], contract: &[(usize, usize)]) -> Var {
        let (sa, sb) = (self.f.ty(a).space.clone(), self.f.ty(b).space.clone());
        let free_a: Vec<usize> =
            (0..sa.rank()).filter(|x| !batch.iter().chain(contract).any(|p| p.0 == *x)).collect();
        let free_b: Vec<usize> =
            (0..sb.rank()).filter(|x| !batch.iter().chain(contract).any(|p| p.1 == *x)).collect();
        let mut extents = Vec::new();
        extents.extend(batch.iter().map(|p| sa.extent(p.0).clone()));
        extents.extend(free_a.iter().map(|&x| sa.extent(x).clone()));
        extents.extend(free_b.iter().map(|&x| sb.extent(x).clone()));
        let out_rank = extents.len();
        extents.extend(contract.iter().map(|p| sa.extent(p.0).clone()));
        let loops = Space::new(extents);
        let rank = loops.rank();
        let axis_a = |x: usize| {
            batch
                .iter()
                .position(|p| p.0 == x)
                .or_else(|| free_a.iter().position(|&f| f == x).map(|i| batch.len() + i))
                .or_else(|| contract.iter().position(|p| p.0 == x).map(|i| out_rank + i))
                .unwrap()
        };
        let axis_b = |x: usize| {
            batch
                .iter()
                .position(|p| p.1 == x)
                .or_else(|| free_b.iter().position(|&f| f == x).map(|i| batch.len() + free_a.len() + i))
                .or_else(|| contract.iter().position(|p| p.1 == x).map(|i| out_rank + i))
                .unwrap()
        };
        let ma: Vec<Affine> = (0..sa.rank()).map(|x| Affine::axis(rank, axis_a(x))).collect();
        let mb: Vec<Affine> = (0..sb.rank()).map(|x| Affine::axis(rank, axis_b(x))).collect();
        let (ta, tb) = (self.f.tensor(a), self.f.tensor(b));
        let ra = self.f.fields.read(IndexMap::total(loops.clone(), sa, ma).unwrap(), ta).unwrap();
        let rb = self.f.fields.read(IndexMap::total(loops.clone(), sb, mb).unwrap(), tb).unwrap();
        let p = self.f.fields.binary(BinaryOp::Mul, ra, rb).unwrap();
        let map = IndexMap::projection(&loops, &(0..out_rank).collect::<Vec<_>>());
        let field = self.f.fields.acc(AccOp::Add, map, p).unwrap();
        self.store(field)
    }

    pub fn softmax(&mut self, x: Var) -> Var {
        let sizes = self.sizes(x);
        let last = sizes.len() - 1;
        let dims: Vec<usize> = (0..last).collect();
        let m = self.reduce(AccOp::Max, x, &[last]);
        let m = self.broadcast(m, &sizes, &dims);
        let d = self.bin(BinaryOp::Sub, x, m);
        let e = self.un(UnaryOp::Exp, d);
        let s = self.reduce(AccOp::Add, e, &[last]);
        let s = self.broadcast(s, &sizes, &dims);
        self.bin(BinaryOp::Div, e, s)
    }

    pub fn finish(mut self, results: &[Var]) -> Program {
        self.f.body.results = results.to_vec();
        Program { name: "test".into(), functions: vec![self.f] }
    }
}

pub fn mlp(b: u64, i: u64, h: u64, o: u64) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", &[b, i]);
    let w1 = p.param("w1", &[i, h]);
    let b1 = p.param("b1", &[h]);
    let w2 = p.param("w2", &[h, o]);
    let b2 = p.param("b2", &[o]);
    let y = p.dot(x, w1, &[], &[(1, 0)]);
    let c = p.broadcast(b1, &[1, h], &[1]);
    let c = p.broadcast(c, &[b, h], &[0, 1]);
    let y = p.bin(BinaryOp::Add, y, c);
    let y = p.un(UnaryOp::Tanh, y);
    let z = p.dot(y, w2, &[], &[(1, 0)]);
    let c = p.broadcast(b2, &[1, o], &[1]);
    let c = p.broadcast(c, &[b, o], &[0, 1]);
    let z = p.bin(BinaryOp::Add, z, c);
    p.finish(&[z])
}

pub fn softmax(n: u64, m: u64) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", &[n, m]);
    let y = p.softmax(x);
    p.finish(&[y])
}

pub fn layernorm_into(p: &mut Builder, x: Var, g: Var, b: Var) -> Var {
    let sizes = p.sizes(x);
    let last = sizes.len() - 1;
    let dims: Vec<usize> = (0..last).collect();
    let n = p.constant(sizes[last] as f64, &sizes[..last]);
    let s = p.reduce(AccOp::Add, x, &[last]);
    let mean = p.bin(BinaryOp::Div, s, n);
    let mb = p.broadcast(mean, &sizes, &dims);
    let d = p.bin(BinaryOp::Sub, x, mb);
    let sq = p.bin(BinaryOp::Mul, d, d);
    let v = p.reduce(AccOp::Add, sq, &[last]);
    let v = p.bin(BinaryOp::Div, v, n);
    let eps = p.constant(1e-5, &sizes[..last]);
    let v = p.bin(BinaryOp::Add, v, eps);
    let v = p.un(UnaryOp::Sqrt, v);
    let vb = p.broadcast(v, &sizes, &dims);
    let y = p.bin(BinaryOp::Div, d, vb);
    let gb = p.broadcast(g, &sizes, &[last]);
    let y = p.bin(BinaryOp::Mul, y, gb);
    let bb = p.broadcast(b, &sizes, &[last]);
    p.bin(BinaryOp::Add, y, bb)
}

pub fn layernorm(n: u64, m: u64) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", &[n, m]);
    let g = p.param("g", &[m]);
    let b = p.param("b", &[m]);
    let y = layernorm_into(&mut p, x, g, b);
    p.finish(&[y])
}

pub fn attention_into(p: &mut Builder, x: Var, w: [Var; 4], heads: u64) -> Var {
    let s = p.sizes(x);
    let (b, t, e) = (s[0], s[1], s[2]);
    let d = e / heads;
    let split = |p: &mut Builder, w: Var| {
        let q = p.dot(x, w, &[], &[(2, 0)]);
        let q = p.reshape(q, &[b, t, heads, d]);
        p.transpose(q, &[0, 2, 1, 3])
    };
    let q = split(p, w[0]);
    let k = split(p, w[1]);
    let v = split(p, w[2]);
    let kt = p.transpose(k, &[0, 1, 3, 2]);
    let scores = p.dot(q, kt, &[(0, 0), (1, 1)], &[(3, 2)]);
    let scale = p.constant((d as f64).sqrt(), &[b, heads, t, t]);
    let scores = p.bin(BinaryOp::Div, scores, scale);
    let a = p.softmax(scores);
    let o = p.dot(a, v, &[(0, 0), (1, 1)], &[(3, 2)]);
    let o = p.transpose(o, &[0, 2, 1, 3]);
    let o = p.reshape(o, &[b, t, e]);
    p.dot(o, w[3], &[], &[(2, 0)])
}

pub fn attention(b: u64, t: u64, e: u64, heads: u64) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", &[b, t, e]);
    let w = ["wq", "wk", "wv", "wo"].map(|n| p.param(n, &[e, e]));
    let y = attention_into(&mut p, x, w, heads);
    p.finish(&[y])
}

pub fn blocks(layers: usize, b: u64, t: u64, e: u64, heads: u64) -> Program {
    let mut p = Builder::new();
    let mut x = p.param("x", &[b, t, e]);
    for l in 0..layers {
        let w = ["wq", "wk", "wv", "wo"].map(|n| p.param(&format!("{n}{l}"), &[e, e]));
        let (g1, b1) = (p.param(&format!("g1{l}"), &[e]), p.param(&format!("b1{l}"), &[e]));
        let (g2, b2) = (p.param(&format!("g2{l}"), &[e]), p.param(&format!("b2{l}"), &[e]));
        let f1 = p.param(&format!("f1{l}"), &[e, 4 * e]);
        let f2 = p.param(&format!("f2{l}"), &[4 * e, e]);
        let n = layernorm_into(&mut p, x, g1, b1);
        let a = attention_into(&mut p, n, w, heads);
        x = p.bin(BinaryOp::Add, x, a);
        let n = layernorm_into(&mut p, x, g2, b2);
        let h = p.dot(n, f1, &[], &[(2, 0)]);
        // gelu, with the tanh
        let c = p.constant(0.044715, &[b, t, 4 * e]);
        let h3 = p.bin(BinaryOp::Mul, h, h);
        let h3 = p.bin(BinaryOp::Mul, h3, h);
        let h3 = p.bin(BinaryOp::Mul, h3, c);
        let i = p.bin(BinaryOp::Add, h, h3);
        let c = p.constant(0.797_884_6, &[b, t, 4 * e]);
        let i = p.bin(BinaryOp::Mul, i, c);
        let i = p.un(UnaryOp::Tanh, i);
        let one = p.constant(1.0, &[b, t, 4 * e]);
        let i = p.bin(BinaryOp::Add, i, one);
        let h = p.bin(BinaryOp::Mul, h, i);
        let half = p.constant(0.5, &[b, t, 4 * e]);
        let h = p.bin(BinaryOp::Mul, h, half);
        let y = p.dot(h, f2, &[], &[(2, 0)]);
        x = p.bin(BinaryOp::Add, x, y);
    }
    p.finish(&[x])
}

/// A deterministic buffer of small values.
pub fn filled(dtype: DType, sizes: &[u64], seed: u64) -> Buffer {
    let shape: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
    let mut buffer = Buffer::zeros(dtype, &shape);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for i in 0..buffer.len() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        let value = if dtype.is_float() || dtype.is_complex() {
            unit * 2.0 - 1.0
        } else {
            (unit * 9.0).floor() - 4.0
        };
        buffer.set(i, Scalar::from_f64(dtype, value));
    }
    buffer
}

pub fn inputs(program: &Program) -> Vec<Buffer> {
    let f = program.main().unwrap();
    f.params
        .iter()
        .enumerate()
        .map(|(i, &p)| {
            let ty = f.ty(p);
            let sizes: Vec<u64> = ty.space.extents().iter().map(|e| e.as_const().unwrap()).collect();
            filled(ty.dtype, &sizes, i as u64 + 1)
        })
        .collect()
}

/// The largest difference relative to `1 + |expected|`; NaN equals NaN.
pub fn difference(a: &Buffer, b: &Buffer) -> f64 {
    assert_eq!((a.dtype(), a.shape()), (b.dtype(), b.shape()));
    (0..a.len())
        .map(|i| {
            let (x, y) = (a.get(i), b.get(i));
            if x == y || x.as_f64().is_nan() && y.as_f64().is_nan() {
                return 0.0;
            }
            let (x, y) = (x.as_complex(), y.as_complex());
            (x - y).norm() / (1.0 + x.norm())
        })
        .fold(0.0, f64::max)
}

/// Runs both programs and compares.
pub fn agree(before: &Program, after: &Program, tolerance: f64) {
    let args = inputs(before);
    let name = &before.main().unwrap().name;
    let expected = surject_ir::interp::run(before, name, &args).expect("runs");
    let found = surject_ir::interp::run(after, name, &args).expect("runs optimised");
    for (e, f) in expected.iter().zip(&found) {
        let d = difference(e, f);
        assert!(d <= tolerance, "differs by {d}");
    }
}

pub fn dump(p: &surject_ir::Program) -> String {
    use surject_ir::*;
    let mut s = String::new();
    for f in &p.functions {
        for st in &f.body.statements {
            match &st.kind {
                StatementKind::Store { target, field } => {
                    s += &format!("{} : {} = {}\n", f.name_of(*target), f.ty(*target), expr(f, *field));
                }
                other => s += &format!("{other:?}\n"),
            }
        }
    }
    s
}

pub fn expr(f: &surject_ir::Function, id: surject_ir::FieldId) -> String {
    use surject_ir::FieldKind::*;
    match &f.fields[id].kind {
        Tensor(v) => f.name_of(*v).to_string(),
        Read { map, of } => format!("read<{map}>({})", expr(f, *of)),
        Acc { op, map, of } => format!("acc{op}<{map}>({})", expr(f, *of)),
        Const(c) => format!("{c:?}"),
        Unary { op, x } => format!("{op}({})", expr(f, *x)),
        Binary { op, x, y } => format!("{op}({}, {})", expr(f, *x), expr(f, *y)),
        other => format!("{other:?}"),
    }
}

/// One step of gradient descent on a chain of dense layers with tanh, as JAX writes it.
pub fn train(layers: usize, batch: u64, width: u64) -> Program {
    let mut p = Builder::new();
    let x = p.param("x", &[batch, width]);
    let target = p.param("y", &[batch, width]);
    let weights: Vec<Var> = (0..layers).map(|l| p.param(&format!("w{l}"), &[width, width])).collect();
    let biases: Vec<Var> = (0..layers).map(|l| p.param(&format!("b{l}"), &[width])).collect();
    let mut acts = vec![x];
    for l in 0..layers {
        let z = p.dot(acts[l], weights[l], &[], &[(1, 0)]);
        let b = p.broadcast(biases[l], &[batch, width], &[1]);
        let z = p.bin(BinaryOp::Add, z, b);
        acts.push(p.un(UnaryOp::Tanh, z));
    }
    let mut grad = p.bin(BinaryOp::Sub, acts[layers], target);
    let rate = p.constant(0.01, &[width, width]);
    let rate1 = p.constant(0.01, &[width]);
    let one = p.constant(1.0, &[batch, width]);
    let mut results = Vec::new();
    for l in (0..layers).rev() {
        let a = acts[l + 1];
        let sq = p.bin(BinaryOp::Mul, a, a);
        let d = p.bin(BinaryOp::Sub, one, sq);
        let dz = p.bin(BinaryOp::Mul, grad, d);
        let dw = p.dot(dz, acts[l], &[], &[(0, 0)]);
        let dw = p.transpose(dw, &[1, 0]);
        let dw = p.bin(BinaryOp::Mul, dw, rate);
        results.push(p.bin(BinaryOp::Sub, weights[l], dw));
        let db = p.reduce(AccOp::Add, dz, &[0]);
        let db = p.bin(BinaryOp::Mul, db, rate1);
        results.push(p.bin(BinaryOp::Sub, biases[l], db));
        let wt = p.transpose(weights[l], &[1, 0]);
        grad = p.dot(dz, wt, &[], &[(1, 0)]);
    }
    p.finish(&results)
}
