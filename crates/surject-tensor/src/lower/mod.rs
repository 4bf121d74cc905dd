//! From a graph to a program: every operation becomes assignments over its product space.
//!
//! The program has two functions. `main` takes the inputs, the static indices and the state, and gives the declared
//! outputs and the new values of the state that it assigns. `init` takes a seed and gives the first values of the state; where
//! sizes are declared, it takes them as well.
//! State is: the parameters, and tensors that assignments write and that are read before they are written.
//!
//! Assignments are not in SSA form and programs are: every assignment makes a new version of its target. A target that
//! starts from the neutral element forgets the version before, any other adds to it.

mod assign;
mod fetch;
mod primitive;
mod window;
mod words;

use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{Action, Data, Graph, NodeId, NodeKind, StepId};
use crate::operator::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::{Extent, ExtentEnv, ExtentExpr, Fact, Facts, IndexMap, Space};
use surject_ir::{
    Buffer, Call, DType, FieldId, Function, Program, Scalar, SizeGuard, Statement, StatementKind, TensorType,
    TypeError, Var,
};
use surject_projection::Index;
use surject_shape::Place;

/// How a graph becomes a program.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// The element type of all tensors; a float.
    pub dtype: DType,
    /// The seed of the random numbers that `main` draws. Those of `init` have theirs as an argument.
    pub seed: u32,
    /// The name of the program.
    pub name: String,
}

impl Default for LowerOptions {
    fn default() -> LowerOptions {
        LowerOptions { dtype: DType::F32, seed: 0, name: String::new() }
    }
}

/// A tensor at the border of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The tensor.
    pub node: NodeId,
    /// Its name.
    pub label: String,
    /// Its type in the program.
    pub ty: TensorType,
}

/// A program and what its arguments and results are.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The functions `main` and `init`.
    pub program: Program,
    /// The first parameters of `main`.
    pub inputs: Vec<Port>,
    /// The parameters that follow: static indices, 32-bit integers.
    pub indices: Vec<Port>,
    /// The parameters that follow, and the results of `init`.
    pub state: Vec<Port>,
    /// The first results of `main`.
    pub outputs: Vec<Port>,
    /// The results that follow: new values of the state, by their places in `state`.
    pub updates: Vec<usize>,
    /// The declared sizes that `init` takes, but for those that the facts define by others: the axes, before a last one of size 0, of its second parameter, which has no
    /// elements. Empty where `init` takes the seed alone.
    pub sizes: Vec<String>,
}

impl Lowered {
    /// The second argument of `init`, for the sizes that the arguments of `main` give; `None` where `init` takes the seed
    /// alone, or where the arguments do not give a size.
    pub fn sizes_of(&self, arguments: &[Buffer]) -> Option<Buffer> {
        let call = Call { function: self.program.function("main")?, arguments };
        let sizes = self.sizes.iter().map(|name| usize::try_from(call.symbol(name)?).ok());
        let shape = sizes.chain([Some(0)]).collect::<Option<Vec<usize>>>()?;
        (!self.sizes.is_empty()).then(|| Buffer::zeros(DType::I1, &shape))
    }
}

/// Makes the program of a graph. Closes its shapes first.
///
/// # Errors
/// Shapes or loops that do not fit; a gradient or a tensor that is read and that nothing computes; an accumulation that
/// is not defined where values meet.
pub fn lower(graph: &Graph, options: &LowerOptions) -> Result<Lowered, TensorError> {
    graph.infer()?;
    let mut data = graph.0.borrow_mut();
    let actions = data.actions.clone();
    let outputs = data.outputs.clone();
    let wanted = wanted_gradients(&data, &actions, &outputs);
    // Inputs are parameters in the order in which they were declared, used or not.
    let mut main = Builder::new(&mut data, "main", options);
    for id in 0..main.data.nodes.len() {
        let node = NodeId(id as u32);
        match main.data.nodes[id].kind {
            NodeKind::Input => {
                let port = main.port(node, options.dtype)?;
                main.open(&port);
                main.inputs.push(port);
            }
            NodeKind::Index { .. } => {
                let port = main.port(node, DType::I32)?;
                main.open(&port);
                main.indices.push(port);
            }
            _ => {}
        }
    }
    let given = main.inputs.iter().chain(&main.indices).map(|port| main.arguments[&port.node]).collect();
    main.assume(given)?;
    for action in actions {
        match action {
            Action::Assign(step) => main.assign(step)?,
            Action::Forward(node) => main.value(node).map(drop)?,
            Action::Backprop(node) => main.backprop(node, &wanted)?,
            Action::ZeroGrads(node) => main.zero_grads(node),
        }
    }
    let mut results = Vec::new();
    for node in &outputs {
        results.push(main.value(*node)?);
        main.refuse_words(*node)?;
    }
    let ports = outputs.iter().map(|n| main.port(*n, options.dtype)).collect::<Result<Vec<_>, _>>()?;
    let (inputs, indices, mut state) = (main.inputs, main.indices, main.state);
    // In the order of declaration, not of first use.
    state.sort_by_key(|(port, _)| port.node);
    let mut updates = Vec::new();
    for (k, (port, initial)) in state.iter().enumerate() {
        if let Some(var) = main.current.get(&port.node).filter(|var| *var != initial) {
            updates.push(k);
            results.push(*var);
        }
    }
    let mut function = main.function;
    let parameters = inputs.iter().chain(&indices).map(|p| main.arguments[&p.node]);
    function.params = parameters.chain(state.iter().map(|(_, var)| *var)).collect();
    function.body.results = results;
    let state: Vec<Port> = state.into_iter().map(|(port, _)| port).collect();
    let (init, sizes) = first_values(&mut data, &state, options)?;
    Ok(Lowered {
        program: Program { name: options.name.clone(), functions: vec![function, init] },
        inputs,
        indices,
        state,
        outputs: ports,
        updates,
        sizes,
    })
}

/// The function that makes the first values of the state, and the declared sizes that it takes.
fn first_values(
    data: &mut Data,
    state: &[Port],
    options: &LowerOptions,
) -> Result<(Function, Vec<String>), TensorError> {
    let mut init = Builder::new(data, "init", options);
    let seed = init.function.var("seed", TensorType::scalar(DType::U32));
    init.seed = Seed::Argument(seed);
    let mut params = vec![seed];
    let declared = &init.data.declared;
    let given = declared.sizes().iter().filter(|(name, _)| declared.defined(name).is_none());
    let sizes: Vec<String> = given.map(|(name, _)| name.clone()).filter(|_| !state.is_empty()).collect();
    if !sizes.is_empty() {
        // Only its shape matters: the last axis leaves it without elements.
        let axes = sizes.iter().map(|name| Extent::symbol(name)).chain([Extent::Const(0)]);
        params.push(init.function.var("sizes", TensorType::new(DType::I1, Space::new(axes))));
        init.assume(params.clone())?;
    }
    let mut results = Vec::new();
    for port in state {
        let first = match init.data.nodes[port.node.0 as usize].kind {
            NodeKind::Parameter { init: of } => {
                if !init.is_number(of) {
                    init.value(of)?;
                }
                if let Some(step) = init.data.first_values.get(&port.node).copied() {
                    init.forward(step)?;
                }
                init.current[&port.node]
            }
            _ => init.filled(port.node, 0.0)?,
        };
        results.push(first);
    }
    init.function.params = params;
    init.function.body.results = results;
    Ok((init.function, sizes))
}

/// The tensors whose gradients a backward pass computes.
pub(crate) struct Wanted {
    /// Somebody reads these.
    read: HashSet<NodeId>,
    /// Gradients have to pass through these, the ones that are read among them.
    pub(crate) passed: HashSet<NodeId>,
}

pub(crate) fn wanted_gradients(data: &Data, actions: &[Action], outputs: &[NodeId]) -> Wanted {
    let mut wanted = HashSet::new();
    let mut want = |id: NodeId| {
        if let NodeKind::Gradient(of) = data.nodes[id.0 as usize].kind {
            wanted.insert(of);
        }
    };
    outputs.iter().for_each(|id| want(*id));
    for step in &data.steps {
        step.operands.iter().for_each(|id| want(*id));
    }
    for action in actions {
        if let Action::Forward(id) = action {
            want(*id);
        }
    }
    let read = wanted.clone();
    for step in &data.steps {
        // Steps are in the order of construction: operands come before results.
        if matches!(data.nodes[step.result.0 as usize].kind, NodeKind::Result(_))
            && step.operands.iter().any(|o| wanted.contains(o))
        {
            wanted.insert(step.result);
        }
    }
    Wanted { read, passed: wanted }
}

/// Where the seed of random numbers comes from.
#[derive(Clone, Copy)]
enum Seed {
    Number(u32),
    Argument(Var),
}

/// A function that is being written.
struct Builder<'a> {
    data: &'a mut Data,
    function: Function,
    dtype: DType,
    seed: Seed,
    /// The newest version of every tensor that has one.
    current: HashMap<NodeId, Var>,
    /// The versions of operands that steps have read: a gradient is that of the values that were computed with, also
    /// where assignments have written since.
    read: HashMap<(StepId, NodeId), Var>,
    /// The tensors that hold words of random bits: the four parts of each word, lowest first.
    words: HashMap<NodeId, [Var; 4]>,
    /// Whether gradients are being computed.
    backward: bool,
    /// The parameters of the function for inputs and indices.
    arguments: HashMap<NodeId, Var>,
    /// Whether this is `main`: only there is state an argument.
    main: bool,
    inputs: Vec<Port>,
    indices: Vec<Port>,
    state: Vec<(Port, Var)>,
}

impl<'a> Builder<'a> {
    fn new(data: &'a mut Data, name: &str, options: &LowerOptions) -> Builder<'a> {
        Builder {
            data,
            function: Function::new(name),
            dtype: options.dtype,
            seed: Seed::Number(options.seed),
            current: HashMap::new(),
            read: HashMap::new(),
            words: HashMap::new(),
            backward: false,
            arguments: HashMap::new(),
            main: name == "main",
            inputs: Vec::new(),
            indices: Vec::new(),
            state: Vec::new(),
        }
    }

    fn space(&self, node: NodeId) -> Result<Space, TensorError> {
        let shape = self.data.ground(node)?;
        let declared = &self.data.declared;
        Ok(Space::new(shape.in_memory_order().iter().map(|d| declared.tidy(d.extent()))))
    }

    fn port(&self, node: NodeId, dtype: DType) -> Result<Port, TensorError> {
        let label = self.data.nodes[node.0 as usize].label.clone();
        Ok(Port { node, label, ty: TensorType::new(dtype, self.space(node)?) })
    }

    /// Makes a parameter of the function.
    fn open(&mut self, port: &Port) {
        let var = self.function.var(&name_of(&port.label, "x"), port.ty.clone());
        self.arguments.insert(port.node, var);
        self.current.insert(port.node, var);
    }

    /// Takes the declared sizes and the facts about them from the parameters that give sizes values.
    fn assume(&mut self, params: Vec<Var>) -> Result<(), TensorError> {
        let declared = self.data.declared.clone();
        if declared.sizes().is_empty() {
            return Ok(());
        }
        self.function.params = params;
        for (name, place) in declared.sizes() {
            // The facts may say which number or which other size it is.
            if self.function.declaration(name).is_none() && declared.defined(name).is_none() {
                let message =
                    format!("no call gives the size `{name}` a value: no input has an axis of this size");
                return Err(TensorError::new(TensorErrorKind::Size, message)
                    .with_help(format!("declare an input with it: `input x: \"{name},\";`"))
                    .at(place.clone()));
            }
        }
        let by = |atom: &Arc<ExtentExpr>| match &**atom {
            ExtentExpr::Symbol(name) => declared.defined(name),
            _ => None,
        };
        let guard = |(fact, place): &(Fact, Option<Place>)| SizeGuard {
            fact: Fact::new(fact.left.replaced(&by), fact.relation, fact.right.replaced(&by)),
            origin: place.as_ref().map(|place| format!("`where {fact}` at {place}").into()),
        };
        let guards = declared.facts().iter().map(guard);
        self.function.guards = guards.filter(|g| !Facts::default().holds(&g.fact).is_yes()).collect();
        self.function.assume().map_err(|e| TensorError::new(TensorErrorKind::Size, e.to_string()))
    }

    /// Stores a field as the newest version of a tensor.
    fn store(&mut self, node: NodeId, field: FieldId, place: Option<Arc<str>>) -> Var {
        let fallback = match self.data.nodes[node.0 as usize].kind {
            NodeKind::Result(step) => self.data.steps[step.0 as usize].operator.name.clone(),
            _ => String::new(),
        };
        let name = name_of(&self.data.nodes[node.0 as usize].label, &fallback);
        let var = self.function.var_for(&name, field);
        let kind = StatementKind::Store { target: var, field };
        self.function.body.statements.push(Statement { kind, origin: place });
        self.current.insert(node, var);
        var
    }

    /// A tensor of one number, stored.
    fn filled(&mut self, node: NodeId, value: f64) -> Result<Var, TensorError> {
        let space = self.space(node)?;
        let field = self.function.fields.constant(&space, Scalar::from_f64(self.dtype, value));
        Ok(self.store(node, field, None))
    }

    /// The newest version of a tensor, computed if it has none.
    fn value(&mut self, node: NodeId) -> Result<Var, TensorError> {
        // Depth is the depth of the user's network; a stack of our own bears any.
        let mut stack = vec![node];
        while let Some(&top) = stack.last() {
            if self.current.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            match self.data.nodes[top.0 as usize].kind.clone() {
                NodeKind::Result(step) => {
                    let step = &self.data.steps[step.0 as usize];
                    let missing = step.operands.iter().chain(&step.index);
                    stack.extend(missing.filter(|o| !self.current.contains_key(o) && !self.is_number(**o)));
                }
                NodeKind::Uniform { at: Some(at), .. } if !self.current.contains_key(&at) => stack.push(at),
                _ => {}
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            match self.data.nodes[top.0 as usize].kind.clone() {
                NodeKind::Result(step) => self.forward(step)?,
                _ => self.fetch(top).map(drop)?,
            }
        }
        Ok(self.current[&node])
    }

    /// Numbers are written into fields, not stored.
    fn is_number(&self, node: NodeId) -> bool {
        match self.data.nodes[node.0 as usize].kind {
            NodeKind::Number(_) => true,
            NodeKind::Size(size) => self.data.extent_of(size).is_none_or(|e| e.as_const().is_some()),
            _ => false,
        }
    }

    /// Runs what a step writes going forward.
    fn forward(&mut self, step: StepId) -> Result<(), TensorError> {
        for operand in self.data.steps[step.0 as usize].operands.clone() {
            if let Some(var) = self.current.get(&operand) {
                self.read.insert((step, operand), *var);
            }
        }
        for rule in self.data.forward(step) {
            self.rule(step, &rule)?;
        }
        Ok(())
    }

    fn assign(&mut self, step: StepId) -> Result<(), TensorError> {
        let target = self.data.steps[step.0 as usize].result;
        let slice = match self.data.nodes[target.0 as usize].kind {
            NodeKind::Result(slice) if self.data.steps[slice.0 as usize].written_through => Some(slice),
            _ => None,
        };
        if slice.is_some() {
            // The slice of what the whole holds now.
            self.value(target)?;
        }
        for operand in self.data.steps[step.0 as usize].operands.clone() {
            if !self.is_number(operand) {
                self.value(operand)?;
            }
        }
        self.forward(step)?;
        match slice {
            Some(slice) => self.write_through(slice),
            None => Ok(()),
        }
    }

    /// Puts a slice that was written into the tensor it is a slice of.
    fn write_through(&mut self, slice: StepId) -> Result<(), TensorError> {
        let projections = self.data.projections(slice)?;
        let step = &self.data.steps[slice.0 as usize];
        let (Some(whole), part) = (step.operands.first().copied(), step.result) else { return Ok(()) };
        let axis = projections.operands.first().into_iter().flatten().position(|i| *i == Index::External);
        let (Some(axis), Some(var)) = (axis, self.current.remove(&part)) else {
            return Err(fetch::impossible("a slice without a position".to_string()));
        };
        let field = self.function.tensor(var);
        self.put_back(whole, slice, axis, field)
    }

    /// Results that a tensor depends on, by their steps, in the order of construction.
    fn steps_below(&self, node: NodeId) -> Vec<StepId> {
        let mut seen = HashSet::new();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if let NodeKind::Result(step) = self.data.nodes[node.0 as usize].kind
                && seen.insert(step)
            {
                stack.extend(&self.data.steps[step.0 as usize].operands);
            }
        }
        let mut steps: Vec<StepId> = seen.into_iter().collect();
        steps.sort_unstable();
        steps
    }

    fn backprop(&mut self, of: NodeId, wanted: &Wanted) -> Result<(), TensorError> {
        self.value(of)?;
        let steps = self.steps_below(of);
        // Gradients of results belong to one pass; those of leaves add up over passes until they are zeroed.
        for step in &steps {
            let result = self.data.steps[step.0 as usize].result;
            let gradient = self.data.gradient(result);
            self.current.remove(&gradient);
        }
        let seed = self.data.gradient(of);
        self.filled(seed, 1.0)?;
        for &id in steps.iter().rev() {
            let step = &self.data.steps[id.0 as usize];
            let (operator, result) = (step.operator.clone(), step.result);
            let gradient = self.data.gradient(result);
            if !wanted.passed.contains(&result) || !self.current.contains_key(&gradient) {
                continue;
            }
            for rule in &operator.gradient {
                let passes = match rule.target {
                    Cell::Gradient(slot) => {
                        let target = self.data.steps[id.0 as usize].of_slot(slot);
                        target.is_some_and(|t| wanted.passed.contains(&t))
                    }
                    Cell::Value(_) | Cell::Local(_) => true,
                };
                if passes {
                    self.backward = true;
                    let done = self.rule(id, rule);
                    self.backward = false;
                    done?;
                }
            }
        }
        let mut leaves: Vec<NodeId> = wanted.read.iter().copied().collect();
        leaves.sort_unstable();
        for leaf in leaves {
            let gradient = self.data.gradient(leaf);
            if !self.current.contains_key(&gradient) {
                self.filled(gradient, 0.0)?;
            }
        }
        Ok(())
    }

    fn zero_grads(&mut self, of: NodeId) {
        let steps = self.steps_below(of);
        let nodes: HashSet<NodeId> =
            steps.iter().flat_map(|s| self.data.steps[s.0 as usize].operands.clone()).chain([of]).collect();
        for node in nodes {
            let gradient = self.data.gradient(node);
            self.current.remove(&gradient);
        }
    }

    fn wrong(&self, step: StepId, kind: TensorErrorKind, message: String, help: &str) -> TensorError {
        let origin = &self.data.steps[step.0 as usize].origin;
        TensorError::new(kind, format!("{message}, in `{}`", origin.operation))
            .with_help(help)
            .at(origin.place.clone())
    }
}

/// A name that the text form of programs can carry.
fn name_of(label: &str, fallback: &str) -> String {
    let fits = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_alphabetic())
            && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    };
    let label = label.replace('.', "_");
    if fits(&label) {
        label
    } else if fits(fallback) {
        fallback.to_string()
    } else {
        String::new()
    }
}

impl Builder<'_> {
    /// A size as a stored integer without axes.
    fn size_var(&mut self, size: &Extent) -> Result<Var, TensorError> {
        let field =
            self.function.size_field::<TypeError>(size, &mut |_, _| Ok(None)).map_err(fetch::internal)?;
        Ok(self.plain_store("size", field))
    }

    /// A size at every point of a space, as numbers of a type.
    fn size_at(&mut self, size: &Extent, space: &Space, dtype: DType) -> Result<FieldId, TypeError> {
        let field = self.function.size_field::<TypeError>(size, &mut |_, _| Ok(None))?;
        let var = self.plain_store("size", field);
        let field = self.function.tensor(var);
        let field = self.function.fields.read(IndexMap::projection(space, &[]), field)?;
        Ok(self.function.fields.convert(dtype, field))
    }
}
