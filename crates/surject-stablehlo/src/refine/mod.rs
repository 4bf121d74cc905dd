//! Refinement: a program with dynamic shapes made static for given types of its arguments.
//!
//! The entry function is walked once. Shape computations (`get_dimension_size`, arithmetic, `concatenate`, …) whose
//! operands are known become constants, operations that take shapes as operands become their static forms, and result
//! types follow from the operand types. A function that is called is specialised to the types of its operands and to
//! those of them that are constants. A `custom_call @shape_assertion` is evaluated: one that holds is dropped, one
//! that fails is the error, with its message. What nothing uses any more is left out.

mod assertion;
mod dead;
mod extensions;
mod fold;
mod statics;

use std::collections::{HashMap, HashSet};

use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, Values};
use crate::normalise::normalise;
use crate::types::{Dim, TensorType, Type};
use fold::{Ints, fold};

type Result<T> = std::result::Result<T, Diagnostic>;

/// The program of the entry function of a module for arguments of the given types. Functions that it does not call are
/// left out.
///
/// # Errors
/// Types that the arguments cannot have; a shape assertion that fails, with its message; an operation whose result
/// types stay dynamic although all argument types are static.
pub fn refine(module: &Module, arguments: &[Type]) -> Result<Module> {
    let entry = module.entry().ok_or_else(|| {
        Diagnostic::new(codes::UNKNOWN_NAME, Span::default(), "the module has no function to refine")
    })?;
    check_arguments(entry, arguments)?;
    let mut new =
        Module { name: module.name.clone(), attributes: module.attributes.clone(), ..Module::default() };
    // The other operations of a module (meshes) have no operands.
    for op in &module.other {
        let mut op = op.clone();
        op.results.clear();
        new.other.push(op);
    }
    let mut refiner = Refiner {
        old: module,
        new,
        strict: arguments.iter().all(is_static),
        constants: HashMap::new(),
        sums: HashMap::new(),
        known: HashMap::new(),
        names: HashSet::new(),
        open: Vec::new(),
        places: Vec::new(),
    };
    refiner.specialise(entry, arguments, &vec![None; arguments.len()])?;
    let mut module = refiner.finish();
    dead::remove(&mut module);
    Ok(module)
}

/// The types that a list such as `tensor<4x8xf32>, tensor<i32>` spells.
pub fn parse_types(text: &str) -> Result<Vec<Type>> {
    crate::parse::parse_types(text)
}

/// Checks that the arguments of a function can have the types.
fn check_arguments(function: &Function, arguments: &[Type]) -> Result<()> {
    if function.params.len() != arguments.len() {
        let message = format!(
            "'@{}' takes {} arguments, {} types are given",
            function.name,
            function.params.len(),
            arguments.len()
        );
        return Err(Diagnostic::new(codes::SIGNATURE, function.span, message)
            .expected(function.ty().to_string())
            .help("give one type for each argument"));
    }
    for (i, (param, ty)) in function.params.iter().zip(arguments).enumerate() {
        let fits = match (&param.ty, ty) {
            (Type::Tensor(a), Type::Tensor(b)) => a.compatible(b),
            (Type::Opaque(text), Type::Tensor(b)) => *text == format!("tensor<*x{}>", b.element).into(),
            (a, b) => a == b,
        };
        if !fits {
            let message = format!("argument {i} of '@{}' cannot be {ty}", function.name);
            return Err(
                Diagnostic::new(codes::SIGNATURE, function.span, message).expected(param.ty.to_string())
            );
        }
    }
    Ok(())
}

fn is_static(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => tensor.static_shape().is_some(),
        Type::Tuple(parts) | Type::Future(parts) => parts.iter().all(is_static),
        Type::Opaque(text) => !text.contains('*') && !text.contains('?'),
        _ => true,
    }
}

/// A function, the types of its operands, and those of them that are constants.
type Key = (String, Vec<Type>, Vec<Option<Ints>>);

/// A function made for some operands.
#[derive(Clone)]
struct Specialised {
    name: String,
    results: Vec<Type>,
    constants: Vec<Option<Ints>>,
    /// Whether calling it does nothing but give its results.
    pure: bool,
}

/// Values of the old module as values of the new one.
type Env = HashMap<ValueId, ValueId>;

struct Refiner<'m> {
    old: &'m Module,
    new: Module,
    /// Whether everything must become static.
    strict: bool,
    /// Values of the new module that are known integers.
    constants: HashMap<ValueId, Ints>,
    /// Values of the new module that are sums of two.
    sums: HashMap<ValueId, [ValueId; 2]>,
    known: HashMap<Key, Specialised>,
    /// Names of functions that are taken.
    names: HashSet<String>,
    /// Functions that are being specialised.
    open: Vec<String>,
    /// The order in which the old module has the functions of the new one.
    places: Vec<usize>,
}

impl<'m> Refiner<'m> {
    /// The new module, its functions in the order of the old ones.
    fn finish(mut self) -> Module {
        let mut functions: Vec<_> = self.places.into_iter().zip(self.new.functions).collect();
        functions.sort_by_key(|(place, _)| *place);
        self.new.functions = functions.into_iter().map(|(_, function)| function).collect();
        self.new
    }

    fn value(&mut self, ty: Type, old: ValueId) -> ValueId {
        let name = self.old.name_of(old).to_string();
        self.new.new_value(ty, &name)
    }

    /// A function for operands of these types and values.
    fn specialise(
        &mut self,
        old: &'m Function,
        types: &[Type],
        constants: &[Option<Ints>],
    ) -> Result<Specialised> {
        let key = (old.name.clone(), types.to_vec(), constants.to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        if self.open.contains(&old.name) {
            let message = format!("'@{}' calls itself", old.name);
            return Err(Diagnostic::new(codes::UNSUPPORTED, old.span, message)
                .help("programs of StableHLO have no recursion"));
        }
        self.open.push(old.name.clone());
        let name = self.free_name(&old.name);
        let mut env = Env::new();
        let mut params = Vec::with_capacity(old.params.len());
        for ((param, ty), constant) in old.params.iter().zip(types).zip(constants) {
            let value = self.value(ty.clone(), param.value);
            env.insert(param.value, value);
            if let Some(constant) = constant {
                self.constants.insert(value, constant.clone());
            }
            params.push(Param { value, ty: ty.clone(), attributes: param.attributes.clone() });
        }
        let mut body =
            Region { params: params.iter().map(|p| (p.value, p.ty.clone())).collect(), ops: Vec::new() };
        // A known argument is a constant inside.
        for (i, constant) in constants.iter().enumerate() {
            if let Some(op) = constant.as_ref().and_then(|c| self.constant_op(c, Span::default())) {
                let value = op.results[0];
                env.insert(old.params[i].value, value);
                body.ops.push(op);
            }
        }
        self.ops(&old.body.ops, &mut env, &mut body.ops)?;
        self.open.pop();
        let returned: Values = match body.terminator() {
            Some(op) if op.name == "func.return" || op.name == "stablehlo.return" => op.operands.clone(),
            _ => Values::new(),
        };
        let results: Vec<Type> = match old.is_declaration() {
            true => old.results.iter().map(|r| r.ty.clone()).collect(),
            false => returned.iter().map(|v| self.new.ty(*v).clone()).collect(),
        };
        let specialised = Specialised {
            name: name.clone(),
            constants: returned.iter().map(|v| self.constants.get(v).cloned()).collect(),
            pure: !old.is_declaration() && body.ops.iter().all(dead::is_pure),
            results: results.clone(),
        };
        let decls = results.into_iter().enumerate().map(|(i, ty)| ResultDecl {
            ty,
            attributes: old.results.get(i).map(|r| r.attributes.clone()).unwrap_or_default(),
        });
        let place = self.old.functions.iter().position(|f| f.name == old.name).unwrap_or(0);
        self.places.push(place);
        self.new.functions.push(Function { name, params, results: decls.collect(), body, ..old.clone() });
        self.known.insert(key, specialised.clone());
        Ok(specialised)
    }

    fn free_name(&mut self, name: &str) -> String {
        let taken = |names: &HashSet<String>, old: &Module, probe: &str| {
            names.contains(probe) || (probe != name && old.function(probe).is_some())
        };
        let mut probe = name.to_string();
        let mut count = 0;
        while taken(&self.names, self.old, &probe) {
            probe = format!("{name}_{count}");
            count += 1;
        }
        self.names.insert(probe.clone());
        probe
    }

    fn ops(&mut self, ops: &'m [Op], env: &mut Env, into: &mut Vec<Op>) -> Result<()> {
        ops.iter().try_for_each(|op| self.op(op, env, into))
    }

    /// One operation, in whichever form it takes.
    fn op(&mut self, old: &'m Op, env: &mut Env, into: &mut Vec<Op>) -> Result<()> {
        let operands: Option<Vec<ValueId>> = old.operands.iter().map(|v| env.get(v).copied()).collect();
        let operands = operands.ok_or_else(|| {
            let message = format!("'{}' uses a value that is not defined before it", old.name);
            Diagnostic::new(codes::UNDEFINED, old.span, message)
        })?;
        match old.name.as_ref() {
            "func.call" | "stablehlo.composite" => return self.call(old, operands, env, into),
            "stablehlo.while" => return self.while_op(old, operands, env, into),
            "stablehlo.custom_call" if assertion::is_assertion(old) => {
                let known: Vec<Option<&Ints>> = operands.iter().map(|v| self.constants.get(v)).collect();
                if assertion::holds(old, &known)? {
                    return Ok(());
                }
            }
            _ => {}
        }
        let mut op =
            Op { operands: operands.into(), results: Vec::new().into(), regions: Vec::new(), ..old.clone() };
        for region in &old.regions {
            let types: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
            let region = self.region(region, &types, env)?;
            op.regions.push(region);
        }
        let mut declared: Vec<Type> = old.results.iter().map(|v| self.old.ty(*v).clone()).collect();
        if let Some(sizes) = self.window(&op) {
            return self.dynamic_slice(old, op, sizes, env, into);
        }
        if !self.extension(&mut op, env, &mut declared)? {
            self.callees(&mut op)?;
        }
        let known = |v: &ValueId| self.constants.get(v);
        let types = |v: &ValueId| self.new.ty(*v);
        let declared = statics::make_static(&mut op, declared, types, known)?;
        let value = self.folded(&op, &declared);
        // Shapes become constants. What else is known stays an operation: its value may be of use all the same.
        let shape = |v: &Ints| {
            v.ty.rank() <= 1 && !matches!(op.name.as_ref(), "stablehlo.iota" | "stablehlo.broadcast_in_dim")
        };
        if let Some(value) = value.clone().filter(|v| shape(v) || !matches!(declared[0], Type::Tensor(_))) {
            return self.constants_for(old, vec![value], env, into);
        }
        op.results = old.results.iter().zip(declared).map(|(v, ty)| self.value(ty, *v)).collect();
        let results = op.results.clone();
        self.finish_op(old, op, env, into)?;
        if let (Some(value), [result]) = (value, results.as_slice())
            && self.new.tensor(*result) == Some(&value.ty)
        {
            self.constants.insert(*result, value);
        }
        Ok(())
    }

    /// Gives the results of an operation their types and adds it.
    fn finish_op(&mut self, old: &Op, mut op: Op, env: &mut Env, into: &mut Vec<Op>) -> Result<()> {
        let first = op.operands.first().map(|v| self.new.ty(*v));
        normalise(&mut op, first)?;
        let elements: Vec<_> =
            op.operands.iter().filter_map(|v| Some((*v, self.constants.get(v)?.elements()?))).collect();
        let constants = elements.iter().map(|(v, e)| (*v, e)).collect();
        let refined = crate::verify::refined_types(&self.new, &constants, &op)?;
        if let ("stablehlo.add", [sum], &[a, b]) =
            (op.name.as_ref(), op.results.as_slice(), op.operands.as_slice())
        {
            self.sums.insert(*sum, [a, b]);
        }
        for (value, ty) in op.results.iter().zip(refined) {
            if self.strict && !is_static(&ty) {
                let message = format!("'{}': the type {ty} of a result stays dynamic", op.name);
                return Err(Diagnostic::new(codes::OP_TYPE, op.span, message)
                    .help("its shape follows from no argument type and no constant"));
            }
            self.new.values[value.index()].ty = ty;
        }
        for (old, new) in old.results.iter().zip(&op.results) {
            env.insert(*old, *new);
        }
        if op.name == "stablehlo.constant"
            && let (Some(Attribute::Dense(elements)), [result]) =
                (op.attributes.get("value"), op.results.as_slice())
            && let Some(ints) = Ints::of(elements)
        {
            self.constants.insert(*result, ints);
        }
        into.push(op);
        Ok(())
    }

    /// The functions that a custom call names are kept as they are.
    fn callees(&mut self, op: &mut Op) -> Result<()> {
        let Some(Attribute::Array(items)) = op.attributes.get("called_computations") else { return Ok(()) };
        let mut items = items.clone();
        for item in &mut items {
            let Attribute::Symbol(path) = item else { continue };
            let Some(function) = path.first().and_then(|name| self.old.function(name)) else { continue };
            let types: Vec<Type> = function.params.iter().map(|p| p.ty.clone()).collect();
            let specialised = self.specialise(function, &types, &vec![None; types.len()])?;
            *item = Attribute::symbol(specialised.name);
        }
        op.attributes.set("called_computations", Attribute::Array(items));
        Ok(())
    }

    /// The sizes of a slice whose limits are its starts and constants: they are known where the starts are not.
    fn window(&self, op: &Op) -> Option<Vec<i64>> {
        let [_, start, limit, strides] = op.operands.as_slice() else { return None };
        if op.name != "stablehlo.real_dynamic_slice" || self.constants.contains_key(start) {
            return None;
        }
        let strides = self.constants.get(strides)?;
        let [a, b] = self.sums.get(limit)?;
        let size = if a == start { b } else { Some(a).filter(|_| b == start)? };
        strides.values.iter().all(|s| *s == 1).then(|| self.constants.get(size)?.i64s())?
    }

    /// A slice of known sizes at starts that the program computes.
    fn dynamic_slice(
        &mut self,
        old: &Op,
        mut op: Op,
        sizes: Vec<i64>,
        env: &mut Env,
        into: &mut Vec<Op>,
    ) -> Result<()> {
        let start = op.operands[1];
        let Some(element) = self.new.tensor(start).map(|t| t.element.clone()) else {
            return Err(Diagnostic::new(codes::OP_TYPE, op.span, "the starts of a slice are no tensor"));
        };
        op.operands.truncate(1);
        for axis in 0..sizes.len() as i64 {
            let mut slice = Op::new("stablehlo.slice");
            let bounds = [("start_indices", axis), ("limit_indices", axis + 1), ("strides", 1)];
            for (name, value) in bounds {
                slice.attributes.set(name, Attribute::I64s(vec![value]));
            }
            slice.operands.push(start);
            slice.results.push(self.new.new_value(Type::tensor(&[1], element.clone()), ""));
            let mut scalar = Op::new("stablehlo.reshape");
            scalar.operands.push(slice.results[0]);
            scalar.results.push(self.new.new_value(Type::tensor(&[], element.clone()), ""));
            op.operands.push(scalar.results[0]);
            into.extend([slice, scalar]);
        }
        let declared = statics::shaped(&op, self.old.ty(old.results[0]), &sizes)?;
        op.name = "stablehlo.dynamic_slice".into();
        op.attributes.set("slice_sizes", Attribute::I64s(sizes));
        op.results = vec![self.value(declared, old.results[0])].into();
        self.finish_op(old, op, env, into)
    }

    /// The value of the result of an operation on constants.
    fn folded(&self, op: &Op, declared: &[Type]) -> Option<Ints> {
        let [declared] = declared else { return None };
        if op.name == "stablehlo.constant" {
            return None;
        }
        let operands: Vec<&Type> = op.operands.iter().map(|v| self.new.ty(*v)).collect();
        if let Some(value) = statics::of_shape(op, &operands, declared) {
            return Some(value);
        }
        let known: Option<Vec<&Ints>> = op.operands.iter().map(|v| self.constants.get(v)).collect();
        let known = known?;
        let ty = statics::folded_type(op, &known, declared)?;
        statics::of_values(op, &known, &ty).or_else(|| fold(op, &known, &ty))
    }

    /// Constants in place of an operation.
    fn constants_for(
        &mut self,
        old: &Op,
        values: Vec<Ints>,
        env: &mut Env,
        into: &mut Vec<Op>,
    ) -> Result<()> {
        for (result, value) in old.results.iter().zip(values) {
            let tensor = matches!(self.old.ty(*result), Type::Tensor(_));
            match self.constant_op(&value, old.span).filter(|_| tensor) {
                Some(op) => {
                    env.insert(*result, op.results[0]);
                    into.push(op);
                }
                None => {
                    // A scalar of another dialect: only operations that fold use it.
                    let new = self.value(self.old.ty(*result).clone(), *result);
                    self.constants.insert(new, value);
                    env.insert(*result, new);
                }
            }
        }
        Ok(())
    }

    fn constant_op(&mut self, value: &Ints, span: Span) -> Option<Op> {
        let elements = value.elements()?;
        let ty = Type::Tensor(elements.ty.clone());
        let result = self.new.new_value(ty, "");
        self.constants.insert(result, value.clone());
        let mut op = Op::new("stablehlo.constant");
        op.attributes.set("value", Attribute::Dense(elements));
        op.results.push(result);
        op.span = span;
        Some(op)
    }

    /// A region for arguments of the given types.
    fn region(&mut self, old: &'m Region, types: &[Type], env: &Env) -> Result<Region> {
        let mut inner = env.clone();
        let mut region = Region::default();
        for ((value, _), ty) in old.params.iter().zip(types) {
            let new = self.value(ty.clone(), *value);
            inner.insert(*value, new);
            region.params.push((new, ty.clone()));
        }
        self.ops(&old.ops, &mut inner, &mut region.ops)?;
        Ok(region)
    }

    fn call(&mut self, old: &'m Op, operands: Vec<ValueId>, env: &mut Env, into: &mut Vec<Op>) -> Result<()> {
        let key = if old.name == "func.call" { "callee" } else { "decomposition" };
        let name = old.symbol(key)?;
        let Some(function) = self.old.function(name) else {
            let message = format!("the function '@{name}' is not defined");
            return Err(Diagnostic::new(codes::UNKNOWN_NAME, old.span, message));
        };
        if function.params.len() != operands.len() {
            let message = format!("{} operands for '@{name}'", operands.len());
            return Err(Diagnostic::new(codes::SIGNATURE, old.span, message)
                .expected(format!("{}", function.params.len())));
        }
        let types: Vec<Type> = operands.iter().map(|v| self.new.ty(*v).clone()).collect();
        let constants: Vec<Option<Ints>> = operands.iter().map(|v| self.constants.get(v).cloned()).collect();
        let specialised = self.specialise(function, &types, &constants)?;
        let all: Option<Vec<Ints>> = specialised.constants.iter().cloned().collect();
        if let Some(values) = all.filter(|v| specialised.pure && !v.is_empty()) {
            return self.constants_for(old, values, env, into);
        }
        let mut op =
            Op { operands: operands.into(), results: Vec::new().into(), regions: Vec::new(), ..old.clone() };
        op.attributes.set(key, Attribute::symbol(specialised.name));
        for (i, (result, ty)) in old.results.iter().zip(specialised.results).enumerate() {
            let value = self.value(ty, *result);
            if let Some(Some(known)) = specialised.constants.get(i) {
                self.constants.insert(value, known.clone());
            }
            env.insert(*result, value);
            op.results.push(value);
        }
        into.push(op);
        Ok(())
    }

    /// A loop: its values have the types of the operands throughout. A value that each step hands on as it is keeps
    /// being known.
    fn while_op(
        &mut self,
        old: &'m Op,
        operands: Vec<ValueId>,
        env: &mut Env,
        into: &mut Vec<Op>,
    ) -> Result<()> {
        let types: Vec<Type> = operands.iter().map(|v| self.new.ty(*v).clone()).collect();
        let [condition, body] = old.regions.as_slice() else {
            return Err(Diagnostic::new(codes::ARITY, old.span, "a loop without its two regions"));
        };
        let returned = body.terminator().map(|op| op.operands.as_slice()).unwrap_or_default();
        let mut inner = env.clone();
        for region in [condition, body] {
            for (i, (value, _)) in region.params.iter().enumerate() {
                let unchanged = returned.get(i) == body.params.get(i).map(|p| &p.0);
                let known = operands.get(i).and_then(|v| self.constants.get(v)).cloned();
                // Within the loop, a known value is the constant outside.
                if unchanged && known.is_some() {
                    inner.insert(*value, operands[i]);
                }
            }
        }
        let mut op =
            Op { operands: operands.into(), results: Vec::new().into(), regions: Vec::new(), ..old.clone() };
        for region in [condition, body] {
            let mut scope = inner.clone();
            let mut new = Region::default();
            for ((value, _), ty) in region.params.iter().zip(&types) {
                let param = self.value(ty.clone(), *value);
                new.params.push((param, ty.clone()));
                scope.entry(*value).or_insert(param);
            }
            self.ops(&region.ops, &mut scope, &mut new.ops)?;
            op.regions.push(new);
        }
        let returned: Vec<Type> = match op.regions[1].terminator() {
            Some(end) => end.operands.iter().map(|v| self.new.ty(*v).clone()).collect(),
            None => Vec::new(),
        };
        if returned != types {
            let message = format!("'{}': a step changes the types of the values", old.name);
            return Err(Diagnostic::new(codes::OP_REGION, old.span, message)
                .expected(crate::types::TypeList(&types).to_string()));
        }
        for (result, ty) in old.results.iter().zip(&types) {
            let value = self.value(ty.clone(), *result);
            op.results.push(value);
        }
        for (i, (result, operand)) in old.results.iter().zip(&op.operands).enumerate() {
            let unchanged =
                body.terminator().and_then(|t| t.operands.get(i)) == body.params.get(i).map(|p| &p.0);
            let known = unchanged && self.constants.contains_key(operand);
            env.insert(*result, if known { *operand } else { op.results[i] });
        }
        into.push(op);
        Ok(())
    }
}

/// A type with what is known of it from another one: extents that one of them has.
pub(crate) fn merged(declared: &Type, found: &Type) -> Option<Type> {
    match (declared, found) {
        (Type::Tensor(a), Type::Tensor(b)) if a.rank() == b.rank() => {
            let extent = |(x, y): (&Dim, &Dim)| match (x, y) {
                (Dim::Static(n), Dim::Static(m)) if n != m => None,
                (Dim::Static(n), _) | (_, Dim::Static(n)) => Some(Dim::Static(*n)),
                _ => Some(Dim::Dynamic),
            };
            let shape: Option<Vec<Dim>> = a.shape.iter().zip(&b.shape).map(extent).collect();
            let shape = shape?;
            let open = shape.contains(&Dim::Dynamic);
            let bounds = a.encoding.as_deref().is_some_and(|e| crate::types::bounds_text(e).is_some());
            let encoding = if open || !bounds { a.encoding.clone() } else { None };
            Some(Type::Tensor(TensorType { shape, element: a.element.clone(), encoding }.into()))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b.iter()).map(|(x, y)| merged(x, y)).collect::<Option<_>>().map(Type::Tuple)
        }
        (Type::Opaque(text), Type::Tensor(_)) if text.starts_with("tensor<*x") => Some(found.clone()),
        (a, b) => (a == b).then(|| a.clone()),
    }
}

/// Removes attributes that say which operands are shapes.
fn without(attributes: &Attributes, names: &[&str]) -> Attributes {
    attributes.iter().filter(|(n, _)| !names.contains(n)).map(|(n, v)| (n.to_string(), v.clone())).collect()
}
