//! Calls of NVIDIA's libraries: what each takes, in the libraries' own conventions.
//!
//! Matrices lie column by column, one behind the other in a batch; pivots count from 1; most routines overwrite their
//! first operand. What a program means by an operation is made of such calls, and of kernels beside them, by the planner.
//! Every routine but the Fourier transforms and the triangular systems writes an `info` for each matrix: 0 where it
//! succeeded. Behind the operands every call takes a workspace, whose size the device says ([`crate::Device::prepare`]).

use crate::stored::dtype;
use serde::{Deserialize, Serialize};
use std::fmt;
use surject_ir::DType;

/// A library of NVIDIA's, which a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Library {
    /// Triangular systems.
    Cublas,
    /// Fourier transforms.
    Cufft,
    /// Factorisations.
    Cusolver,
}

impl Library {
    /// All of them.
    pub const ALL: [Library; 3] = [Library::Cublas, Library::Cufft, Library::Cusolver];

    /// The environment variable with the libraries that may be used, such as `cufft,cublas`: all of them where it is not
    /// set.
    pub const ALLOWED: &str = "SURJECT_CUDA_LIBRARIES";

    /// Does the environment allow it?
    pub fn is_allowed(self) -> bool {
        let allowed = std::env::var(Library::ALLOWED);
        let named =
            |all: String| all.split(',').any(|name| name.trim().eq_ignore_ascii_case(&self.to_string()));
        allowed.map_or(true, named)
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Library::Cublas => "cuBLAS",
            Library::Cufft => "cuFFT",
            Library::Cusolver => "cuSOLVER",
        })
    }
}

/// The forms of a Fourier transform; none of them scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Form {
    /// Complex to complex.
    Forward,
    /// Complex to complex, with the other sign.
    Inverse,
    /// The last axis, of `n` reals, becomes `n / 2 + 1` complex numbers.
    FromReal,
    /// The last axis, of `n / 2 + 1` complex numbers, becomes `n` reals. The input is overwritten.
    ToReal,
}

/// Which triangle of a matrix is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above it.
    Upper,
}

/// On which side of the unknown a matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Side {
    /// `op(A) X`
    Left,
    /// `X op(A)`
    Right,
}

/// What is taken of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    /// It.
    None,
    /// Its transpose.
    Transpose,
    /// Its conjugate transpose.
    Adjoint,
}

/// Which diagonal a triangular matrix has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Diagonal {
    /// The one that is stored.
    Stored,
    /// Ones, and what is stored is not read.
    Ones,
}

/// How many singular vectors there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Vectors {
    /// As many as singular values.
    Thin,
    /// All of both spaces.
    All,
}

/// A routine with its sizes, those of one matrix (`m` rows, `n` columns).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Routine {
    /// From the first operand to the second one. Transforms the axes of `lengths`, row by row, where each element is
    /// `inner` numbers; more than one only of complex transforms.
    Fft {
        /// Which transform.
        form: Form,
        /// One to three lengths, those of the signal.
        lengths: Vec<u64>,
        /// The numbers of an element, which are transformed each by itself.
        inner: u64,
    },
    /// The Cholesky factor in one triangle, in place; the other triangle holds anything. Operands: `A`, `info`.
    Potrf {
        /// Which triangle is read and written.
        triangle: Triangle,
        /// The size.
        n: u64,
    },
    /// Solves `op(A) X = B` or `X op(A) = B`, `B` being `m x n`, in place of `B`. Operands: `A`, `B`.
    Trsm {
        /// The side of `A`.
        side: Side,
        /// The triangle of `A`.
        triangle: Triangle,
        /// What is taken of `A`.
        op: Op,
        /// The diagonal of `A`.
        diagonal: Diagonal,
        /// Rows of `B`.
        m: u64,
        /// Columns of `B`.
        n: u64,
    },
    /// `P A = L U` in place. Operands: `A`, `min(m, n)` pivots, `info`.
    Getrf {
        /// Rows.
        m: u64,
        /// Columns.
        n: u64,
    },
    /// The same of square matrices, all of them by one call.
    GetrfBatched {
        /// The size.
        n: u64,
    },
    /// The same as [`Routine::Geqrf`], all matrices by one call.
    GeqrfBatched {
        /// Rows.
        m: u64,
        /// Columns.
        n: u64,
    },
    /// `A = Q R` in place, as reflectors. Operands: `A`, `tau`, `info`.
    Geqrf {
        /// Rows.
        m: u64,
        /// Columns.
        n: u64,
    },
    /// The first `n` columns of `Q` in place of `k` reflectors. Operands: `A`, `tau`, `info`.
    Orgqr {
        /// Rows.
        m: u64,
        /// Columns, at most as many.
        n: u64,
        /// Reflectors, at most as many as columns.
        k: u64,
    },
    /// `op(Q) C` or `C op(Q)` in place of `C`, `m x n`. Operands: the reflectors, `tau`, `C`, `info`.
    Ormqr {
        /// The side of `Q`.
        side: Side,
        /// What is taken of `Q`; no transpose of complex matrices.
        op: Op,
        /// Rows of `C`.
        m: u64,
        /// Columns of `C`.
        n: u64,
        /// Reflectors, at most as many as `Q` has rows.
        k: u64,
    },
    /// Eigenvectors in columns, in place of a Hermitian matrix, and ascending eigenvalues. Operands: `A`, `W`, `info`.
    Syevd {
        /// Which triangle is read.
        triangle: Triangle,
        /// The size.
        n: u64,
    },
    /// `A = U S V^H` with descending singular values; `m >= n`, and `A` is overwritten. Operands: `A`, `S`, `U`, `V^H`,
    /// `info`.
    Gesvd {
        /// How many vectors.
        vectors: Vectors,
        /// Rows.
        m: u64,
        /// Columns.
        n: u64,
    },
}

/// A call: a routine for every matrix or signal of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Call {
    /// The routine.
    pub routine: Routine,
    /// The type of numbers: f32, f64, c64 or c128; of Fourier transforms the complex one.
    #[serde(with = "dtype")]
    pub dtype: DType,
    /// How many there are.
    pub batch: u64,
}

/// What a call or a kernel does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written and not read: by a call the whole of it.
    Written,
    /// It is read and written.
    Changed,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The type of its elements.
    pub dtype: DType,
    /// How many elements it has in one part of the batch.
    pub elements: u64,
    /// What is done with it.
    pub usage: Use,
}

/// Makes an operand of a type and sizes.
type Shaped<'a> = dyn Fn(DType, &[u64], Use) -> Result<Operand, String> + 'a;

/// The elements of what is as large as this, `None` where that overflows.
fn product(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(size))
}

/// The routine that does the same for one matrix.
fn one_by_one(routine: &Routine) -> Option<Routine> {
    match *routine {
        Routine::GetrfBatched { n } => Some(Routine::Getrf { m: n, n }),
        Routine::GeqrfBatched { m, n } => Some(Routine::Geqrf { m, n }),
        _ => None,
    }
}

impl Call {
    /// The library that has the routine.
    pub fn library(&self) -> Library {
        match self.routine {
            Routine::Fft { .. } => Library::Cufft,
            Routine::Trsm { .. } | Routine::GetrfBatched { .. } | Routine::GeqrfBatched { .. } => {
                Library::Cublas
            }
            _ => Library::Cusolver,
        }
    }

    /// The operands, in order, without the workspace. An error says why no library takes the call.
    pub fn operands(&self) -> Result<Vec<Operand>, String> {
        let (number, real) = (self.dtype, self.dtype.part());
        if self.batch > i32::MAX as u64 {
            return Err(format!("{} parts, which the libraries do not count in 32 bits", self.batch));
        }
        if !matches!(number, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
            return Err(format!("the libraries have no {number}"));
        }
        // A part that two sizes overflow is one that no machine has.
        let of = |dtype: DType, sizes: &[u64], usage: Use| -> Result<Operand, String> {
            let elements = product(sizes).filter(|&n| n <= i32::MAX as u64);
            let elements = elements.ok_or("a size that the libraries do not count in 32 bits")?;
            product(&[elements, self.batch, dtype.size() as u64])
                .filter(|&n| i64::try_from(n).is_ok())
                .ok_or("more bytes than 63 bits count")?;
            Ok(Operand { dtype, elements, usage })
        };
        let info = || of(DType::I32, &[1], Use::Written);
        let all = match &self.routine {
            Routine::Fft { form, lengths, inner } => return self.transformed(*form, lengths, *inner, &of),
            Routine::Potrf { n, .. } => vec![of(number, &[*n, *n], Use::Changed)?, info()?],
            Routine::Trsm { side, m, n, .. } => {
                let own = if *side == Side::Left { *m } else { *n };
                vec![of(number, &[own, own], Use::Read)?, of(number, &[*m, *n], Use::Changed)?]
            }
            Routine::GetrfBatched { n } => {
                let pivots = of(DType::I32, &[*n], Use::Written)?;
                vec![of(number, &[*n, *n], Use::Changed)?, pivots, info()?]
            }
            Routine::Getrf { m, n } => {
                let pivots = of(DType::I32, &[*m.min(n)], Use::Written)?;
                vec![of(number, &[*m, *n], Use::Changed)?, pivots, info()?]
            }
            Routine::Geqrf { m, n } | Routine::GeqrfBatched { m, n } => {
                let tau = of(number, &[*m.min(n)], Use::Written)?;
                vec![of(number, &[*m, *n], Use::Changed)?, tau, info()?]
            }
            Routine::Orgqr { m, n, k } => {
                if !(k <= n && n <= m) {
                    return Err(format!("{n} columns of {m} rows, of {k} reflectors"));
                }
                vec![of(number, &[*m, *n], Use::Changed)?, of(number, &[*k], Use::Read)?, info()?]
            }
            Routine::Ormqr { side, op, m, n, k } => {
                let rows = if *side == Side::Left { *m } else { *n };
                if *k > rows || *op == Op::Transpose && number.is_complex() {
                    return Err(format!("{k} reflectors of {rows} rows"));
                }
                let (q, c) = (of(number, &[rows, *k], Use::Read)?, of(number, &[*m, *n], Use::Changed)?);
                vec![q, of(number, &[*k], Use::Read)?, c, info()?]
            }
            Routine::Syevd { n, .. } => {
                vec![of(number, &[*n, *n], Use::Changed)?, of(real, &[*n], Use::Written)?, info()?]
            }
            Routine::Gesvd { vectors, m, n } => {
                if m < n {
                    return Err(format!("{m} rows of {n} columns"));
                }
                let left = if *vectors == Vectors::All { *m } else { *n };
                let a = of(number, &[*m, *n], Use::Changed)?;
                let (u, vt) = (of(number, &[*m, left], Use::Written)?, of(number, &[*n, *n], Use::Written)?);
                vec![a, of(real, &[*n], Use::Written)?, u, vt, info()?]
            }
        };
        match self.batch > 0 && all.iter().all(|operand| operand.elements > 0) {
            true => Ok(all),
            false => Err("an operand without elements".into()),
        }
    }

    /// The operands of a Fourier transform.
    fn transformed(
        &self,
        form: Form,
        lengths: &[u64],
        inner: u64,
        of: &Shaped<'_>,
    ) -> Result<Vec<Operand>, String> {
        let (number, real) = (self.dtype, self.dtype.part());
        let complex = matches!(form, Form::Forward | Form::Inverse);
        let half = lengths.split_last().map(|(last, before)| [before, &[last / 2 + 1]].concat());
        let half = half.filter(|_| (1..=3).contains(&lengths.len()) && number.is_complex());
        let half = half.filter(|_| complex || inner == 1);
        let half = half.ok_or_else(|| format!("no transform of {number} has the lengths {lengths:?}"))?;
        let whole = [lengths, &[inner]].concat();
        let pair = match form {
            Form::Forward | Form::Inverse => {
                vec![of(number, &whole, Use::Read)?, of(number, &whole, Use::Written)?]
            }
            Form::FromReal => vec![of(real, &whole, Use::Read)?, of(number, &half, Use::Written)?],
            Form::ToReal => vec![of(number, &half, Use::Changed)?, of(real, &whole, Use::Written)?],
        };
        match self.batch > 0 && pair.iter().all(|operand| operand.elements > 0) {
            true => Ok(pair),
            false => Err("a transform without elements".into()),
        }
    }

    /// Is it one call for all matrices, not one for each? The workspace then has their addresses.
    pub fn is_batched(&self) -> bool {
        match self.routine {
            Routine::Potrf { .. } | Routine::Trsm { .. } => self.batch > 1,
            Routine::GetrfBatched { .. } | Routine::GeqrfBatched { .. } => true,
            _ => false,
        }
    }

    /// Can it be recorded? cuFFT and cuBLAS say that they can; cuSOLVER waits for the device where it pleases, and the
    /// addresses of a batch come from the host.
    pub fn is_recordable(&self) -> bool {
        match self.library() {
            Library::Cufft | Library::Cublas => !self.is_batched(),
            Library::Cusolver => false,
        }
    }

    /// How often the library is called.
    pub fn times(&self) -> u64 {
        match self.routine {
            // What lies next to each other in a signal is transformed by one call, and so are all signals otherwise.
            Routine::Fft { inner: 1, .. } => 1,
            _ if self.is_batched() => 1,
            _ => self.batch,
        }
    }

    /// Factors of matrices so small that a call for each would do little but be called: one for all. The more there are, the
    /// larger they may be, as they fill the device together; where the line is best is not measured.
    pub fn together(self) -> Call {
        const SIZE: u64 = 128;
        let routine = match self.routine {
            _ if self.batch < 2 => return self,
            Routine::Getrf { m, n } if m == n && n / self.batch <= SIZE => Routine::GetrfBatched { n },
            Routine::Geqrf { m, n } if m.max(n) / self.batch <= SIZE => Routine::GeqrfBatched { m, n },
            _ => return self,
        };
        Call { routine, ..self }
    }

    /// The call that does the same matrix by matrix, by another library; `None` where this one does, or no other can.
    pub fn one_by_one(&self) -> Option<Call> {
        Some(Call { routine: one_by_one(&self.routine)?, ..self.clone() })
    }

    /// The name of the routine in its library.
    pub fn name(&self) -> String {
        let is_complex = self.dtype.is_complex();
        let letter = match self.dtype {
            DType::F32 => 'S',
            DType::F64 => 'D',
            DType::C64 => 'C',
            _ => 'Z',
        };
        let solver = |name: &str| format!("cusolverDn{letter}{name}");
        match &self.routine {
            Routine::Fft { form, .. } => {
                let (complex, real) = if self.dtype == DType::C128 { ('Z', 'D') } else { ('C', 'R') };
                match form {
                    Form::Forward | Form::Inverse => format!("cufftExec{complex}2{complex}"),
                    Form::FromReal => format!("cufftExec{real}2{complex}"),
                    Form::ToReal => format!("cufftExec{complex}2{real}"),
                }
            }
            Routine::Trsm { .. } if self.is_batched() => format!("cublas{letter}trsmBatched"),
            Routine::Trsm { .. } => format!("cublas{letter}trsm"),
            Routine::Potrf { .. } if self.is_batched() => solver("potrfBatched"),
            Routine::Potrf { .. } => solver("potrf"),
            Routine::GetrfBatched { .. } => format!("cublas{letter}getrfBatched"),
            Routine::GeqrfBatched { .. } => format!("cublas{letter}geqrfBatched"),
            Routine::Getrf { .. } => solver("getrf"),
            Routine::Geqrf { .. } => solver("geqrf"),
            Routine::Orgqr { .. } => solver(if is_complex { "ungqr" } else { "orgqr" }),
            Routine::Ormqr { .. } => solver(if is_complex { "unmqr" } else { "ormqr" }),
            Routine::Syevd { .. } => solver(if is_complex { "heevd" } else { "syevd" }),
            Routine::Gesvd { .. } => solver("gesvd"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        let sizes = match &self.routine {
            Routine::Fft { lengths, .. } => lengths.iter().map(u64::to_string).collect::<Vec<_>>().join("x"),
            Routine::Potrf { n, .. } | Routine::Syevd { n, .. } | Routine::GetrfBatched { n } => {
                format!("{n}x{n}")
            }
            Routine::Trsm { m, n, .. }
            | Routine::Getrf { m, n }
            | Routine::Geqrf { m, n }
            | Routine::GeqrfBatched { m, n }
            | Routine::Orgqr { m, n, .. }
            | Routine::Ormqr { m, n, .. }
            | Routine::Gesvd { m, n, .. } => format!("{m}x{n}"),
        };
        match self.batch {
            1 => write!(f, " of {sizes}"),
            batch => write!(f, " of {batch} times {sizes}"),
        }
    }
}
