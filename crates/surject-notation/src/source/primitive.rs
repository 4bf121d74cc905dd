//! The scalar primitives that an assignment can apply to its arguments.

/// A primitive: a row of [`PRIMITIVES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Primitive {
    /// The name by which it is applied.
    pub name: &'static str,
    /// The number of its arguments.
    pub arity: usize,
}

/// All primitives by name.
pub const PRIMITIVES: [Primitive; 69] = {
    const fn p(name: &'static str, arity: usize) -> Primitive {
        Primitive { name, arity }
    }
    [
        p("identity", 1),
        p("relu", 1),
        p("satur01", 1),
        p("exp", 1),
        p("log", 1),
        p("exp2", 1),
        p("log2", 1),
        p("sin", 1),
        p("cos", 1),
        p("sqrt", 1),
        p("recip", 1),
        p("recip_sqrt", 1),
        p("neg", 1),
        p("trunc", 1),
        p("tanh_approx", 1),
        p("not", 1),
        p("abs", 1),
        p("sign", 1),
        p("floor", 1),
        p("ceil", 1),
        p("round", 1),
        p("expm1", 1),
        p("log1p", 1),
        p("cbrt", 1),
        p("tan", 1),
        p("asin", 1),
        p("acos", 1),
        p("atan", 1),
        p("sinh", 1),
        p("cosh", 1),
        p("tanh", 1),
        p("asinh", 1),
        p("acosh", 1),
        p("atanh", 1),
        p("logistic", 1),
        p("erf", 1),
        p("erfc", 1),
        p("erf_inv", 1),
        p("lgamma", 1),
        p("digamma", 1),
        p("is_finite", 1),
        p("uint4x32_to_prec_uniform", 1),
        p("uint4x32_to_prec_uniform1", 1),
        p("arg1", 2),
        p("arg2", 2),
        p("add", 2),
        p("sub", 2),
        p("mul", 2),
        p("div", 2),
        p("pow", 2),
        p("relu_gate", 2),
        p("satur01_gate", 2),
        p("max", 2),
        p("min", 2),
        p("mod", 2),
        p("atan2", 2),
        p("lt", 2),
        p("le", 2),
        p("gt", 2),
        p("ge", 2),
        p("eq", 2),
        p("ne", 2),
        p("or", 2),
        p("and", 2),
        p("threefry4x32_crypto", 2),
        p("threefry4x32_light", 2),
        p("where", 3),
        p("fma", 3),
        p("mul3", 3),
    ]
};

impl Primitive {
    /// The primitive of a name.
    pub fn of_name(name: &str) -> Option<Primitive> {
        PRIMITIVES.into_iter().find(|p| p.name == name)
    }
}
