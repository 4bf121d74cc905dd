//! Values of a run: typed buffers, tuples, tokens.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::error::{Error, ErrorKind, Result};
use super::number::{self, C, Elements, Scalar};
use crate::dense::{DenseData, DenseElements};
use crate::types::{Dim, ElementType, TensorType, Type};

/// What a value of a program is while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor, or a number of a type without a shape (`index`).
    Tensor(Tensor),
    /// The parts of a tuple.
    Tuple(Vec<Value>),
    /// A token. It orders effects; operations run in the order of the text, so that nothing is left to order.
    Token,
    /// What an `async_start` will give. It is computed at once.
    Future(Vec<Value>),
}

impl Value {
    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Whether the value may have the type; dynamic extents allow any within their bounds.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Value::Tensor(tensor), Type::Tensor(ty)) => tensor.fits(ty),
            (Value::Tensor(tensor), Type::Scalar(element)) => {
                tensor.shape.is_empty() && tensor.element == *element
            }
            // A witness, a shape, a tensor without a rank.
            (Value::Tensor(_) | Value::Token, Type::Opaque(_) | Type::None) => true,
            (Value::Tuple(parts), Type::Tuple(types)) | (Value::Future(parts), Type::Future(types)) => {
                parts.len() == types.len() && parts.iter().zip(types.iter()).all(|(v, ty)| v.fits(ty))
            }
            (Value::Token, Type::Token) => true,
            _ => false,
        }
    }

    /// What the value is, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Value::Tensor(tensor) => tensor.ty().to_string(),
            Value::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Value::describe).collect();
                format!("tuple<{}>", parts.join(", "))
            }
            Value::Token => "a token".into(),
            Value::Future(_) => "a future".into(),
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor)
    }
}

/// A tensor: element type, shape, and little-endian bytes in row-major order, each element as wide as in
/// [`DenseElements`] (elements below 8 bits take a byte). Quantized elements are stored values.
///
/// Clones share their bytes.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub(crate) element: ElementType,
    pub(crate) shape: Vec<usize>,
    storage: Arc<Storage>,
}

#[derive(Debug)]
struct Storage {
    bytes: Vec<u8>,
    /// Where the bytes are counted.
    budget: Option<Arc<Budget>>,
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.live.fetch_sub(self.bytes.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Bytes that live tensors of a run hold.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    live: AtomicU64,
    limit: u64,
    /// Processes that run, those inside others too.
    processes: AtomicUsize,
}

thread_local! {
    /// The run that this thread works for.
    static CURRENT: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { live: AtomicU64::new(0), limit, processes: AtomicUsize::new(0) })
    }

    /// So many more processes run; whether that is not too many.
    pub(crate) fn begin(&self, processes: usize, most: usize) -> bool {
        self.processes.fetch_add(processes, Ordering::Relaxed) + processes <= most
    }

    pub(crate) fn end(&self, processes: usize) {
        self.processes.fetch_sub(processes, Ordering::Relaxed);
    }

    /// The budget of the run that this thread works for.
    pub(crate) fn current() -> Option<Arc<Budget>> {
        CURRENT.with(|current| current.borrow().clone())
    }

    /// Counts the tensors that `run` makes.
    pub(crate) fn within<T>(budget: &Arc<Budget>, run: impl FnOnce() -> T) -> T {
        let before = CURRENT.with(|current| current.replace(Some(budget.clone())));
        let result = run();
        CURRENT.with(|current| current.replace(before));
        result
    }
}

/// Checks that so many more bytes may be asked for.
pub(crate) fn reserve(bytes: u64) -> Result<()> {
    let over = CURRENT.with(|current| {
        let current = current.borrow();
        let budget = current.as_ref()?;
        let live = budget.live.load(Ordering::Relaxed);
        (live.saturating_add(bytes) > budget.limit).then_some((live, budget.limit))
    });
    match over {
        None => Ok(()),
        Some((live, limit)) => Err(Error::new(
            ErrorKind::Limit,
            format!("{bytes} bytes for a tensor beside {live} in use, where the limit is {limit}"),
        )),
    }
}

/// Bytes of one element as buffers hold it.
pub(crate) fn width(element: &ElementType) -> Result<usize> {
    let width = match element.quantized() {
        Some(quantized) => quantized.storage.bytes(),
        None => element.bytes(),
    };
    width.ok_or_else(|| Error::unsupported(format!("elements of type {element}")))
}

/// Number of elements of a shape whose tensor may be made.
pub(crate) fn count(shape: &[usize], element: &ElementType) -> Result<usize> {
    let wide = width(element)? as u64;
    let count = match shape.contains(&0) {
        true => Some(0),
        false => shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d as u64)),
    };
    let bytes = count.and_then(|n| n.checked_mul(wide)).filter(|n| *n <= isize::MAX as u64);
    match (count, bytes) {
        (Some(count), Some(bytes)) => {
            reserve(bytes)?;
            Ok(count as usize)
        }
        _ => Err(Error::new(ErrorKind::Limit, format!("a tensor of shape {shape:?} is too large"))),
    }
}

impl Tensor {
    /// A tensor from bytes in the form of the buffer; `None` if their number is wrong or the element type has no buffers.
    pub fn new(element: ElementType, shape: &[usize], bytes: Vec<u8>) -> Option<Tensor> {
        let wide = width(&element).ok()?;
        let count = match shape.contains(&0) {
            true => 0,
            false => shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d))?,
        };
        (count.checked_mul(wide)? == bytes.len()).then(|| Tensor::raw(element, shape.to_vec(), bytes))
    }

    /// A tensor of integers (and booleans), each cut to the element type.
    pub fn from_i64s(element: ElementType, shape: &[usize], values: &[i64]) -> Option<Tensor> {
        let bytes = number::write(&element, &Elements::I(values.to_vec())).ok()?;
        number::Int::of(&element)?;
        Tensor::new(element, shape, bytes)
    }

    /// A tensor of real floats, each rounded to the element type.
    pub fn from_f64s(element: ElementType, shape: &[usize], values: &[f64]) -> Option<Tensor> {
        if !element.is_float() {
            return None;
        }
        let bytes = number::write(&element, &Elements::F(values.to_vec())).ok()?;
        Tensor::new(element, shape, bytes)
    }

    /// The tensor of an attribute; `None` for element types without buffers.
    pub fn from_dense(dense: &DenseElements) -> Option<Tensor> {
        let shape: Vec<usize> =
            dense.ty.static_shape()?.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>()?;
        let bytes = dense.to_bytes(isize::MAX as usize)?;
        Tensor::new(dense.ty.element.clone(), &shape, bytes.to_vec())
    }

    /// The tensor as an attribute; `None` for quantized elements.
    pub fn to_dense(&self) -> Option<DenseElements> {
        let ty = self.ty();
        if self.element.quantized().is_some() {
            return None;
        }
        Some(DenseElements { ty: ty.into(), data: DenseData::Raw(Arc::from(self.bytes())) }.canonical())
    }

    pub(crate) fn raw(element: ElementType, shape: Vec<usize>, bytes: Vec<u8>) -> Tensor {
        let budget = CURRENT.with(|current| current.borrow().clone());
        if let Some(budget) = &budget {
            budget.live.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Tensor { element, shape, storage: Arc::new(Storage { bytes, budget }) }
    }

    /// A tensor of elements, each rounded or cut to the element type.
    pub(crate) fn of(element: &ElementType, shape: &[usize], elements: &Elements) -> Result<Tensor> {
        let bytes = number::write(element, elements)?;
        if bytes.len() as u64 != (count(shape, element)? * width(element)?) as u64 {
            return Err(Error::invalid(format!("{} elements for the shape {shape:?}", elements.len())));
        }
        Ok(Tensor::raw(element.clone(), shape.to_vec(), bytes))
    }

    pub(crate) fn of_scalars(element: &ElementType, shape: &[usize], scalars: &[Scalar]) -> Result<Tensor> {
        Tensor::of(element, shape, &Elements::from_scalars(element, scalars)?)
    }

    pub(crate) fn scalar(element: &ElementType, value: Scalar) -> Result<Tensor> {
        Tensor::of_scalars(element, &[], &[value])
    }

    pub(crate) fn ints(element: &ElementType, shape: &[usize], values: Vec<i64>) -> Result<Tensor> {
        Tensor::of(element, shape, &Elements::I(values))
    }

    pub(crate) fn zeros(element: &ElementType, shape: &[usize]) -> Result<Tensor> {
        let n = count(shape, element)? * width(element)?;
        let bytes = match element.quantized() {
            // What stands for zero.
            Some(_) => {
                let zero = number::zero(element)?;
                return Tensor::of_scalars(element, shape, &vec![zero; count(shape, element)?]);
            }
            None => vec![0; n],
        };
        Ok(Tensor::raw(element.clone(), shape.to_vec(), bytes))
    }

    /// Type of an element.
    pub fn element(&self) -> &ElementType {
        &self.element
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Little-endian bytes of the elements in row-major order.
    pub fn bytes(&self) -> &[u8] {
        &self.storage.bytes
    }

    /// The bytes, to change them: in place where no other tensor shares them.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if Arc::get_mut(&mut self.storage).is_none() {
            let copy = Tensor::raw(self.element.clone(), Vec::new(), self.storage.bytes.clone());
            self.storage = copy.storage;
        }
        match Arc::get_mut(&mut self.storage) {
            Some(storage) => &mut storage.bytes,
            None => &mut [],
        }
    }

    pub(crate) fn width(&self) -> usize {
        width(&self.element).unwrap_or(1)
    }

    /// The type of a tensor of this shape.
    pub fn ty(&self) -> TensorType {
        let shape = self.shape.iter().map(|n| Dim::Static(*n as i64)).collect();
        TensorType::of(shape, self.element.clone())
    }

    /// The same bytes as elements of another type or in another shape of as many bytes.
    pub(crate) fn with(self, element: ElementType, shape: Vec<usize>) -> Tensor {
        Tensor { element, shape, storage: self.storage }
    }

    pub(crate) fn elements(&self) -> Result<Elements> {
        number::read(&self.element, self.bytes())
    }

    pub(crate) fn scalars(&self) -> Result<Vec<Scalar>> {
        Ok(self.elements()?.into_scalars())
    }

    /// Integers and booleans, `ui64` as its bits; an error for other types.
    pub(crate) fn int_elements(&self) -> Result<Vec<i64>> {
        match self.elements()? {
            Elements::I(values) => Ok(values),
            _ => Err(Error::invalid(format!("integers are wanted where there is {}", self.ty()))),
        }
    }

    /// All elements as integers (`ui64` wraps); `None` for other types.
    pub fn to_i64s(&self) -> Option<Vec<i64>> {
        self.int_elements().ok()
    }

    /// All elements as `f64`: exactly for floats, rounded for integers; `None` for complex and quantized types.
    pub fn to_f64s(&self) -> Option<Vec<f64>> {
        if self.element.quantized().is_some() {
            return None;
        }
        match self.elements().ok()? {
            Elements::F(values) => Some(values),
            Elements::I(values) if self.element == ElementType::U64 => {
                Some(values.into_iter().map(|v| v as u64 as f64).collect())
            }
            Elements::I(values) => Some(values.into_iter().map(|v| v as f64).collect()),
            Elements::C(_) => None,
        }
    }

    /// All elements as complex numbers; `None` for quantized types.
    pub fn to_complex(&self) -> Option<Vec<(f64, f64)>> {
        match self.elements().ok()? {
            Elements::C(values) => Some(values.into_iter().map(|z: C| (z.re, z.im)).collect()),
            _ => Some(self.to_f64s()?.into_iter().map(|re| (re, 0.0)).collect()),
        }
    }

    /// The one integer of a scalar.
    pub(crate) fn int(&self) -> Result<i64> {
        match self.int_elements()?.as_slice() {
            [one] => Ok(*one),
            _ => Err(Error::invalid(format!("a scalar is wanted where there is {}", self.ty()))),
        }
    }

    fn fits(&self, ty: &TensorType) -> bool {
        let bounds = ty.bounds();
        let dims = ty.shape.iter().zip(bounds).zip(&self.shape);
        (self.element == ty.element)
            && self.shape.len() == ty.shape.len()
            && dims.into_iter().all(|((dim, bound), n)| match dim {
                Dim::Static(wanted) => *wanted == *n as i64,
                Dim::Dynamic => bound.is_none_or(|bound| *n as i64 <= bound),
            })
    }
}

/// Equal types, shapes and bits.
impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.element == other.element && self.shape == other.shape && self.bytes() == other.bytes()
    }
}

/// Distances of neighbours along each dimension in row-major order.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d];
    }
    strides
}

/// Every index of a shape in row-major order.
pub(crate) fn each_index(shape: &[usize], mut visit: impl FnMut(&[usize]) -> Result<()>) -> Result<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index)?;
        let mut d = shape.len();
        loop {
            if d == 0 {
                return Ok(());
            }
            d -= 1;
            index[d] += 1;
            if index[d] < shape[d] {
                break;
            }
            index[d] = 0;
        }
    }
}
