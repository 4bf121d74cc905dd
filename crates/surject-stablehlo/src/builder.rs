//! Writing modules from code.
//!
//! ```
//! use surject_stablehlo::builder::ModuleBuilder;
//! use surject_stablehlo::{ElementType, Type, Visibility};
//!
//! let mut module = ModuleBuilder::new("example");
//! let mut f = module.function("main", Visibility::Public);
//! let ty = Type::tensor(&[2, 3], ElementType::F32);
//! let x = f.param(ty.clone());
//! let two = f.splat_f64(&[2, 3], ElementType::F32, 2.0)?;
//! let y = f.op("stablehlo.multiply").operands([x, two]).result(ty).value()?;
//! f.finish([y])?;
//! let text = surject_stablehlo::print(&module.finish());
//! assert!(text.contains("stablehlo.multiply %arg0, %cst : tensor<2x3xf32>"));
//! # Ok::<(), surject_stablehlo::Diagnostic>(())
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use crate::attr::{Attribute, Attributes};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, Values, Visibility};
use crate::name::OpName;
use crate::normalise::normalise;
use crate::types::{ElementType, TensorType, Type};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Builds a module function by function.
#[derive(Debug, Default)]
pub struct ModuleBuilder {
    module: Module,
}

impl ModuleBuilder {
    /// An empty module called `name`.
    pub fn new(name: &str) -> ModuleBuilder {
        ModuleBuilder { module: Module { name: Some(name.to_string()), ..Module::default() } }
    }

    /// Sets an attribute of the module.
    pub fn attribute(&mut self, name: impl Into<Cow<'static, str>>, value: Attribute) -> &mut Self {
        self.module.attributes.set(name, value);
        self
    }

    /// Begins a function; it is part of the module once [`FunctionBuilder::finish`] is called.
    pub fn function(&mut self, name: &str, visibility: Visibility) -> FunctionBuilder<'_> {
        FunctionBuilder {
            module: &mut self.module,
            name: name.to_string(),
            visibility,
            params: Vec::new(),
            regions: vec![Region::default()],
        }
    }

    /// The module.
    pub fn finish(self) -> Module {
        self.module
    }
}

/// Builds a function operation by operation.
#[derive(Debug)]
pub struct FunctionBuilder<'m> {
    module: &'m mut Module,
    name: String,
    visibility: Visibility,
    params: Vec<Param>,
    /// The body and the regions that are being built inside it; never empty, the last is where operations go.
    regions: Vec<Region>,
}

impl<'m> FunctionBuilder<'m> {
    /// Adds a parameter.
    pub fn param(&mut self, ty: Type) -> ValueId {
        self.param_with(ty, Attributes::new())
    }

    /// Adds a parameter with attributes.
    pub fn param_with(&mut self, ty: Type, attributes: Attributes) -> ValueId {
        let value = self.module.new_value(ty.clone(), "");
        self.params.push(Param { value, ty, attributes });
        value
    }

    /// Type of a value of the module.
    pub fn ty(&self, value: ValueId) -> &Type {
        self.module.ty(value)
    }

    /// Tensor type of a value, if it is a ranked tensor.
    pub fn tensor(&self, value: ValueId) -> Option<&TensorType> {
        self.module.tensor(value)
    }

    /// Begins an operation.
    pub fn op(&mut self, name: impl Into<OpName>) -> OpBuilder<'_, 'm> {
        OpBuilder { function: self, op: Op::new(name), types: Vec::new() }
    }

    /// A constant of the given elements.
    pub fn constant(&mut self, elements: DenseElements) -> Result<ValueId> {
        let ty = Type::Tensor(elements.ty.clone());
        self.op("stablehlo.constant").attr("value", Attribute::Dense(elements.canonical())).result(ty).value()
    }

    /// A constant from little-endian bytes in row-major order.
    pub fn constant_bytes(
        &mut self,
        shape: &[i64],
        element: ElementType,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<ValueId> {
        let ty = TensorType::new(shape, element);
        let text = ty.to_string();
        let elements = DenseElements::raw(ty, bytes).ok_or_else(|| wrong_bytes(&text))?;
        self.constant(elements)
    }

    /// A constant all of whose elements have the given little-endian bytes.
    pub fn splat(&mut self, shape: &[i64], element: ElementType, bytes: &[u8]) -> Result<ValueId> {
        let ty = TensorType::new(shape, element);
        let text = ty.to_string();
        let elements = DenseElements::splat(ty, bytes).ok_or_else(|| wrong_bytes(&text))?;
        self.constant(elements)
    }

    /// A constant all of whose elements are a number, rounded to the element type (floats) or cut to it (integers).
    pub fn splat_f64(&mut self, shape: &[i64], element: ElementType, value: f64) -> Result<ValueId> {
        let width = element.bytes().unwrap_or(0);
        let bytes = match crate::float::encode(&element, value) {
            Some(bits) => bits.to_le_bytes()[..width.min(8)].to_vec(),
            None if element.is_complex() => {
                let part = element.real_part();
                let bits = |v: f64| crate::float::encode(&part, v).unwrap_or(0).to_le_bytes();
                [&bits(value)[..width / 2], &bits(0.0)[..width / 2]].concat()
            }
            None => return self.splat_i64(shape, element, value as i64),
        };
        self.splat(shape, element, &bytes)
    }

    /// A constant all of whose elements are an integer; for float types as [`FunctionBuilder::splat_f64`].
    pub fn splat_i64(&mut self, shape: &[i64], element: ElementType, value: i64) -> Result<ValueId> {
        if !element.is_integer() {
            return self.splat_f64(shape, element, value as f64);
        }
        let value = if element == ElementType::I1 { i64::from(value != 0) } else { value };
        let width = element.bytes().unwrap_or(0);
        self.splat(shape, element, &value.to_le_bytes()[..width])
    }

    /// A region with the given arguments, whose operations the callback adds; `stablehlo.return` of the values that
    /// it gives back closes the region.
    pub fn region<R: IntoIterator<Item = ValueId>>(
        &mut self,
        params: &[Type],
        build: impl FnOnce(&mut FunctionBuilder<'m>, &[ValueId]) -> Result<R>,
    ) -> Result<Region> {
        let depth = self.regions.len();
        let params: Vec<(ValueId, Type)> =
            params.iter().map(|ty| (self.module.new_value(ty.clone(), ""), ty.clone())).collect();
        let arguments: Vec<ValueId> = params.iter().map(|p| p.0).collect();
        self.regions.push(Region { params, ops: Vec::new() });
        let built =
            build(self, &arguments).and_then(|results| self.op("stablehlo.return").operands(results).build());
        let region = self.regions.drain(depth..).next().unwrap_or_default();
        built.map(|_| region)
    }

    /// Calls a function.
    pub fn call(
        &mut self,
        callee: &str,
        operands: impl IntoIterator<Item = ValueId>,
        results: impl IntoIterator<Item = Type>,
    ) -> Result<Values> {
        self.op("func.call")
            .operands(operands)
            .attr("callee", Attribute::symbol(callee))
            .results(results)
            .build()
    }

    /// Adds an operation made elsewhere; its operands, results and regions must hold values of this module.
    pub fn push(&mut self, op: Op) {
        if let Some(region) = self.regions.last_mut() {
            region.ops.push(op);
        }
    }

    /// Returns the values from the function and adds it to the module.
    pub fn finish(self, results: impl IntoIterator<Item = ValueId>) -> Result<()> {
        self.finish_with(results.into_iter().map(|value| (value, Attributes::new())))
    }

    /// As [`FunctionBuilder::finish`], with attributes of the results.
    pub fn finish_with(mut self, results: impl IntoIterator<Item = (ValueId, Attributes)>) -> Result<()> {
        let (values, attributes): (Vec<ValueId>, Vec<Attributes>) = results.into_iter().unzip();
        if self.module.function(&self.name).is_some() {
            let message = format!("the function '@{}' is already defined", self.name);
            return Err(Diagnostic::new(codes::REDEFINED, Span::default(), message));
        }
        let types = values.iter().map(|v| self.module.ty(*v).clone());
        let results = types.zip(attributes).map(|(ty, attributes)| ResultDecl { ty, attributes }).collect();
        self.op("func.return").operands(values).build()?;
        let mut body = self.regions.drain(..).next().unwrap_or_default();
        body.params = self.params.iter().map(|p| (p.value, p.ty.clone())).collect();
        self.module.functions.push(Function {
            name: self.name,
            visibility: self.visibility,
            explicit_public: self.visibility == Visibility::Public,
            params: self.params,
            results,
            attributes: Attributes::new(),
            body,
            span: Span::default(),
            location: None,
        });
        Ok(())
    }
}

fn wrong_bytes(ty: &str) -> Diagnostic {
    Diagnostic::new(codes::DENSE, Span::default(), format!("bytes that are not the elements of {ty}"))
}

/// Builds one operation.
#[derive(Debug)]
pub struct OpBuilder<'f, 'm> {
    function: &'f mut FunctionBuilder<'m>,
    op: Op,
    types: Vec<Type>,
}

impl OpBuilder<'_, '_> {
    /// Adds an operand.
    pub fn operand(mut self, value: ValueId) -> Self {
        self.op.operands.push(value);
        self
    }

    /// Adds operands.
    pub fn operands(mut self, values: impl IntoIterator<Item = ValueId>) -> Self {
        self.op.operands.extend(values);
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: impl Into<Cow<'static, str>>, value: Attribute) -> Self {
        self.op.attributes.set(name, value);
        self
    }

    /// Sets a list of integers.
    pub fn ints(self, name: &'static str, values: impl Into<Vec<i64>>) -> Self {
        self.attr(name, Attribute::I64s(values.into()))
    }

    /// Adds a region.
    pub fn region(mut self, region: Region) -> Self {
        self.op.regions.push(region);
        self
    }

    /// Adds a result.
    pub fn result(mut self, ty: Type) -> Self {
        self.types.push(ty);
        self
    }

    /// Adds results.
    pub fn results(mut self, types: impl IntoIterator<Item = Type>) -> Self {
        self.types.extend(types);
        self
    }

    /// Adds the operation where the function is being built; its results. Arity and attributes are checked and
    /// defaults filled in; types are checked by [`crate::verify()`].
    pub fn build(mut self) -> Result<Values> {
        let module = &mut *self.function.module;
        self.op.results = self.types.into_iter().map(|ty| module.new_value(ty, "")).collect();
        let first = self.op.operands.first().map(|v| module.ty(*v));
        normalise(&mut self.op, first)?;
        // A program made in code says all that it means.
        self.op.attributes.spell_out();
        let results = self.op.results.clone();
        self.function.push(self.op);
        Ok(results)
    }

    /// As [`OpBuilder::build`], for an operation of one result.
    pub fn value(self) -> Result<ValueId> {
        let name = self.op.name.clone();
        match self.build()?.as_slice() {
            [one] => Ok(*one),
            many => {
                let message = format!("'{name}' has {} results where one is wanted", many.len());
                Err(Diagnostic::new(codes::ARITY, Span::default(), message))
            }
        }
    }
}
