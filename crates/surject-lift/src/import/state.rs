//! The state of an import: the function being built, what every StableHLO value has become, and the calls that
//! are being inlined.

use super::sizes::Sizes;
use crate::check::PendingCheck;
use crate::error::{LiftError, Place};
use std::collections::HashMap;
use std::sync::Arc;
use surject_index::{Extent, Fact, Space};
use surject_ir::{
    Block, DType, FieldId, Function, Region, Scalar, Statement, StatementKind, TensorType, Var, VarInfo,
};
use surject_stablehlo as hlo;

pub(crate) type Result<T> = std::result::Result<T, LiftError>;

/// Calls and regions nest at most this deep: the importer recurses into both.
const MAX_DEPTH: usize = 200;

/// Inlining may not blow a program up beyond this number of operations.
const MAX_OPERATIONS: usize = 500_000;

/// What a StableHLO value has become.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A variable.
    Var(Var),
    /// A tensor of equal elements: a constant field wherever it is used.
    Splat(Space, Scalar),
    /// Integers that are computed from sizes alone: a few.
    Sizes {
        /// The type of the integers.
        dtype: DType,
        /// Of rank 0 to 2.
        space: Space,
        /// The integers in row-major order, at least one.
        elements: Arc<[Extent]>,
    },
    /// Whether all of these hold of the sizes.
    Condition(Arc<[Fact]>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A token; it orders effects, and there are none.
    Token,
}

/// Where the lines of the source start, to name the origin of statements.
pub(crate) struct Source<'s> {
    file: &'s str,
    text: &'s [u8],
    lines: Vec<usize>,
}

impl<'s> Source<'s> {
    pub(crate) fn new(file: &'s str, text: &'s [u8]) -> Source<'s> {
        let ends = text.iter().enumerate().filter(|&(_, &b)| b == b'\n').map(|(i, _)| i + 1);
        Source { file, text, lines: std::iter::once(0).chain(ends).collect() }
    }

    /// `file:line:column` of an operation; its own location where there is no source.
    pub(crate) fn origin(&self, op: &hlo::Op) -> Option<Arc<str>> {
        if self.text.is_empty() {
            return op.location.clone();
        }
        let at = op.span.start.min(self.text.len());
        let line = self.lines.partition_point(|&start| start <= at);
        let start = self.lines[line.saturating_sub(1)];
        let column = self.text[start..at].iter().filter(|&b| b & 0xC0 != 0x80).count() + 1;
        Some(Arc::from(format!("{}:{line}:{column}", self.file)))
    }
}

/// Imports one function.
pub(crate) struct Lifter<'m> {
    pub(crate) module: &'m hlo::Module,
    source: &'m Source<'m>,
    /// The function being built.
    pub(crate) function: Function,
    names: HashMap<String, u32>,
    values: HashMap<hlo::ValueId, Value>,
    /// The statements of the block being built; those of the blocks around it wait in `inline` and `region`.
    statements: Vec<Statement>,
    /// The functions being inlined, outermost first.
    calls: Vec<&'m str>,
    depth: usize,
    operations: usize,
    /// Inside a region (other than a function body)?
    regions: usize,
    /// Whether the checks of the region at hand hold: those of loops and branches are carried out of them.
    pub(crate) flags: Vec<Var>,
    /// What probes have seen, by their names.
    pub(crate) probes: HashMap<String, Vec<Var>>,
    /// What probes see that run several times, or only in some runs.
    pub(crate) seen: Vec<Seen>,
    /// Are shardings kept, for programs that are written again?
    pub(crate) sharded: bool,
    /// How much of the stream of `rng` has been taken.
    pub(crate) random: u64,
    /// The space over which the scalars of a `map` body are lifted.
    pub(crate) mapped: Option<Space>,
    /// The check operations met, if they are asked for.
    pub(crate) checks: Option<Vec<PendingCheck>>,
    /// What is known of sizes.
    pub(crate) sizes: Sizes,
}

/// What a probe has seen so far, in a program that a check asks for it.
#[derive(Clone)]
pub(crate) struct Seen {
    /// The name of the probe.
    pub(crate) id: String,
    /// Which of the values that it sees are asked for.
    pub(crate) asked: Vec<i64>,
    /// How many it has seen, then each of those that are asked for; zeros before.
    pub(crate) vars: Vec<Var>,
}

impl<'m> Lifter<'m> {
    /// The variables that hold what probes have seen.
    pub(crate) fn seen_vars(&self) -> Vec<Var> {
        self.seen.iter().flat_map(|seen| seen.vars.iter().copied()).collect()
    }

    /// New variables for what probes have seen behind a statement with regions.
    pub(crate) fn see_anew(&mut self) -> Vec<Var> {
        for at in 0..self.seen.len() {
            for i in 0..self.seen[at].vars.len() {
                let ty = self.function.ty(self.seen[at].vars[i]).clone();
                self.seen[at].vars[i] = self.new_var("", ty);
            }
        }
        self.seen_vars()
    }

    /// A probe that has seen nothing, of values of this type.
    pub(crate) fn watch(&mut self, id: &str, asked: Vec<i64>, ty: &TensorType) {
        let counter = TensorType::scalar(DType::I64);
        let types = std::iter::once(&counter).chain(asked.iter().map(|_| ty));
        let mut vars = Vec::new();
        for ty in types {
            let field = self.function.fields.constant(&ty.space, surject_ir::Scalar::zero(ty.dtype));
            let target = self.new_var("", ty.clone());
            self.statements.push(Statement { kind: StatementKind::Store { target, field }, origin: None });
            vars.push(target);
        }
        self.seen.push(Seen { id: id.to_string(), asked, vars });
    }

    pub(crate) fn new(module: &'m hlo::Module, source: &'m Source<'m>, name: &str) -> Lifter<'m> {
        Lifter {
            module,
            source,
            function: Function::new(name),
            names: HashMap::new(),
            values: HashMap::new(),
            statements: Vec::new(),
            calls: Vec::new(),
            depth: 0,
            operations: 0,
            regions: 0,
            random: 0,
            sharded: false,
            flags: Vec::new(),
            probes: HashMap::new(),
            seen: Vec::new(),
            mapped: None,
            checks: None,
            sizes: Sizes::new(module),
        }
    }

    /// Where an operation stands.
    pub(crate) fn origin(&self, op: &hlo::Op) -> Option<Arc<str>> {
        self.source.origin(op)
    }

    /// A new variable with a name made from the one in the source.
    pub(crate) fn new_var(&mut self, source_name: &str, ty: TensorType) -> Var {
        let var = Var(self.function.vars.len() as u32);
        let mut name: String =
            source_name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if name.is_empty() {
            name = format!("t{}", var.0);
        } else if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, 'v');
        }
        while let Some(count) = self.names.get_mut(&name) {
            *count += 1;
            name = format!("{name}_{count}");
        }
        self.names.insert(name.clone(), 0);
        self.function.vars.push(VarInfo { name, ty });
        var
    }

    /// Appends a statement that comes from `op`.
    pub(crate) fn push(&mut self, op: &hlo::Op, kind: StatementKind) {
        let place = self.source.origin(op);
        let origin = match self.calls.iter().rev().find_map(|name| own_derivative(name)) {
            Some(name) => Some(Arc::from(place.map_or(String::new(), |p| format!("{p} in ")) + "@" + name)),
            None => place,
        };
        self.statements.push(Statement { kind, origin });
    }

    pub(crate) fn bind(&mut self, id: hlo::ValueId, value: Value) {
        self.values.insert(id, value);
    }

    pub(crate) fn lookup(&self, id: hlo::ValueId) -> Option<&Value> {
        self.values.get(&id)
    }

    /// The value as a variable of the block being built.
    pub(crate) fn materialise(&mut self, op: &hlo::Op, value: &Value) -> Result<Var> {
        match value {
            Value::Var(var) => Ok(*var),
            Value::Splat(space, scalar) => {
                let target = self.new_var("", TensorType::new(scalar.dtype(), space.clone()));
                let field = self.function.fields.constant(space, *scalar);
                self.push(op, StatementKind::Store { target, field });
                Ok(target)
            }
            Value::Sizes { dtype, space, elements } => {
                let ty = TensorType::new(*dtype, space.clone());
                if let Some(value) = super::sizes::literal_of(&ty, elements) {
                    let target = self.new_var("", ty);
                    self.push(op, StatementKind::Constant { target, value: Arc::new(value) });
                    return Ok(target);
                }
                let field = self.sizes_field(op, &ty, elements)?;
                Ok(self.keep(op, ty, field))
            }
            Value::Condition(facts) => {
                let field = self.condition_field(op, facts)?;
                Ok(self.keep(op, TensorType::scalar(DType::I1), field))
            }
            Value::Tuple(_) => Err(LiftError::unsupported(op, "a tuple where a tensor is needed")),
            Value::Token => Err(LiftError::unsupported(op, "a token where a tensor is needed")),
        }
    }

    /// A field as a variable of the block being built.
    fn keep(&mut self, op: &hlo::Op, ty: TensorType, field: FieldId) -> Var {
        let target = self.new_var("", ty);
        self.push(op, StatementKind::Store { target, field });
        target
    }

    /// The type of a value, if it is a tensor.
    pub(crate) fn type_of(&self, value: &Value) -> Option<TensorType> {
        match value {
            Value::Var(var) => Some(self.function.ty(*var).clone()),
            Value::Splat(space, scalar) => Some(TensorType::new(scalar.dtype(), space.clone())),
            Value::Sizes { dtype, space, .. } => Some(TensorType::new(*dtype, space.clone())),
            Value::Condition(_) => Some(TensorType::scalar(DType::I1)),
            Value::Tuple(_) | Value::Token => None,
        }
    }

    /// Lifts the operations of a body into the block being built, with `args` for its parameters; gives the
    /// operands of its terminator.
    pub(crate) fn inline(
        &mut self,
        op: &'m hlo::Op,
        body: &'m hlo::Region,
        args: Vec<Value>,
    ) -> Result<Vec<Value>> {
        if args.len() != body.params.len() {
            let detail = format!("{} values for {} parameters", args.len(), body.params.len());
            return Err(LiftError::invalid(op, detail));
        }
        let Some((last, ops)) = body.ops.split_last() else {
            return Err(LiftError::invalid(op, "a region without operations"));
        };
        if self.depth >= MAX_DEPTH {
            return Err(LiftError::unsupported(
                op,
                format!("calls and regions nest more than {MAX_DEPTH} deep"),
            ));
        }
        self.depth += 1;
        for ((id, _), value) in body.params.iter().zip(args) {
            self.bind(*id, value);
        }
        for inner in ops {
            self.operations += 1;
            if self.operations > MAX_OPERATIONS {
                let detail = format!("inlining its calls gives more than {MAX_OPERATIONS} operations");
                return Err(LiftError::unsupported(op, detail));
            }
            super::dispatch(self, inner)?;
        }
        self.depth -= 1;
        if !matches!(&*last.name, "stablehlo.return" | "func.return" | "chlo.return" | "sdy.return") {
            return Err(LiftError::invalid(last, "the last operation of a region must be a return"));
        }
        last.operands.iter().map(|&id| self.operand(last, id)).collect()
    }

    /// Lifts a region with parameters of these types (`None` for those it declares) into a block of its own.
    pub(crate) fn region(
        &mut self,
        op: &'m hlo::Op,
        region: &'m hlo::Region,
        types: Option<&[TensorType]>,
    ) -> Result<Region> {
        let seen = std::mem::take(&mut self.seen);
        let lifted = self.checked_region(op, region, types);
        self.seen = seen;
        let (region, flags) = lifted?;
        match flags.is_empty() {
            true => Ok(region),
            false => Err(LiftError::unsupported(op, "a check inside a region that is no loop or branch")),
        }
    }

    /// A region of a loop or branch, and whether the checks inside hold.
    pub(crate) fn checked_region(
        &mut self,
        op: &'m hlo::Op,
        region: &'m hlo::Region,
        types: Option<&[TensorType]>,
    ) -> Result<(Region, Vec<Var>)> {
        let outside = self.seen.clone();
        let lifted = self.watched_region(op, region, types);
        self.seen = outside;
        lifted
    }

    /// As [`Lifter::checked_region`]: what probes have seen behind the region are its last results; a region with parameters
    /// has what they have seen before as its last parameters.
    fn watched_region(
        &mut self,
        op: &'m hlo::Op,
        region: &'m hlo::Region,
        types: Option<&[TensorType]>,
    ) -> Result<(Region, Vec<Var>)> {
        if self.mapped.is_some() {
            return Err(LiftError::unsupported(op, "a region inside the body of a `map`"));
        }
        let mut params = Vec::new();
        for (i, (id, ty)) in region.params.iter().enumerate() {
            // A `?` of what is carried is what it is in the values that come in.
            let given = types.and_then(|t| t.get(i)).filter(|_| self.sizes.dynamic);
            let declared = match (given, ty.as_tensor()) {
                (Some(given), Some(tensor)) if tensor.static_shape().is_none() => {
                    let extents = given.space.extents().to_vec();
                    let space = self.claim(op, &format!("region parameter {i}"), tensor, extents)?;
                    TensorType::new(super::types::dynamic(op, tensor)?, space)
                }
                _ => super::types::tensor(op, ty)?,
            };
            if let Some(expected) = types.map(|t| t.get(i))
                && expected != Some(&declared)
            {
                return Err(LiftError::invalid(op, format!("region parameter {i} has the wrong type {ty}")));
            }
            params.push(self.new_var(self.module.name_of(*id), declared));
        }
        let outer = std::mem::take(&mut self.statements);
        let around = std::mem::take(&mut self.flags);
        self.regions += 1;
        let args = params.iter().map(|&v| Value::Var(v)).collect();
        if !params.is_empty() {
            for at in 0..self.seen.len() {
                for i in 0..self.seen[at].vars.len() {
                    let ty = self.function.ty(self.seen[at].vars[i]).clone();
                    self.seen[at].vars[i] = self.new_var("", ty);
                    params.push(self.seen[at].vars[i]);
                }
            }
        }
        let results = self.inline(op, region, args)?;
        let mut results = results.iter().map(|v| self.materialise(op, v)).collect::<Result<Vec<_>>>()?;
        results.extend(self.seen_vars());
        self.regions -= 1;
        let flags = std::mem::replace(&mut self.flags, around);
        let statements = std::mem::replace(&mut self.statements, outer);
        Ok((Region { params, body: Block { statements, results } }, flags))
    }

    /// Lifts a region of scalars whose parameters come in another element type, from which they are converted first.
    pub(crate) fn region_of(
        &mut self,
        op: &'m hlo::Op,
        region: &'m hlo::Region,
        dtype: DType,
    ) -> Result<Region> {
        let mut params = Vec::new();
        let mut args = Vec::new();
        let outer = std::mem::take(&mut self.statements);
        for (id, ty) in &region.params {
            let declared = super::types::tensor(op, ty)?;
            let param =
                self.new_var(self.module.name_of(*id), TensorType::new(dtype, declared.space.clone()));
            let field = self.function.tensor(param);
            let field = self.function.fields.convert(declared.dtype, field);
            let target = self.new_var("", declared);
            self.push(op, StatementKind::Store { target, field });
            params.push(param);
            args.push(Value::Var(target));
        }
        self.regions += 1;
        let results = self.inline(op, region, args)?;
        let results = results.iter().map(|v| self.materialise(op, v)).collect::<Result<Vec<_>>>()?;
        self.regions -= 1;
        let statements = std::mem::replace(&mut self.statements, outer);
        Ok(Region { params, body: Block { statements, results } })
    }

    /// Inlines a call of the function of this name.
    pub(crate) fn call(&mut self, op: &'m hlo::Op, callee: &str, args: Vec<Value>) -> Result<Vec<Value>> {
        let Some(function) = self.module.function(callee) else {
            return Err(LiftError::invalid(op, format!("there is no function `@{callee}`")));
        };
        if self.calls.contains(&function.name.as_str()) {
            return Err(LiftError::Recursion { function: function.name.clone(), place: Place::of(op) });
        }
        if function.is_declaration() {
            return Err(LiftError::unsupported(op, format!("the function `@{callee}` has no body")));
        }
        self.calls.push(&function.name);
        let results = self.inline(op, &function.body, args);
        self.calls.pop();
        results
    }

    /// Lifts the body of the function itself.
    pub(crate) fn body(&mut self, function: &'m hlo::Function) -> Result<()> {
        let anchor = function.body.ops.last();
        let Some(anchor) = anchor else {
            return Err(LiftError::Unsupported {
                op: format!("func.func @{}", function.name),
                detail: String::from("a function without a body"),
                place: Place { span: function.span, location: function.location.clone() },
            });
        };
        if self.sizes.dynamic {
            let types = self.parameters(anchor, function).map_err(|e| at_function(e, function))?;
            for ((id, _), ty) in function.body.params.iter().zip(types) {
                let var = self.new_var(self.module.name_of(*id), ty);
                self.function.params.push(var);
            }
        } else {
            for (id, ty) in &function.body.params {
                let ty = super::types::tensor(anchor, ty).map_err(|e| at_function(e, function))?;
                let var = self.new_var(self.module.name_of(*id), ty);
                self.function.params.push(var);
            }
        }
        let mut args: Vec<Value> = self.function.params.iter().map(|&v| Value::Var(v)).collect();
        for (value, param) in args.iter_mut().zip(&function.params) {
            super::sharding::constrain(self, anchor, value, &param.attributes)?;
        }
        self.calls.push(&function.name);
        let mut results = self.inline(anchor, &function.body, args)?;
        self.calls.pop();
        for (value, result) in results.iter_mut().zip(&function.results) {
            super::sharding::constrain(self, anchor, value, &result.attributes)?;
        }
        let mut vars = Vec::new();
        for value in &results {
            vars.push(self.materialise(anchor, value)?);
        }
        self.function.body.results = vars;
        self.function.body.statements = std::mem::take(&mut self.statements);
        Ok(())
    }

    /// How many statements the block being built has.
    pub(crate) fn statements_so_far(&self) -> usize {
        self.statements.len()
    }

    /// Is nothing computed yet?
    pub(crate) fn statements_are_none(&self) -> bool {
        self.statements.is_empty() && self.regions == 0
    }

    /// What every StableHLO value has become.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.values.values_mut()
    }

    /// Forgets the statements behind the first `count`, which nothing uses.
    pub(crate) fn take_back(&mut self, count: usize) {
        self.statements.truncate(count);
    }

    /// Are we inside a region of a loop, a branch or a library call?
    pub(crate) fn in_region(&self) -> bool {
        self.regions > 0
    }

    /// The value of an operand.
    pub(crate) fn operand(&self, op: &hlo::Op, id: hlo::ValueId) -> Result<Value> {
        self.lookup(id).cloned().ok_or_else(|| {
            LiftError::invalid(op, format!("the operand %{} is not defined here", self.module.name_of(id)))
        })
    }
}

/// The function of JAX that has a derivative other than that of its formula, of which only the name tells: statements of
/// it end their origin with that name. JAX numbers functions of one name.
fn own_derivative(function: &str) -> Option<&'static str> {
    let base = match function.rsplit_once('_') {
        Some((base, number)) if number.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => function,
    };
    ["relu", "relu6"].into_iter().find(|&name| name == base)
}

/// An error about a parameter's type names the function, not the operation that stood in for it.
fn at_function(error: LiftError, function: &hlo::Function) -> LiftError {
    let place = Place { span: function.span, location: function.location.clone() };
    let op = format!("func.func @{}", function.name);
    match error {
        LiftError::Unsupported { detail, .. } => LiftError::Unsupported { op, detail, place },
        LiftError::Invalid { detail, .. } => LiftError::Invalid { op, detail, place },
        LiftError::Sizes { field, fact, message, .. } => LiftError::Sizes { op, field, fact, message, place },
        other => other,
    }
}

/// The dtype of an integer with as many bits as a float.
pub(crate) fn bits_type(dtype: DType) -> Option<DType> {
    Some(match dtype {
        DType::F16 | DType::BF16 => DType::I16,
        DType::F32 => DType::I32,
        DType::F64 => DType::I64,
        _ => return None,
    })
}
