//! Complex numbers as pairs of real nodes.

use crate::CodegenError;
use crate::build::Parts;
use crate::dag::{Dag, Node, NodeId};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};

/// Only sums of complex numbers are sums of their parts; every other accumulation would need both at once.
pub fn accumulates_by_parts(op: AccOp) -> Result<(), CodegenError> {
    match op {
        AccOp::Add | AccOp::Set => Ok(()),
        _ => Err(CodegenError::unsupported(format!("an accumulation with `{op}` of complex numbers"))),
    }
}

/// Applies a function to each part.
pub fn map(dag: &mut Dag, x: Parts, f: impl Fn(&mut Dag, NodeId) -> NodeId) -> Parts {
    let re = f(dag, x.re);
    Parts { re, im: x.im.map(|im| f(dag, im)) }
}

/// Applies a function to the pairs of parts.
pub fn zip(dag: &mut Dag, x: Parts, y: Parts, f: impl Fn(&mut Dag, NodeId, NodeId) -> NodeId) -> Parts {
    let re = f(dag, x.re, y.re);
    let im = x.im.zip(y.im).map(|(a, b)| f(dag, a, b));
    Parts { re, im }
}

/// A constant.
pub fn constant(dag: &mut Dag, value: Scalar) -> Parts {
    let dtype = value.dtype();
    if !dtype.is_complex() {
        return Parts { re: dag.constant(value), im: None };
    }
    let part = dtype.part();
    let re = dag.constant(Scalar::from_bits(part, value.bits()));
    let im = dag.constant(Scalar::from_bits(part, value.bits() >> part.bits()));
    Parts { re, im: Some(im) }
}

/// A real value as a value of `dtype`, which may be complex.
pub fn real(dag: &mut Dag, x: NodeId, dtype: DType) -> Parts {
    let im = dtype.is_complex().then(|| dag.constant(Scalar::zero(dtype.part())));
    Parts { re: x, im }
}

/// A conversion.
pub fn convert(dag: &mut Dag, x: Parts, to: DType) -> Parts {
    let cast = |dag: &mut Dag, x: NodeId| {
        if dag[x].dtype == to.part() { x } else { dag.add(Node::Convert(x), to.part()) }
    };
    match x.im {
        None => {
            let re = cast(dag, x.re);
            real(dag, re, to)
        }
        Some(_) if to.is_complex() => map(dag, x, cast),
        Some(im) if to.is_bool() => {
            let (a, b) = (cast(dag, x.re), cast(dag, im));
            Parts { re: dag.binary(BinaryOp::Or, a, b), im: None }
        }
        Some(_) => Parts { re: cast(dag, x.re), im: None },
    }
}

/// A unary operation with a result of `dtype`.
pub fn unary(dag: &mut Dag, op: UnaryOp, x: Parts, dtype: DType) -> Result<Parts, CodegenError> {
    use UnaryOp::*;
    let Some(im) = x.im else {
        return Ok(Parts {
            re: match op {
                Real => x.re,
                Imag => dag.constant(Scalar::zero(dtype)),
                _ => dag.add(Node::Unary(op, x.re), dtype),
            },
            im: None,
        });
    };
    let alone = |re| Parts { re, im: None };
    Ok(match op {
        Real => alone(x.re),
        Imag => alone(im),
        Neg => map(dag, x, |dag, x| dag.unary(Neg, x)),
        Abs => alone(modulus(dag, x.re, im)),
        Exp => {
            let r = dag.unary(Exp, x.re);
            polar(dag, r, im)
        }
        Log => {
            let r = modulus(dag, x.re, im);
            let re = dag.unary(Log, r);
            Parts { re, im: Some(dag.binary(BinaryOp::Atan2, im, x.re)) }
        }
        Sin | Cos => {
            let (s, c) = (dag.unary(Sin, x.re), dag.unary(Cos, x.re));
            let (sh, ch) = (dag.unary(Sinh, im), dag.unary(Cosh, im));
            if op == Sin {
                Parts { re: dag.binary(BinaryOp::Mul, s, ch), im: Some(dag.binary(BinaryOp::Mul, c, sh)) }
            } else {
                let product = dag.binary(BinaryOp::Mul, s, sh);
                Parts { re: dag.binary(BinaryOp::Mul, c, ch), im: Some(dag.unary(Neg, product)) }
            }
        }
        Sign => {
            let r = modulus(dag, x.re, im);
            let zero = dag.constant(Scalar::zero(dag[r].dtype));
            let at_zero = dag.binary(BinaryOp::Eq, r, zero);
            map(dag, x, |dag, x| {
                let quotient = dag.binary(BinaryOp::Div, x, r);
                let dtype = dag[x].dtype;
                dag.add(Node::Select(at_zero, x, quotient), dtype)
            })
        }
        Sqrt => sqrt(dag, x.re, im),
        Rsqrt => {
            let root = sqrt(dag, x.re, im);
            let one = one(dag, root);
            divide(dag, one, root)
        }
        _ => return Err(CodegenError::unsupported(format!("`{op}` of complex numbers"))),
    })
}

/// A binary operation.
pub fn binary(dag: &mut Dag, op: BinaryOp, x: Parts, y: Parts) -> Result<Parts, CodegenError> {
    use BinaryOp::*;
    if op == Complex {
        return Ok(Parts { re: x.re, im: Some(y.re) });
    }
    let (Some(xi), Some(yi)) = (x.im, y.im) else {
        return Ok(Parts { re: dag.binary(op, x.re, y.re), im: None });
    };
    let alone = |re| Parts { re, im: None };
    Ok(match op {
        Add | Sub => zip(dag, x, y, |dag, x, y| dag.binary(op, x, y)),
        Mul => multiply(dag, x, y),
        Div => divide(dag, x, y),
        Eq | Ne => {
            let (a, b) = (dag.binary(op, x.re, y.re), dag.binary(op, xi, yi));
            alone(dag.binary(if op == Eq { And } else { Or }, a, b))
        }
        _ => return Err(CodegenError::unsupported(format!("`{op}` of complex numbers"))),
    })
}

fn one(dag: &mut Dag, like: Parts) -> Parts {
    let dtype = dag[like.re].dtype;
    let re = dag.constant(Scalar::one(dtype));
    Parts { re, im: Some(dag.constant(Scalar::zero(dtype))) }
}

fn multiply(dag: &mut Dag, x: Parts, y: Parts) -> Parts {
    let (Some(xi), Some(yi)) = (x.im, y.im) else { return x };
    let product = |dag: &mut Dag, a, b| dag.binary(BinaryOp::Mul, a, b);
    let (rr, ii, ri, ir) =
        (product(dag, x.re, y.re), product(dag, xi, yi), product(dag, x.re, yi), product(dag, xi, y.re));
    Parts { re: dag.binary(BinaryOp::Sub, rr, ii), im: Some(dag.binary(BinaryOp::Add, ri, ir)) }
}

/// Division by Smith's method: by the larger part of the divisor first.
fn divide(dag: &mut Dag, x: Parts, y: Parts) -> Parts {
    let (Some(xi), Some(yi)) = (x.im, y.im) else { return x };
    let dtype = dag[x.re].dtype;
    let (size_re, size_im) = (dag.unary(UnaryOp::Abs, y.re), dag.unary(UnaryOp::Abs, yi));
    let by_real = dag.binary(BinaryOp::Ge, size_re, size_im);
    let pick = |dag: &mut Dag, a, b| dag.add(Node::Select(by_real, a, b), dtype);
    let (large, small) = (pick(dag, y.re, yi), pick(dag, yi, y.re));
    let ratio = dag.binary(BinaryOp::Div, small, large);
    let scaled = dag.binary(BinaryOp::Mul, small, ratio);
    let den = dag.binary(BinaryOp::Add, large, scaled);
    // by the real part: (a + b r) + i (b − a r); by the imaginary part: (a r + b) + i (b r − a)
    let (p, q) = (pick(dag, x.re, xi), pick(dag, xi, x.re));
    let (pr, qr) = (dag.binary(BinaryOp::Mul, p, ratio), dag.binary(BinaryOp::Mul, q, ratio));
    let re = dag.binary(BinaryOp::Add, p, qr);
    let (a, b) = (dag.binary(BinaryOp::Sub, q, pr), dag.binary(BinaryOp::Sub, pr, q));
    let im = pick(dag, a, b);
    Parts { re: dag.binary(BinaryOp::Div, re, den), im: Some(dag.binary(BinaryOp::Div, im, den)) }
}

/// The modulus, scaled so that no square overflows.
fn modulus(dag: &mut Dag, re: NodeId, im: NodeId) -> NodeId {
    let dtype = dag[re].dtype;
    let (a, b) = (dag.unary(UnaryOp::Abs, re), dag.unary(UnaryOp::Abs, im));
    let (large, small) = (dag.binary(BinaryOp::Max, a, b), dag.binary(BinaryOp::Min, a, b));
    let ratio = dag.binary(BinaryOp::Div, small, large);
    let square = dag.binary(BinaryOp::Mul, ratio, ratio);
    let one = dag.constant(Scalar::one(dtype));
    let sum = dag.binary(BinaryOp::Add, one, square);
    let root = dag.unary(UnaryOp::Sqrt, sum);
    let scaled = dag.binary(BinaryOp::Mul, large, root);
    // Zero and infinite parts, where the ratio is not a number.
    let (zero, infinity) =
        (dag.constant(Scalar::zero(dtype)), dag.constant(Scalar::from_f64(dtype, f64::INFINITY)));
    let at_zero = dag.binary(BinaryOp::Eq, large, zero);
    let (ia, ib) = (dag.binary(BinaryOp::Eq, a, infinity), dag.binary(BinaryOp::Eq, b, infinity));
    let infinite = dag.binary(BinaryOp::Or, ia, ib);
    let finite = dag.add(Node::Select(at_zero, zero, scaled), dtype);
    dag.add(Node::Select(infinite, infinity, finite), dtype)
}

/// `r (cos t + i sin t)`; a real argument stays real.
fn polar(dag: &mut Dag, r: NodeId, t: NodeId) -> Parts {
    let dtype = dag[r].dtype;
    let (c, s) = (dag.unary(UnaryOp::Cos, t), dag.unary(UnaryOp::Sin, t));
    let (re, im) = (dag.binary(BinaryOp::Mul, r, c), dag.binary(BinaryOp::Mul, r, s));
    let zero = dag.constant(Scalar::zero(dtype));
    let straight = dag.binary(BinaryOp::Eq, t, zero);
    let re = dag.add(Node::Select(straight, r, re), dtype);
    Parts { re, im: Some(dag.add(Node::Select(straight, t, im), dtype)) }
}

/// The root with a real part that is not negative.
fn sqrt(dag: &mut Dag, re: NodeId, im: NodeId) -> Parts {
    let dtype = dag[re].dtype;
    let zero = dag.constant(Scalar::zero(dtype));
    let half = dag.constant(Scalar::from_f64(dtype, 0.5));
    let r = modulus(dag, re, im);
    let (size, height) = (dag.unary(UnaryOp::Abs, re), dag.unary(UnaryOp::Abs, im));
    // root = √((|z| + |re|) / 2), the other part is |im| / (2 root)
    let (a, b) = (dag.binary(BinaryOp::Mul, r, half), dag.binary(BinaryOp::Mul, size, half));
    let sum = dag.binary(BinaryOp::Add, a, b);
    let root = dag.unary(UnaryOp::Sqrt, sum);
    let halved = dag.binary(BinaryOp::Mul, height, half);
    let quotient = dag.binary(BinaryOp::Div, halved, root);
    let at_zero = dag.binary(BinaryOp::Eq, root, zero);
    let other = dag.add(Node::Select(at_zero, zero, quotient), dtype);
    let right = dag.binary(BinaryOp::Ge, re, zero);
    let out_re = dag.add(Node::Select(right, root, other), dtype);
    let out_im = dag.add(Node::Select(right, other, root), dtype);
    let negative = dag.binary(BinaryOp::Lt, im, zero);
    let flipped = dag.unary(UnaryOp::Neg, out_im);
    Parts { re: out_re, im: Some(dag.add(Node::Select(negative, flipped, out_im), dtype)) }
}
