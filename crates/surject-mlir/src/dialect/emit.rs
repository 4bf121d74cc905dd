//! Program → module text, in MLIR's generic form.

use super::value::{buffer, element, quote, scalar, tensor};
use super::{NAME, NAMES, ORIGIN, PARAMS, REGION, affine, library, ops};
use crate::{MlirError, Stage};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use surject_ir::{
    Block, FieldId, FieldKind, Function, Program, Region, Scalar, Statement, StatementKind, Var,
};

/// The text of a program.
pub(super) fn module(program: &Program) -> Result<String, MlirError> {
    let name = if program.name.is_empty() { String::new() } else { format!(" @{}", quote(&program.name)) };
    let mut out = format!("module{name} {{\n");
    let mut symbols: HashSet<String> = program.functions.iter().map(|f| f.name.clone()).collect();
    for function in &program.functions {
        let mut emitter = Emitter {
            function,
            out: &mut out,
            symbols: &mut symbols,
            vars: HashMap::new(),
            fields: vec![HashMap::new()],
            values: 0,
            scalar_functions: VecDeque::new(),
        };
        emitter.function()?;
    }
    out += "}\n";
    Ok(out)
}

/// Writes one function of a program, and then the scalar functions of its library operations.
struct Emitter<'a> {
    function: &'a Function,
    out: &'a mut String,
    /// The names of functions that are taken.
    symbols: &'a mut HashSet<String>,
    /// The MLIR value of each variable in scope.
    vars: HashMap<Var, String>,
    /// The MLIR values of fields, one table per region around the current operation: a value computed in a region is
    /// not visible outside.
    fields: Vec<HashMap<FieldId, String>>,
    /// The number of values so far.
    values: usize,
    scalar_functions: VecDeque<ScalarFunction<'a>>,
}

struct ScalarFunction<'a> {
    symbol: String,
    region: &'a Region,
    captures: Vec<Var>,
}

/// An operation in generic form.
#[derive(Default)]
struct Op<'a> {
    name: &'a str,
    operands: Vec<String>,
    properties: String,
    attributes: Vec<(&'a str, String)>,
    regions: String,
    from: Vec<String>,
    to: Vec<String>,
}

type Emitted<T> = Result<T, MlirError>;

impl<'a> Emitter<'a> {
    fn function(&mut self) -> Emitted<()> {
        let function = self.function;
        self.header(&function.name, &function.params, &function.body, "")?;
        self.block(&function.body, "func.return")?;
        *self.out += "}\n";
        while let Some(ScalarFunction { symbol, region, captures }) = self.scalar_functions.pop_front() {
            self.vars.clear();
            self.fields = vec![HashMap::new()];
            let params: Vec<Var> = region.params.iter().chain(&captures).copied().collect();
            self.header(&symbol, &params, &region.body, &format!(" attributes {{{REGION}}}"))?;
            self.block(&region.body, "func.return")?;
            *self.out += "}\n";
        }
        Ok(())
    }

    fn header(&mut self, symbol: &str, params: &[Var], body: &Block, attributes: &str) -> Emitted<()> {
        let mut list = Vec::new();
        for &param in params {
            let value = self.value();
            let (ty, name) = (self.var_type(param)?, quote(self.function.name_of(param)));
            list.push(format!("{value}: {ty} {{{NAME} = {name}}}"));
            self.vars.insert(param, value);
        }
        let results = self.types(&body.results)?.join(", ");
        let private = if attributes.is_empty() { "" } else { "private " };
        let symbol = quote(symbol);
        *self.out +=
            &format!("func.func {private}@{symbol}({}) -> ({results}){attributes} {{\n", list.join(", "));
        Ok(())
    }

    /// Statements and a terminator that yields the results.
    fn block(&mut self, block: &'a Block, terminator: &str) -> Emitted<()> {
        for statement in &block.statements {
            self.statement(statement)?;
        }
        if terminator == "scf.condition" {
            return Ok(());
        }
        let operands = self.operands(&block.results)?;
        self.op(Op { name: terminator, operands, from: self.types(&block.results)?, ..Op::default() });
        Ok(())
    }

    fn statement(&mut self, statement: &'a Statement) -> Emitted<()> {
        let attributes = self.provenance(statement);
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let value = self.field(*field)?;
                let ty = self.var_type(*target)?;
                let (from, to) = (vec![ty.clone()], vec![ty]);
                let op = Op {
                    name: "surject.store",
                    operands: vec![value],
                    attributes,
                    from,
                    to,
                    ..Op::default()
                };
                let result = self.op(op);
                self.vars.insert(*target, result);
            }
            StatementKind::Constant { target, value } => {
                let mut all = vec![("value", buffer(value))];
                all.extend(attributes);
                let to = vec![self.var_type(*target)?];
                let result = self.op(Op { name: "surject.literal", attributes: all, to, ..Op::default() });
                self.vars.insert(*target, result);
            }
            StatementKind::Call { targets, op, args, regions } => {
                let Some(encoded) = library::encode(op) else {
                    let what =
                        format!("`{}` has sizes of a call; the dialect has constant ones only", op.name());
                    return Err(MlirError::new(Stage::Dialect, what));
                };
                self.call(targets, encoded, args, regions, attributes)?;
            }
            StatementKind::While { targets, inits, cond, body } => {
                self.while_loop(targets, inits, cond, body, attributes)?;
            }
            StatementKind::If { targets, index, branches } => {
                self.choice(targets, *index, branches, attributes)?
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        targets: &[Var],
        (name, mut attributes): (&'static str, Vec<(&'static str, String)>),
        args: &[Var],
        regions: &'a [Region],
        provenance: Vec<(&'static str, String)>,
    ) -> Emitted<()> {
        let mut all = args.to_vec();
        let (mut symbols, mut counts) = (Vec::new(), Vec::new());
        for region in regions {
            let symbol = self.fresh_symbol();
            let captures = free_variables(self.function, region);
            symbols.push(format!("@{}", quote(&symbol)));
            counts.push(captures.len());
            all.extend(&captures);
            self.scalar_functions.push_back(ScalarFunction { symbol, region, captures });
        }
        if !regions.is_empty() {
            attributes.push(("regions", format!("[{}]", symbols.join(", "))));
            attributes.push(("captures", library::array(counts)));
        }
        attributes.extend(provenance);
        let (from, to) = (self.types(&all)?, self.types(targets)?);
        let (args_type, results_type) = (tuple(&from), tuple(&to));
        const PACK: &str = "builtin.unrealized_conversion_cast";
        let operands = self.operands(&all)?;
        let args = self.op(Op { name: PACK, operands, from, to: vec![args_type.clone()], ..Op::default() });
        let (from, tuple) = (vec![args_type], vec![results_type]);
        let results =
            self.op(Op { name, operands: vec![args], attributes, from, to: tuple.clone(), ..Op::default() });
        // A cast has at least one result.
        if !targets.is_empty() {
            let unpacked =
                self.op(Op { name: PACK, operands: vec![results], from: tuple, to, ..Op::default() });
            self.define(targets, &unpacked);
        }
        Ok(())
    }

    fn while_loop(
        &mut self,
        targets: &[Var],
        inits: &[Var],
        cond: &'a Region,
        body: &'a Region,
        mut attributes: Vec<(&'static str, String)>,
    ) -> Emitted<()> {
        let names = |params: &[Var]| {
            let names: Vec<_> = params.iter().map(|&p| quote(self.function.name_of(p))).collect();
            format!("[{}]", names.join(", "))
        };
        attributes.push((PARAMS, format!("[{}, {}]", names(&cond.params), names(&body.params))));
        let operands = self.operands(inits)?;
        let (from, to) = (self.types(inits)?, self.types(targets)?);
        let regions = format!(
            " ({{\n{}}}, {{\n{}}})",
            self.nested(&cond.params, |this| {
                this.block(&cond.body, "scf.condition")?;
                let [result] = cond.body.results[..] else {
                    return Err(MlirError::new(Stage::Dialect, "the condition of a loop yields one value"));
                };
                let bit = this.extract(result)?;
                let mut operands = vec![bit];
                operands.extend(this.operands(&cond.params)?);
                let mut from = vec!["i1".to_string()];
                from.extend(this.types(&cond.params)?);
                this.op(Op { name: "scf.condition", operands, from, ..Op::default() });
                Ok(())
            })?,
            self.nested(&body.params, |this| this.block(&body.body, "scf.yield"))?,
        );
        let op = Op { name: "scf.while", operands, attributes, regions, from, to, ..Op::default() };
        let results = self.op(op);
        self.define(targets, &results);
        Ok(())
    }

    /// `branches[index]`, and the last branch for any other index: it is the default, the others are cases 0, 1, ….
    fn choice(
        &mut self,
        targets: &[Var],
        index: Var,
        branches: &'a [Region],
        attributes: Vec<(&'static str, String)>,
    ) -> Emitted<()> {
        let Some((last, cases)) = branches.split_last() else {
            return Err(MlirError::new(Stage::Dialect, "a choice has at least one branch"));
        };
        let value = self.extract(index)?;
        let dtype = self.function.ty(index).dtype;
        let (from, to) = (vec![element(dtype).to_string()], vec!["index".to_string()]);
        let cast = Op { name: "arith.index_cast", operands: vec![value], from, to, ..Op::default() };
        let operands = vec![self.op(cast)];
        let mut regions = Vec::new();
        for branch in std::iter::once(last).chain(cases) {
            let text = self.nested(&[], |this| this.block(&branch.body, "scf.yield"))?;
            regions.push(format!("{{\n{text}}}"));
        }
        let results = self.op(Op {
            name: "scf.index_switch",
            operands,
            properties: format!(" <{{cases = {}}}>", library::array(0..cases.len())),
            attributes,
            regions: format!(" ({})", regions.join(", ")),
            from: vec!["index".to_string()],
            to: self.types(targets)?,
        });
        self.define(targets, &results);
        Ok(())
    }

    /// The text of a region: a block with these parameters.
    fn nested(&mut self, params: &[Var], body: impl FnOnce(&mut Self) -> Emitted<()>) -> Emitted<String> {
        let outside = std::mem::take(self.out);
        self.fields.push(HashMap::new());
        let mut list = Vec::new();
        for &param in params {
            let value = self.value();
            list.push(format!("{value}: {}", self.var_type(param)?));
            self.vars.insert(param, value);
        }
        if !params.is_empty() {
            *self.out += &format!("^bb0({}):\n", list.join(", "));
        }
        let result = body(self);
        self.fields.pop();
        let text = std::mem::replace(self.out, outside);
        result.map(|()| text)
    }

    /// The value of a field, computed where it is not yet available.
    fn field(&mut self, root: FieldId) -> Emitted<String> {
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
        self.known(root).ok_or_else(|| MlirError::new(Stage::Dialect, "a field has no value"))
    }

    fn known(&self, id: FieldId) -> Option<String> {
        self.fields.iter().rev().find_map(|scope| scope.get(&id)).cloned()
    }

    /// The operation of one node, whose children are available.
    fn node(&mut self, id: FieldId) -> Emitted<String> {
        let field = &self.function.fields[id];
        let children: Vec<FieldId> = field.kind.children().collect();
        let operands: Vec<String> = children.iter().filter_map(|&c| self.known(c)).collect();
        let fields = &self.function.fields;
        let from = children
            .iter()
            .map(|&c| tensor(fields[c].dtype, &fields[c].space))
            .collect::<Emitted<Vec<_>>>()?;
        let to = vec![tensor(field.dtype, &field.space)?];
        let operand_type = children.first().map(|&c| self.function.fields[c].dtype);
        let word = |name: &str| vec![("op", quote(name))];
        let mut properties = String::new();
        let (name, attributes) = match &field.kind {
            FieldKind::Tensor(var) => return self.var(*var),
            FieldKind::Read { map, .. } => {
                let mut attributes = vec![("map", affine::map(map))];
                if let Some(fill) = map.fill() {
                    let guards = affine::guards(map).ok_or_else(|| {
                        MlirError::new(
                            Stage::Dialect,
                            format!("the guards of {map} do not fit in an affine set"),
                        )
                    })?;
                    attributes.push(("guards", guards));
                    attributes.push(("fill", scalar(Scalar::from_bits(field.dtype, fill.0))));
                }
                ("surject.read", attributes)
            }
            FieldKind::Acc { op, map, .. } => {
                ("surject.acc", vec![("kind", quote(ops::kind(*op))), ("map", affine::map(map))])
            }
            FieldKind::Index { axis } => ("surject.index", vec![("axis", axis.to_string())]),
            FieldKind::Const(value) => ("surject.constant", vec![("value", scalar(*value))]),
            FieldKind::Unary { op, .. } => match operand_type.and_then(|d| ops::upstream_unary(*op, d)) {
                Some(name) => (name, vec![]),
                None => ("surject.unary", word(op.name())),
            },
            FieldKind::Binary { op, .. } => match operand_type.and_then(|d| ops::upstream_binary(*op, d)) {
                Some((name, predicate)) => {
                    properties =
                        predicate.map_or_else(String::new, |p| format!(" <{{predicate = {p} : i64}}>"));
                    (name, vec![])
                }
                None => ("surject.binary", word(op.name())),
            },
            FieldKind::Select { .. } => ("arith.select", vec![]),
            FieldKind::Convert { .. } => ("surject.convert", vec![]),
            FieldKind::Bitcast { .. } => ("surject.bitcast", vec![]),
            FieldKind::ReducePrecision { exponent, mantissa, .. } => (
                "surject.reduce_precision",
                vec![("exponent", exponent.to_string()), ("mantissa", mantissa.to_string())],
            ),
        };
        Ok(self.op(Op { name, operands, properties, attributes, from, to, ..Op::default() }))
    }

    /// The element of a stored tensor of rank 0.
    fn extract(&mut self, var: Var) -> Emitted<String> {
        let (from, to) = (vec![self.var_type(var)?], vec![element(self.function.ty(var).dtype).to_string()]);
        let operands = vec![self.var(var)?];
        Ok(self.op(Op { name: "tensor.extract", operands, from, to, ..Op::default() }))
    }

    /// Writes an operation; gives its result (`%7`, or `%7:2` for several, see [`Emitter::define`]).
    fn op(&mut self, op: Op<'_>) -> String {
        let result = self.value();
        match op.to.len() {
            0 => {}
            1 => *self.out += &format!("{result} = "),
            n => *self.out += &format!("{result}:{n} = "),
        }
        let attributes: Vec<String> =
            op.attributes.iter().map(|(k, v)| format!("{} = {v}", quote(k))).collect();
        let attributes =
            if attributes.is_empty() { String::new() } else { format!(" {{{}}}", attributes.join(", ")) };
        *self.out += &format!(
            "\"{}\"({}){}{}{attributes} : ({}) -> ({})\n",
            op.name,
            op.operands.join(", "),
            op.properties,
            op.regions,
            op.from.join(", "),
            op.to.join(", ")
        );
        result
    }

    /// The targets are the results of the operation whose first value is `results`.
    fn define(&mut self, targets: &[Var], results: &str) {
        for (i, &target) in targets.iter().enumerate() {
            let value = if targets.len() == 1 { results.to_string() } else { format!("{results}#{i}") };
            self.vars.insert(target, value);
        }
    }

    fn provenance(&self, statement: &Statement) -> Vec<(&'static str, String)> {
        let names: Vec<_> = statement.targets().iter().map(|&t| quote(self.function.name_of(t))).collect();
        let mut attributes = vec![(NAMES, format!("[{}]", names.join(", ")))];
        if let Some(origin) = &statement.origin {
            attributes.push((ORIGIN, quote(origin)));
        }
        attributes
    }

    fn value(&mut self) -> String {
        self.values += 1;
        format!("%{}", self.values - 1)
    }

    fn fresh_symbol(&mut self) -> String {
        let base = &self.function.name;
        let mut number = self.symbols.len();
        loop {
            let symbol = format!("{base}.{number}");
            if self.symbols.insert(symbol.clone()) {
                return symbol;
            }
            number += 1;
        }
    }

    fn var(&self, var: Var) -> Emitted<String> {
        self.vars.get(&var).cloned().ok_or_else(|| {
            let name = self.function.name_of(var);
            MlirError::new(Stage::Dialect, format!("the variable `{name}` is used where it is not defined"))
        })
    }

    fn var_type(&self, var: Var) -> Emitted<String> {
        let ty = self.function.ty(var);
        tensor(ty.dtype, &ty.space)
    }

    fn operands(&self, vars: &[Var]) -> Emitted<Vec<String>> {
        vars.iter().map(|&v| self.var(v)).collect()
    }

    fn types(&self, vars: &[Var]) -> Emitted<Vec<String>> {
        vars.iter().map(|&v| self.var_type(v)).collect()
    }
}

fn tuple(types: &[String]) -> String {
    format!("tuple<{}>", types.join(", "))
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
