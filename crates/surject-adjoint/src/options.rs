//! What is differentiated, and by what conventions.

/// What [`gradient`](crate::gradient) differentiates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The parameters whose gradients are yielded, by position and in this order; all that have floating or complex
    /// elements if absent.
    pub parameters: Option<Vec<usize>>,
    /// Which result is differentiated, or all of them against cotangents.
    pub mode: Mode,
    /// Who gets the gradient of an extremum that several elements equal.
    pub ties: Ties,
    /// Does the function also yield the results of the original one, before the gradients?
    pub primals: bool,
    /// For loops whose number of iterations depends on data: at most this many states are kept at a time, twice, and
    /// those between are run again.
    pub checkpoints: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            parameters: None,
            mode: Mode::Gradient(None),
            ties: Ties::Split,
            primals: true,
            checkpoints: 256,
        }
    }
}

/// Where the reverse sweep starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// From 1 at one result, a floating scalar. Without a position: the only one there is.
    Gradient(Option<usize>),
    /// From cotangents of all floating and complex results, which are further parameters of the function, in the
    /// order of the results.
    Vjp,
}

/// Who gets the gradient of an extremum that several elements equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ties {
    /// All of them, in equal parts: the sum is kept. This is what JAX does for reductions and `maximum`.
    #[default]
    Split,
    /// All of them, each the whole of it.
    All,
    /// The first one, in row-major order of the product space. This is what XLA's `select_and_scatter` does for
    /// windows.
    First,
    /// What JAX gives (0.10), case by case: equal parts for reductions, scatters and `maximum` of two values; the first
    /// one for windows; none of them for `clamp` at a bound, for `relu` at 0 and for `relu6` at 0 and 6; and at 0
    /// `abs` has the derivative 1.
    ///
    /// `jax.nn.relu` has a derivative of its own, and its StableHLO is a `maximum` with 0 as that of
    /// `jnp.maximum(x, 0)` is, which shares the gradient. They are told apart by the name of the function that JAX
    /// leaves in the module, `@relu` or `@relu6`: a statement of the program says so at the end of its origin. A
    /// program without that name has the gradient of `maximum`.
    Jax,
}
