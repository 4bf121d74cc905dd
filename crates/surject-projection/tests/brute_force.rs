//! Random specs of small sizes against their definition, by enumerating the assignments of positions to labels.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use surject_index::Verdict;
use surject_projection::{Access, Equation, Piece, Projections, System, derive};
use surject_shape::{
    Axis, Constraint, Dim, GroundRow, GroundShape, Logic, Origin, Row, Shape, Solver, Template, TemplateRow,
    TemplateShape,
};

const LABELS: [&str; 6] = ["p", "q", "s", "t", "u", "v"];

/// A spec, with the sizes that its labels, fixed axes and placeholders shall have.
#[derive(Clone, Debug)]
struct Case {
    /// Result first.
    tensors: Vec<[Flanks; 3]>,
    sizes: BTreeMap<String, u64>,
    /// The sizes of the axes that a row variable stands for.
    row: Vec<u64>,
}

/// The axes of one row; the flag says whether there is the row variable between them.
#[derive(Clone, Debug)]
struct Flanks {
    lead: Vec<AxisCase>,
    var: bool,
    trail: Vec<AxisCase>,
}

#[derive(Clone, Debug)]
enum AxisCase {
    Plain(Axis),
    /// A fixed index, and by how much the axis is longer.
    Fixed(u64, u64),
    /// A placeholder of a size.
    Any(u64),
}

fn label() -> impl Strategy<Value = String> {
    prop::sample::select(&LABELS[..]).prop_map(str::to_string)
}

fn axis() -> impl Strategy<Value = AxisCase> {
    let kernels =
        (any::<bool>(), prop::collection::vec((label(), 1u64..3), 0..4)).prop_map(|(padded, all)| {
            all.into_iter().map(|(label, dilation)| (label, dilation, padded)).collect()
        });
    let affine = (1u64..4, label(), kernels, 0u64..3);
    prop_oneof![
        8 => label().prop_map(|l| AxisCase::Plain(Axis::Label(l))),
        1 => (0u64..3, 0u64..2).prop_map(|(at, more)| AxisCase::Fixed(at, more)),
        1 => (1u64..3).prop_map(AxisCase::Any),
        2 => affine.prop_map(|(stride, over, kernels, offset)| {
            AxisCase::Plain(Axis::Affine { stride, over, kernels, offset: offset % stride })
        }),
        3 => (prop::sample::subsequence(&LABELS[..], 2..4), prop::bool::weighted(0.2)).prop_map(|(labels, number)| {
            let mut parts: Vec<String> = labels.into_iter().map(str::to_string).collect();
            if number {
                parts.push("2".to_string());
            }
            AxisCase::Plain(Axis::Concat(parts))
        }),
    ]
}

fn tensor() -> impl Strategy<Value = [Flanks; 3]> {
    let flanks = |most| {
        let axes = move || prop::collection::vec(axis(), 0..most);
        (axes(), prop::bool::weighted(0.15), axes()).prop_map(|(lead, var, trail)| Flanks {
            lead: if var { lead } else { Vec::new() },
            var,
            trail,
        })
    };
    (flanks(1), flanks(1), flanks(3)).prop_map(|(batch, input, output)| [batch, input, output])
}

fn case() -> impl Strategy<Value = Case> {
    let sizes =
        prop::collection::vec(prop_oneof![1 => Just(0u64), 2 => Just(1u64), 9 => 2u64..4], LABELS.len());
    (prop::collection::vec(tensor(), 1..4), sizes, prop::collection::vec(1u64..3, 0..2)).prop_map(
        |(tensors, sizes, row)| Case {
            tensors,
            sizes: LABELS.iter().map(|l| l.to_string()).zip(sizes).collect(),
            row,
        },
    )
}

/// One axis of a tensor as the definition sees it.
#[derive(Clone, Debug)]
enum Read {
    Label(String),
    Fixed(i64),
    Affine { over: (i64, String), kernels: Vec<(i64, String)>, offset: i64 },
    Concat(Vec<String>),
}

/// A case as a template, ground shapes, and the definition's view.
struct Problem {
    template: Template,
    shapes: Vec<GroundShape>,
    sizes: BTreeMap<String, u64>,
    /// The axes in memory order.
    tensors: Vec<Vec<Read>>,
    extents: Vec<Vec<u64>>,
    lawless: bool,
}

impl Problem {
    fn new(case: &Case) -> Problem {
        let mut problem = Problem {
            template: Template::default(),
            shapes: Vec::new(),
            sizes: case.sizes.clone(),
            tensors: Vec::new(),
            extents: Vec::new(),
            lawless: false,
        };
        let mut sides = Vec::new();
        for tensor in &case.tensors {
            let (mut reads, mut extents) = (Vec::new(), Vec::new());
            // Memory order: batch, output, input.
            let [batch, output, input] =
                [0, 2, 1].map(|i| problem.row(&tensor[i], &case.row, &mut reads, &mut extents));
            sides.push(TemplateShape { batch: batch.0, output: output.0, input: input.0 });
            problem.shapes.push(GroundShape { batch: batch.1, output: output.1, input: input.1 });
            problem.tensors.push(reads);
            problem.extents.push(extents);
        }
        problem.template.result = sides.remove(0);
        problem.template.operands = sides;
        problem
    }

    fn row(
        &mut self,
        flanks: &Flanks,
        row: &[u64],
        reads: &mut Vec<Read>,
        extents: &mut Vec<u64>,
    ) -> (TemplateRow, GroundRow) {
        let before = extents.len();
        let lead = flanks.lead.iter().map(|a| self.axis(a, reads, extents)).collect();
        if flanks.var {
            for (i, size) in row.iter().enumerate() {
                let name = format!("row {i}");
                self.sizes.insert(name.clone(), *size);
                reads.push(Read::Label(name));
                extents.push(*size);
            }
        }
        let trail = flanks.trail.iter().map(|a| self.axis(a, reads, extents)).collect();
        let var = flanks.var.then(|| "r".to_string());
        let dims = extents[before..].iter().map(|n| Dim::new(*n)).collect();
        (TemplateRow { lead, var, trail }, GroundRow { lead: Vec::new(), trail: dims })
    }

    fn axis(&mut self, axis: &AxisCase, reads: &mut Vec<Read>, extents: &mut Vec<u64>) -> Axis {
        let sizes = self.sizes.clone();
        let size = |label: &str| sizes[label];
        let (axis, read, extent) = match axis {
            AxisCase::Fixed(at, more) => (Axis::Fixed(*at), Read::Fixed(*at as i64), at + 1 + more),
            AxisCase::Any(n) => {
                let name = format!("any {}", self.sizes.len());
                self.sizes.insert(name.clone(), *n);
                (Axis::Label("_".to_string()), Read::Label(name), *n)
            }
            AxisCase::Plain(axis) => {
                let (read, extent) = match axis {
                    Axis::Label(l) => (Read::Label(l.clone()), size(l)),
                    Axis::Fixed(_) => unreachable!(),
                    Axis::Affine { stride, over, kernels, offset } => {
                        let (o, mut shift) = (size(over), *offset as i64);
                        let mut extent = stride * o;
                        if kernels.iter().any(|(_, _, padded)| !padded) {
                            // Without positions there is no law; the test leaves such cases out.
                            self.lawless |= o == 0 || kernels.iter().any(|(k, ..)| size(k) == 0);
                            extent = stride * o.saturating_sub(1) + 1;
                        }
                        for (k, dilation, padded) in kernels {
                            let span = size(k).saturating_sub(1) * dilation + 1;
                            if *padded {
                                shift -= (span / 2) as i64;
                            } else {
                                extent += span - 1;
                            }
                        }
                        let kernels = kernels.iter().map(|(k, d, _)| (*d as i64, k.clone())).collect();
                        let over = (*stride as i64, over.clone());
                        (Read::Affine { over, kernels, offset: shift }, extent)
                    }
                    Axis::Concat(parts) => {
                        let mut named = Vec::new();
                        for part in parts {
                            named.push(match part.parse::<u64>() {
                                Ok(n) => {
                                    let name = format!("number {}", self.sizes.len());
                                    self.sizes.insert(name.clone(), n);
                                    name
                                }
                                Err(_) => part.clone(),
                            });
                        }
                        let extent = named.iter().map(|l| self.sizes[l]).sum();
                        (Read::Concat(named), extent)
                    }
                };
                (axis.clone(), read, extent)
            }
        };
        reads.push(read);
        extents.push(extent);
        axis
    }

    fn labels(read: &Read) -> Vec<&String> {
        match read {
            Read::Label(l) => vec![l],
            Read::Fixed(_) => Vec::new(),
            Read::Affine { over, kernels, .. } => {
                std::iter::once(&over.1).chain(kernels.iter().map(|k| &k.1)).collect()
            }
            Read::Concat(parts) => parts.iter().collect(),
        }
    }

    /// Every assignment: labels that are coupled by concatenations are active one at a time.
    fn assignments(&self) -> Vec<BTreeMap<&String, i64>> {
        let reads = || self.tensors.iter().flatten();
        let mut groups: Vec<BTreeSet<&String>> = Vec::new();
        for read in reads() {
            let labels = Self::labels(read);
            let sets: Vec<BTreeSet<&String>> = match read {
                Read::Concat(parts) => vec![parts.iter().collect()],
                _ => labels.into_iter().map(|l| BTreeSet::from([l])).collect(),
            };
            for mut set in sets {
                groups.retain(|g| {
                    let joined = !g.is_disjoint(&set);
                    if joined {
                        set.extend(g.iter().copied());
                    }
                    !joined
                });
                groups.push(set);
            }
        }
        let mut found = vec![BTreeMap::new()];
        for group in groups {
            let mut next = Vec::new();
            for assignment in &found {
                for label in &group {
                    for position in 0..self.sizes[*label] as i64 {
                        let mut assignment = assignment.clone();
                        assignment.insert(*label, position);
                        next.push(assignment);
                    }
                }
            }
            found = next;
        }
        found
    }

    /// The position of a tensor, if it takes part.
    fn position(&self, tensor: usize, at: &BTreeMap<&String, i64>) -> Option<Vec<i64>> {
        let one = |read: &Read| match read {
            Read::Label(l) => at.get(l).copied(),
            Read::Fixed(c) => Some(*c),
            Read::Affine { over, kernels, offset } => {
                let kernels = kernels.iter().map(|(d, k)| Some(d * at.get(k)?)).sum::<Option<i64>>()?;
                Some(over.0 * at.get(&over.1)? + kernels + offset)
            }
            Read::Concat(parts) => {
                let active = parts.iter().position(|p| at.contains_key(p))?;
                let start: u64 = parts[..active].iter().map(|p| self.sizes[p]).sum();
                Some(start as i64 + at[&parts[active]])
            }
        };
        self.tensors[tensor].iter().map(one).collect()
    }

    /// The positions of all tensors, for each assignment that means something.
    fn points(&self) -> Vec<Vec<Option<Vec<i64>>>> {
        let points = self.assignments();
        let points = points.iter().map(|at| (0..self.tensors.len()).map(|t| self.position(t, at)).collect());
        let sources = |p: &Vec<Option<Vec<i64>>>| p.len() == 1 || p[1..].iter().any(Option::is_some);
        points.filter(|p: &Vec<_>| p[0].is_some() && sources(p)).collect()
    }

    fn derive(&self) -> Projections {
        derive(&self.logic(), &self.shapes[1..], &self.shapes[0], &self.sizes)
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn logic(&self) -> Logic {
        Logic::Spec(Arc::new(self.template.clone()))
    }
}

/// The positions of all tensors of the pieces.
fn points(pieces: &[Piece]) -> Vec<Vec<Option<Vec<i64>>>> {
    let at = |access: &Access, point: &[i64]| {
        access.components().iter().map(|c| c.eval(point)).collect::<Vec<i64>>()
    };
    let mut found = Vec::new();
    for piece in pieces {
        for point in piece.space.iter_points().unwrap() {
            let operands = piece.operands.iter().map(|o| o.as_ref().map(|o| at(o, &point)));
            found.push(std::iter::once(Some(at(&piece.result, &point))).chain(operands).collect());
        }
    }
    found
}

fn constants(sizes: &[u64]) -> Vec<surject_index::Extent> {
    sizes.iter().map(|n| (*n).into()).collect()
}

fn is_inside(position: &[i64], extents: &[u64]) -> bool {
    position.iter().zip(extents).all(|(p, n)| *p >= 0 && (*p as u64) < *n)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, max_global_rejects: 50_000, ..ProptestConfig::default() })]

    /// Every index of every tensor, and the decisions.
    #[test]
    fn specs_mean_what_their_labels_say(case in case()) {
        let problem = Problem::new(&case);
        prop_assume!(!problem.lawless && problem.assignments().len() <= 20_000);
        let record = problem.derive();
        // What is not given follows from the shapes, or is asked for.
        match derive(&problem.logic(), &problem.shapes[1..], &problem.shapes[0], &BTreeMap::new()) {
            Ok(inferred) => prop_assert_eq!(&inferred, &record),
            Err(error) => prop_assert_eq!(error.code(), "SJ0432"),
        }
        prop_assert_eq!(&record.result_extents, &constants(&problem.extents[0]));
        let expected: Vec<_> = problem.extents[1..].iter().map(|e| constants(e)).collect();
        prop_assert_eq!(&record.operand_extents, &expected);

        let mut expected = problem.points();
        // `joint_pieces` takes all sources, `pieces` any, but refuses two.
        let mut all: Vec<_> = expected.iter().filter(|p| p.iter().all(Option::is_some)).cloned().collect();
        let mut joint = points(&record.joint_pieces().unwrap());
        all.sort();
        joint.sort();
        prop_assert_eq!(&joint, &all);
        let coupled = problem.tensors.iter().flatten().any(|r| matches!(r, Read::Concat(_)));
        let clash = coupled && expected.iter().any(|p| p[1..].iter().flatten().count() > 1);
        match record.pieces() {
            Ok(pieces) => {
                prop_assert!(!clash, "two sources were let through");
                let mut found = points(&pieces);
                expected.sort();
                found.sort();
                prop_assert_eq!(&found, &expected);
                for piece in &pieces {
                    check_margins(&piece.result, &problem.extents[0])?;
                    for (operand, extents) in piece.operands.iter().zip(&problem.extents[1..]) {
                        if let Some(access) = operand {
                            check_margins(access, extents)?;
                        }
                    }
                }
            }
            // An ambiguous piece is refused even where another factor has no positions.
            Err(error) => prop_assert!(clash || problem.sizes.values().any(|n| *n == 0), "{}", error),
        }

        let inside = expected.iter().filter_map(|p| p[0].clone()).filter(|p| is_inside(p, &problem.extents[0]));
        let written: Vec<Vec<i64>> = inside.collect();
        let cells: BTreeSet<&Vec<i64>> = written.iter().collect();
        let size: u64 = problem.extents[0].iter().product();
        prop_assert_eq!(record.injective().unwrap(), Verdict::from(cells.len() == written.len()), "{}", record);
        prop_assert_eq!(record.surjective().unwrap(), Verdict::from(cells.len() as u64 == size), "{}", record);
        check_reductions(&record)?;
    }

    /// The order of the equations and the names of the labels do not matter.
    #[test]
    fn the_solution_is_unique_up_to_names(case in case(), seed in any::<prop::sample::Index>(), turn in 1usize..6) {
        let problem = Problem::new(&case);
        prop_assume!(!problem.lawless);
        let (operands, result) = (&problem.shapes[1..], &problem.shapes[0]);
        let system = System::new(&problem.logic(), operands, result, &problem.sizes).unwrap();
        let solution = system.solve().unwrap();
        let mut shuffled = system.clone();
        shuffle(&mut shuffled.equations, seed.index(usize::MAX) as u64);
        prop_assert_eq!(&shuffled.solve().unwrap(), &solution);

        let renamed = |l: &str| match LABELS.iter().position(|x| *x == l) {
            Some(i) => LABELS[(i + turn) % LABELS.len()].to_string(),
            None => l.to_string(),
        };
        let mut other = case.clone();
        other.sizes = case.sizes.iter().map(|(l, n)| (renamed(l), *n)).collect();
        for axis in other.tensors.iter_mut().flatten().flat_map(|f| f.lead.iter_mut().chain(&mut f.trail)) {
            let AxisCase::Plain(axis) = axis else { continue };
            match axis {
                Axis::Label(l) => *l = renamed(l),
                Axis::Affine { over, kernels, .. } => {
                    *over = renamed(over);
                    kernels.iter_mut().for_each(|k| k.0 = renamed(&k.0));
                }
                Axis::Concat(parts) => parts.iter_mut().for_each(|p| *p = renamed(p)),
                Axis::Fixed(_) => {}
            }
        }
        let other = Problem::new(&other).derive();
        prop_assert_eq!(&other.factors, &solution.factors);
        prop_assert_eq!(&other.result, &solution.result);
        prop_assert_eq!(&other.operands, &solution.operands);
        let names = |p: &Projections| p.loops.iter().map(|l| (l.name.clone(), l.size.clone())).collect::<Vec<_>>();
        let labelled = |n: &String| LABELS.contains(&n.as_str());
        for ((name, size), (new, new_size)) in names(&solution).into_iter().zip(names(&other)) {
            prop_assert_eq!(size, new_size);
            if labelled(&name) || labelled(&new) {
                prop_assert_eq!(renamed(&name), new);
            }
        }
        let distinct: BTreeSet<String> = solution.loops.iter().map(|l| l.name.clone()).collect();
        prop_assert_eq!(distinct.len(), solution.loops.len());
    }

    /// Shapes that do not fit their spec are refused, or turn out to fit; nothing panics.
    #[test]
    fn nothing_panics(case in case(), noise in prop::collection::vec(0u64..5, 1..12), sizes in prop::collection::vec(0u64..4, 6)) {
        let mut problem = Problem::new(&case);
        let mut noise = noise.into_iter().cycle();
        for shape in &mut problem.shapes {
            for dim in shape.batch.trail.iter_mut().chain(&mut shape.output.trail).chain(&mut shape.input.trail) {
                *dim = Dim::new(noise.next().unwrap());
            }
        }
        let sizes = LABELS.iter().map(|l| l.to_string()).zip(sizes).collect();
        if let Ok(record) = derive(&problem.logic(), &problem.shapes[1..], &problem.shapes[0], &sizes) {
            let _ = (record.pieces(), record.joint_pieces(), record.injective(), record.surjective());
            let _ = record.to_string();
        }
    }

    /// One elaboration, two readings: where shape inference finds the result, its loops can be derived, and are those of
    /// the definition.
    #[test]
    fn what_shape_inference_finds_has_loops(mut case in case()) {
        case.sizes.values_mut().for_each(|n| *n = (*n).max(1));
        let problem = Problem::new(&case);
        prop_assume!(!problem.lawless);
        let closed = |g: &GroundShape| {
            let row = |r: &GroundRow| Row::closed(r.flat());
            Shape { batch: row(&g.batch), output: row(&g.output), input: row(&g.input) }
        };
        let operands: Vec<Shape> = problem.shapes[1..].iter().map(closed).collect();
        let origin = Arc::new(Origin::operation("spec"));
        let mut solver = Solver::new();
        let result = solver.fresh_shape();
        let instance =
            solver.operation(&problem.logic(), &operands.iter().collect::<Vec<_>>(), &result, &origin).unwrap();
        for (name, var) in &instance.dims {
            // A dimension of size one may have been found to be the unit, which is not the number.
            if solver.ground_dim(*var).is_none() && problem.sizes[name] != 1 {
                solver.add(Constraint::DimEq((*var).into(), problem.sizes[name].into()), &origin).unwrap();
            }
        }
        solver.close().unwrap_or_else(|e| panic!("{e}"));
        let result = solver.ground_shape(&result).unwrap();
        let sizes: BTreeMap<String, u64> =
            instance.dims.iter().map(|(n, v)| (n.clone(), solver.ground_dim(*v).unwrap().size().expect("a number"))).collect();
        let record = derive(&problem.logic(), &problem.shapes[1..], &result, &sizes).unwrap_or_else(|e| panic!("{e}"));
        // Sizes that the operands do not give are those of the closing; where it agrees, the records do.
        if result == problem.shapes[0] && sizes.iter().all(|(name, size)| problem.sizes[name] == *size) {
            prop_assert_eq!(record, problem.derive());
        }
    }

    /// Composition against its definition: `c[b, o, i] = a[b, o, k] b[b, k, i]`, units read at 0.
    #[test]
    fn composition_contracts_inputs_with_outputs(
        rows in prop::collection::vec(prop::collection::vec(1u64..4, 0..3), 4),
        masks in prop::collection::vec((0usize..3, any::<bool>(), any::<bool>()), 5),
    ) {
        let row = |sizes: &[u64]| GroundRow { lead: Vec::new(), trail: sizes.iter().map(|n| Dim::new(*n)).collect() };
        let lower = |sizes: &[u64], (drop, first, second): (usize, bool, bool)| GroundRow {
            lead: Vec::new(),
            trail: sizes.iter().zip([first, second]).skip(drop.min(sizes.len()))
                .map(|(n, unit)| if unit { Dim::Unit } else { Dim::new(*n) }).collect(),
        };
        let [batch, output, input, inner] = [&rows[0], &rows[1], &rows[2], &rows[3]];
        let a = GroundShape { batch: lower(batch, masks[0]), output: lower(output, masks[1]), input: row(inner) };
        let b = GroundShape { batch: lower(batch, masks[2]), output: lower(inner, masks[3]), input: lower(input, masks[4]) };
        let c = GroundShape { batch: row(batch), output: row(output), input: row(input) };
        let record = derive(&Logic::Compose, &[a.clone(), b.clone()], &c, &BTreeMap::new()).unwrap();
        let mut found = points(&record.pieces().unwrap());
        let at = |row: &GroundRow, point: &[i64]| {
            let tail = &point[point.len() - row.trail.len()..];
            row.trail.iter().zip(tail).map(|(d, p)| if *d == Dim::Unit { 0 } else { *p }).collect::<Vec<i64>>()
        };
        let mut expected = Vec::new();
        let all: Vec<u64> = [batch, output, input, inner].into_iter().flatten().copied().collect();
        for point in surject_index::Space::of(&all).iter_points().unwrap() {
            let (pb, rest) = point.split_at(batch.len());
            let (po, rest) = rest.split_at(output.len());
            let (pi, pk) = rest.split_at(input.len());
            expected.push(vec![
                Some([pb, po, pi].concat()),
                Some([at(&a.batch, pb), at(&a.output, po), pk.to_vec()].concat()),
                Some([at(&b.batch, pb), at(&b.output, pk), at(&b.input, pi)].concat()),
            ]);
        }
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        let contracted: u64 = inner.iter().product();
        prop_assert_eq!(record.injective().unwrap(), Verdict::from(contracted == 1));
        prop_assert_eq!(record.surjective().unwrap(), Verdict::Yes(()));
    }

    /// Pointwise operations against their definition.
    #[test]
    fn broadcasting_reads_units_at_zero(
        result in prop::collection::vec(1u64..4, 0..4),
        masks in prop::collection::vec((0usize..5, prop::collection::vec(any::<bool>(), 4)), 1..4),
    ) {
        let ground = |dims: Vec<Dim>| GroundShape { output: GroundRow { lead: Vec::new(), trail: dims }, ..Default::default() };
        let mut operands = Vec::new();
        for (drop, mask) in &masks {
            let tail = result.iter().zip(mask).skip((*drop).min(result.len()));
            operands.push(ground(tail.map(|(n, unit)| if *unit { Dim::Unit } else { Dim::new(*n) }).collect()));
        }
        let target = ground(result.iter().map(|n| Dim::new(*n)).collect());
        let record = derive(&Logic::Pointwise, &operands, &target, &BTreeMap::new()).unwrap();
        let mut found = points(&record.pieces().unwrap());
        let mut expected = Vec::new();
        for point in surject_index::Space::of(&result).iter_points().unwrap() {
            let read = operands.iter().map(|operand| {
                let dims = &operand.output.trail;
                let tail = &point[point.len() - dims.len()..];
                Some(dims.iter().zip(tail).map(|(d, p)| if *d == Dim::Unit { 0 } else { *p }).collect::<Vec<i64>>())
            });
            expected.push(std::iter::once(Some(point.clone())).chain(read).collect::<Vec<_>>());
        }
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(record.injective().unwrap(), Verdict::Yes(()));
        prop_assert_eq!(record.surjective().unwrap(), Verdict::Yes(()));
    }
}

/// The margins are the least that hold every position; reads and pushes agree with the components.
fn check_margins(access: &Access, extents: &[u64]) -> Result<(), TestCaseError> {
    let mut least = vec![(0u64, 0u64); extents.len()];
    let read = access.read_map(surject_index::Fill(7));
    let (push, slice) = access.push();
    for point in access.space().iter_points().unwrap() {
        let position: Vec<i64> = access.components().iter().map(|c| c.eval(&point)).collect();
        for ((p, n), (before, after)) in position.iter().zip(extents).zip(&mut least) {
            *before = (*before).max(u64::try_from(-p).unwrap_or(0));
            *after = (*after).max(u64::try_from(p + 1 - *n as i64).unwrap_or(0));
        }
        prop_assert_eq!(read.apply(&point), is_inside(&position, extents).then_some(position.clone()));
        if is_inside(&position, extents) {
            prop_assert_eq!(push.apply(&point), slice.apply(&position));
        }
    }
    let found: Vec<(u64, u64)> =
        access.before().iter().copied().zip(access.after().iter().map(|n| n.as_const().unwrap())).collect();
    prop_assert_eq!(found, least);
    prop_assert_eq!(access.is_total(), read.is_total());
    Ok(())
}

/// A loop is a reduction exactly when the index map of the result does not depend on it.
fn check_reductions(record: &Projections) -> Result<(), TestCaseError> {
    let reductions = record.reductions();
    for piece in record.joint_pieces().unwrap() {
        for (axis, id) in piece.loops.iter().enumerate() {
            let mentioned = piece.result.components().iter().any(|c| c.coeffs[axis] != 0);
            prop_assert_eq!(reductions.contains(id), !mentioned);
        }
    }
    Ok(())
}

fn shuffle(equations: &mut [Equation], mut seed: u64) {
    for i in (1..equations.len()).rev() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        equations.swap(i, (seed >> 33) as usize % (i + 1));
    }
}
