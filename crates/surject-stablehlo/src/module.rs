//! The program: a module of functions of operations in SSA form, each region one block.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::attr::Attributes;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::name::OpName;
use crate::types::{FunctionType, TensorType, Type};

/// A value: a function parameter, a region parameter or a result. Unique in its [`Module`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    /// Position in tables indexed by value.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What the module knows of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueInfo {
    /// Type of the value.
    pub ty: Type,
}

/// Operands or results of an operation.
pub type Values = SmallVec<[ValueId; 4]>;

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `@name` of the module, if the file has a module with a name.
    pub name: Option<String>,
    /// Attributes of the module.
    pub attributes: Attributes,
    /// Functions in the order of the text.
    pub functions: Vec<Function>,
    /// Operations at module level other than functions, for example `sdy.mesh`, in the order of the text.
    pub other: Vec<Op>,
    /// Table of all values, indexed by [`ValueId`].
    pub values: Vec<ValueInfo>,
    pub(crate) names: ValueNames,
}

/// The names of values, one behind the other: a string for each would be most of the memory of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueNames {
    text: String,
    /// Where the name of each value ends. Values behind the last have no name.
    ends: Vec<u32>,
}

impl ValueNames {
    /// Sets the name of a value behind all that have one. Names beyond 4 GiB are left out.
    fn set(&mut self, value: ValueId, name: &str) {
        let end = self.text.len();
        if name.is_empty() || u32::try_from(end + name.len()).is_err() {
            return;
        }
        self.ends.resize(value.index(), end as u32);
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
    }

    fn get(&self, value: ValueId) -> Option<&str> {
        let end = *self.ends.get(value.index())?;
        let start = value.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start as usize..end as usize)
    }
}

impl Module {
    /// Type of a value of this module.
    ///
    /// # Panics
    /// If the value belongs to another module.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.index()].ty
    }

    /// Tensor type of a value, if it is a ranked tensor.
    pub fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.values.get(value.index())?.ty.as_tensor()
    }

    /// Name of a value as the source wrote it, without `%`; with `#i` for a result of a group. Empty for values made by
    /// a builder or by the expansion of a short form. The printer numbers values anew, as MLIR does.
    pub fn name_of(&self, value: ValueId) -> &str {
        self.names.get(value).unwrap_or("")
    }

    /// The function called `name`.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The function to run when none is named: `main`, else the first public function, else the first.
    pub fn entry(&self) -> Option<&Function> {
        let public = |f: &&Function| f.visibility == Visibility::Public;
        self.function("main")
            .or_else(|| self.functions.iter().find(public))
            .or_else(|| self.functions.first())
    }

    /// Adds a value to the table.
    pub fn new_value(&mut self, ty: Type, name: &str) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(ValueInfo { ty });
        self.names.set(id, name);
        id
    }

    /// Gives back memory that is kept for further values.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.values.shrink_to_fit();
        self.names.text.shrink_to_fit();
        self.names.ends.shrink_to_fit();
    }

    /// Whether two modules are the same program: everything but spans, locations and value names.
    pub fn same(&self, other: &Module) -> bool {
        crate::same::same_module(self, other)
    }
}

/// Who may call a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// No keyword, or `public`.
    #[default]
    Public,
    /// `private`
    Private,
    /// `nested`
    Nested,
}

/// `func.func`
#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name, without `@`.
    pub name: String,
    /// Who may call it.
    pub visibility: Visibility,
    /// Whether the text says `public` explicitly (kept so that printing gives it back).
    pub explicit_public: bool,
    /// Parameters; the same values as `body.params`.
    pub params: Vec<Param>,
    /// Results, in order.
    pub results: Vec<ResultDecl>,
    /// Attributes of the function itself (`attributes {…}`).
    pub attributes: Attributes,
    /// The body; its last operation is `func.return`. A declaration has no operations, see [`Function::is_declaration`].
    pub body: Region,
    /// The function's name in the source.
    pub span: Span,
    /// Text of its location, if the source gives one.
    pub location: Option<Arc<str>>,
}

impl Function {
    /// Whether the function is declared without a body.
    pub fn is_declaration(&self) -> bool {
        self.body.ops.is_empty()
    }

    /// Types of parameters and results.
    pub fn ty(&self) -> FunctionType {
        FunctionType {
            inputs: self.params.iter().map(|p| p.ty.clone()).collect(),
            results: self.results.iter().map(|r| r.ty.clone()).collect(),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// The value.
    pub value: ValueId,
    /// Its type.
    pub ty: Type,
    /// Its attributes (`jax.global_constant`, `tf.aliasing_output`, …).
    pub attributes: Attributes,
}

/// A declared result of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultDecl {
    /// Its type.
    pub ty: Type,
    /// Its attributes (`jax.result_info`, …).
    pub attributes: Attributes,
}

/// A region of one block.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Block arguments.
    pub params: Vec<(ValueId, Type)>,
    /// Operations in order; the last one is the terminator.
    pub ops: Vec<Op>,
}

impl Region {
    /// Adds an operation that was read; a mistake behind one that returns, which ends its region.
    pub(crate) fn push(&mut self, op: Op) -> Result<(), Diagnostic> {
        match self.ops.last() {
            Some(last) if last.name == "func.return" || last.name == "stablehlo.return" => {
                let message = format!("'{}' stands behind '{}', which ends the region", op.name, last.name);
                Err(Diagnostic::new(codes::SIGNATURE, op.span, message))
            }
            _ => {
                self.ops.push(op);
                Ok(())
            }
        }
    }

    /// The last operation, which returns from the region.
    pub fn terminator(&self) -> Option<&Op> {
        self.ops.last()
    }
}

/// One operation, whichever form it was written in.
#[derive(Clone, Debug)]
pub struct Op {
    /// Full name: `stablehlo.add`, `chlo.erf`, `func.call`, `func.return`.
    pub name: OpName,
    /// Operands in order; for `stablehlo.reduce` and the like inputs first, then initial values.
    pub operands: Values,
    /// Results in order.
    pub results: Values,
    /// Properties and attributes, merged by name, normalised, with defaults filled in.
    pub attributes: Attributes,
    /// Regions in order.
    pub regions: Vec<Region>,
    /// The whole operation in the source, from its name on.
    pub span: Span,
    /// Text of its location, if the source gives one.
    pub location: Option<Arc<str>>,
}

impl Op {
    /// An operation without operands, results, attributes or regions.
    pub fn new(name: impl Into<OpName>) -> Op {
        Op {
            name: name.into(),
            operands: Values::new(),
            results: Values::new(),
            attributes: Attributes::default(),
            regions: Vec::new(),
            span: Span::default(),
            location: None,
        }
    }

    /// Name without its dialect: `add` of `stablehlo.add`.
    pub fn short_name(&self) -> &str {
        self.name.split_once('.').map_or(&self.name, |(_, short)| short)
    }

    /// The two counts of an attribute such as `operandSegmentSizes`.
    pub(crate) fn segments(&self, name: &str) -> Option<(usize, usize)> {
        let crate::attr::Attribute::DenseArray { values, .. } = self.attributes.get(name)? else {
            return None;
        };
        let [first, second] = &**values else { return None };
        Some((usize::try_from(*first).ok()?, usize::try_from(*second).ok()?))
    }

    /// The row of the op table, if the operation is known.
    pub fn spec(&self) -> Option<&'static crate::table::OpSpec> {
        self.name.spec()
    }
}
