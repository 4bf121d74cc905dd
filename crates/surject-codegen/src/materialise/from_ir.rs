//! Kernels that the kernel IR makes, as kernels of a program.

use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId, buf};
use crate::expression::finite_marks::FiniteMarks;
use crate::expression::output::Output;
use crate::expression::unguarded;
use crate::kernels::contraction::{Layout, Side};
use crate::kernels::expression::{Expression, Tensor};
use crate::kernels::lower::Launch;
use crate::kernels::native::{Scheduled, Tasks};
use crate::kernels::run;
use crate::kernels::schedule::{AxisKind, Directive, Schedule, Unmarked, resolve};
use crate::materialise::store::Stores;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::planned::recipe::{Product, Recipe};
use crate::planned::{in_place, rows};
use crate::schedule;
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::written::LINE;
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{AccOp, BinaryOp, Scalar, Statement, StatementKind, TensorType, Var};

/// The kernel of a launch, whose tensors lie in these places.
pub(crate) fn kernel(
    launch: &Launch,
    place: &dyn Fn(&Tensor) -> Buf,
    scheduled: &Scheduled,
) -> Result<Kernel, CodegenError> {
    let (tasks, count) = scheduled.tasks(&launch.kernel)?;
    Ok(Kernel { tasks: count, ..of_tasks(launch, tasks, place, scheduled) })
}

/// A kernel of some tasks of a launch.
fn of_tasks(
    Launch { kernel, tensors }: &Launch,
    Tasks { body, calls, .. }: Tasks,
    place: &dyn Fn(&Tensor) -> Buf,
    scheduled: &Scheduled,
) -> Kernel {
    let buffers: Vec<Buf> = tensors.iter().map(place).collect();
    let written = kernel.params.iter().map(|&param| kernel.mem(param).access.writes());
    let writes = buffers.iter().zip(written).filter(|(_, written)| *written).map(|(&b, _)| b);
    let (writes, summary) = (writes.collect(), format!("kernel `{}` by its schedule", kernel.name));
    let bytes = kernel.types.iter().map(|ty| ty.lanes * ty.dtype.size()).max().unwrap_or(0);
    let registers = (bytes / scheduled.machine.vector_bytes().max(1)).max(1);
    Kernel { registers, declarations: calls, ..Kernel::plain(body, 1, buffers, writes, summary) }
}

/// An expression as the kernel IR has it, in a function whose buffers have these types, and of so many variables: what comes
/// behind these are temporaries.
pub(crate) fn expression(
    Pulled { dag, outer, outputs }: &Pulled,
    variables: usize,
    ty: &dyn Fn(Buf) -> Option<TensorType>,
) -> Fit<Expression> {
    let tensor = |at: Buf| {
        let tensor = match (at.0 as usize).checked_sub(variables) {
            Some(number) => Tensor::Temporary(number),
            None => Tensor::Var(Var(at.0)),
        };
        Ok((tensor, ty(at).ok_or_else(|| CodegenError::malformed("a tensor without a type"))?))
    };
    let joined = outputs.iter().filter(|output| output.join.is_some());
    let free = joined.fold(outer.iter().copied().collect(), |free, output| told_apart(dag, output, free));
    Expression::new(dag.clone(), outer.clone(), outputs.clone(), free, &tensor)
        .map_err(|_| Refused("a tensor has no size"))
}

/// The loops among these of which no two points are joined to one element, whatever the others are: the others run one after
/// the other.
fn told_apart(dag: &Dag, output: &Output, loops: LoopSet) -> LoopSet {
    let mut terms: Vec<(LoopId, i128)> =
        output.address.terms.iter().map(|t| (t.0, i128::from(t.1.abs()))).filter(|t| t.1 > 0).collect();
    terms.sort_by_key(|t| t.1);
    let (mut reach, mut free) = (0i128, LoopSet::default());
    for (l, step) in terms {
        if step <= reach {
            return LoopSet::default();
        }
        reach += step * i128::from(dag.extent(l) - 1);
        free = free.union(std::iter::once(l).collect());
    }
    loops.minus(loops.minus(free))
}

/// The kernel that the machine's strategies make of an expression, in a function of so many variables.
pub(crate) fn made(
    name: &str,
    expression: &Expression,
    variables: usize,
    scheduled: &Scheduled,
) -> Result<Kernel, CodegenError> {
    let made = run::kernel(expression, &*scheduled.machine, name)?;
    let in_place = in_place_of_rows(expression, &made.schedule);
    Ok(Kernel { in_place, ..kernel_of(made, name, expression, (variables, scheduled))? })
}

/// The same, where no result may lie where an operand does.
fn made_of(
    name: &str,
    expression: &Expression,
    variables: usize,
    scheduled: &Scheduled,
) -> Result<Kernel, CodegenError> {
    let made = run::kernel(expression, &*scheduled.machine, name)?;
    kernel_of(made, name, expression, (variables, scheduled))
}

/// A kernel that is made, in a function of so many variables.
fn kernel_of(
    made: run::Made,
    name: &str,
    expression: &Expression,
    (variables, scheduled): (usize, &Scheduled),
) -> Result<Kernel, CodegenError> {
    let kernel = kernel(&made.launch, &|tensor| place(tensor, expression, variables), scheduled)?;
    let kernel = Kernel { cycles: made.cost.unwrap_or_default(), ..kernel };
    Ok(described(kernel, name, expression, &made.schedule))
}

/// The kernel of a range of the tasks that a schedule makes of an expression: its body has `%low`, `%high` and `%ptrs`.
pub(crate) fn range(
    name: &str,
    expression: &Expression,
    schedule: &Schedule,
    (variables, scheduled): (usize, &Scheduled),
) -> Result<Kernel, CodegenError> {
    let made = run::kernel_by(expression, &*scheduled.machine, name, schedule.clone())?;
    let tasks = scheduled.range_of_tasks(&made.launch.kernel)?;
    let place = |tensor: &Tensor| place(tensor, expression, variables);
    let in_place = in_place_of_rows(expression, schedule);
    let kernel = Kernel { in_place, ..of_tasks(&made.launch, tasks, &place, scheduled) };
    let mut kernel = described(kernel, name, expression, schedule);
    if schedule.directives.iter().any(|d| matches!(d, Directive::Triangular(_))) {
        kernel.summary.push_str(", triangular");
    }
    Ok(kernel)
}

/// A kernel of this name as the plan of a program has it: of rows it says the loops, the lanes and the reductions.
fn described(kernel: Kernel, name: &str, expression: &Expression, schedule: &Schedule) -> Kernel {
    match name {
        ROWS => {
            let (loops, reductions) = schedule.described(expression);
            let is_turned = schedule.directives.iter().any(|d| matches!(d, Directive::Transpose(_)));
            let form = if is_turned { "transposition" } else { "row" };
            Kernel { summary: format!("{form} {loops} tasks {}{reductions}", kernel.tasks), ..kernel }
        }
        _ => kernel,
    }
}

/// The operands that may have the memory of the results.
fn in_place_of_rows(expression: &Expression, schedule: &Schedule) -> Vec<Buf> {
    let Expression { dag, outputs, .. } = expression;
    let Ok(resolved) = resolve(expression, schedule) else { return Vec::new() };
    // A loop inside of all others, of which a task has a whole row.
    let axes = || resolved.points.iter().filter(|a| a.extent > 1);
    let row = axes().next_back().map(|a| a.of).filter(|&row| {
        let is_inside = axes().skip_while(|a| a.of != row).all(|a| a.of == row);
        is_inside
            && axes().all(|a| a.of != row || !matches!(a.kind, AxisKind::Parallel(_) | AxisKind::Ranged))
    });
    let mut found = in_place::operands(dag, outputs, None, row);
    if let Some(kept) = &resolved.values.kept {
        found.retain(|&buf| kept.allows(expression, buf));
    }
    found
}

/// Where a tensor of an expression lies, in a function of so many variables.
fn place(tensor: &Tensor, expression: &Expression, variables: usize) -> Buf {
    match tensor {
        Tensor::Temporary(number) => Buf((variables + number) as u32),
        Tensor::Var(var) => buf(*var),
        Tensor::Target => expression.outputs[0].to,
    }
}

/// Why nothing comes from the kernel IR where a function is compiled for no machine of it.
pub(crate) const NO_STRATEGIES: Refused = Refused("the machine has no strategies");

/// The machine that makes the rows of a function; an error where it is compiled for none.
pub(crate) fn strategies(scheduled: Option<&Scheduled>) -> Result<&Scheduled, CodegenError> {
    let Refused(reason) = NO_STRATEGIES;
    scheduled.ok_or_else(|| CodegenError::unsupported(reason))
}

/// What kernels of rows are called.
pub(crate) const ROWS: &str = "rows";

/// The kernel of rows that run by themselves: everything else that they need is stored.
pub(crate) fn rows(
    whole: &Pulled,
    variables: usize,
    ty: &dyn Fn(Buf) -> Option<TensorType>,
    scheduled: &Scheduled,
) -> Result<Kernel, CodegenError> {
    let refused = |Refused(reason)| CodegenError::malformed(reason);
    let expression = expression(whole, variables, ty).map_err(refused)?;
    if !expression.is_typed() {
        return Err(CodegenError::malformed("rows in memory of another type"));
    }
    made(ROWS, &expression, variables, scheduled)
}

/// The sizes of memory for a value over these loops. Its rows begin with lines, an odd number of them apart, so that lines of some
/// columns are in all sets of the first cache; and rows that are long are so far apart that blocks of terms of a few are, too.
fn apart(dag: &Dag, loops: &[LoopId], value: NodeId) -> Vec<i64> {
    /// The lines after which one has the same set again, and those of a block of terms.
    const SETS: i64 = 64;
    const BLOCK: i64 = 10;
    let mut sizes: Vec<i64> = loops.iter().map(|&l| dag.extent(l)).collect();
    let line = (LINE / dag[value].dtype.size() as i64).max(1);
    if let Some(last) = sizes.last_mut() {
        let mut lines = (*last + line - 1) / line;
        let beyond = lines % SETS;
        if lines >= SETS / 2 && !(BLOCK..=SETS - BLOCK).contains(&beyond) {
            lines += (SETS + BLOCK - beyond) % SETS;
        }
        *last = (lines | 1) * line;
    }
    sizes
}

/// A product, or many, of which others run ranges of rows.
fn product_of_rows(whole: &Pulled, expression: &Expression, scheduled: &Scheduled) -> Fit<Product> {
    let product = expression.product().ok_or(Refused("it is no sum of products"))?;
    let dag = &whole.dag;
    let is_wide = |name: &&String| expression.id(name).is_some_and(|l| dag.extent(l) > 1);
    let of = |names: &[String]| -> Vec<LoopId> {
        names.iter().filter(is_wide).filter_map(|name| expression.id(name)).collect()
    };
    let (rows, columns) = (of(&product.rows), of(&product.columns));
    let &[rows] = &rows[..] else { return Err(Refused("rows that others run some of have several loops")) };
    let high = scheduled.machine.rows_of_tile(expression, &expression.name(rows)).map_err(Refused)?;
    let batch = expression.loops.iter().copied();
    let batch = batch.filter(|l| dag.extent(*l) > 1 && *l != rows && !columns.contains(l)).collect();
    let terms: i64 = of(&product.terms).iter().map(|&l| dag.extent(l)).product();
    let bytes = terms * expression.element_bytes() as i64;
    let columns = bytes * columns.iter().map(|&l| dag.extent(l)).product::<i64>();
    Ok(Product { whole: whole.clone(), batch, rows, high, columns, row: bytes })
}

/// What is left of a product of which factors are stored first, and their kernels.
type Stored = (Pulled, Vec<Kernel>);

/// How much of what an expression reads the program computes.
enum Computed {
    Nothing,
    Some,
    /// One tensor is larger than all others and the results.
    Most,
}

/// Does an expression store more than it reads, twice over? Scores of attention do.
fn is_mostly_stored(expression: &Expression) -> bool {
    let traffic = expression.traffic();
    let bytes = |stored| traffic.iter().filter(|t| t.stored == stored).map(|t| t.bytes).sum::<f64>();
    bytes(true) > 2.0 * bytes(false)
}

impl<'a> Stores<'a> {
    /// Are all results those of the function?
    fn is_result(&self, whole: &Pulled) -> bool {
        let results = &self.function.body.results;
        whole.outputs.iter().all(|o| results.contains(&Var(o.to.0)))
    }

    /// Is a product better made row by row with what it is made of, or with what needs it? Those are many products, what is larger
    /// than all that it is made of, what is made of such, and what a mask ends.
    fn is_of_ranges(&self, whole: &Pulled, expression: &Expression) -> bool {
        expression.is_batched()
            || expression.may_have_tails()
            || !self.is_result(whole) && is_mostly_stored(expression)
            || matches!(self.computed(expression), Computed::Most)
    }

    /// The kernel of an expression that the machine's strategies take.
    pub(crate) fn kernel_of_ir(&self, whole: &Pulled) -> Fit<Result<Kernel, CodegenError>> {
        let scheduled = self.scheduled.ok_or(NO_STRATEGIES)?;
        let expression = self.expression(whole)?;
        scheduled.machine.takes(&expression).map_err(Refused)?;
        if !self.is_of_ranges(whole, &expression) {
            return Ok(self.product(&expression, None, scheduled));
        }
        need(
            expression.unmarked().is_none(),
            "nobody says whether a factor is finite where the other is zero",
        )?;
        let recipe = product_of_rows(whole, &expression, scheduled);
        let recipe = match self.is_result(whole) && matches!(self.computed(&expression), Computed::Nothing) {
            true => recipe.ok(),
            false => Some(recipe?),
        };
        Ok(self.product(&expression, recipe, scheduled))
    }

    /// The kernel of a product, of which others may run ranges of rows.
    fn product(
        &self,
        expression: &Expression,
        ranges: Option<Product>,
        scheduled: &Scheduled,
    ) -> Result<Kernel, CodegenError> {
        let mut made = made("product", expression, self.function.vars.len(), scheduled)?;
        if ranges.is_some() {
            // Those of a range of rows may look at marks that this one does not look at.
            let read = expression.memory.keys().copied();
            let more: Vec<Buf> = read.filter(|buf| !made.buffers.contains(buf)).collect();
            made.buffers.extend(more);
        }
        Ok(Kernel { recipe: ranges.map(|ranges| Arc::new(Recipe::Product(ranges))), ..made })
    }

    /// The kernels of a product some of whose factors are better stored first, if the machine takes it then.
    pub(crate) fn product_of_stored(&mut self, whole: &Pulled) -> Fit<Result<Vec<Kernel>, CodegenError>> {
        self.undone_if_refused(|stores| {
            let in_ranges = stores.is_of_ranges(whole, &stores.expression(whole)?);
            let (rest, kernels) = match stores.factors_first(whole, in_ranges)? {
                Ok(stored) => stored,
                Err(error) => return Ok(Err(error)),
            };
            need(!kernels.is_empty(), "no factor of a product is better stored before it")?;
            let product = stores.kernel_of_ir(&rest)?;
            Ok(product.map(|product| kernels.into_iter().chain([product]).collect()))
        })
    }

    /// A product as the kernel IR has it, if the machine makes products.
    pub(crate) fn product_expression(&self, whole: &Pulled) -> Fit<Expression> {
        self.scheduled.ok_or(NO_STRATEGIES)?;
        let expression = self.expression(whole)?;
        need(expression.is_typed(), "memory is read as bytes")?;
        Ok(expression)
    }

    /// May the terms of a product be summed in parts? Those that a mask ends may not, as a part does not know, nor those of which the
    /// machine reads a factor in its order in memory.
    pub(crate) fn may_be_cut(&self, product: &Expression) -> bool {
        let streams = |scheduled: &Scheduled| scheduled.machine.takes(product).is_ok();
        !product.may_have_tails() && !self.scheduled.is_some_and(streams)
    }

    /// The kernels of a product.
    pub(crate) fn product_in_tiles(&mut self, whole: &Pulled) -> Fit<Result<Vec<Kernel>, CodegenError>> {
        let scheduled = self.scheduled.ok_or(NO_STRATEGIES)?;
        self.product_expression(whole)?;
        let stored = self.undone_if_refused(|stores| stores.factors_first(whole, true));
        let (rest, kernels) = match stored {
            Ok(Ok(stored)) => stored,
            Ok(Err(error)) => return Ok(Err(error)),
            Err(_) => (whole.clone(), Vec::new()),
        };
        let expression = self.expression(&rest)?;
        let ranges = product_of_rows(&rest, &expression, scheduled).ok();
        let product = self.product(&expression, ranges, scheduled);
        Ok(product.map(|product| kernels.into_iter().chain([product]).collect()))
    }

    /// Stores the factors of a product that the machine wants to be stored before it, and marks of where one is finite: their kernels,
    /// and what is left of the product.
    fn factors_first(&mut self, whole: &Pulled, in_ranges: bool) -> Fit<Result<Stored, CodegenError>> {
        let scheduled = self.scheduled.ok_or(NO_STRATEGIES)?;
        let (mut rest, mut kernels) = (self.without_guards(whole)?, Vec::new());
        let factors = scheduled.machine.stores_first(&self.expression(&rest)?, in_ranges);
        for stored in factors {
            let factor = |stores: &Self, rest: &Pulled| {
                let factor = stores.expression(rest)?.factor(stored);
                factor.ok_or(Refused("it does not multiply two values"))
            };
            let (mut value, mut loops) = factor(self, &rest)?;
            if let (Layout::Panels(panel), Some(&column)) = (stored.layout, loops.last()) {
                let blocked =
                    rest.in_blocks(column, panel).ok_or(Refused("a panel of columns is too large"))?;
                rest = blocked.whole;
                (value, loops) = factor(self, &rest)?;
            }
            let sizes = apart(&rest.dag, &loops, value);
            match self.stored_first_in(&mut rest, value, &loops, &sizes) {
                // What ranges of rows do not compute themselves is better made of all rows.
                Ok((kernel, _)) if in_ranges && stored.side == Side::Left => kernels.push(kernel.alone()),
                Ok((kernel, _)) => kernels.push(kernel),
                Err(error) => return Ok(Err(error)),
            }
        }
        if in_ranges {
            kernels.extend(self.mark_factor(&mut rest)?);
        }
        Ok(Ok((rest, kernels)))
    }

    /// An expression whose loads have no guards where their elements exist without them, and can be stored once for more iterations.
    fn without_guards(&self, whole: &Pulled) -> Fit<Pulled> {
        let mut rest = whole.clone();
        let roots: Vec<NodeId> = rest.outputs.iter().map(|o| o.root).collect();
        let elements =
            |at: Buf, dtype| self.buffer_type(at).filter(|ty| ty.dtype.part() == dtype)?.space.points();
        let roots =
            unguarded::loads(&mut rest.dag, &roots, &elements).ok_or(Refused("an address overflows"))?;
        rest.outputs.iter_mut().zip(roots).for_each(|(output, root)| output.root = root);
        Ok(rest)
    }

    /// What is made; where that is refused, temporaries that it added are gone.
    pub(crate) fn undone_if_refused<T>(&mut self, make: impl FnOnce(&mut Self) -> Fit<T>) -> Fit<T> {
        let (temporaries, known) = (self.temporaries.len(), self.known.clone());
        let made = make(self);
        if made.is_err() {
            self.temporaries.truncate(temporaries);
            self.known = known;
        }
        made
    }

    /// An expression as the kernel IR has it.
    fn expression(&self, whole: &Pulled) -> Fit<Expression> {
        expression(whole, self.function.vars.len(), &|at| self.buffer_type(at))
    }

    /// Makes marks that say where a factor of many products is finite, if terms of their sums may be left out there: their kernel.
    fn mark_factor(&mut self, whole: &mut Pulled) -> Fit<Option<Kernel>> {
        let expression = self.expression(whole)?;
        let Some(Unmarked { sum, factor, inside }) = expression.unmarked() else {
            return Ok(None);
        };
        let mut part = whole.clone();
        let dag = &mut part.dag;
        let (Node::Load { buf, address, .. }, dtype) = (dag[factor].node.clone(), dag[factor].dtype) else {
            return Ok(None);
        };
        let Node::Reduce { field, .. } = dag[sum].node else { return Ok(None) };
        let memory = self.next();
        let Some((marks, at, count)) = FiniteMarks::of(dag, &address, inside, memory) else {
            return Ok(None);
        };
        self.temporary(TensorType::new(dtype, Space::of(&[count.unsigned_abs()])));
        let loops: Vec<LoopId> = inside.loops().filter(|&l| address.coeff(l) != 0).collect();
        let zero = dag.constant(Scalar::zero(dtype));
        let body = dag.binary(BinaryOp::Mul, zero, factor);
        let root = dag.add(Node::Reduce { op: AccOp::Add, loops, body, field }, dtype);
        part.outer = at.loops().loops().collect();
        part.outputs = vec![Output { to: memory, address: at, root, join: None }];
        Arc::make_mut(&mut self.known).finite.insert(buf, marks);
        whole.dag.known.clone_from(&self.known);
        Ok(Some(self.rows_alone(&part)))
    }

    /// Are these rows so short that each lane has one, in the kernel that the machine makes of them?
    pub(crate) fn has_rows_in_lanes(&self, whole: &Pulled) -> bool {
        let Some(scheduled) = self.scheduled else { return false };
        let variables = self.function.vars.len();
        expression(whole, variables, &|at| self.buffer_type(at))
            .is_ok_and(|expression| expression.is_typed() && scheduled.machine.has_rows_in_lanes(&expression))
    }

    /// The kernel of a part of an expression that is stored first, which runs by itself.
    pub(crate) fn rows_alone(&self, part: &Pulled) -> Kernel {
        let Pulled { dag, outer, outputs } = part;
        let schedule = schedule::choose(dag, outputs, outer, self.target);
        Kernel { recipe: None, ..rows::alone(dag.clone(), outputs.clone(), &schedule) }
    }

    /// The kernels of an expression that is a scan: one, or those of its blocks.
    pub(crate) fn scan_of_ir(&mut self, whole: &Pulled) -> Fit<Result<Vec<Kernel>, CodegenError>> {
        let scheduled = self.scheduled.ok_or(NO_STRATEGIES)?;
        let variables = self.function.vars.len();
        let expression = expression(whole, variables, &|at| self.buffer_type(at))?;
        need(expression.is_typed(), "memory is read as bytes")?;
        Ok(self.in_scan_blocks(&expression, scheduled).and_then(|blocks| match blocks {
            Some(kernels) => Ok(kernels),
            None => Ok(vec![made("scan", &expression, variables, scheduled)?]),
        }))
    }

    /// The kernels of the blocks of lines, if the machine scans them so.
    fn in_scan_blocks(
        &mut self,
        expression: &Expression,
        scheduled: &Scheduled,
    ) -> Result<Option<Vec<Kernel>>, CodegenError> {
        let scanned = expression.scanned();
        let Some(block) = scanned.and_then(|s| scheduled.machine.scan_block(expression, &s)) else {
            return Ok(None);
        };
        let (variables, first) = (self.function.vars.len(), self.temporaries.len());
        let temporaries = [first, first + 1].map(|number| (number, Buf((variables + number) as u32)));
        let Some(blocks) = expression.in_scan_blocks(block, temporaries)? else { return Ok(None) };
        temporaries.iter().for_each(|_| _ = self.temporary(blocks.temporary.clone()));
        let named = [("scan_sums", &blocks.sums), ("scan_before", &blocks.before)].into_iter();
        let named = named.chain(blocks.results.iter().map(|results| ("scan", results)));
        named
            .map(|(name, part)| made_of(name, part, variables, scheduled))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// How much of what an expression reads is computed.
    fn computed(&self, expression: &Expression) -> Computed {
        let is_computed = |tensor: &Tensor| match tensor {
            Tensor::Var(var) => !self.is_given(*var),
            Tensor::Target | Tensor::Temporary(_) => true,
        };
        let traffic = expression.traffic();
        let all: f64 = traffic.iter().map(|t| t.bytes).sum();
        let computed = traffic.iter().filter(|t| !t.stored && is_computed(&t.tensor));
        match computed.map(|t| t.bytes).reduce(f64::max) {
            None => Computed::Nothing,
            Some(largest) if 2.0 * largest > all => Computed::Most,
            Some(_) => Computed::Some,
        }
    }

    /// The type of a buffer.
    fn buffer_type(&self, at: Buf) -> Option<TensorType> {
        match (at.0 as usize).checked_sub(self.function.vars.len()) {
            Some(number) => self.temporaries.get(number).cloned(),
            None => Some(self.function.ty(Var(at.0)).clone()),
        }
    }

    /// Is a variable a parameter of the function, or a constant?
    fn is_given(&self, var: Var) -> bool {
        let function = self.function;
        let stores = |s: &Statement| s.targets().contains(&var);
        let constant = |s: &Statement| stores(s) && matches!(s.kind, StatementKind::Constant { .. });
        function.params.contains(&var) || function.body.statements.iter().any(constant)
    }
}
