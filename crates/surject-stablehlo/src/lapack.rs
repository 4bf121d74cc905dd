//! The calls of LAPACK that JAX writes as `custom_call`: which routine a target names, and what the results of the call are
//! made of. The interpreter and whoever translates programs read them here.

use crate::attr::{Attribute, Attributes};
use crate::module::{Module, Op};
use crate::types::{Dim, ElementType, Type};
pub use surject_lapack::Routine;

/// What a result of a call is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An operand, as it was.
    Operand(usize),
    /// A result of the routine.
    Result(usize),
    /// The same, less one: positions that are counted from 0.
    LessOne(usize),
    /// The real part of a result of the routine.
    Real(usize),
    /// Its imaginary part.
    Imaginary(usize),
    /// Zeros.
    Zeros,
}

/// A call of a routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The routine.
    pub routine: Routine,
    /// The operands of the call that are those of the routine, in its order.
    pub operands: Vec<usize>,
    /// What each result of the call is.
    pub results: Vec<Part>,
    /// The operand that must be zero: the columns that `geqp3` is to keep in front.
    pub zero: Option<usize>,
}

/// The routine of a target of the name `lapack_sgetrf_ffi`, without the letter of its type.
pub fn routine_name(target: &str) -> Option<&str> {
    let name = target.strip_prefix("lapack_")?;
    let name = name.strip_suffix("_ffi").unwrap_or(name);
    name.strip_prefix(['s', 'd', 'c', 'z'])
}

/// An entry of the configuration of a custom call, wherever it stands.
pub fn configuration<'m>(op: &'m Op, name: &str) -> Option<&'m Attribute> {
    let keys = ["mhlo.backend_config", "backend_config", "mhlo.attributes"];
    let find = |key: &&str| match op.attributes.get(key) {
        Some(Attribute::Dict(dict)) => dict.get(name),
        _ => None,
    };
    keys.iter().find_map(find)
}

/// A flag that is a letter. The error says what was found instead.
pub fn letter(op: &Op, name: &str, letters: &str) -> Result<char, String> {
    let value = configuration(op, name).and_then(Attribute::as_i64);
    let letter = value.and_then(|v| u8::try_from(v).ok()).map(char::from);
    letter.filter(|c| letters.contains(*c)).ok_or_else(|| {
        let found = value.map_or("missing".into(), |v| v.to_string());
        format!("the flag '{name}' is {found}, not one of the letters {letters}")
    })
}

/// Matrices in the column-major layout that LAPACK reads; in another one it would see the transposed ones. A call without
/// layouts is taken to have these.
pub fn column_major(module: &Module, op: &Op, i: usize) -> Result<(), String> {
    let Some(Attribute::Array(layouts)) = op.attributes.get("operand_layouts") else { return Ok(()) };
    let rank = match op.operands.get(i).map(|v| module.ty(*v)) {
        Some(Type::Tensor(ty)) if ty.shape.len() >= 2 => ty.shape.len() as i64,
        _ => return Err(format!("operand {i} is no matrix")),
    };
    let layout = match layouts.get(i) {
        Some(Attribute::Dense(order)) => order.to_i64s(),
        _ => None,
    };
    match layout.is_some_and(|l| l.get(..2) == Some(&[rank - 2, rank - 1])) {
        true => Ok(()),
        false => Err(format!("operand {i} is not in column-major layout")),
    }
}

/// The call of a routine; `None` if the target is none, or one of those that StableHLO has operations for (`potrf`, `trsm`).
/// The error says what of the call is not supported.
pub fn call(module: &Module, op: &Op, target: &str) -> Option<Result<Call, String>> {
    let real = match op.operands.first().map(|v| module.ty(*v)) {
        Some(Type::Tensor(ty)) => !ty.element.is_complex(),
        _ => true,
    };
    let plain = |routine: Routine| {
        let operands = (0..routine.ranks().len()).collect();
        // The columns that are to stay in front, which are 0.
        let zero = (routine == Routine::PivotedQr).then_some(1);
        Ok(Call { routine, operands, results: parts(routine, real), zero })
    };
    let lower = || letter(op, "uplo", "LU").map(|c| c == 'L');
    let found = match target {
        "LuDecomposition" => plain(Routine::Lu).map(|call| {
            let results = vec![Part::Result(0), Part::LessOne(1), Part::Result(2)];
            Call { results, ..call }
        }),
        "Qr" => plain(Routine::Qr),
        "ProductOfElementaryHouseholderReflectors" => plain(Routine::HouseholderProduct),
        _ => match routine_name(target)? {
            "getrf" => plain(Routine::Lu),
            "geqrf" => plain(Routine::Qr),
            "orgqr" | "ungqr" => plain(Routine::HouseholderProduct),
            "ormqr" | "unmqr" => {
                let flag = |name: &str| matches!(configuration(op, name), Some(Attribute::Bool(true)));
                plain(Routine::MultiplyQ { left: flag("left"), adjoint: flag("transpose") })
            }
            "geqp3" => plain(Routine::PivotedQr),
            "syevd" | "heevd" => lower().and_then(|lower| plain(Routine::Eigh { lower })),
            "gesdd" | "gesvd" => full(module, op).and_then(|full| plain(Routine::Svd { full })),
            "geev" => plain(Routine::Eig),
            "gees" if configuration(op, "sort").and_then(Attribute::as_i64) == Some(i64::from(b'S')) => {
                Err("the flag 'sort' is 'S'".into())
            }
            "gees" => plain(Routine::Schur),
            "gehrd" => range(module, op).and_then(|()| plain(Routine::Hessenberg)),
            "sytrd" | "hetrd" => lower().and_then(|lower| plain(Routine::Tridiagonal { lower })),
            "gtsv" => plain(Routine::TridiagonalSolve),
            _ => return None,
        },
    };
    Some(found.and_then(|call| {
        if op.results.len() != call.results.len() {
            return Err(format!("{} results where there are {}", op.results.len(), call.results.len()));
        }
        for (&operand, &rank) in call.operands.iter().zip(call.routine.ranks()) {
            if rank == 2 {
                column_major(module, op, operand)?;
            }
        }
        Ok(call)
    }))
}

/// `gehrd` on all rows and columns.
fn range(module: &Module, op: &Op) -> Result<(), String> {
    let n = match op.operands.first().map(|v| module.ty(*v)) {
        Some(Type::Tensor(ty)) => ty.shape.last().and_then(|n| n.known()),
        _ => None,
    };
    let given = |name: &str| configuration(op, name).and_then(Attribute::as_i64);
    let (low, high) = (given("low"), given("high"));
    match (low.is_none_or(|low| low == 1), high.is_none_or(|high| Some(high) == n)) {
        (true, true) => Ok(()),
        _ => Err("a range of rows and columns that is not all of them".into()),
    }
}

/// What the results of a call of a routine are, for real or complex matrices.
pub fn parts(routine: Routine, real: bool) -> Vec<Part> {
    use Part::{Imaginary, Operand, Real, Result as Of, Zeros};
    match routine {
        Routine::Lu => vec![Of(0), Of(1), Of(3)],
        Routine::Svd { .. } => vec![Operand(0), Of(0), Of(1), Of(2), Of(3)],
        Routine::Eig if real => vec![Real(0), Imaginary(0), Of(1), Of(2), Of(3)],
        Routine::Schur if real => vec![Of(0), Of(1), Real(2), Imaginary(2), Zeros, Of(3)],
        Routine::Schur => vec![Of(0), Of(1), Of(2), Zeros, Of(3)],
        Routine::TridiagonalSolve => vec![Operand(0), Operand(1), Operand(2), Of(0), Of(1)],
        _ => (0..routine.results().len()).map(Of).collect(),
    }
}

/// The target of a routine on a CPU, for matrices of this type (`f32`, `f64`, `complex<f32>`, `complex<f64>`).
pub fn target(routine: Routine, element: &ElementType) -> Option<String> {
    let letter = match element {
        ElementType::F32 => 's',
        ElementType::F64 => 'd',
        ElementType::C64 => 'c',
        ElementType::C128 => 'z',
        _ => return None,
    };
    let complex = element.is_complex();
    let name = match routine {
        Routine::Lu => "getrf",
        Routine::Qr => "geqrf",
        Routine::PivotedQr => "geqp3",
        Routine::HouseholderProduct if complex => "ungqr",
        Routine::HouseholderProduct => "orgqr",
        Routine::MultiplyQ { .. } if complex => "unmqr",
        Routine::MultiplyQ { .. } => "ormqr",
        Routine::Eigh { .. } if complex => "heevd",
        Routine::Eigh { .. } => "syevd",
        Routine::Svd { .. } => "gesdd",
        Routine::Eig => "geev",
        Routine::Schur => "gees",
        Routine::Hessenberg => "gehrd",
        Routine::Tridiagonal { .. } if complex => "hetrd",
        Routine::Tridiagonal { .. } => "sytrd",
        Routine::TridiagonalSolve => "gtsv",
    };
    Some(format!("lapack_{letter}{name}_ffi"))
}

/// The configuration of a call of a routine on matrices of `n` columns.
pub fn flags(routine: Routine, n: i64) -> Attributes {
    let letter = |c: char| Attribute::Int { value: i128::from(u32::from(c)), ty: ElementType::U8 };
    let uplo = |lower: bool| vec![("uplo", letter(if lower { 'L' } else { 'U' }))];
    let all = match routine {
        Routine::MultiplyQ { left, adjoint } => {
            vec![("left", Attribute::Bool(left)), ("transpose", Attribute::Bool(adjoint))]
        }
        Routine::Eigh { lower } => [uplo(lower), vec![("mode", letter('V'))]].concat(),
        Routine::Tridiagonal { lower } => uplo(lower),
        Routine::Svd { full } => vec![("mode", letter(if full { 'A' } else { 'S' }))],
        Routine::Eig => vec![("compute_left", letter('V')), ("compute_right", letter('V'))],
        Routine::Schur => vec![("mode", letter('V')), ("sort", letter('N'))],
        Routine::Hessenberg => {
            let number = |value: i64| Attribute::Int { value: value.into(), ty: ElementType::I32 };
            vec![("low", number(1)), ("high", number(n))]
        }
        _ => Vec::new(),
    };
    let mut flags = Attributes::default();
    all.into_iter().for_each(|(name, value)| _ = flags.set(name, value));
    flags
}

/// Are the singular vectors all of both spaces? By the sizes of the results: JAX has results also where it wants none.
fn full(module: &Module, op: &Op) -> Result<bool, String> {
    let sizes = |v: Option<&crate::ValueId>| match v.map(|v| module.ty(*v)) {
        Some(Type::Tensor(ty)) => match ty.shape.last_chunk::<2>() {
            Some([Dim::Static(rows), Dim::Static(columns)]) => Ok((*rows, *columns)),
            _ => Err(format!("matrices of type {ty}")),
        },
        _ => Err("a call without matrices".to_string()),
    };
    let ((m, n), u, v) = (sizes(op.operands.first())?, sizes(op.results.get(2))?, sizes(op.results.get(3))?);
    let k = m.min(n);
    match (u, v) {
        // Where both are, there are no others.
        _ if (u, v) == ((m, k), (k, n)) => Ok(false),
        _ if (u, v) == ((m, m), (n, n)) => Ok(true),
        _ => Err("results of other sizes than the matrices".into()),
    }
}
