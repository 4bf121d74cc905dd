//! The notation inside Rust: what [`crate::op!`] and [`crate::assign!`] become.
//!
//! ```
//! use surject_tensor::{Graph, Site, Tensor, TensorError, assign, op};
//!
//! fn step(x: &Tensor, target: &Tensor) -> Result<(), TensorError> {
//!     let (hidden, lr) = (16, 0.1);
//!     let layer = op! { |x| relu({ w } * x + { b, o = [hidden] }) }?;
//!     let out = op! { in x; { out, o = [1] } }?;
//!     let loss = op! { (out * layer(x) - target) **. 2 ++ "...|... => 0" }?;
//!     assign! {
//!         loss.backprop;
//!         out =- lr * out.grad ~logic:".";
//!     }
//! }
//!
//! # fn main() -> Result<(), TensorError> {
//! let graph = Graph::new();
//! let shape = |text| surject_notation::ShapeSpec::parse(text);
//! let x = graph.input("x", Some(&shape("8|4")?), Site::default())?;
//! let target = graph.input("target", Some(&shape("8|1")?), Site::default())?;
//! step(&x, &target)?;
//! let lowered = surject_tensor::lower(&graph, &Default::default())?;
//! let state: Vec<String> = lowered.state.iter().map(|p| format!("{} {}", p.label, p.ty)).collect();
//! assert_eq!(state, ["out f32[1,16]", "w f32[16,4]", "b f32[16]"]);
//! # Ok(()) }
//! ```

use crate::elaborate::{Function, Session};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Graph, Site};
use crate::tensor::Tensor;
use crate::value::{SpecValue, Value};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use surject_notation::Spec;
use surject_notation::source::{ItemKind, Source};
use surject_shape::Place;

#[doc(hidden)]
pub use surject_macros as macros;

/// A text in a Rust source.
#[derive(Clone, Copy, Debug)]
pub struct Inline {
    /// The file.
    pub file: &'static str,
    /// The line of its first token, from one.
    pub line: usize,
    /// The column of its first token, from one.
    pub column: usize,
    /// The text.
    pub text: &'static str,
}

impl Inline {
    /// The text at its place in the file, so that places in errors are those of the file.
    fn in_place(&self) -> String {
        let lines = self.line.saturating_sub(1).min(1 << 20);
        let mut text = "\n".repeat(lines);
        text += &" ".repeat(self.column.saturating_sub(1).min(1 << 12));
        text + self.text
    }

    fn place(&self) -> Place {
        Place { file: self.file.into(), line: self.line as u32, column: self.column as u32 }
    }

    /// A call from Rust has no place in the text; it is shown where the text begins.
    fn placed(&self, mut error: TensorError) -> TensorError {
        let outside = |place: &Place| *place.file == *self.file && (place.line as usize) < self.line;
        if error.place.as_ref().is_none_or(outside) {
            error.place = Some(self.place());
            error.span = None;
        }
        for (_, place) in &mut error.context_mut().calls {
            *place = place.take().filter(|p| !outside(p));
        }
        error
    }
}

/// Values of Rust that a text may name.
#[diagnostic::on_unimplemented(
    message = "a text of tensors cannot name a `{Self}`",
    note = "it names tensors, numbers, lists of sizes, specs, texts, functions and layers"
)]
pub trait Capture {
    /// The value that the name stands for.
    fn capture(&self) -> Value;
}

macro_rules! capture {
    ($($type:ty)*) => {$(
        impl Capture for $type {
            fn capture(&self) -> Value {
                Value::from(self.clone())
            }
        }
    )*};
}

capture! { Tensor Function bool u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }

impl Capture for Value {
    fn capture(&self) -> Value {
        self.clone()
    }
}

impl Capture for str {
    fn capture(&self) -> Value {
        Value::from(self)
    }
}

impl Capture for String {
    fn capture(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Capture for Spec {
    fn capture(&self) -> Value {
        Value::Spec(Rc::new(SpecValue {
            text: self.to_string(),
            spec: self.clone(),
            captures: Vec::new(),
            numbers: Vec::new(),
            padding: None,
        }))
    }
}

impl<T: Capture + ?Sized> Capture for &T {
    fn capture(&self) -> Value {
        (**self).capture()
    }
}

impl<T: Capture> Capture for [T] {
    fn capture(&self) -> Value {
        Value::Sizes(Rc::new(self.iter().map(Capture::capture).collect()))
    }
}

impl<T: Capture, const N: usize> Capture for [T; N] {
    fn capture(&self) -> Value {
        self.as_slice().capture()
    }
}

impl<T: Capture> Capture for Vec<T> {
    fn capture(&self) -> Value {
        self.as_slice().capture()
    }
}

impl Capture for Layer {
    fn capture(&self) -> Value {
        let layer = self.clone();
        Value::Function(Function::host(self.name(), move |values| layer.apply(values)))
    }
}

/// What says in which graph a text is evaluated, after `in`: a graph, or a tensor of it.
pub trait InGraph {
    /// The graph.
    fn graph_of(&self) -> Graph;
}

impl InGraph for Graph {
    fn graph_of(&self) -> Graph {
        self.clone()
    }
}

impl InGraph for Tensor {
    fn graph_of(&self) -> Graph {
        self.graph().clone()
    }
}

impl<T: InGraph + ?Sized> InGraph for &T {
    fn graph_of(&self) -> Graph {
        (**self).graph_of()
    }
}

type Captured = Vec<(&'static str, Value)>;

/// The tensor that a text ends with.
///
/// # Errors
/// Nothing says in which graph; a mistake of names or arguments; shapes that do not fit.
pub fn tensor(inline: Inline, graph: Option<Graph>, captured: Captured) -> Result<Tensor, TensorError> {
    let (session, value) = evaluate(inline, graph, &captured)?;
    as_tensor(session.graph(), inline, value)
}

/// A value as a tensor: numbers and sizes are scalars.
fn as_tensor(graph: &Graph, inline: Inline, value: Value) -> Result<Tensor, TensorError> {
    let site = Site { place: Some(inline.place()), ..Site::default() };
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        Value::Number(number) => Ok(graph.number(number.value, number.basis.as_deref(), site)),
        Value::Size(size) => Ok(graph.size(size.size, Site { label: Some(size.name), ..site })),
        other => {
            let message = format!("a tensor is needed here, and this is {}", other.sort());
            let error = TensorError::new(TensorErrorKind::Sort, message).at(Some(inline.place()));
            Err(match other {
                Value::Function(_) => {
                    error.with_help("write a layer as a lambda, `|x| …`, or end it with `()`")
                }
                _ => error,
            })
        }
    }
}

/// The layer that a text ends with.
///
/// # Errors
/// As for [`tensor`]; where nothing says in which graph, they wait for the first call.
pub fn layer(inline: Inline, graph: Option<Graph>, captured: Captured) -> Result<Layer, TensorError> {
    let waits = graph.is_none() && !captured.iter().any(|(_, v)| graph_of(v).is_some());
    let layer = Layer(Rc::new(Inner { inline, captured, made: RefCell::new(None) }));
    if !waits {
        let graph = graph.or_else(|| layer.0.captured.iter().find_map(|(_, v)| graph_of(v)));
        layer.make(graph)?;
    }
    Ok(layer)
}

/// Runs the assignments and actions of a text.
///
/// # Errors
/// As for [`tensor`].
pub fn assign(inline: Inline, graph: Option<Graph>, captured: Captured) -> Result<(), TensorError> {
    evaluate(inline, graph, &captured).map(drop)
}

fn graph_of(value: &Value) -> Option<Graph> {
    value.tensor().map(|tensor| tensor.graph().clone())
}

/// Evaluates a text; its value is that of its last expression or function.
fn evaluate(
    inline: Inline,
    graph: Option<Graph>,
    captured: &[(&'static str, Value)],
) -> Result<(Session, Value), TensorError> {
    let Some(graph) = graph.or_else(|| captured.iter().find_map(|(_, v)| graph_of(v))) else {
        let message = "nothing says which graph this belongs to: no tensor of Rust is named here";
        return Err(TensorError::new(TensorErrorKind::Arguments, message)
            .with_help("begin with the graph: `in graph; …`")
            .at(Some(inline.place())));
    };
    let text = inline.in_place();
    let mut session = Session::over(&graph, inline.file, &text);
    for (name, value) in captured {
        session.bind(name, value.clone());
    }
    let mut source = Source::parse(&text)?;
    let last = source.items.pop();
    session.run(&source)?;
    let value = match last.map(|item| (item.kind.clone(), item)) {
        Some((ItemKind::Expr(expr), _)) => session.eval(&expr)?,
        Some((kind, item)) => {
            session.run(&Source { items: vec![item] })?;
            match kind {
                ItemKind::Function(function) => session.value(&function.name.text).unwrap_or(Value::Unit),
                _ => Value::Unit,
            }
        }
        None => Value::Unit,
    };
    Ok((session, value))
}

/// A function of tensors with the parameters it made. Clones share them.
#[derive(Clone)]
pub struct Layer(Rc<Inner>);

struct Inner {
    inline: Inline,
    captured: Captured,
    /// The evaluation, once it is known in which graph.
    made: RefCell<Option<(Session, Function)>>,
}

impl Layer {
    /// Applies the layer to tensors.
    ///
    /// # Errors
    /// Another number of tensors than it takes; shapes that do not fit; tensors of another graph than before.
    pub fn call(&self, tensors: &[&Tensor]) -> Result<Tensor, TensorError> {
        let values: Vec<Value> = tensors.iter().map(|t| Value::from(*t)).collect();
        let value = self.apply(&values)?;
        match &*self.0.made.borrow() {
            Some((session, _)) => as_tensor(session.graph(), self.0.inline, value),
            // `apply` made it.
            None => Err(TensorError::new(TensorErrorKind::Sort, "the layer was not made")),
        }
    }

    /// Applies the layer to values: tensors, or the configuration of a function that takes one.
    ///
    /// # Errors
    /// As for [`Layer::call`].
    pub fn apply(&self, values: &[Value]) -> Result<Value, TensorError> {
        if self.0.made.borrow().is_none() {
            self.make(values.iter().find_map(graph_of))?;
        }
        let Ok(mut made) = self.0.made.try_borrow_mut() else {
            let message = "a layer cannot apply itself: nothing would end it";
            return Err(TensorError::new(TensorErrorKind::TooDeep, message));
        };
        match made.as_mut() {
            Some((session, function)) => {
                let function = function.clone();
                session.call(&function, values).map_err(|error| self.0.inline.placed(error))
            }
            None => Err(TensorError::new(TensorErrorKind::Sort, "the layer was not made")),
        }
    }

    fn name(&self) -> String {
        match self.0.made.try_borrow().as_deref() {
            Ok(Some((_, function))) => function.name().to_string(),
            _ => "|…|".to_string(),
        }
    }

    fn make(&self, graph: Option<Graph>) -> Result<(), TensorError> {
        let (session, value) = evaluate(self.0.inline, graph, &self.0.captured)?;
        let Value::Function(function) = value else {
            let message = format!("a layer is a function, and this is {}", value.sort());
            return Err(TensorError::new(TensorErrorKind::Sort, message));
        };
        *self.0.made.borrow_mut() = Some((session, function));
        Ok(())
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layer {}", self.name())
    }
}

/// An expression of the notation, or a layer.
///
/// The text is that of `.sj` files ([`surject_notation::source`]): items, then an expression. Mistakes of notation are
/// compile errors at their token. Names that the text does not introduce and that the library does not have are
/// variables of the Rust code around it: tensors, numbers, sizes, specs, functions and layers
/// ([`Capture`](crate::inline::Capture)). Names of the library always mean the library.
///
/// An expression gives `Result<Tensor, TensorError>`. A lambda, a function that the text defines, and what `()` makes
/// give `Result<Layer, TensorError>`; a [`Layer`](crate::inline::Layer) makes its parameters once, however often it is
/// called. Errors have the file and the line of the macro.
///
/// ```
/// use surject_tensor::{Graph, Site, TensorError, op};
///
/// # fn main() -> Result<(), TensorError> {
/// let graph = Graph::new();
/// let shape = surject_notation::ShapeSpec::parse("8|3")?;
/// let x = graph.input("x", Some(&shape), Site::default())?;
///
/// let hidden = 16;
/// let layer = op! { |x| relu({ w } * x + { b, o = [hidden] }) }?;
/// let y = layer.call(&[&x])?;
/// let scores = op! { { out } * y + { bias, o = [10] } }?;
/// graph.output(&scores);
/// graph.infer()?;
/// assert_eq!(graph.shape(&y).map(|s| s.to_string()).as_deref(), Some("8|16"));
/// assert_eq!(graph.shape(&scores).map(|s| s.to_string()).as_deref(), Some("8|10"));
///
/// // A wrong shape is an error of the line it is written in.
/// let wrong = op! { { w5, i = [5], o = [4] } * x }.unwrap_err();
/// assert!(wrong.is_shape_error() && wrong.to_string().contains(file!()));
/// # Ok(()) }
/// ```
///
/// Where no tensor is named, `in` says the graph: by itself, or by a tensor of it.
///
/// ```
/// # fn main() -> Result<(), surject_tensor::TensorError> {
/// use surject_tensor::{Graph, op};
///
/// let graph = Graph::new();
/// let table = op! { in graph; [[1, 2, 3], [4, 5, 6]] }?;
/// assert_eq!(graph.finish(&table)?.to_string(), "2,3");
/// # Ok(()) }
/// ```
///
/// Mistakes of notation do not compile:
///
/// ```compile_fail
/// # use surject_tensor::op;
/// # let (a, b): (surject_tensor::Tensor, surject_tensor::Tensor) = todo!();
/// let _ = op! { a +* b "ij;jk=ik" }; // error[SJ0510] at the spec: `=>` is missing
/// ```
/// ```compile_fail
/// # use surject_tensor::op;
/// # let (a, b): (surject_tensor::Tensor, surject_tensor::Tensor) = todo!();
/// let _ = op! { a + * b }; // an operand is missing before `*`
/// ```
/// ```compile_fail
/// # use surject_tensor::op;
/// # let x: surject_tensor::Tensor = todo!();
/// let _ = op! { relu({ w } * x + { b, q = [4] }) }; // an inline definition has no part `q`
/// ```
#[macro_export]
macro_rules! op {
    ($($tokens:tt)*) => { $crate::inline::macros::op!([$crate] $($tokens)*) };
}

/// Assignments and actions of the notation, added to the graph of the tensors they name, in order.
///
/// The text is that of `.sj` files; names are as in [`op!`](crate::op). Gives `Result<(), TensorError>`.
///
/// ```
/// use surject_tensor::{Graph, Site, TensorError, assign, op};
///
/// # fn main() -> Result<(), TensorError> {
/// let graph = Graph::new();
/// let shape = surject_notation::ShapeSpec::parse("8|3")?;
/// let x = graph.input("x", Some(&shape), Site::default())?;
/// let w = op! { in graph; { w, o = [1] } }?;
/// let loss = op! { (w * x) **. 2 ++ "...|... => 0" }?;
/// let lr = 0.1;
/// assign! {
///     loss.backprop;
///     w =- lr * w.grad ~logic:".";
/// }?;
/// let lowered = surject_tensor::lower(&graph, &Default::default())?;
/// assert_eq!(lowered.state[lowered.updates[0]].label, "w");
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! assign {
    ($($tokens:tt)*) => { $crate::inline::macros::assign!([$crate] $($tokens)*) };
}
