//! Modules of generated code ([`surject_codegen::code`]) as modules of MLIR, built operation by operation.
//!
//! Reading the text of the same module takes three to four times as long: names, types and forms are read again for every
//! operation.

use crate::pipelines::{Kind, Pipeline, direct};
use crate::{MlirError, Stage};
use melior::Context;
use melior::ir::operation::OperationBuilder;
use melior::ir::{
    Attribute, Block as MlirBlock, BlockLike, Identifier, Location, Module as MlirModule,
    Region as MlirRegion, RegionLike, Type as MlirType, Value as MlirValue, ValueLike,
};
use mlir_sys::{MlirStringRef, mlirContextGetOrLoadDialect};
use std::collections::HashMap;
use surject_codegen::code::{
    Block, Carry, Elem, Function, Index, Item, Linkage, Literal, Module, Op, Prefetched, Statement,
    Temporality, Type, Value,
};

/// A value of the module that is built. Blocks move into their operations while they grow, so it borrows none of them;
/// it is used in the module that it is in, and no operation is erased there.
type Built<'c> = MlirValue<'c, 'c>;

type Done<T> = Result<T, MlirError>;

/// An operation as MLIR has all of them.
struct Generic<'c> {
    name: &'static str,
    operands: Vec<Value>,
    attributes: Vec<(&'static str, Attribute<'c>)>,
    results: Vec<Type>,
}

impl<'c> Generic<'c> {
    fn new(
        name: &'static str,
        operands: impl Into<Vec<Value>>,
        results: impl Into<Vec<Type>>,
    ) -> Generic<'c> {
        Generic { name, operands: operands.into(), attributes: Vec::new(), results: results.into() }
    }

    fn with(mut self, name: &'static str, attribute: Attribute<'c>) -> Generic<'c> {
        self.attributes.push((name, attribute));
        self
    }
}

/// The module, not yet verified, and the passes it goes through.
pub(crate) fn module<'c>(context: &'c Context, code: &Module) -> Done<(MlirModule<'c>, Pipeline)> {
    let location = Location::unknown(context);
    let mut builder = Builder {
        context,
        location,
        types: HashMap::new(),
        attributes: HashMap::new(),
        identifiers: HashMap::new(),
        literals: HashMap::new(),
        dialects: Vec::new(),
        values: Vec::new(),
    };
    let module = MlirModule::new(location);
    for item in &code.items {
        let operation = match item {
            Item::Outside { name, parameters, result } => builder.declaration(name, parameters, *result)?,
            Item::Function { function, linkage, .. } => builder.function(function, *linkage)?,
        };
        module.body().append_operation(operation);
    }
    let used: Vec<&str> =
        ["arith", "math", "vector"].into_iter().filter(|d| builder.dialects.contains(d)).collect();
    Ok((module, Pipeline { kind: Kind::Direct, passes: direct(&used) }))
}

struct Builder<'c> {
    context: &'c Context,
    location: Location<'c>,
    types: HashMap<Type, MlirType<'c>>,
    /// By their text.
    attributes: HashMap<String, Attribute<'c>>,
    identifiers: HashMap<&'static str, Identifier<'c>>,
    literals: HashMap<Literal, Attribute<'c>>,
    /// Those that are loaded.
    dialects: Vec<&'static str>,
    /// The values of the function that is built, by number.
    values: Vec<Option<Built<'c>>>,
}

fn internal(message: impl Into<String>) -> MlirError {
    MlirError::new(Stage::Dialect, message.into())
}

impl<'c> Builder<'c> {
    fn parsed(&self, text: &str) -> Done<MlirType<'c>> {
        MlirType::parse(self.context, text).ok_or_else(|| internal(format!("MLIR reads no type `{text}`")))
    }

    fn ty(&mut self, ty: Type) -> Done<MlirType<'c>> {
        if let Some(&known) = self.types.get(&ty) {
            return Ok(known);
        }
        let made = self.parsed(&ty.to_string())?;
        self.types.insert(ty, made);
        Ok(made)
    }

    /// An attribute by its text.
    fn attribute(&mut self, text: &str) -> Done<Attribute<'c>> {
        if let Some(&known) = self.attributes.get(text) {
            return Ok(known);
        }
        let made = Attribute::parse(self.context, text);
        let made = made.ok_or_else(|| internal(format!("MLIR reads no attribute `{text}`")))?;
        self.attributes.insert(text.to_string(), made);
        Ok(made)
    }

    fn literal(&mut self, literal: &Literal) -> Done<Attribute<'c>> {
        if let Some(&known) = self.literals.get(literal) {
            return Ok(known);
        }
        let text = literal.to_string();
        let made = Attribute::parse(self.context, &text);
        let made = made.ok_or_else(|| internal(format!("MLIR reads no constant `{text}`")))?;
        self.literals.insert(literal.clone(), made);
        Ok(made)
    }

    /// Loads the dialect of an operation.
    fn load(&mut self, operation: &'static str) {
        let dialect = operation.split('.').next().unwrap_or(operation);
        if !self.dialects.contains(&dialect) {
            let name = MlirStringRef { data: dialect.as_ptr().cast(), length: dialect.len() };
            // SAFETY: the context is alive, and so is the name.
            unsafe { mlirContextGetOrLoadDialect(self.context.to_raw(), name) };
            self.dialects.push(dialect);
        }
    }

    fn value(&self, value: Value) -> Done<Built<'c>> {
        let known = self.values.get(value.number()).copied().flatten();
        known.ok_or_else(|| internal(format!("{value} is used where it is not defined")))
    }

    fn define(&mut self, value: Value, built: Built<'c>) {
        if self.values.len() <= value.number() {
            self.values.resize(value.number() + 1, None);
        }
        self.values[value.number()] = Some(built);
    }

    /// An operation with these regions.
    fn operation(
        &mut self,
        generic: &Generic<'c>,
        regions: Vec<MlirRegion<'c>>,
    ) -> Done<melior::ir::Operation<'c>> {
        self.load(generic.name);
        let operands = generic.operands.iter().map(|&v| self.value(v)).collect::<Done<Vec<_>>>()?;
        let results = generic.results.iter().map(|&ty| self.ty(ty)).collect::<Done<Vec<_>>>()?;
        let context = self.context;
        let attributes: Vec<_> = generic
            .attributes
            .iter()
            .map(|&(name, value)| {
                (*self.identifiers.entry(name).or_insert_with(|| Identifier::new(context, name)), value)
            })
            .collect();
        OperationBuilder::new(generic.name, self.location)
            .add_operands(&operands)
            .add_attributes(&attributes)
            .add_regions_vec(regions)
            .add_results(&results)
            .build()
            .map_err(|e| internal(format!("`{}`: {e}", generic.name)))
    }

    /// Adds an operation to a block, which defines these values.
    fn add(
        &mut self,
        block: &MlirBlock<'c>,
        generic: &Generic<'c>,
        regions: Vec<MlirRegion<'c>>,
        results: &[Value],
    ) -> Done<()> {
        let operation = self.operation(generic, regions)?;
        let placed = block.append_operation(operation);
        for (i, &value) in results.iter().enumerate() {
            let result = placed.result(i).map_err(|e| internal(e.to_string()))?;
            // SAFETY: see `Built`.
            self.define(value, unsafe { MlirValue::from_raw(result.to_raw()) });
        }
        Ok(())
    }

    /// A block with these parameters.
    fn block(&mut self, parameters: &[(Value, Type)]) -> Done<MlirBlock<'c>> {
        let mut types = Vec::with_capacity(parameters.len());
        for &(_, ty) in parameters {
            types.push((self.ty(ty)?, self.location));
        }
        let block = MlirBlock::new(&types);
        for (i, &(value, _)) in parameters.iter().enumerate() {
            let argument = block.argument(i).map_err(|e| internal(e.to_string()))?;
            // SAFETY: see `Built`.
            self.define(value, unsafe { MlirValue::from_raw(argument.to_raw()) });
        }
        Ok(block)
    }

    /// A region of one block that ends with this operation.
    fn region(
        &mut self,
        parameters: &[(Value, Type)],
        statements: &[Statement],
        end: &Generic<'c>,
    ) -> Done<MlirRegion<'c>> {
        let block = self.block(parameters)?;
        self.statements(&block, statements)?;
        self.add(&block, end, Vec::new(), &[])?;
        let region = MlirRegion::new();
        region.append_block(block);
        Ok(region)
    }

    /// A region that ends with `scf.yield`.
    fn yielding(&mut self, parameters: &[(Value, Type)], block: &Block) -> Done<MlirRegion<'c>> {
        let values: Vec<Value> = block.yields.iter().map(|y| y.0).collect();
        self.region(parameters, &block.statements, &Generic::new("scf.yield", values, []))
    }

    /// What every function has.
    fn head(
        &mut self,
        name: &str,
        parameters: impl Iterator<Item = Type>,
        result: Option<Type>,
        internal: bool,
    ) -> Done<Generic<'c>> {
        let short = |ty: Type| ty.to_string().replace("!llvm.ptr", "ptr");
        let types: Vec<String> = parameters.map(short).collect();
        let result = result.map_or("void".to_string(), short);
        let function_type = self.attribute(&format!("!llvm.func<{result} ({})>", types.join(", ")))?;
        let linkage = if internal { "#llvm.linkage<internal>" } else { "#llvm.linkage<external>" };
        Ok(Generic::new("llvm.func", [], [])
            .with("CConv", self.attribute("#llvm.cconv<ccc>")?)
            .with("function_type", function_type)
            .with("linkage", self.attribute(linkage)?)
            .with("sym_name", self.attribute(&format!("{name:?}"))?)
            .with("unnamed_addr", self.attribute("0 : i64")?)
            .with("visibility_", self.attribute("0 : i64")?))
    }

    fn declaration(
        &mut self,
        name: &str,
        parameters: &[Type],
        result: Option<Type>,
    ) -> Done<melior::ir::Operation<'c>> {
        self.load("llvm.func");
        let head = self.head(name, parameters.iter().copied(), result, false)?;
        self.operation(&head, vec![MlirRegion::new()])
    }

    fn function(&mut self, function: &Function, linkage: Linkage) -> Done<melior::ir::Operation<'c>> {
        self.load("llvm.func");
        self.values.clear();
        let types = function.parameters.iter().map(|p| p.1);
        let mut head = self.head(function.symbol.name(), types, None, linkage != Linkage::Public)?;
        if linkage == Linkage::Inlined {
            head = head.with("passthrough", self.attribute("[\"alwaysinline\"]")?);
        }
        let end = Generic::new("llvm.return", [], []);
        let body = self.region(&function.parameters, &function.body, &end)?;
        self.operation(&head, vec![body])
    }

    fn statements(&mut self, block: &MlirBlock<'c>, statements: &[Statement]) -> Done<()> {
        for Statement { results, op } in statements {
            let (generic, regions) = match op {
                Op::For { .. } | Op::If { .. } | Op::While { .. } | Op::Switch { .. } => self.control(op)?,
                _ => (self.generic(op)?, Vec::new()),
            };
            self.add(block, &generic, regions, results)?;
        }
        Ok(())
    }

    fn control(&mut self, op: &Op) -> Done<(Generic<'c>, Vec<MlirRegion<'c>>)> {
        let inits = |carried: &[Carry]| -> Vec<Value> { carried.iter().map(|c| c.init).collect() };
        let types = |carried: &[Carry]| -> Vec<Type> { carried.iter().map(|c| c.ty).collect() };
        let names =
            |carried: &[Carry]| -> Vec<(Value, Type)> { carried.iter().map(|c| (c.name, c.ty)).collect() };
        match op {
            Op::For { variable, bounds, carried, body } => {
                let parameters = [vec![(*variable, Type::I64)], names(carried)].concat();
                let body = self.yielding(&parameters, body)?;
                let operands = [&bounds[..], &inits(carried)].concat();
                Ok((Generic::new("scf.for", operands, types(carried)), vec![body]))
            }
            Op::If { condition, then, otherwise } => {
                let results: Vec<Type> = then.yields.iter().map(|y| y.1).collect();
                let then = self.yielding(&[], then)?;
                let otherwise = match *otherwise == Block::default() {
                    true => MlirRegion::new(),
                    false => self.yielding(&[], otherwise)?,
                };
                Ok((Generic::new("scf.if", [*condition], results), vec![then, otherwise]))
            }
            Op::While { carried, before, condition, parameters, after } => {
                let given: Vec<Value> =
                    std::iter::once(*condition).chain(before.yields.iter().map(|y| y.0)).collect();
                let results: Vec<Type> = before.yields.iter().map(|y| y.1).collect();
                let end = Generic::new("scf.condition", given, []);
                let before = self.region(&names(carried), &before.statements, &end)?;
                let after = self.yielding(parameters, after)?;
                Ok((Generic::new("scf.while", inits(carried), results), vec![before, after]))
            }
            Op::Switch { value, cases } => {
                let (last, others) = cases.split_last().ok_or_else(|| internal("a choice of nothing"))?;
                let mut regions = vec![self.yielding(&[], last)?];
                for case in others {
                    regions.push(self.yielding(&[], case)?);
                }
                let numbers: Vec<i64> = (0..others.len() as i64).collect();
                let cases = self.attribute(&array("i64", &numbers))?;
                Ok((Generic::new("scf.index_switch", [*value], []).with("cases", cases), regions))
            }
            other => Err(internal(format!("no control: {other:?}"))),
        }
    }

    /// An operation without regions.
    fn generic(&mut self, op: &Op) -> Done<Generic<'c>> {
        Ok(match op {
            Op::Constant(literal) => {
                Generic::new("arith.constant", [], [literal.ty()]).with("value", self.literal(literal)?)
            }
            Op::Register(number) => {
                let value = self.attribute(&format!("{number} : i8"))?;
                Generic::new("llvm.mlir.constant", [], [Elem::I8.ty(1)]).with("value", value)
            }
            Op::Same { name, operands, ty } => Generic::new(name, operands.as_slice(), [*ty]),
            Op::Compare { name, predicate, sides, ty } => {
                let number = predicate_number(name, predicate);
                let number =
                    number.ok_or_else(|| internal(format!("`{name}` has no predicate `{predicate}`")))?;
                let predicate = self.attribute(&format!("{number} : i64"))?;
                Generic::new(name, *sides, [ty.truths()]).with("predicate", predicate)
            }
            Op::Select { condition, values: [a, b], ty } => {
                Generic::new("arith.select", [condition.0, *a, *b], [*ty])
            }
            Op::Cast { name, value, to, .. } => Generic::new(name, [*value], [*to]),
            Op::Shuffle { sides, order, ty } => {
                let mask = self.attribute(&array("i64", order))?;
                Generic::new("vector.shuffle", *sides, [ty.with_lanes(order.len())]).with("mask", mask)
            }
            Op::Extract { vector, lane, ty } => {
                let at = self.attribute(&array("i64", &[*lane as i64]))?;
                Generic::new("vector.extract", [*vector], [ty.element()]).with("static_position", at)
            }
            Op::Insert { value, vector, lane, ty } => {
                let at = self.attribute(&array("i64", &[*lane as i64]))?;
                Generic::new("vector.insert", [*value, *vector], [*ty]).with("static_position", at)
            }
            Op::First { vector, to, .. } => Generic::new("vector.extract_strided_slice", [*vector], [*to])
                .with("offsets", self.attribute("[0]")?)
                .with("sizes", self.attribute(&format!("[{}]", to.lanes()))?)
                .with("strides", self.attribute("[1]")?),
            Op::FromElements(values, ty) => Generic::new("vector.from_elements", values.as_slice(), [*ty]),
            Op::Reduction { kind, vector, ty } => {
                let kind = self.attribute(&format!("#vector.kind<{kind}>"))?;
                Generic::new("vector.reduction", [*vector], [ty.element()]).with("kind", kind)
            }
            Op::Intrinsic { name, operands, result } => {
                let called = self.called("llvm.call_intrinsic", operands, *result)?;
                called.with("intrin", self.attribute(&format!("{name:?}"))?)
            }
            Op::Call { function, operands, result } => {
                let called = self.called("llvm.call", operands, *result)?;
                called.with("callee", self.attribute(&format!("@{}", function.name()))?)
            }
            Op::AddressOf(symbol) => {
                let name = self.attribute(&format!("@{}", symbol.name()))?;
                Generic::new("llvm.mlir.addressof", [], [Type::Pointer]).with("global_name", name)
            }
            _ => self.memory(op)?,
        })
    }

    fn called(
        &mut self,
        name: &'static str,
        operands: &[(Value, Type)],
        result: Option<Type>,
    ) -> Done<Generic<'c>> {
        let values: Vec<Value> = operands.iter().map(|o| o.0).collect();
        let results: Vec<Type> = result.into_iter().collect();
        let segments = array("i32", &[values.len() as i64, 0]);
        Ok(Generic::new(name, values, results)
            .with("op_bundle_sizes", self.attribute("array<i32>")?)
            .with("operandSegmentSizes", self.attribute(&segments)?))
    }

    /// A load or a store of elements one after the other.
    fn access(
        &mut self,
        access: Generic<'c>,
        alignment: Option<usize>,
        temporality: Temporality,
    ) -> Done<Generic<'c>> {
        let mut access = access.with("ordering", self.attribute("0 : i64")?);
        if let Some(alignment) = alignment {
            access = access.with("alignment", self.attribute(&format!("{alignment} : i64"))?);
        }
        if temporality == Temporality::NonTemporal {
            access = access.with("nontemporal", self.attribute("unit")?);
        }
        Ok(access)
    }

    /// An operation on memory.
    fn memory(&mut self, op: &Op) -> Done<Generic<'c>> {
        let bytes = |n: usize, ty: &str| format!("{n} : {ty}");
        Ok(match op {
            Op::Element { pointer, index, of } => {
                let (operands, constant, result) = match *index {
                    Index::Number(number) => (vec![*pointer], number, Type::Pointer),
                    Index::At(value) => (vec![*pointer, value], i32::MIN.into(), Type::Pointer),
                    Index::Each(value, lanes) => {
                        (vec![*pointer, value], i32::MIN.into(), Type::Pointers(lanes))
                    }
                };
                Generic::new("llvm.getelementptr", operands, [result])
                    .with("elem_type", self.attribute(&of.to_string())?)
                    .with("rawConstantIndices", self.attribute(&array("i32", &[constant]))?)
            }
            Op::Load { pointer, ty, alignment, temporality } => {
                let load = Generic::new("llvm.load", [*pointer], [*ty]);
                self.access(load, *alignment, *temporality)?
            }
            Op::Store { value, pointer, alignment, temporality, .. } => {
                let store = Generic::new("llvm.store", [*value, *pointer], []);
                self.access(store, *alignment, *temporality)?
            }
            Op::AtomicRmw { kind, pointer, value, ty } => {
                let number = ATOMICS.iter().position(|k| k == kind);
                let number = number.ok_or_else(|| internal(format!("no atomic operation `{kind}`")))?;
                Generic::new("llvm.atomicrmw", [*pointer, *value], [*ty])
                    .with("bin_op", self.attribute(&format!("{number} : i64"))?)
                    .with("ordering", self.attribute(&format!("{MONOTONIC} : i64"))?)
            }
            Op::MaskedLoad { pointer, mask, other, ty, alignment } => {
                Generic::new("llvm.intr.masked.load", [*pointer, *mask, *other], [*ty])
                    .with("alignment", self.attribute(&bytes(*alignment, "i32"))?)
            }
            Op::MaskedStore { value, pointer, mask, alignment, .. } => {
                Generic::new("llvm.intr.masked.store", [*value, *pointer, *mask], [])
                    .with("alignment", self.attribute(&bytes(*alignment, "i32"))?)
            }
            Op::Gather { pointers, mask, other, ty, alignment } => {
                Generic::new("llvm.intr.masked.gather", [*pointers, *mask, *other], [*ty])
                    .with("alignment", self.attribute(&bytes(*alignment, "i32"))?)
            }
            Op::Scatter { value, pointers, mask, alignment, .. } => {
                Generic::new("llvm.intr.masked.scatter", [*value, *pointers, *mask], [])
                    .with("alignment", self.attribute(&bytes(*alignment, "i32"))?)
            }
            Op::Alloca { count, of, alignment } => {
                let of = self.attribute(&of.to_string())?;
                let mut alloca = Generic::new("llvm.alloca", [*count], [Type::Pointer]).with("elem_type", of);
                if let Some(alignment) = alignment {
                    alloca = alloca.with("alignment", self.attribute(&bytes(*alignment, "i64"))?);
                }
                alloca
            }
            Op::Copy { to, from, bytes } => Generic::new("llvm.intr.memcpy", [*to, *from, *bytes], [])
                .with("isVolatile", self.attribute("false")?),
            Op::Fill { to, byte, bytes } => Generic::new("llvm.intr.memset", [*to, *byte, *bytes], [])
                .with("isVolatile", self.attribute("false")?),
            Op::Prefetch(pointer, prefetched) => {
                let (rw, hint) = match prefetched {
                    Prefetched::Read(hint) => (0, hint),
                    Prefetched::Written(hint) => (1, hint),
                };
                Generic::new("llvm.intr.prefetch", [*pointer], [])
                    .with("cache", self.attribute("1 : i32")?)
                    .with("hint", self.attribute(&format!("{hint} : i32"))?)
                    .with("rw", self.attribute(&format!("{rw} : i32"))?)
            }
            other => return Err(internal(format!("an operation without a form in MLIR: {other:?}"))),
        })
    }
}

/// An array of integers as an attribute.
fn array(ty: &str, numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    if numbers.is_empty() { format!("array<{ty}>") } else { format!("array<{ty}: {}>", numbers.join(", ")) }
}

/// The atomic operations of LLVM, as MLIR numbers them.
const ATOMICS: [&str; 12] =
    ["xchg", "add", "sub", "_and", "nand", "_or", "_xor", "max", "min", "umax", "umin", "fadd"];

/// MLIR's number of the order of atomic operations that are in no order with others.
const MONOTONIC: i64 = 2;

/// The number of a predicate.
fn predicate_number(name: &str, predicate: &str) -> Option<usize> {
    const INTEGERS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    const FLOATS: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
        "uno", "true",
    ];
    let known: &[&str] = if name == "arith.cmpf" { &FLOATS } else { &INTEGERS };
    known.iter().position(|&p| p == predicate)
}
