//! Random kernels: what the builder places is what a direct evaluation gives, and every kernel prints and parses.

use proptest::prelude::*;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp, eval};
use surject_kernel::interpret::{Options, Tensor, run};
use surject_kernel::{
    Access, Affine, Builder, Guard, Level, LoopKind, Place, Type, Value, parse, print, verify,
};

/// An expression over loop variables and a tensor.
#[derive(Clone, Debug)]
enum Expr {
    Constant(i16),
    Variable(usize),
    /// An element of the tensor, by these coefficients of the variables and this offset; −1 outside.
    Element(Vec<i64>, i64),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

const SIZE: i64 = 24;

fn expressions(loops: usize) -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any::<i16>().prop_map(Expr::Constant),
        (0..loops).prop_map(Expr::Variable),
        (prop::collection::vec(-3i64..4, loops), -4i64..SIZE)
            .prop_map(|(by, offset)| Expr::Element(by, offset)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let unary = prop::sample::select(vec![UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Sign, UnaryOp::Not]);
        let binary = prop::sample::select(vec![
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Max,
            BinaryOp::Xor,
            BinaryOp::Div,
        ]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, x)| Expr::Unary(op, Box::new(x))),
            (binary, inner.clone(), inner).prop_map(|(op, x, y)| Expr::Binary(op, Box::new(x), Box::new(y))),
        ]
    })
}

fn integer(value: i64) -> Scalar {
    Scalar::from_i128(DType::I32, value.into())
}

impl Expr {
    /// Its value where the variables have these values.
    fn direct(&self, tensor: &[Scalar], at: &[i64]) -> Scalar {
        match self {
            Expr::Constant(value) => integer((*value).into()),
            Expr::Variable(v) => integer(at[*v]),
            Expr::Element(by, offset) => {
                let place = offset + by.iter().zip(at).map(|(by, at)| by * at).sum::<i64>();
                usize::try_from(place).ok().and_then(|p| tensor.get(p).copied()).unwrap_or(integer(0))
            }
            Expr::Unary(op, x) => eval::unary(*op, x.direct(tensor, at)).unwrap(),
            Expr::Binary(op, x, y) => eval::binary(*op, x.direct(tensor, at), y.direct(tensor, at)).unwrap(),
        }
    }

    /// Its value in a kernel, where a variable may be a vector: its lanes follow each other.
    fn build(
        &self,
        b: &mut Builder,
        tensor: surject_kernel::Mem,
        variables: &[Affine],
        lanes: usize,
    ) -> Value {
        let ty = Type::vector(DType::I32, lanes);
        match self {
            Expr::Constant(value) => b.splat(integer((*value).into()), lanes),
            Expr::Variable(v) => b.index(variables[*v].clone(), ty),
            Expr::Element(by, offset) => {
                let mut at = Affine::from(*offset);
                for (variable, &by) in variables.iter().zip(by) {
                    at = at.plus(variable, by).unwrap();
                }
                let guards = vec![Guard { expr: at.clone(), bound: SIZE.into() }];
                b.load(Place { guards, ..Place::new(tensor, at) }, ty)
            }
            Expr::Unary(op, x) => {
                let x = x.build(b, tensor, variables, lanes);
                b.unary(*op, x)
            }
            Expr::Binary(op, x, y) => {
                let x = x.build(b, tensor, variables, lanes);
                let y = y.build(b, tensor, variables, lanes);
                b.binary(*op, x, y)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn kernels_do_what_their_expressions_say(
        (extents, exprs) in prop::collection::vec(0i64..5, 1..4)
            .prop_flat_map(|e| (Just(e.clone()), prop::collection::vec(expressions(e.len()), 1..3))),
        lanes in prop::sample::select(vec![1usize, 4]),
        parallel in any::<bool>(),
    ) {
        let elements: Vec<Scalar> = (0..SIZE).map(|i| integer(i * i - 7 * i)).collect();
        // The last loop runs through vectors: as many lanes as it has, and some beyond, which are not stored.
        let points: i64 = extents.iter().product();
        let count = points * exprs.len() as i64;
        let mut b = Builder::new("random");
        let x = b.parameter("x", DType::I32, SIZE, Access::Read);
        let y = b.parameter("y", DType::I32, count, Access::Write);
        let mut variables: Vec<Affine> = Vec::new();
        for (i, &extent) in extents.iter().enumerate() {
            let last = i + 1 == extents.len();
            let kind = if i == 0 && parallel { LoopKind::Parallel(Level::Task) } else { LoopKind::Serial };
            let step = if last { lanes as i64 } else { 1 };
            let (variable, _) = b.open_for(0, extent, step, kind, &[]);
            let mut variable = Affine::from(variable);
            if last && lanes > 1 {
                variable = variable.plus(&Affine::lane(1), 1).unwrap();
            }
            variables.push(variable);
        }
        let mut at = Affine::default();
        for (variable, &extent) in variables.iter().zip(&extents) {
            at = at.times(extent).and_then(|at| at.plus(variable, 1)).unwrap();
        }
        for (i, expr) in exprs.iter().enumerate() {
            let value = expr.build(&mut b, x, &variables, lanes);
            let place = at.times(exprs.len() as i64).and_then(|p| p.plus(&Affine::from(i as i64), 1)).unwrap();
            let last = variables.len() - 1;
            let guards = vec![Guard { expr: variables[last].clone(), bound: extents[last].into() }];
            b.store(Place { guards, ..Place::new(y, place) }, value);
        }
        let kernel = b.finish();
        prop_assert!(verify(&kernel).is_ok(), "{:?}\n{kernel}", verify(&kernel));
        let text = print(&kernel);
        let parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&parsed[0].renumbered(), &kernel.renumbered());
        prop_assert_eq!(print(&parsed[0]), text);
        let mut tensors = [Tensor::of(&elements), Tensor::unwritten(DType::I32, count as usize)];
        let ran = run(&parsed[0], &[], &mut tensors, &Options::default());
        prop_assert!(ran.is_ok(), "{}\n{kernel}", ran.unwrap_err());
        let mut at = vec![0; extents.len()];
        for point in 0..points {
            let mut rest = point;
            for (place, &extent) in at.iter_mut().zip(&extents).rev() {
                *place = rest % extent;
                rest /= extent;
            }
            for (i, expr) in exprs.iter().enumerate() {
                let found = tensors[1].get(point as usize * exprs.len() + i);
                prop_assert_eq!(found, Some(expr.direct(&elements, &at)), "at {:?} of\n{}", at, kernel);
            }
        }
    }
}
