//! Element types of patterns: sets of types, narrowed by the operations until nothing changes.

use crate::semantics::{Operation, in_class};
use std::fmt;
use surject_ir::{AccOp, DType};

/// A set of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u16);

impl Types {
    pub const ALL: Types = Types((1 << DType::ALL.len()) - 1);

    pub fn of(member: impl Fn(DType) -> bool) -> Types {
        let bits =
            DType::ALL.iter().enumerate().filter(|(_, d)| member(**d)).fold(0, |set, (i, _)| set | 1 << i);
        Types(bits)
    }

    pub fn only(dtype: DType) -> Types {
        Types::of(|d| d == dtype)
    }

    pub fn contains(self, dtype: DType) -> bool {
        self.0 >> dtype as u16 & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&d| self.contains(d))
    }

    pub fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The member, if there is just one.
    pub fn single(self) -> Option<DType> {
        let mut members = self.iter();
        members.next().filter(|_| members.next().is_none())
    }
}

impl fmt::Display for Types {
    /// Whole classes by name, other types one by one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Types::ALL {
            return f.write_str("any type");
        }
        let mut words: Vec<&str> = Vec::new();
        let mut rest = *self;
        for class in ["float", "int", "signed", "unsigned", "complex"] {
            let class_types = Types::of(|d| in_class(d, class) == Some(true));
            if rest.and(class_types) == class_types {
                words.push(class);
                rest = Types(rest.0 & !class_types.0);
            }
        }
        words.extend(rest.iter().map(DType::name));
        match words.split_last() {
            None => f.write_str("no type"),
            Some((last, [])) => f.write_str(last),
            Some((last, words)) => write!(f, "{} or {last}", words.join(", ")),
        }
    }
}

/// A place that has an element type.
pub(crate) type Place = usize;

/// A place that has an operation.
pub(crate) type OpPlace = usize;

/// What an operation says about the types around it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constraint {
    /// Both places have one type.
    Same(Place, Place),
    /// The result of an operation whose operands all have the type of the first place.
    Result(OpPlace, Place, Place),
    /// The accumulation is defined for the type.
    Acc(AccOp, Place),
    /// The accumulation by an operation is defined for the type.
    AccBy(OpPlace, Place),
}

/// Types and operations of places, with constraints between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Typing {
    pub types: Vec<Types>,
    pub ops: Vec<Vec<Operation>>,
    pub constraints: Vec<Constraint>,
}

impl Typing {
    pub fn place(&mut self, types: Types) -> Place {
        self.types.push(types);
        self.types.len() - 1
    }

    pub fn op_place(&mut self, ops: Vec<Operation>) -> OpPlace {
        self.ops.push(ops);
        self.ops.len() - 1
    }

    fn narrow(&mut self, place: Place, types: Types, changed: &mut bool) {
        let narrowed = self.types[place].and(types);
        *changed |= narrowed != self.types[place];
        self.types[place] = narrowed;
    }

    /// Narrows every set until nothing changes. On failure the number of a constraint that nothing satisfies.
    pub fn propagate(&mut self) -> Result<(), usize> {
        loop {
            let mut changed = false;
            for at in 0..self.constraints.len() {
                let constraint = self.constraints[at];
                let places = self.apply(constraint, &mut changed);
                if places.into_iter().any(|p| self.types[p].is_empty()) {
                    return Err(at);
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn apply(&mut self, constraint: Constraint, changed: &mut bool) -> [Place; 2] {
        match constraint {
            Constraint::Same(a, b) => {
                let both = self.types[a].and(self.types[b]);
                self.narrow(a, both, changed);
                self.narrow(b, both, changed);
                [a, b]
            }
            Constraint::Result(op, x, r) => {
                let (xs, rs) = (self.types[x], self.types[r]);
                let (mut operands, mut results) = (Types(0), Types(0));
                let before = self.ops[op].len();
                self.ops[op].retain(|op| {
                    let mut some = false;
                    for d in xs.iter() {
                        if let Some(result) = op.result(d).filter(|&d| rs.contains(d)) {
                            operands.0 |= 1 << d as u16;
                            results.0 |= 1 << result as u16;
                            some = true;
                        }
                    }
                    some
                });
                *changed |= before != self.ops[op].len();
                self.narrow(x, operands, changed);
                self.narrow(r, results, changed);
                [x, r]
            }
            Constraint::Acc(op, x) => {
                self.narrow(x, Types::of(|d| op.is_defined(d)), changed);
                [x, x]
            }
            Constraint::AccBy(op, x) => {
                let ops: Vec<AccOp> = self.ops[op].iter().filter_map(|op| op.as_acc()).collect();
                self.narrow(x, Types::of(|d| ops.iter().any(|op| op.is_defined(d))), changed);
                [x, x]
            }
        }
    }

    /// One type for every place, where `choose` orders the candidates of a place.
    pub fn assign(&self, choose: &mut dyn FnMut(Types) -> Vec<DType>) -> Option<Vec<DType>> {
        let mut state = self.clone();
        state.propagate().ok()?;
        let Some(open) = state.types.iter().position(|t| t.single().is_none()) else {
            return state.types.iter().map(|t| t.single()).collect();
        };
        choose(state.types[open]).into_iter().find_map(|dtype| {
            let mut next = state.clone();
            next.types[open] = Types::only(dtype);
            next.assign(choose)
        })
    }
}
