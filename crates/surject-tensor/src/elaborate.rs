//! From sources to graphs: what the trees of the notation mean.
//!
//! A [`Session`] evaluates a source item by item. Expressions become tensors of its [`Graph`], functions are applied
//! while the graph is built, and nothing is computed. The grammar and its meaning are said in
//! [`surject_notation::source`]; here is what evaluation adds to it:
//!
//! * **Names** are looked up where they stand: in the function, then in what surrounded the function where it was
//!   defined, then in the library. A function takes what it names along, so that it can be used anywhere.
//! * **Numbers** stay numbers of the host program until an operator takes them; then they are scalars. Arithmetic of
//!   numbers gives a number.
//! * **Sizes** that a spec captures are names from there on. In arithmetic they are scalars; `+` and `*` of sizes and
//!   whole numbers are sizes again, and where a size is asked for, `-` subtracts and `/` divides without a rest.
//! * **Functions have stages**, configuration, `()` and tensors, applied one after the other. A call may give
//!   the configuration by key and the tensors by position at once; its parameters then belong to the place of the call.
//! * **Parameters** belong to the instance that `()` made, or to the function without `()`; they are made when they are
//!   first needed, once. Their names are paths of `let` names: `net.first.w`. Layers that the body of a layer makes
//!   belong to that layer, one for each place.
//! * **Files.** `file("w.npy")` is a constant: what the file holds, with its axes as output axes. `wrap(file("w.npy"),
//!   i: [3], o: [2])` deals the axes to the rows, `reshape(file("w.npy"))` keeps the number of elements only. A parameter
//!   that starts as one of the first two, `{ w = file("w.npy") }`, has its shape.
//! * **Random words.** `threefry4x32(key, counter)` makes words of 128 random bits, which only conversions read:
//!   `uint4x32_to_prec_uniform(words)` makes as many numbers of a list of words as their bits give (four of each in f32),
//!   `uint4x32_to_prec_uniform1(words)` one of each.
//! * **Slices are written through**: `rows @| step =: x;` writes one slice of `rows`, the others stay.
//! * **Errors** point at the user's text; what goes wrong within the library is shown where the library was called.

mod assign;
mod builtin;
mod call;
mod capture;
mod cut;
mod declare;
mod expr;
mod file;
mod frame;
mod function;
mod items;
mod library;
mod literal;
mod owner;
mod repeat;
mod sizes;
mod specs;
mod text;

pub use function::Function;

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::value::Value;
use frame::Frame;
use owner::Owner;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::source::{Expr, Source};
use text::Text;

/// How deep calls may nest.
pub const MAX_CALLS: usize = 100;

/// How deep expressions may nest, over all calls together.
pub const MAX_DEPTH: usize = 700;

/// How much of the stack evaluation may take, in bytes; threads commonly have 2 MiB.
const MAX_STACK: usize = 3 << 19;

/// The names that every text has: functions and operators of the library, and what is built in.
pub fn library_names() -> impl Iterator<Item = &'static str> {
    library::names().chain(builtin::names())
}

/// How deep functions may be within functions that they take along.
const MAX_NESTING: u32 = 1000;

/// How many expressions one text may come to, all calls counted.
pub const MAX_EVALUATED: u64 = 2_000_000;

/// The evaluation of a text into a graph.
///
/// ```
/// use surject_tensor::Session;
///
/// let text = "input x: \"10|2\"; let y = relu({ w } * x + { b, o = [16] }); output y;";
/// let mut session = Session::new("net.sj", text);
/// session.run_text()?;
/// session.graph().infer()?;
/// let w = session.tensor("w")?;
/// assert_eq!(session.graph().shape(&w).map(|s| s.to_string()).as_deref(), Some("2->16"));
/// # Ok::<(), surject_tensor::TensorError>(())
/// ```
pub struct Session {
    graph: Graph,
    text: Arc<Text>,
    /// Every text that was evaluated, for the lines of errors.
    texts: HashMap<Arc<str>, Arc<Text>>,
    /// The whole text, then the functions being applied.
    frames: Vec<Frame>,
    /// Owners of what functions of the library define.
    library: Rc<Owner>,
    /// Constants whose shapes are those of files.
    files: BTreeSet<NodeId>,
    /// The names of parameters and the paths of layers that are taken.
    taken: BTreeSet<String>,
    /// How deep the expression being evaluated is.
    depth: usize,
    /// How many expressions were evaluated.
    evaluated: u64,
    /// Where the stack was when evaluation began.
    stack: usize,
}

impl Session {
    /// A session for a text, over a new graph. The text is what places in errors refer to.
    pub fn new(file: &str, text: &str) -> Session {
        Session::over(&Graph::new(), file, text)
    }

    /// A session for a text that adds to a graph.
    pub fn over(graph: &Graph, file: &str, text: &str) -> Session {
        let text = Arc::new(Text::new(file, text, false));
        let taken = (0..graph.len() as u32)
            .map(|id| graph.node(NodeId(id)))
            .filter(|node| matches!(node.kind, NodeKind::Parameter { .. } | NodeKind::Assigned))
            .map(|node| node.label);
        Session {
            graph: graph.clone(),
            texts: HashMap::from([(text.file().into(), text.clone())]),
            frames: vec![Frame::of_text(text.clone())],
            text,
            library: Rc::new(Owner::new(String::new())),
            files: BTreeSet::new(),
            taken: taken.collect(),
            depth: 0,
            evaluated: 0,
            stack: stack_pointer(),
        }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Gives a name to a value of the host program.
    pub fn bind(&mut self, name: &str, value: impl Into<Value>) -> &mut Session {
        self.define(name, value.into());
        self
    }

    /// Evaluates the text of the session.
    ///
    /// # Errors
    /// A mistake of notation, of names and arguments, or of shapes.
    pub fn run_text(&mut self) -> Result<(), TensorError> {
        let text = self.text.clone();
        let source = Source::parse(text.text()).map_err(|e| self.located(e.into()))?;
        self.run(&source)
    }

    /// Evaluates a source, whose places are those of the text of the session.
    ///
    /// # Errors
    /// A mistake of names and arguments, or of shapes.
    pub fn run(&mut self, source: &Source) -> Result<(), TensorError> {
        self.fresh_owner();
        self.declarations(&source.items)?;
        source.items.iter().try_for_each(|item| self.item(item, &source.items))
    }

    /// Evaluates an expression, whose places are those of the text of the session.
    ///
    /// # Errors
    /// A mistake of names and arguments, or of shapes.
    pub fn eval(&mut self, expr: &Expr) -> Result<Value, TensorError> {
        self.fresh_owner();
        self.expr(expr, None)
    }

    /// The value of a name at the top level of the text.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.frames.first().and_then(|frame| frame.value(name)).cloned()
    }

    /// The tensor of a name at the top level of the text.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn tensor(&self, name: &str) -> Result<crate::Tensor, TensorError> {
        match self.value(name) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            Some(other) => {
                let message = format!("`{name}` is {}, not a tensor", other.sort());
                Err(TensorError::new(TensorErrorKind::Sort, message))
            }
            None => Err(TensorError::new(TensorErrorKind::Unknown, format!("nothing has the name `{name}`"))),
        }
    }

    /// Applies a function to values.
    ///
    /// # Errors
    /// A mistake of arguments or of shapes.
    pub fn call(&mut self, function: &Function, values: &[Value]) -> Result<Value, TensorError> {
        self.stack = stack_pointer();
        let arguments = values.iter().map(call::Given::plain).collect();
        self.apply(function, arguments, call::Site::default())
    }

    /// An error with the line it is about, as the command shows it.
    pub fn render(&self, error: &TensorError) -> String {
        let text = match &error.place {
            Some(place) => self.texts.get(&*place.file).unwrap_or(&self.text),
            None => &self.text,
        };
        error.render(text.file(), text.text())
    }

    /// What is defined at the top level belongs to a new owner, so that a text can be evaluated again.
    fn fresh_owner(&mut self) {
        self.frames.truncate(1);
        self.depth = 0;
        self.evaluated = 0;
        self.stack = stack_pointer();
        if let Some(frame) = self.frames.first_mut() {
            frame.owner = Rc::new(Owner::new(String::new()));
        }
    }
}

/// Where the stack is.
fn stack_pointer() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here).addr()
}
