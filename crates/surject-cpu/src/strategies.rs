//! The strategies of a CPU.

use crate::Cpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo, Stride};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_kernel::Level;

/// A strided access of a vector costs as much as one of this many elements that lie next to each other.
const STRIDED: f64 = 2.0;

/// How well a loop can be done in lanes: the accesses along it that are not next to each other.
fn strided(strides: &[Stride]) -> usize {
    strides.iter().filter(|s| s.elements != 1).count()
}

/// The cost of an expression in so many lanes, of which some accesses are strided.
fn cost(expression: &Expression, lanes: i64, strided: usize, strides: usize) -> f64 {
    let share = strided as f64 / strides.max(1) as f64;
    expression.operations() / lanes as f64 * (1.0 + share * (STRIDED * lanes as f64 - 1.0))
}

/// Tasks share the outermost loop, if its iterations are independent and there is enough to do.
fn tasks(cpu: &Cpu, loops: &[LoopInfo]) -> Vec<Directive> {
    let points: i64 = loops.iter().map(|l| l.extent).product();
    match loops.first() {
        Some(first) if first.parallel && points > cpu.task_elements => {
            vec![Directive::Parallel(first.name.clone(), Level::Task)]
        }
        _ => Vec::new(),
    }
}

/// Results that lie next to each other are the lanes.
pub struct Rows(pub Cpu);

impl Strategy for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        let loops = expression.loops();
        let along = |l: &LoopInfo| {
            let strides = expression.strides(&l.name);
            strides.iter().filter(|s| s.stored).all(|s| s.elements == 1) && strides.iter().any(|s| s.stored)
        };
        let row = loops.iter().filter(|l| l.parallel && l.extent >= lanes).find(|l| along(l));
        let row = row.ok_or_else(|| format!("no {lanes} results lie next to each other"))?;
        let strides = expression.strides(&row.name);
        let name = &row.name;
        let mut directives = vec![Directive::Split(name.clone(), lanes)];
        let mut order: Vec<String> =
            loops.iter().filter(|l| l.name != *name).map(|l| l.name.clone()).collect();
        // The blocks of a row stand where the row stood, its lanes inside of everything.
        let at = loops.iter().position(|l| l.name == *name).unwrap_or(0);
        order.insert(at, format!("{name}.o"));
        order.push(format!("{name}.i"));
        directives.push(Directive::Order(order.clone()));
        if let [Directive::Parallel(first, level)] = &tasks(&self.0, &loops)[..] {
            let first = if first == name { format!("{name}.o") } else { first.clone() };
            directives.push(Directive::Parallel(first, *level));
        }
        directives.push(Directive::Vectorise(format!("{name}.i")));
        let cost = cost(expression, lanes, strided(&strides), strides.len());
        Ok(Proposal { schedule: Schedule { directives }, cost })
    }
}

/// The terms of reductions along memory are the lanes.
pub struct Dots(pub Cpu);

impl Strategy for Dots {
    fn name(&self) -> &'static str {
        "dots"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let lanes = self.0.lanes(expression)?;
        // One reduction: lanes of several that stand inside of each other would meet.
        let reductions = expression.reductions();
        let [reduction] = &reductions[..] else {
            return Err(format!("there are {} reductions, not one", reductions.len()));
        };
        let fits = |name: &&String| {
            let strides = expression.strides(name);
            !strides.is_empty()
                && strides.iter().all(|s| s.elements == 1)
                && expression.find(name).is_some_and(|l| l.extent >= lanes)
        };
        let along = reduction.loops.iter().find(fits);
        let along =
            along.ok_or_else(|| format!("no {lanes} terms of the reduction lie next to each other"))?;
        let mut order: Vec<String> = reduction.loops.iter().filter(|l| *l != along).cloned().collect();
        order.extend([format!("{along}.o"), format!("{along}.i")]);
        let mut directives = vec![Directive::Split(along.clone(), lanes), Directive::Order(order)];
        directives.extend(tasks(&self.0, &expression.loops()));
        directives.push(Directive::Vectorise(format!("{along}.i")));
        Ok(Proposal { schedule: Schedule { directives }, cost: cost(expression, lanes, 0, 1) })
    }
}

/// Element by element.
pub struct Scalar(pub Cpu);

impl Strategy for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let directives = tasks(&self.0, &expression.loops());
        Ok(Proposal { schedule: Schedule { directives }, cost: expression.operations() })
    }
}
