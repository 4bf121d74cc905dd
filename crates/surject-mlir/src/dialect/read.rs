//! Module → program.

use super::literals::SharedLiterals;
use super::reader::{Attributes, elements, name, string};
use super::value::tensor_type;
use super::{NAME, NAMES, ORIGIN, PARAMS, REGION, affine, library, ops};
use crate::session::{origin, position};
use crate::{MlirError, Place, Stage};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::TypeLike;
use melior::ir::{AttributeLike, BlockLike, BlockRef, Module, RegionLike, RegionRef, Value, ValueLike};
use mlir_sys::{
    MlirStringRef, mlirAttributeIsADictionary, mlirDictionaryAttrGetElementByName, mlirTypeIsATuple,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::{Fill, IndexMap};
use surject_ir::{
    BinaryOp, Block, FieldId, Function, Program, Region, Scalar, Statement, StatementKind, TensorType,
    UnaryOp, Var,
};

/// The program of a verified module. `text` is what it was parsed from, empty where it was built.
pub(super) fn program(
    module: &Module<'_>,
    text: &str,
    literals: &SharedLiterals,
) -> Result<Program, MlirError> {
    let symbol = |op| Attributes(op).string("sym_name");
    let top = module.as_operation();
    let name_of_module = symbol(top).unwrap_or_default();
    let (mut functions, mut scalar_functions) = (Vec::new(), HashMap::new());
    for op in operations(module.body()) {
        if name(op) != "func.func" {
            return Err(error_at(op, text, format!("`{}` is not a function", name(op))));
        }
        let symbol = symbol(op).map_err(|e| error_at(op, text, e))?;
        if Attributes(op).get(REGION).is_some() {
            scalar_functions.insert(symbol, op);
        } else {
            functions.push((symbol, op));
        }
    }
    let mut program = Program { name: name_of_module, functions: Vec::new() };
    let mut used = HashSet::new();
    for (symbol, op) in functions {
        let mut reader = Reader {
            text,
            literals,
            function: Function::new(symbol),
            values: HashMap::new(),
            types: HashMap::new(),
            no_flags: HashSet::new(),
            scalar_functions: &scalar_functions,
            used: &mut used,
        };
        let (params, block) = reader.parameters(op)?;
        reader.function.params = params;
        reader.function.body = reader.block(block)?;
        program.functions.push(reader.function);
    }
    Ok(program)
}

/// What an MLIR value stands for.
#[derive(Clone)]
enum Meaning {
    Var(Var),
    Field(FieldId),
    /// Operands or results of a library operation.
    Tuple(Vec<Var>),
    /// The element of a variable of rank 0, or the index made of it.
    Element(Var),
}

struct Reader<'t, 'c, 'a> {
    text: &'t str,
    literals: &'t SharedLiterals,
    function: Function,
    /// By the address of the value.
    values: HashMap<usize, Meaning>,
    /// Tensor types that were read, by their address.
    types: HashMap<usize, TensorType>,
    /// The attributes that say that an operation has no flags, by their address.
    no_flags: HashSet<usize>,
    scalar_functions: &'t HashMap<String, OperationRef<'c, 'a>>,
    /// The scalar functions that were read: each belongs to one operation, so that reading ends.
    used: &'t mut HashSet<String>,
}

type Read<T> = Result<T, MlirError>;

impl<'c, 'a> Reader<'_, 'c, 'a> {
    /// The parameters of a function as new variables, and its block.
    fn parameters(&mut self, op: OperationRef<'c, 'a>) -> Read<(Vec<Var>, BlockRef<'c, 'a>)> {
        let block = self.body(op, op.region(0).ok())?;
        let names = argument_names(op);
        let params = (0..block.argument_count())
            .map(|i| self.parameter(op, block, i, names.get(i).cloned().flatten()))
            .collect::<Read<_>>()?;
        Ok((params, block))
    }

    fn parameter(
        &mut self,
        op: OperationRef<'c, 'a>,
        block: BlockRef<'c, 'a>,
        i: usize,
        name: Option<String>,
    ) -> Read<Var> {
        let argument = block.argument(i).map_err(|e| self.error(op, e.to_string()))?;
        let ty = self.tensor_type(op, argument.into())?;
        let var = self.function.var(&name.unwrap_or_default(), ty);
        self.mean(argument.into(), Meaning::Var(var));
        Ok(var)
    }

    /// The one block of a region.
    fn body(&self, op: OperationRef<'c, 'a>, region: Option<RegionRef<'c, 'a>>) -> Read<BlockRef<'c, 'a>> {
        let block = region.and_then(|r| r.first_block());
        let block = block.ok_or_else(|| self.error(op, format!("`{}` has no body", name(op))))?;
        match block.next_in_region() {
            None => Ok(block),
            Some(_) => Err(self.error(op, format!("a region of `{}` has several blocks", name(op)))),
        }
    }

    /// The statements of a block, and its results: the operands of the terminator that are variables.
    fn block(&mut self, block: BlockRef<'c, 'a>) -> Read<Block> {
        let mut result = Block::default();
        for op in operations(block) {
            match name(op).as_str() {
                "func.return" | "scf.yield" => result.results = self.vars(op, 0)?,
                // The condition of a loop: its first operand is the value of the block.
                "scf.condition" => match self.meaning(op, 0)? {
                    Meaning::Element(var) => result.results = vec![var],
                    _ => {
                        return Err(
                            self.error(op, "the condition is not the element of a stored tensor of rank 0")
                        );
                    }
                },
                _ => {
                    if let Some(kind) = self.operation(op)? {
                        let origin = Attributes(op).string(ORIGIN).ok().map(Arc::from);
                        result.statements.push(Statement { kind, origin });
                    }
                }
            }
        }
        Ok(result)
    }

    /// Reads an operation: a statement, or a value that is none.
    fn operation(&mut self, op: OperationRef<'c, 'a>) -> Read<Option<StatementKind>> {
        let name = name(op);
        match name.as_str() {
            "surject.store" => {
                let field = self.field(op, 0)?;
                let target = self.target(op, 0)?;
                Ok(Some(StatementKind::Store { target, field }))
            }
            "surject.literal" => {
                let shared = Attributes(op).get("value").and_then(|value| self.literals.find(value));
                let value = match shared {
                    Some(value) => value,
                    None => Arc::new(self.attribute(op, |a| a.dense("value"))?),
                };
                let target = self.target(op, 0)?;
                let ty = self.function.ty(target);
                let shape: Vec<i64> = value.shape().iter().map(|&n| n as i64).collect();
                if value.dtype() != ty.dtype || ty.space.sizes() != Some(shape) {
                    return Err(self.error(op, format!("the elements are not those of a {ty}")));
                }
                Ok(Some(StatementKind::Constant { target, value }))
            }
            "scf.while" => self.while_loop(op).map(Some),
            "scf.index_switch" => self.choice(op).map(Some),
            "builtin.unrealized_conversion_cast" => self.cast(op).map(|()| None),
            "tensor.extract" => {
                let var = self.var(op, 0)?;
                if op.operand_count() != 1 {
                    return Err(self.error(op, "elements are read out of tensors of rank 0 only"));
                }
                self.result(op, 0, Meaning::Element(var)).map(|()| None)
            }
            "arith.index_cast" => match self.meaning(op, 0)? {
                Meaning::Element(var) => self.result(op, 0, Meaning::Element(var)).map(|()| None),
                _ => Err(self.error(op, "an index is the element of a stored tensor of rank 0")),
            },
            _ => match library::decode(&name, &Attributes(op)) {
                Some(lib) => {
                    let lib = lib.map_err(|e| self.error(op, e))?;
                    self.call(op, lib).map(Some)
                }
                None => self.node(op, &name).map(|()| None),
            },
        }
    }

    /// A field.
    fn node(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Read<()> {
        let result =
            op.result(0).map_err(|_| self.error(op, format!("`{name}` has no meaning in a program")))?;
        let ty = self.tensor_type(op, result.into())?;
        let built = match name {
            "surject.read" => {
                let of = self.field(op, 0)?;
                let map = self.read_map(op, &ty, of)?;
                self.function.fields.read(map, of)
            }
            "surject.acc" => {
                let of = self.field(op, 0)?;
                let domain = self.function.fields[of].space.clone();
                let word = self.attribute(op, |a| a.string("kind"))?;
                let kind = ops::acc_of(&word)
                    .ok_or_else(|| self.error(op, format!("`{word}` is not a kind of accumulation")))?;
                let map = self.map_attribute(op, domain.rank())?;
                let map = IndexMap::total(domain, ty.space.clone(), map);
                let map = map.map_err(|e| self.error(op, e.to_string()))?;
                self.function.fields.acc(kind, map, of)
            }
            "surject.index" => {
                let axis = self.attribute(op, |a| a.size("axis"))?;
                self.function.fields.index(&ty.space, axis, ty.dtype)
            }
            "surject.constant" => {
                let value = self.scalar(op, "value", &ty)?;
                Ok(self.function.fields.constant(&ty.space, value))
            }
            // Passes fold constants to those of upstream.
            "arith.constant" => {
                let value = self.attribute(op, |a| a.splat("value"))?;
                Ok(self.function.fields.constant(&ty.space, value))
            }
            "surject.unary" => {
                let word = self.attribute(op, |a| a.string("op"))?;
                let unary = UnaryOp::from_name(&word)
                    .ok_or_else(|| self.error(op, format!("`{word}` is not a unary operation")))?;
                let x = self.field(op, 0)?;
                self.function.fields.unary(unary, x)
            }
            "surject.binary" => {
                let word = self.attribute(op, |a| a.string("op"))?;
                let binary = BinaryOp::from_name(&word)
                    .ok_or_else(|| self.error(op, format!("`{word}` is not a binary operation")))?;
                let (x, y) = (self.field(op, 0)?, self.field(op, 1)?);
                self.function.fields.binary(binary, x, y)
            }
            "arith.select" => {
                let (cond, x, y) = (self.field(op, 0)?, self.field(op, 1)?, self.field(op, 2)?);
                self.function.fields.select(cond, x, y)
            }
            "surject.convert" => {
                let x = self.field(op, 0)?;
                Ok(self.function.fields.convert(ty.dtype, x))
            }
            "surject.bitcast" => {
                let x = self.field(op, 0)?;
                self.function.fields.bitcast(ty.dtype, x)
            }
            "surject.reduce_precision" => {
                let bits = |key| {
                    self.attribute(op, |a| u32::try_from(a.int(key)?).map_err(|e| format!("`{key}`: {e}")))
                };
                let (exponent, mantissa) = (bits("exponent")?, bits("mantissa")?);
                let x = self.field(op, 0)?;
                self.function.fields.reduce_precision(exponent, mantissa, x)
            }
            _ if ops::is_upstream_unary(name) => {
                self.no_flags(op)?;
                let x = self.field(op, 0)?;
                let dtype = self.function.fields[x].dtype;
                let unary = ops::unary_of(name, dtype).ok_or_else(|| {
                    self.error(op, format!("`{name}` does not stand for an operation on {dtype}"))
                })?;
                self.function.fields.unary(unary, x)
            }
            _ if ops::is_upstream_binary(name) => {
                self.no_flags(op)?;
                let (x, y) = (self.field(op, 0)?, self.field(op, 1)?);
                let dtype = self.function.fields[x].dtype;
                let predicate = Attributes(op).int("predicate").ok();
                let binary = ops::binary_of(name, predicate, dtype).ok_or_else(|| {
                    let what = predicate.map_or(String::new(), |p| format!(" with predicate {p}"));
                    self.error(op, format!("`{name}`{what} does not stand for an operation on {dtype}"))
                })?;
                self.function.fields.binary(binary, x, y)
            }
            _ => return Err(self.error(op, format!("`{name}` has no meaning in a program"))),
        };
        let id = built.map_err(|e| self.error(op, e.to_string()))?;
        let field = &self.function.fields[id];
        if (field.dtype, &field.space) != (ty.dtype, &ty.space) {
            let message =
                format!("the result is a {ty} where the operation gives a {}{}", field.dtype, field.space);
            return Err(self.error(op, message));
        }
        self.result(op, 0, Meaning::Field(id))
    }

    fn read_map(&self, op: OperationRef<'c, 'a>, ty: &TensorType, of: FieldId) -> Read<IndexMap> {
        let (domain, codomain) = (ty.space.clone(), self.function.fields[of].space.clone());
        let components = self.map_attribute(op, domain.rank())?;
        let attributes = Attributes(op);
        let map = match (attributes.get("guards"), attributes.get("fill")) {
            (None, None) => IndexMap::total(domain, codomain, components),
            (Some(guards), Some(_)) => {
                let guards = affine::guards_of(guards, domain.rank()).map_err(|e| self.error(op, e))?;
                let fill = self.scalar(op, "fill", ty)?;
                IndexMap::partial(domain, codomain, components, guards, Fill(fill.bits()))
            }
            (Some(_), None) => return Err(self.error(op, "a read with guards needs a `fill`")),
            (None, Some(_)) => return Err(self.error(op, "a read with a `fill` needs guards")),
        };
        map.map_err(|e| self.error(op, e.to_string()))
    }

    fn map_attribute(&self, op: OperationRef<'c, 'a>, rank: usize) -> Read<Vec<surject_index::Affine>> {
        let map =
            Attributes(op).get("map").ok_or_else(|| self.error(op, "the attribute `map` is missing"))?;
        affine::components(map, rank).map_err(|e| self.error(op, e))
    }

    /// An attribute `dense<x> : tensor<T>` with the element type of a result.
    fn scalar(&self, op: OperationRef<'c, 'a>, key: &str, ty: &TensorType) -> Read<Scalar> {
        let value = self.attribute(op, |a| a.dense(key))?;
        if value.dtype() != ty.dtype || !value.shape().is_empty() {
            return Err(self.error(op, format!("`{key}` is not one element of type {}", ty.dtype)));
        }
        Ok(value.get(0))
    }

    /// Fast-math and overflow flags change what an operation means; a program has none.
    fn no_flags(&mut self, op: OperationRef<'c, 'a>) -> Read<()> {
        for (key, none) in [("fastmath", "#arith.fastmath<none>"), ("overflowFlags", "#arith.overflow<none>")]
        {
            let attributes = Attributes(op);
            let Some(address) = attributes.get(key).map(|flags| flags.to_raw().ptr as usize) else {
                continue;
            };
            if self.no_flags.contains(&address) {
                continue;
            }
            if let Ok(flags) = attributes.printed(key)
                && flags != none
            {
                return Err(self.error(op, format!("the flags {flags} have no meaning in a program")));
            }
            self.no_flags.insert(address);
        }
        Ok(())
    }

    /// Operands into a tuple, or a tuple into results.
    fn cast(&mut self, op: OperationRef<'c, 'a>) -> Read<()> {
        let first = op.result(0).map_err(|e| self.error(op, e.to_string()))?;
        // SAFETY: the type lives in a live context.
        if unsafe { mlirTypeIsATuple(first.r#type().to_raw()) } {
            let vars = self.vars(op, 0)?;
            return self.result(op, 0, Meaning::Tuple(vars));
        }
        let vars = self.tuple(op)?;
        if vars.len() != op.result_count() {
            return Err(
                self.error(op, format!("a tuple of {} becomes {} values", vars.len(), op.result_count()))
            );
        }
        for (i, var) in vars.into_iter().enumerate() {
            let result = op.result(i).map_err(|e| self.error(op, e.to_string()))?;
            let ty = self.tensor_type(op, result.into())?;
            if ty != *self.function.ty(var) {
                let message =
                    format!("result {i} is a {ty}, the element of the tuple a {}", self.function.ty(var));
                return Err(self.error(op, message));
            }
            self.result(op, i, Meaning::Var(var))?;
        }
        Ok(())
    }

    fn tuple(&self, op: OperationRef<'c, 'a>) -> Read<Vec<Var>> {
        match self.meaning(op, 0)? {
            Meaning::Tuple(vars) => Ok(vars),
            _ => Err(self.error(op, "the operand is not a tuple of variables")),
        }
    }

    fn call(&mut self, op: OperationRef<'c, 'a>, lib: surject_ir::LibOp) -> Read<StatementKind> {
        let mut args = self.tuple(op)?;
        let attributes = Attributes(op);
        let mut regions = Vec::new();
        if attributes.get("regions").is_some() {
            let symbols = self.attribute(op, |a| a.symbols("regions"))?;
            let counts = self.attribute(op, |a| a.axes("captures"))?;
            let total = counts.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
            let first =
                total.and_then(|n| args.len().checked_sub(n)).filter(|_| counts.len() == symbols.len());
            let first =
                first.ok_or_else(|| self.error(op, "`captures` does not fit the regions and operands"))?;
            let captured = args.split_off(first);
            let mut rest = &captured[..];
            for (symbol, count) in symbols.iter().zip(counts) {
                let (captures, others) = rest.split_at(count);
                regions.push(self.scalar_function(op, symbol, captures)?);
                rest = others;
            }
        }
        let result = op.result(0).map_err(|e| self.error(op, e.to_string()))?;
        let types = self.tuple_types(op, result.into())?;
        let names = self.names(op, NAMES)?;
        let mut targets = Vec::new();
        for (i, ty) in types.into_iter().enumerate() {
            targets.push(self.function.var(names.get(i).map_or("", String::as_str), ty));
        }
        self.result(op, 0, Meaning::Tuple(targets.clone()))?;
        Ok(StatementKind::Call { targets, op: lib, args, regions })
    }

    /// The scalar function of a library operation: its last parameters are the captured variables.
    fn scalar_function(&mut self, op: OperationRef<'c, 'a>, symbol: &str, captures: &[Var]) -> Read<Region> {
        let function = *self
            .scalar_functions
            .get(symbol)
            .ok_or_else(|| self.error(op, format!("there is no function @{symbol} with `{REGION}`")))?;
        if !self.used.insert(symbol.to_string()) {
            return Err(self.error(op, format!("@{symbol} belongs to another operation already")));
        }
        let block = self.body(function, function.region(0).ok())?;
        let own = block.argument_count().checked_sub(captures.len());
        let own =
            own.ok_or_else(|| self.error(op, format!("@{symbol} has fewer parameters than captures")))?;
        let names = argument_names(function);
        let params = (0..own)
            .map(|i| self.parameter(function, block, i, names.get(i).cloned().flatten()))
            .collect::<Read<_>>()?;
        for (i, &var) in (own..).zip(captures) {
            let argument = block.argument(i).map_err(|e| self.error(function, e.to_string()))?;
            let ty = self.tensor_type(function, argument.into())?;
            if ty != *self.function.ty(var) {
                let message =
                    format!("parameter {i} is a {ty}, the captured variable a {}", self.function.ty(var));
                return Err(self.error(function, message));
            }
            self.mean(argument.into(), Meaning::Var(var));
        }
        Ok(Region { params, body: self.block(block)? })
    }

    fn while_loop(&mut self, op: OperationRef<'c, 'a>) -> Read<StatementKind> {
        let inits = self.vars(op, 0)?;
        let names = match Attributes(op).get(PARAMS) {
            Some(_) => self.attribute(op, |a| a.string_lists(PARAMS))?,
            None => Vec::new(),
        };
        let (cond, cond_block) = self.region(op, 0, names.first())?;
        let condition =
            cond_block.terminator().ok_or_else(|| self.error(op, "the condition has no terminator"))?;
        if self.vars(condition, 1)? != cond.params {
            return Err(self.error(condition, "the condition must pass its parameters on as they are"));
        }
        let (body, _) = self.region(op, 1, names.get(1))?;
        let targets = self.targets(op)?;
        Ok(StatementKind::While { targets, inits, cond, body })
    }

    fn choice(&mut self, op: OperationRef<'c, 'a>) -> Read<StatementKind> {
        let Meaning::Element(index) = self.meaning(op, 0)? else {
            return Err(self.error(op, "the index is not the element of a stored tensor of rank 0"));
        };
        let cases = self.attribute(op, |a| a.axes("cases"))?;
        if !cases.iter().copied().eq(0..op.region_count().saturating_sub(1)) {
            return Err(self.error(
                op,
                "the cases of a choice are 0, 1, … in order, and the default is the last branch",
            ));
        }
        let mut branches =
            (1..op.region_count()).map(|i| Ok(self.region(op, i, None)?.0)).collect::<Read<Vec<_>>>()?;
        branches.push(self.region(op, 0, None)?.0);
        let targets = self.targets(op)?;
        Ok(StatementKind::If { targets, index, branches })
    }

    fn region(
        &mut self,
        op: OperationRef<'c, 'a>,
        i: usize,
        names: Option<&Vec<String>>,
    ) -> Read<(Region, BlockRef<'c, 'a>)> {
        let block = self.body(op, op.region(i).ok())?;
        let name = |i: usize| names.and_then(|n| n.get(i).cloned());
        let params = (0..block.argument_count())
            .map(|i| self.parameter(op, block, i, name(i)))
            .collect::<Read<_>>()?;
        Ok((Region { params, body: self.block(block)? }, block))
    }

    /// New variables for the results of an operation.
    fn targets(&mut self, op: OperationRef<'c, 'a>) -> Read<Vec<Var>> {
        (0..op.result_count()).map(|i| self.target(op, i)).collect()
    }

    fn target(&mut self, op: OperationRef<'c, 'a>, i: usize) -> Read<Var> {
        let result = op.result(i).map_err(|e| self.error(op, e.to_string()))?;
        let ty = self.tensor_type(op, result.into())?;
        let names = self.names(op, NAMES)?;
        let var = self.function.var(names.get(i).map_or("", String::as_str), ty);
        self.result(op, i, Meaning::Var(var))?;
        Ok(var)
    }

    fn names(&self, op: OperationRef<'c, 'a>, key: &str) -> Read<Vec<String>> {
        match Attributes(op).get(key) {
            Some(_) => self.attribute(op, |a| a.strings(key)),
            None => Ok(Vec::new()),
        }
    }

    /// The operands from the `first` on, as variables.
    fn vars(&self, op: OperationRef<'c, 'a>, first: usize) -> Read<Vec<Var>> {
        (first..op.operand_count()).map(|i| self.var(op, i)).collect()
    }

    fn var(&self, op: OperationRef<'c, 'a>, i: usize) -> Read<Var> {
        match self.meaning(op, i)? {
            Meaning::Var(var) => Ok(var),
            _ => Err(self
                .error(op, format!("operand {i} is not stored: it must be the result of `surject.store`"))),
        }
    }

    fn field(&mut self, op: OperationRef<'c, 'a>, i: usize) -> Read<FieldId> {
        match self.meaning(op, i)? {
            Meaning::Field(id) => Ok(id),
            Meaning::Var(var) => Ok(self.function.tensor(var)),
            _ => Err(self.error(op, format!("operand {i} is not a tensor"))),
        }
    }

    fn meaning(&self, op: OperationRef<'c, 'a>, i: usize) -> Read<Meaning> {
        let value = op.operand(i).map_err(|_| self.error(op, format!("operand {i} is missing")))?;
        let meaning = self.values.get(&(value.to_raw().ptr as usize)).cloned();
        meaning.ok_or_else(|| self.error(op, format!("operand {i} has no meaning in a program")))
    }

    fn result(&mut self, op: OperationRef<'c, 'a>, i: usize, meaning: Meaning) -> Read<()> {
        let result = op.result(i).map_err(|e| self.error(op, e.to_string()))?;
        self.mean(result.into(), meaning);
        Ok(())
    }

    fn mean(&mut self, value: Value<'c, 'a>, meaning: Meaning) {
        self.values.insert(value.to_raw().ptr as usize, meaning);
    }

    fn tensor_type(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Read<TensorType> {
        let ty = value.r#type();
        let key = ty.to_raw().ptr as usize;
        if let Some(known) = self.types.get(&key) {
            return Ok(known.clone());
        }
        let Some(read) = tensor_type(ty) else {
            // SAFETY: the type lives in a live context.
            let ty = unsafe { crate::raw::print_type(ty.to_raw()) };
            return Err(self.error(
                op,
                format!("{ty} is not a tensor of constant extents and an element type of Surject"),
            ));
        };
        self.types.insert(key, read.clone());
        Ok(read)
    }

    fn tuple_types(&self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Read<Vec<TensorType>> {
        let tuple = melior::ir::r#type::TupleType::try_from(value.r#type());
        let tuple = tuple.map_err(|e| self.error(op, e.to_string()))?;
        (0..tuple.type_count())
            .map(|i| {
                let element = tuple.r#type(i).ok().and_then(tensor_type);
                element.ok_or_else(|| {
                    self.error(op, format!("element {i} of the tuple is not a tensor of Surject"))
                })
            })
            .collect()
    }

    fn attribute<T>(
        &self,
        op: OperationRef<'c, 'a>,
        get: impl FnOnce(&Attributes<'c, 'a>) -> Result<T, String>,
    ) -> Read<T> {
        get(&Attributes(op)).map_err(|e| self.error(op, e))
    }

    fn error(&self, op: OperationRef<'_, '_>, message: impl Into<String>) -> MlirError {
        error_at(op, self.text, message)
    }
}

fn error_at(op: OperationRef<'_, '_>, text: &str, message: impl Into<String>) -> MlirError {
    let mut error = MlirError::new(Stage::Dialect, message);
    error.place = position(op.location(), 8).and_then(|(line, column)| Place::of(text, line, column));
    if let Some(origin) = origin(op.location()).filter(|_| error.place.is_none()) {
        error.message += &format!(" (from {origin})");
    }
    error
}

/// The operations of a block, in order.
fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block()).collect()
}

/// The names of the arguments of a function, where they have one.
fn argument_names(op: OperationRef<'_, '_>) -> Vec<Option<String>> {
    let dictionaries = Attributes(op).get("arg_attrs").and_then(|a| elements(a.to_raw())).unwrap_or_default();
    let key = MlirStringRef { data: NAME.as_ptr().cast(), length: NAME.len() };
    let name = |dictionary| {
        // SAFETY: the attribute is alive, and asked for an element after the check.
        let value = unsafe {
            if !mlirAttributeIsADictionary(dictionary) {
                return None;
            }
            mlirDictionaryAttrGetElementByName(dictionary, key)
        };
        if value.ptr.is_null() { None } else { string(value) }
    };
    dictionaries.into_iter().map(name).collect()
}
