//! The scalar functions of library operations: as an expression of their arguments, and its value for some.

use super::Lowered;
use super::points::Maker;
use crate::CodegenError;
use crate::expression::build;
use crate::expression::complex;
use crate::expression::dag::{Dag, Node, NodeId, Parts};
use crate::expression::stop::Stop;
use crate::kernels::expression::Tensor;
use std::collections::HashMap;
use surject_ir::{FieldKind, Function, Region, StatementKind, UnaryOp, Var};
use surject_kernel::{Access, Affine, Op, Place, Type, Value};

/// A scalar function as an expression. Complex numbers have two parts, as arguments and as results.
#[derive(Clone, Debug)]
pub(crate) struct ScalarFunction {
    pub(crate) dag: Dag,
    pub(crate) params: Vec<Parts>,
    pub(crate) results: Vec<Parts>,
}

impl ScalarFunction {
    /// That of a region.
    ///
    /// Errors: control flow, library operations and accumulations inside of it.
    pub(crate) fn of(function: &Function, region: &Region) -> Lowered<ScalarFunction> {
        let mut dag = Dag::default();
        // The loop that parameters depend on stands for where they have values.
        let here = dag.add_loop(1).ok_or_else(|| unsupported("a loop"))?;
        let mut params = Vec::new();
        let mut bound: HashMap<Var, Parts> = HashMap::new();
        for (i, &param) in region.params.iter().enumerate() {
            let dtype = function.ty(param).dtype;
            let mut part = |number| dag.add(Node::Param(number, here), dtype.part());
            let number = 2 * i as u32;
            let parts = Parts { re: part(number), im: dtype.is_complex().then(|| part(number + 1)) };
            params.push(parts);
            bound.insert(param, parts);
        }
        for statement in &region.body.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    let value;
                    (dag, value) = of_field(function, *field, &bound, dag)?;
                    bound.insert(*target, value);
                }
                StatementKind::Constant { target, value } if value.len() == 1 => {
                    bound.insert(*target, complex::constant(&mut dag, value.get(0)));
                }
                StatementKind::Constant { .. } => {
                    return Err(unsupported("a tensor").at(statement.origin.as_deref()));
                }
                StatementKind::Call { .. } => {
                    return Err(unsupported("a library operation").at(statement.origin.as_deref()));
                }
                StatementKind::While { .. } | StatementKind::If { .. } => {
                    return Err(unsupported("control flow").at(statement.origin.as_deref()));
                }
            }
        }
        let mut results = Vec::new();
        for &var in &region.body.results {
            let parts = match bound.get(&var) {
                Some(&parts) => parts,
                None => {
                    // A variable from outside.
                    let is_it = |kind: &FieldKind| matches!(kind, FieldKind::Tensor(v) if *v == var);
                    let field = function.fields.iter().find_map(|(id, f)| is_it(&f.kind).then_some(id));
                    let field = field.ok_or_else(|| unsupported("what it yields and does not define"))?;
                    let value;
                    (dag, value) = of_field(function, field, &bound, dag)?;
                    value
                }
            };
            results.push(parts);
        }
        let made = ScalarFunction { dag, params, results };
        let is_scalar = |n: &NodeId| match &made.dag[*n].node {
            Node::Load { address, guards, .. } => guards.is_empty() && address.terms.is_empty(),
            Node::Gather { .. } | Node::Index(_) | Node::Guarded { .. } | Node::Reduce { .. } => false,
            _ => true,
        };
        match made.dag.all_reachable(&made.roots()).iter().all(is_scalar) {
            true => Ok(made),
            false => Err(unsupported("an accumulation")),
        }
    }

    /// The parts of the results.
    pub(super) fn roots(&self) -> Vec<NodeId> {
        flat(&self.results)
    }

    /// Does the function read tensors from outside?
    pub(crate) fn reads_memory(&self) -> bool {
        self.dag.all_reachable(&self.roots()).iter().any(|&n| matches!(self.dag[n].node, Node::Load { .. }))
    }

    /// The first result, added to a graph, of these nodes as arguments. None is complex, and the function reads no tensor.
    pub(crate) fn added(&self, to: &mut Dag, args: &[NodeId]) -> Lowered<NodeId> {
        let malformed =
            || CodegenError::malformed("a scalar function that is no expression of its arguments");
        let root = self.results.first().ok_or_else(malformed)?.re;
        let known = self.params.iter().map(|p| p.re).zip(args.iter().copied()).collect();
        to.import_knowing(&self.dag, root, known, &|lin| Some(lin.clone())).ok_or_else(malformed)
    }
}

/// Adds a field of rank 0 to a graph.
fn of_field(
    function: &Function,
    field: surject_ir::FieldId,
    bound: &HashMap<Var, Parts>,
    dag: Dag,
) -> Lowered<(Dag, Parts)> {
    let none = HashMap::new();
    let mut builder = build::Builder::new(function, &none, bound, dag);
    let value = builder.value(field, Vec::new());
    let value = value.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Spill(_) | Stop::Split(..) | Stop::Phase(..) => unsupported("an accumulation"),
    })?;
    Ok((builder.dag, value))
}

/// All parts of some values.
pub(super) fn flat(values: &[Parts]) -> Vec<NodeId> {
    values.iter().flat_map(|p| [Some(p.re), p.im]).flatten().collect()
}

fn unsupported(what: &str) -> CodegenError {
    CodegenError::unsupported(format!("{what} inside of a scalar function"))
}

impl Maker<'_> {
    /// The parts of the results of a region for the parts of these arguments, in as many lanes as the widest of them has.
    pub(super) fn apply(&mut self, region: &Region, arguments: &[Value]) -> Lowered<Vec<Value>> {
        let function = ScalarFunction::of(self.call.function, region)?;
        self.applied(&function, arguments, &[])
    }

    /// The same of a function, where some of its conditions are known. Tensors from outside are read where they lie.
    pub(super) fn applied(
        &mut self,
        function: &ScalarFunction,
        arguments: &[Value],
        known: &[(NodeId, bool)],
    ) -> Lowered<Vec<Value>> {
        let (dag, roots) = (&function.dag, function.roots());
        let lanes = arguments.iter().map(|&a| self.b.ty(a).lanes).max().unwrap_or(1);
        let mut values: HashMap<NodeId, Value> = HashMap::new();
        for (node, &argument) in flat(&function.params).into_iter().zip(arguments) {
            let argument = self.b.broadcast(argument, lanes);
            values.insert(node, argument);
        }
        for &(node, holds) in known {
            let holds =
                self.b.splat(surject_ir::Scalar::from_i128(surject_ir::DType::I1, holds.into()), lanes);
            values.insert(node, holds);
        }
        for id in dag.reachable_but(&roots, |n| values.contains_key(&n)) {
            if values.contains_key(&id) {
                continue;
            }
            let value = self.node(dag, id, &values, lanes)?;
            values.insert(id, value);
        }
        let missing = || CodegenError::malformed("a result without a value");
        roots.iter().map(|root| values.get(root).copied().ok_or_else(missing)).collect()
    }

    /// The value of a node whose operands have some.
    fn node(
        &mut self,
        dag: &Dag,
        id: NodeId,
        values: &HashMap<NodeId, Value>,
        lanes: usize,
    ) -> Lowered<Value> {
        let data = &dag[id];
        let ty = Type::vector(data.dtype, lanes);
        let of = |node: &NodeId| {
            let missing = || CodegenError::malformed("an operand without a value");
            values.get(node).copied().ok_or_else(missing)
        };
        Ok(match &data.node {
            Node::Const(value) => self.b.splat(*value, lanes),
            Node::Load { buf, address, .. } => {
                let mem = self.memory(Tensor::Var(Var(buf.0)), Access::Read)?;
                let place = Place::new(mem, Affine::from(address.offset));
                let one = self.b.load(place, Type::scalar(data.dtype));
                self.b.broadcast(one, lanes)
            }
            // A float is its own real part.
            Node::Unary(UnaryOp::Real, x) if data.dtype.is_float() => of(x)?,
            Node::Unary(op, x) => self.b.unary(*op, of(x)?),
            Node::Binary(op, x, y) => self.b.binary(*op, of(x)?, of(y)?),
            Node::Select(c, x, y) => self.b.select(of(c)?, of(x)?, of(y)?),
            Node::Convert(x) => self.b.convert(of(x)?, data.dtype),
            Node::Bitcast(x) => self.b.pure(Op::Bitcast(of(x)?), ty),
            Node::ReducePrecision(exponent, mantissa, x) => {
                self.b.pure(Op::ReducePrecision(*exponent, *mantissa, of(x)?), ty)
            }
            Node::Param(..) => return Err(CodegenError::malformed("a parameter without an argument")),
            Node::Gather { .. } | Node::Index(_) | Node::Guarded { .. } | Node::Reduce { .. } => {
                return Err(unsupported("an accumulation"));
            }
        })
    }
}

/// Why a scalar function has no code; `None` where it has.
pub(super) fn refusal(function: &Function, region: &Region) -> Option<String> {
    ScalarFunction::of(function, region).err().map(|error| error.to_string())
}
