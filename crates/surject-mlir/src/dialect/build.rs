//! Program → module, built operation by operation.

use super::interned::Interned;
use super::literals::SharedLiterals;
use super::value::scalar;
use super::{NAME, NAMES, ORIGIN, PARAMS, REGION, affine, library, ops};
use crate::{MlirError, Stage};
use melior::Context;
use melior::ir::attribute::{DictionaryAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationMutLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{
    Attribute, Block as MlirBlock, BlockLike, Identifier, Location, Module, Region as MlirRegion, RegionLike,
    Type, Value, ValueLike,
};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use surject_ir::{
    Block, Buffer, DType, FieldId, FieldKind, Function, Program, Region, Scalar, Statement, StatementKind,
    Var,
};

/// The module of a program, not yet verified. Large literals are shared with the program where a table of them is given.
pub(super) fn module<'c>(
    context: &'c Context,
    program: &Program,
    literals: Option<&mut SharedLiterals>,
) -> Result<Module<'c>, MlirError> {
    let unknown = Location::unknown(context);
    let mut module = Module::new(unknown);
    let mut builder = Builder {
        context,
        interned: Interned::new(context),
        literals,
        symbols: program.functions.iter().map(|f| f.name.clone()).collect(),
        blocks: Blocks(Vec::new()),
        location: unknown,
    };
    if !program.name.is_empty() {
        module.as_operation_mut().set_attribute("sym_name", builder.interned.string(&program.name));
    }
    for function in &program.functions {
        let mut functions = FunctionBuilder {
            builder: &mut builder,
            module: &module,
            function,
            vars: HashMap::new(),
            fields: vec![HashMap::new()],
            scalar_functions: VecDeque::new(),
        };
        functions.function()?;
    }
    Ok(module)
}

/// A value of the module that is built. Blocks move into their operations while they grow, so it borrows none of them;
/// it is used in the module that it is in, and no operation is erased there.
type Built<'c> = Value<'c, 'c>;

type Emitted<T> = Result<T, MlirError>;

/// What all functions of a module share.
struct Builder<'c, 'l> {
    context: &'c Context,
    interned: Interned<'c>,
    literals: Option<&'l mut SharedLiterals>,
    /// The names of functions that are taken.
    symbols: HashSet<String>,
    blocks: Blocks<'c>,
    /// Where the current statement came from.
    location: Location<'c>,
}

/// The blocks around the place where operations are added, the innermost last.
struct Blocks<'c>(Vec<MlirBlock<'c>>);

impl Drop for Blocks<'_> {
    /// What uses a value is dropped before the value.
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

/// Builds one function of a program, and then the scalar functions of its library operations.
struct FunctionBuilder<'b, 'c, 'l, 'p> {
    builder: &'b mut Builder<'c, 'l>,
    module: &'b Module<'c>,
    function: &'p Function,
    /// The MLIR value of each variable in scope.
    vars: HashMap<Var, Built<'c>>,
    /// The MLIR values of fields, one table per region around the current operation: a value computed in a region is
    /// not visible outside.
    fields: Vec<HashMap<FieldId, Built<'c>>>,
    scalar_functions: VecDeque<ScalarFunction<'p>>,
}

struct ScalarFunction<'p> {
    symbol: String,
    region: &'p Region,
    captures: Vec<Var>,
}

/// An operation to be added.
struct Op<'c> {
    name: &'static str,
    operands: Vec<Built<'c>>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
    regions: Vec<MlirRegion<'c>>,
    results: Vec<Type<'c>>,
}

impl<'c> Op<'c> {
    fn new(name: &'static str, operands: Vec<Built<'c>>, results: Vec<Type<'c>>) -> Op<'c> {
        Op { name, operands, attributes: Vec::new(), regions: Vec::new(), results }
    }
}

impl<'c> Builder<'c, '_> {
    /// Adds an operation to the innermost block; gives its results.
    fn op(&mut self, op: Op<'c>) -> Emitted<Vec<Built<'c>>> {
        let block = self.blocks.0.last().ok_or_else(|| internal("no block is open"))?;
        let count = op.results.len();
        let attributes: Vec<_> =
            op.attributes.iter().map(|&(key, value)| (Identifier::new(self.context, key), value)).collect();
        let built = OperationBuilder::new(op.name, self.location)
            .add_operands(&op.operands)
            .add_attributes(&attributes)
            .add_regions_vec(op.regions)
            .add_results(&op.results)
            .build()
            .map_err(|e| MlirError::new(Stage::Dialect, format!("`{}`: {e}", op.name)))?;
        let placed = block.append_operation(built);
        (0..count)
            .map(|i| {
                let result = placed.result(i).map_err(|e| internal(&e.to_string()))?;
                // SAFETY: see `Built`.
                Ok(unsafe { Value::from_raw(result.to_raw()) })
            })
            .collect()
    }

    /// As [`Builder::op`], of an operation with one result.
    fn value(&mut self, op: Op<'c>) -> Emitted<Built<'c>> {
        self.op(op)?.pop().ok_or_else(|| internal("the operation has no result"))
    }

    /// Opens a block with arguments of these types.
    fn open(&mut self, types: &[Type<'c>]) -> Emitted<Vec<Built<'c>>> {
        let arguments: Vec<_> = types.iter().map(|&ty| (ty, self.location)).collect();
        let block = MlirBlock::new(&arguments);
        let values = (0..types.len())
            .map(|i| {
                let argument = block.argument(i).map_err(|e| internal(&e.to_string()))?;
                // SAFETY: see `Built`.
                Ok(unsafe { Value::from_raw(argument.to_raw()) })
            })
            .collect::<Emitted<_>>()?;
        self.blocks.0.push(block);
        Ok(values)
    }

    /// Closes the innermost block: it is a region now.
    fn close(&mut self) -> Emitted<MlirRegion<'c>> {
        let block = self.blocks.0.pop().ok_or_else(|| internal("no block is open"))?;
        let region = MlirRegion::new();
        region.append_block(block);
        Ok(region)
    }

    fn literal(&mut self, value: &Arc<Buffer>) -> Emitted<Attribute<'c>> {
        match &mut self.literals {
            Some(shared) => shared.attribute(value, &mut self.interned),
            None => self.interned.dense(value),
        }
    }

    fn fresh_symbol(&mut self, base: &str) -> String {
        let mut number = self.symbols.len();
        loop {
            let symbol = format!("{base}.{number}");
            if self.symbols.insert(symbol.clone()) {
                return symbol;
            }
            number += 1;
        }
    }

    /// The location that an origin `FILE:LINE:COLUMN` names.
    fn located(&self, origin: Option<&str>) -> Location<'c> {
        let parts = origin.and_then(|origin| {
            let (rest, column) = origin.rsplit_once(':')?;
            let (file, line) = rest.rsplit_once(':')?;
            Some((file, line.parse().ok()?, column.parse().ok()?))
        });
        match parts {
            Some((file, line, column)) => Location::new(self.context, file, line, column),
            None => Location::unknown(self.context),
        }
    }
}

impl<'c, 'p> FunctionBuilder<'_, 'c, '_, 'p> {
    fn function(&mut self) -> Emitted<()> {
        let function = self.function;
        self.body(&function.name, &function.params, &function.body, false)?;
        while let Some(ScalarFunction { symbol, region, captures }) = self.scalar_functions.pop_front() {
            self.vars.clear();
            self.fields = vec![HashMap::new()];
            let params: Vec<Var> = region.params.iter().chain(&captures).copied().collect();
            self.body(&symbol, &params, &region.body, true)?;
        }
        Ok(())
    }

    /// A `func.func`; that of a scalar function is private.
    fn body(&mut self, symbol: &str, params: &[Var], body: &'p Block, is_scalar: bool) -> Emitted<()> {
        self.builder.location = Location::unknown(self.builder.context);
        let (from, to) = (self.types(params)?, self.types(&body.results)?);
        let arguments = self.builder.open(&from)?;
        self.vars.extend(params.iter().copied().zip(arguments));
        self.block(body, "func.return")?;
        let region = self.builder.close()?;
        let context = self.builder.context;
        let interned = &self.builder.interned;
        let names: Vec<Attribute<'c>> = params
            .iter()
            .map(|&param| {
                let name = interned.string(self.function.name_of(param));
                DictionaryAttribute::new(context, &[(Identifier::new(context, NAME), name)]).into()
            })
            .collect();
        let ty = FunctionType::new(context, &from, &to);
        let mut attributes = vec![
            ("sym_name", interned.string(symbol)),
            ("function_type", TypeAttribute::new(ty.into()).into()),
            ("arg_attrs", interned.array(&names)),
        ];
        if is_scalar {
            attributes.push(("sym_visibility", interned.string("private")));
            attributes.push((REGION, Attribute::unit(context)));
        }
        let attributes: Vec<_> =
            attributes.into_iter().map(|(key, value)| (Identifier::new(context, key), value)).collect();
        let op = OperationBuilder::new("func.func", Location::unknown(context))
            .add_attributes(&attributes)
            .add_regions([region])
            .build()
            .map_err(|e| MlirError::new(Stage::Dialect, format!("@{symbol}: {e}")))?;
        self.module.body().append_operation(op);
        Ok(())
    }

    /// Statements and a terminator that yields the results.
    fn block(&mut self, block: &'p Block, terminator: &'static str) -> Emitted<()> {
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let operands = self.operands(&block.results)?;
        self.builder.op(Op::new(terminator, operands, Vec::new())).map(|_| ())
    }

    fn statement(&mut self, statement: &'p Statement) -> Emitted<()> {
        self.builder.location = self.builder.located(statement.origin.as_deref());
        let attributes = self.provenance(statement);
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let value = self.field(*field)?;
                let ty = self.var_type(*target)?;
                let op = Op { attributes, ..Op::new("surject.store", vec![value], vec![ty]) };
                let result = self.builder.value(op)?;
                self.vars.insert(*target, result);
            }
            StatementKind::Constant { target, value } => {
                let mut all = vec![("value", self.builder.literal(value)?)];
                all.extend(attributes);
                let ty = self.var_type(*target)?;
                let op = Op { attributes: all, ..Op::new("surject.literal", Vec::new(), vec![ty]) };
                let result = self.builder.value(op)?;
                self.vars.insert(*target, result);
            }
            StatementKind::Call { targets, op, args, regions } => {
                let Some((name, words)) = library::encode(op) else {
                    let what =
                        format!("`{}` has sizes of a call; the dialect has constant ones only", op.name());
                    return Err(MlirError::new(Stage::Dialect, what));
                };
                let mut all = self.attributes(words)?;
                let args = self.scalar_functions_of(regions, args, &mut all)?;
                all.extend(attributes);
                self.call(targets, name, &args, all)?;
            }
            StatementKind::While { targets, inits, cond, body } => {
                self.while_loop(targets, inits, cond, body, attributes)?;
            }
            StatementKind::If { targets, index, branches } => {
                self.choice(targets, *index, branches, attributes)?;
            }
        }
        Ok(())
    }

    /// Names the scalar functions of a library operation in its attributes; gives the operands with what they capture.
    fn scalar_functions_of(
        &mut self,
        regions: &'p [Region],
        args: &[Var],
        attributes: &mut Vec<(&'static str, Attribute<'c>)>,
    ) -> Emitted<Vec<Var>> {
        let mut all = args.to_vec();
        if regions.is_empty() {
            return Ok(all);
        }
        let (mut symbols, mut counts) = (Vec::new(), Vec::new());
        for region in regions {
            let symbol = self.builder.fresh_symbol(&self.function.name);
            let captures = free_variables(self.function, region);
            symbols.push(self.builder.interned.symbol(&symbol));
            counts.push(captures.len());
            all.extend(&captures);
            self.scalar_functions.push_back(ScalarFunction { symbol, region, captures });
        }
        attributes.push(("regions", self.builder.interned.array(&symbols)));
        attributes.push(("captures", self.builder.interned.attribute(&library::array(counts))?));
        Ok(all)
    }

    /// A library operation, from a tuple to a tuple.
    fn call(
        &mut self,
        targets: &[Var],
        name: &'static str,
        args: &[Var],
        attributes: Vec<(&'static str, Attribute<'c>)>,
    ) -> Emitted<()> {
        const PACK: &str = "builtin.unrealized_conversion_cast";
        let (from, to) = (self.types(args)?, self.types(targets)?);
        let interned = &self.builder.interned;
        let (args_type, results_type) = (interned.tuple(&from), interned.tuple(&to));
        let operands = self.operands(args)?;
        let packed = self.builder.value(Op::new(PACK, operands, vec![args_type]))?;
        let op = Op { attributes, ..Op::new(name, vec![packed], vec![results_type]) };
        let results = self.builder.value(op)?;
        // A cast has at least one result.
        if !targets.is_empty() {
            let unpacked = self.builder.op(Op::new(PACK, vec![results], to))?;
            self.define(targets, unpacked);
        }
        Ok(())
    }

    fn while_loop(
        &mut self,
        targets: &[Var],
        inits: &[Var],
        cond: &'p Region,
        body: &'p Region,
        mut attributes: Vec<(&'static str, Attribute<'c>)>,
    ) -> Emitted<()> {
        let params = [self.names(&cond.params), self.names(&body.params)];
        attributes.push((PARAMS, self.builder.interned.array(&params)));
        let operands = self.operands(inits)?;
        let results = self.types(targets)?;
        let location = self.builder.location;
        let condition = self.nested(&cond.params, |this| {
            for statement in &cond.body.statements {
                this.statement(statement)?;
            }
            let [result] = cond.body.results[..] else {
                return Err(MlirError::new(Stage::Dialect, "the condition of a loop yields one value"));
            };
            let mut operands = vec![this.extract(result)?];
            operands.extend(this.operands(&cond.params)?);
            this.builder.op(Op::new("scf.condition", operands, Vec::new())).map(|_| ())
        })?;
        let body = self.nested(&body.params, |this| this.block(&body.body, "scf.yield"))?;
        self.builder.location = location;
        let regions = vec![condition, body];
        let op = Op { attributes, regions, ..Op::new("scf.while", operands, results) };
        let results = self.builder.op(op)?;
        self.define(targets, results);
        Ok(())
    }

    /// `branches[index]`, and the last branch for any other index: it is the default, the others are cases 0, 1, ….
    fn choice(
        &mut self,
        targets: &[Var],
        index: Var,
        branches: &'p [Region],
        mut attributes: Vec<(&'static str, Attribute<'c>)>,
    ) -> Emitted<()> {
        let Some((last, cases)) = branches.split_last() else {
            return Err(MlirError::new(Stage::Dialect, "a choice has at least one branch"));
        };
        let value = self.extract(index)?;
        let to = vec![self.builder.interned.ty("index")?];
        let operand = self.builder.value(Op::new("arith.index_cast", vec![value], to))?;
        let location = self.builder.location;
        let mut regions = Vec::new();
        for branch in std::iter::once(last).chain(cases) {
            regions.push(self.nested(&[], |this| this.block(&branch.body, "scf.yield"))?);
        }
        self.builder.location = location;
        attributes.push(("cases", self.builder.interned.attribute(&library::array(0..cases.len()))?));
        let results = self.types(targets)?;
        let op = Op { attributes, regions, ..Op::new("scf.index_switch", vec![operand], results) };
        let results = self.builder.op(op)?;
        self.define(targets, results);
        Ok(())
    }

    /// A region: a block with these parameters.
    fn nested(
        &mut self,
        params: &[Var],
        body: impl FnOnce(&mut Self) -> Emitted<()>,
    ) -> Emitted<MlirRegion<'c>> {
        let types = self.types(params)?;
        let arguments = self.builder.open(&types)?;
        self.vars.extend(params.iter().copied().zip(arguments));
        self.fields.push(HashMap::new());
        let result = body(self);
        self.fields.pop();
        result?;
        self.builder.close()
    }

    /// The value of a field, computed where it is not yet available.
    fn field(&mut self, root: FieldId) -> Emitted<Built<'c>> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known(id).is_some() {
                stack.pop();
                continue;
            }
            let missing: Vec<FieldId> =
                self.function.fields[id].kind.children().filter(|&c| self.known(c).is_none()).collect();
            if missing.is_empty() {
                stack.pop();
                let value = self.node(id)?;
                if let Some(scope) = self.fields.last_mut() {
                    scope.insert(id, value);
                }
            } else {
                stack.extend(missing);
            }
        }
        self.known(root).ok_or_else(|| internal("a field has no value"))
    }

    fn known(&self, id: FieldId) -> Option<Built<'c>> {
        self.fields.iter().rev().find_map(|scope| scope.get(&id)).copied()
    }

    /// The operation of one node, whose children are available.
    fn node(&mut self, id: FieldId) -> Emitted<Built<'c>> {
        let fields = &self.function.fields;
        let field = &fields[id];
        if let FieldKind::Tensor(var) = field.kind {
            return self.var(var);
        }
        let operands: Vec<Built<'c>> = field.kind.children().filter_map(|c| self.known(c)).collect();
        let operand_type = field.kind.children().next().map(|c| fields[c].dtype);
        let results = vec![self.builder.interned.tensor(field.dtype, &field.space)?];
        let (name, attributes) = self.node_form(id, operand_type)?;
        self.builder.value(Op { attributes, ..Op::new(name, operands, results) })
    }

    /// The name and the attributes of the operation of a node.
    fn node_form(
        &mut self,
        id: FieldId,
        operand_type: Option<DType>,
    ) -> Emitted<(&'static str, Vec<(&'static str, Attribute<'c>)>)> {
        let field = &self.function.fields[id];
        let context = self.builder.context;
        let interned = &mut self.builder.interned;
        Ok(match &field.kind {
            FieldKind::Tensor(_) => return Err(internal("a variable is no operation")),
            FieldKind::Read { map, .. } => {
                let mut attributes = vec![("map", affine::map(context, map))];
                if let Some(fill) = map.fill() {
                    let guards = affine::guards(context, map).ok_or_else(|| {
                        MlirError::new(
                            Stage::Dialect,
                            format!("the guards of {map} do not fit in an affine set"),
                        )
                    })?;
                    let fill = scalar(Scalar::from_bits(field.dtype, fill.0));
                    attributes.push(("guards", guards));
                    attributes.push(("fill", interned.attribute(&fill)?));
                }
                ("surject.read", attributes)
            }
            FieldKind::Acc { op, map, .. } => (
                "surject.acc",
                vec![("kind", interned.string(ops::kind(*op))), ("map", affine::map(context, map))],
            ),
            FieldKind::Index { axis } => ("surject.index", vec![("axis", interned.integer(*axis as i64))]),
            FieldKind::Const(value) => {
                ("surject.constant", vec![("value", interned.attribute(&scalar(*value))?)])
            }
            FieldKind::Unary { op, .. } => match operand_type.and_then(|d| ops::upstream_unary(*op, d)) {
                Some(name) => (name, vec![]),
                None => ("surject.unary", vec![("op", interned.string(op.name()))]),
            },
            FieldKind::Binary { op, .. } => match operand_type.and_then(|d| ops::upstream_binary(*op, d)) {
                Some((name, Some(predicate))) => (name, vec![("predicate", interned.integer(predicate))]),
                Some((name, None)) => (name, vec![]),
                None => ("surject.binary", vec![("op", interned.string(op.name()))]),
            },
            FieldKind::Select { .. } => ("arith.select", vec![]),
            FieldKind::Convert { .. } => ("surject.convert", vec![]),
            FieldKind::Bitcast { .. } => ("surject.bitcast", vec![]),
            FieldKind::ReducePrecision { exponent, mantissa, .. } => (
                "surject.reduce_precision",
                vec![
                    ("exponent", interned.integer((*exponent).into())),
                    ("mantissa", interned.integer((*mantissa).into())),
                ],
            ),
        })
    }

    /// The element of a stored tensor of rank 0.
    fn extract(&mut self, var: Var) -> Emitted<Built<'c>> {
        let to = vec![self.builder.interned.element(self.function.ty(var).dtype)?];
        let operands = vec![self.var(var)?];
        self.builder.value(Op::new("tensor.extract", operands, to))
    }

    fn define(&mut self, targets: &[Var], results: Vec<Built<'c>>) {
        self.vars.extend(targets.iter().copied().zip(results));
    }

    /// The names of the variables that a statement defines, and where it came from.
    fn provenance(&self, statement: &Statement) -> Vec<(&'static str, Attribute<'c>)> {
        let mut attributes = vec![(NAMES, self.names(statement.targets()))];
        if let Some(origin) = &statement.origin {
            attributes.push((ORIGIN, self.builder.interned.string(origin)));
        }
        attributes
    }

    fn names(&self, vars: &[Var]) -> Attribute<'c> {
        let interned = &self.builder.interned;
        let names: Vec<_> = vars.iter().map(|&v| interned.string(self.function.name_of(v))).collect();
        interned.array(&names)
    }

    fn attributes(
        &mut self,
        words: Vec<(&'static str, String)>,
    ) -> Emitted<Vec<(&'static str, Attribute<'c>)>> {
        words.into_iter().map(|(key, text)| Ok((key, self.builder.interned.attribute(&text)?))).collect()
    }

    fn var(&self, var: Var) -> Emitted<Built<'c>> {
        self.vars.get(&var).copied().ok_or_else(|| {
            let name = self.function.name_of(var);
            MlirError::new(Stage::Dialect, format!("the variable `{name}` is used where it is not defined"))
        })
    }

    fn var_type(&mut self, var: Var) -> Emitted<Type<'c>> {
        let ty = self.function.ty(var);
        self.builder.interned.tensor(ty.dtype, &ty.space)
    }

    fn operands(&self, vars: &[Var]) -> Emitted<Vec<Built<'c>>> {
        vars.iter().map(|&v| self.var(v)).collect()
    }

    fn types(&mut self, vars: &[Var]) -> Emitted<Vec<Type<'c>>> {
        vars.iter().map(|&v| self.var_type(v)).collect()
    }
}

fn internal(message: &str) -> MlirError {
    MlirError::new(Stage::Dialect, message)
}

/// The variables that a region uses and does not define, in order.
fn free_variables(function: &Function, region: &Region) -> Vec<Var> {
    let (mut used, mut defined) = (BTreeSet::new(), BTreeSet::new());
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        defined.extend(&region.params);
        used.extend(&region.body.results);
        for statement in &region.body.statements {
            defined.extend(statement.targets());
            match &statement.kind {
                StatementKind::Store { field, .. } => {
                    used.extend(function.fields.reachable(&[*field]).into_iter().filter_map(|id| {
                        match function.fields[id].kind {
                            FieldKind::Tensor(var) => Some(var),
                            _ => None,
                        }
                    }));
                }
                StatementKind::Constant { .. } => {}
                StatementKind::Call { args, .. } => used.extend(args),
                StatementKind::While { inits, .. } => used.extend(inits),
                StatementKind::If { index, .. } => {
                    used.insert(*index);
                }
            }
            regions.extend(statement.regions());
        }
    }
    used.difference(&defined).copied().collect()
}
