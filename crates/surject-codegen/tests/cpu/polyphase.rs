//! Windows over tensors with holes: convolutions of dilated tensors, sums and maxima over them.

use crate::harness::*;
use surject_codegen::{Target, Thresholds};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::{AccOp, BinaryOp, DType, Function, Program, Scalar};

/// One axis of a window: points of the tensor, distance of the points, taps, distance of the taps, step of the
/// window, padding before and after.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    size: u64,
    holes: i64,
    taps: u64,
    dilation: i64,
    step: i64,
    pad: (i64, i64),
}

impl Axis {
    fn dilated(&self) -> u64 {
        (self.size - 1) * self.holes as u64 + 1
    }

    fn positions(&self) -> Option<u64> {
        let taps = (self.taps as i64 - 1) * self.dilation + 1;
        let length = self.dilated() as i64 + self.pad.0 + self.pad.1 - taps;
        (length >= 0).then(|| (length / self.step + 1) as u64)
    }
}

/// What is done with the elements under a window.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// They are multiplied by weights and summed, also over channels.
    Product,
    /// They are joined.
    Join(AccOp),
}

/// `n × axes × channels`, dilated into a tensor of its own, then read by windows.
pub fn windows(axes: &[Axis], channels: (u64, u64), kind: Kind, dtype: DType) -> Option<Function> {
    let n = axes.len();
    let (inputs, filters) = channels;
    let positions: Vec<u64> = axes.iter().map(Axis::positions).collect::<Option<_>>()?;
    let sized = |f: &dyn Fn(&Axis) -> u64, after: &[u64]| -> Vec<u64> {
        [2].into_iter().chain(axes.iter().map(f)).chain(after.iter().copied()).collect()
    };
    let small = sized(&|a| a.size, &[inputs]);
    let taps: Vec<u64> = axes.iter().map(|a| a.taps).chain([inputs, filters]).collect();
    let (mut f, p) = function(&[(dtype, &small), (dtype, &taps)]);
    let large = sized(&Axis::dilated, &[inputs]);
    let mut components = vec![Affine::axis(n + 2, 0)];
    components.extend(axes.iter().enumerate().map(|(i, a)| Affine::strided(n + 2, i + 1, a.holes, 0)));
    components.push(Affine::axis(n + 2, n + 1));
    let op = match kind {
        Kind::Product => AccOp::Add,
        Kind::Join(op) => op,
    };
    let dilate = IndexMap::total(space(&small), space(&large), components).unwrap();
    let dilated = f.fields.acc(op, dilate, p[0]).unwrap();
    let var = store(&mut f, dilated);
    let dilated = f.tensor(var);
    // Batch, positions, filters; taps, channels. Without weights the channels take the place of the filters.
    let product = matches!(kind, Kind::Product);
    let mut all = vec![2];
    all.extend(&positions);
    all.push(if product { filters } else { inputs });
    all.extend(axes.iter().map(|a| a.taps));
    if product {
        all.push(inputs);
    }
    let rank = all.len();
    let at = |i: usize, a: &Axis| {
        let mut lin = Affine::strided(rank, i + 1, a.step, -a.pad.0);
        lin.coeffs[n + 2 + i] = a.dilation;
        lin
    };
    let mut components = vec![Affine::axis(rank, 0)];
    components.extend(axes.iter().enumerate().map(|(i, a)| at(i, a)));
    components.push(Affine::axis(rank, if product { rank - 1 } else { n + 1 }));
    let fill = if product { Scalar::zero(dtype) } else { op.neutral(dtype) };
    let map = IndexMap::partial(space(&all), space(&large), components, vec![], Fill(fill.bits())).unwrap();
    let mut x = f.fields.read(map, dilated).unwrap();
    if product {
        let weights: Vec<usize> = (n + 2..rank).chain([n + 1]).collect();
        let w = f.fields.read(IndexMap::projection(&space(&all), &weights), p[1]).unwrap();
        x = f.fields.binary(BinaryOp::Mul, x, w).unwrap();
    }
    let outer: Vec<usize> = (0..n + 2).collect();
    let y = f.fields.acc(op, IndexMap::projection(&space(&all), &outer), x).unwrap();
    result(&mut f, y);
    Some(f)
}

fn axis(size: u64, holes: i64, taps: u64, dilation: i64, step: i64, pad: (i64, i64)) -> Axis {
    Axis { size, holes, taps, dilation, step, pad }
}

#[test]
fn dilated_convolutions() {
    let mut states = states(0x2545_f491_4f6c_dd1d);
    let mut next = |n: u64| (states() >> 33) % n;
    let mut done = 0;
    while done < 20 {
        let rank = 1 + next(2) as usize;
        let mut random = || Axis {
            size: 1 + next(9),
            holes: 1 + next(4) as i64,
            taps: 1 + next(5),
            dilation: 1 + next(3) as i64,
            step: 1 + next(2) as i64,
            pad: (next(5) as i64 - 1, next(5) as i64 - 1),
        };
        let axes: Vec<Axis> = (0..rank).map(|_| random()).collect();
        let channels = [(1, 3), (16, 33), (20, 7)][next(3) as usize];
        let kinds = [Kind::Product, Kind::Product, Kind::Join(AccOp::Add), Kind::Join(AccOp::Max)];
        let kind = kinds[next(4) as usize];
        let dtype = [DType::F32, DType::F32, DType::F64, DType::I32, DType::BF16][next(5) as usize];
        let Some(function) = windows(&axes, channels, kind, dtype) else { continue };
        done += 1;
        check_with(function, if dtype == DType::BF16 { 0.3 } else { 1e-4 }, None);
    }
}

#[test]
fn a_hole_times_an_infinity() {
    // With taps at an odd distance every second product is of a hole.
    let axes = [axis(9, 2, 3, 1, 1, (1, 2)), axis(8, 3, 4, 1, 1, (2, 1))];
    let function = windows(&axes, (8, 16), Kind::Product, DType::F32).unwrap();
    let mut args: Vec<_> =
        function.params.iter().enumerate().map(|(i, &p)| values(function.ty(p), i as u64 + 7)).collect();
    args[1].set(5, Scalar::from_f64(DType::F32, f64::INFINITY));
    args[1].set(300, Scalar::from_f64(DType::F32, f64::NAN));
    check_with(function, 1e-4, Some(args));
}

#[test]
fn no_hole_is_visited() {
    let plan = |function: Function| {
        let program = Program { name: String::new(), functions: vec![function] };
        lowered(&program, "main", &Target::wide()).plan.to_string()
    };
    let twice = axis(28, 2, 3, 1, 1, (1, 2));
    let mut text = String::new();
    for (name, axes, kind) in [
        ("convolution, every second", vec![twice, twice], Kind::Product),
        ("convolution, every third", vec![axis(50, 3, 4, 1, 1, (0, 0))], Kind::Product),
        ("too many phases", vec![axis(20, 5, 5, 1, 1, (0, 0)); 2], Kind::Product),
        ("sums", vec![axis(28, 2, 2, 1, 1, (1, 0)), axis(28, 2, 2, 1, 1, (1, 0))], Kind::Join(AccOp::Add)),
    ] {
        let function = windows(&axes, (64, 64), kind, DType::F32).unwrap();
        text.push_str(&format!("{name}\n{}\n", plan(function)));
    }
    insta::assert_snapshot!(text);
}

/// Windows that are wider than what they run over: of most of their places there is no element.
#[test]
fn wide_windows() {
    let mut plans = String::new();
    for (kind, dtype) in [
        (Kind::Join(AccOp::Add), DType::F32),
        (Kind::Join(AccOp::Max), DType::F32),
        (Kind::Join(AccOp::Add), DType::BF16),
        (Kind::Join(AccOp::Mul), DType::I32),
    ] {
        for axes in [
            vec![axis(1, 1, 9, 1, 1, (8, 8)), axis(1, 1, 7, 1, 1, (6, 6))],
            vec![axis(3, 1, 8, 1, 1, (7, 7)), axis(2, 1, 7, 1, 1, (3, 3))],
            vec![axis(2, 4, 11, 1, 1, (4, 9)), axis(2, 1, 5, 1, 2, (5, 3))],
            vec![axis(2, 1, 6, 3, 1, (12, 15)), axis(40, 1, 3, 1, 1, (1, 1))],
        ] {
            let function = windows(&axes, (17, 17), kind, dtype).unwrap();
            if dtype == DType::F32 {
                let program = Program { name: String::new(), functions: vec![function.clone()] };
                plans.push_str(&lowered(&program, "main", &Target::wide()).plan.to_string());
            }
            check_with(function, if dtype == DType::BF16 { 0.3 } else { 1e-4 }, None);
        }
    }
    insta::assert_snapshot!(plans);
}

/// What lies beyond counts once it counts at all, whatever it is.
#[test]
fn wide_windows_over_other_fills() {
    for (dtype, op, fill) in [
        ("f32", "+", "0.0f32"),
        ("f32", "+", "1.0f32"),
        ("f32", "max", "0.25f32"),
        ("i32", "min", "-1i32"),
        ("i32", "+", "3i32"),
    ] {
        let text = format!(
            "func main(x: {dtype}[6,2]) -> (y) {{
  y : {dtype}[6,20] =:{op} over i<6, j<20, k<9 at [i,j]: (x[i,j + k - 11] where 0 <= j + k - 11 < 2 else {fill})
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(program.functions[0].clone());
    }
}

/// A quotient between the holes is computed once where several windows meet it, and where it is met if one does.
#[test]
fn quotients_between_holes() {
    let mut plans = String::new();
    for (taps, out) in [(3, 18), (2, 18)] {
        let text = format!(
            "func main(x: f32[4,9,20]) -> (y) {{
  h : f32[4,17,20] =:+ over i<4, j<9, k<20 at [i,2*j,k]: x[i,j,k] / 9.0f32
  y : f32[4,{out},20] =:+ over i<4, j<{out}, k<20, m<{taps} at [i,j,k]: (h[i,j + m - 1,k] where 0 <= j + m - 1 < 17 else 0.0f32)
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        plans.push_str(&lowered(&program, "main", &Target::wide()).plan.to_string());
        check(program.functions[0].clone());
    }
    insta::assert_snapshot!(plans);
}

/// Tensors with holes that are padded: phases whose elements alternate, as many of one as of the other and one more.
#[test]
fn padded_holes() {
    for (dtype, zero, fill) in [("f32", "0.0f32", "0.5f32"), ("bf16", "0bf16", "2bf16"), ("i8", "0i8", "3i8")]
    {
        for (n, m, step, low, high) in [(5, 40, 2, 1, 1), (4, 33, 2, 0, 1), (3, 20, 3, 2, 0), (6, 1, 2, 1, 2)]
        {
            let (rows, columns) = (step * (n - 1) + 1, step * (m - 1) + 1);
            let (all, wide) = (rows + low + high, columns + low + high);
            let inside = format!("0 <= i - {low} < {rows} and 0 <= j - {low} < {columns}");
            let holes = format!("(h[i - {low},j - {low}] where {inside} else {zero})");
            let value =
                format!("select((t[i - {low},j - {low}] where {inside} else false), {holes}, {fill})");
            let text = format!(
                "func main(x: {dtype}[{n},{m}]) -> (y) {{
  let h : {dtype}[{rows},{columns}] =:+ over i<{n}, j<{m} at [{step}*i,{step}*j]: x[i,j]
  let t : i1[{rows},{columns}] =:or over i<{n}, j<{m} at [{step}*i,{step}*j]: true
  y : {dtype}[{all},{wide}] =: over i<{all}, j<{wide}: {value}
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
        }
    }
}

/// What is set and needs to know whether its position is odd: of the positions that set an element one is right.
#[test]
fn set_in_phases() {
    for dtype in ["f32", "i8", "bf16"] {
        for at in ["-i + 5", "i"] {
            let text = format!(
                "func main(x: {dtype}[4,2], y: {dtype}[6]) -> (z) {{
  z : {dtype}[6] =:set over i<6 at [{at}]: y[i] + (min over i<6, j<6 at [j]: (max over i<4, j<2 at [-i + j + 4,i + j + 1]: x[i,j]))
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            check(program.functions[0].clone());
        }
    }
}

/// Phases that read the same, of which there are as many elements each, are one kernel, which writes from start to end.
#[test]
fn phases_together() {
    let mut plans = String::new();
    // The last have one element more of one phase.
    for (n, m, rows, columns) in [(6, 8, 12, 16), (6, 8, 12, 15), (70, 40, 140, 80)] {
        let text = format!(
            "func main(x: f32[3,{n},{m},20]) -> (y) {{
  h : f32[3,{},{},20] =:+ over i<3, j<{n}, k<{m}, l<20 at [i,2*j,2*k,l]: x[i,j,k,l] * 0.25f32
  y : f32[3,{rows},{columns},20] =:+ over i<3, j<{rows}, k<{columns}, l<20, p<2, q<2 at [i,j,k,l]: \
             (h[i,j + p - 1,k + q - 1,l] where 0 <= j + p - 1 < {} and 0 <= k + q - 1 < {} else 0.0f32)
}}
",
            2 * n - 1,
            2 * m - 1,
            2 * n - 1,
            2 * m - 1
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        plans.push_str(&lowered(&program, "main", &Target::wide()).plan.to_string());
        check(program.functions[0].clone());
    }
    insta::assert_snapshot!(plans);
}

/// Phases of different lengths, of which only some consist of whole rows of a reshape: every element is stored.
#[test]
fn phases_that_a_reshape_does_not_divide() {
    let text = "func main(x: f32[5,48]) -> (y) {
  let t : f32[858] =:max over i<6, j<143 at [143*i + j]: (+ over i<5, j<48 at [i + 1,3*j]: x[i,j])
  y : f32[857] =: over i<857: t[i + 1]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let targets = [
        Target::host(),
        Target::wide(),
        Target { thresholds: Thresholds::least(), threads: 4, ..Target::wide() },
    ];
    check_on(program.functions[0].clone(), 1e-5, None, &targets);
}
