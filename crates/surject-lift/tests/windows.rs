//! Convolution, pooling, padding and contraction against plain loops written from the specification.

mod common;

use common::*;
use surject_ir::Buffer;

/// A tensor as a function of its points, zero (or `outside`) beyond its box.
struct Grid {
    shape: Vec<i64>,
    data: Vec<i64>,
}

impl Grid {
    fn of(buffer: &Buffer) -> Grid {
        Grid { shape: buffer.shape().iter().map(|&n| n as i64).collect(), data: to_ints(buffer) }
    }

    fn filled(shape: Vec<i64>, value: i64) -> Grid {
        let count = shape.iter().product::<i64>() as usize;
        Grid { shape, data: vec![value; count] }
    }

    fn flat(&self, point: &[i64]) -> usize {
        point.iter().zip(&self.shape).fold(0, |flat, (p, n)| flat * n + p) as usize
    }

    fn get(&self, point: &[i64]) -> i64 {
        self.data[self.flat(point)]
    }

    /// The `pad` of the specification.
    fn pad(&self, value: i64, low: &[i64], high: &[i64], interior: &[i64]) -> Grid {
        let rank = self.shape.len();
        let shape: Vec<i64> = (0..rank)
            .map(|a| {
                let n = self.shape[a];
                low[a] + n + (n - 1).max(0) * interior[a] + high[a]
            })
            .collect();
        let mut result = Grid::filled(shape, value);
        for p in points(&self.shape) {
            let q: Vec<i64> = (0..rank).map(|a| low[a] + p[a] * (interior[a] + 1)).collect();
            if q.iter().zip(&result.shape).all(|(&q, &n)| 0 <= q && q < n) {
                let at = result.flat(&q);
                result.data[at] = self.get(&p);
            }
        }
        result
    }
}

#[test]
fn padding_with_negative_edges_and_holes() {
    let mut random = Random(7);
    for round in 0..40 {
        let shape = [random.int(1, 4), random.int(1, 5)];
        let x = random.tensor(&shape);
        let interior = [random.int(0, 2), random.int(0, 2)];
        let spread: Vec<i64> = (0..2).map(|a| (shape[a] - 1) * (interior[a] + 1) + 1).collect();
        let low = [random.int(-1, 2), random.int(-2, 2)];
        let high: Vec<i64> = (0..2).map(|a| random.int(-1, 2).max(-(spread[a] + low[a]))).collect();
        let want = Grid::of(&x).pad(5, &low, &high, &interior);
        let result = ty(&want.shape);
        let attributes = format!("low = {low:?}, high = {high:?}, interior = {interior:?}");
        let types = format!("({}, tensor<i32>) -> {result}", ty(&shape));
        // The padding value as a constant, and as an argument.
        let constant = format!(
            "%v = stablehlo.constant dense<5> : tensor<i32>\n %r = stablehlo.pad %x, %v, {attributes} : {types}\n return %r : {result}"
        );
        let got = run_body(&format!("(%x: {}) -> {result}", ty(&shape)), &constant, std::slice::from_ref(&x));
        assert_eq!(to_ints(&got[0]), want.data, "round {round}: {attributes} of {shape:?}");
        let argument = format!("%r = stablehlo.pad %x, %v, {attributes} : {types}\n return %r : {result}");
        let signature = format!("(%x: {}, %v: tensor<i32>) -> {result}", ty(&shape));
        let got = run_body(&signature, &argument, &[x, i32s(&[], &[5])]);
        assert_eq!(to_ints(&got[0]), want.data, "round {round}: {attributes} of {shape:?}");
    }
}

#[test]
fn float_padding_keeps_signs_of_zero() {
    let body = "%v = stablehlo.constant dense<0.0> : tensor<f32>
        %r = stablehlo.pad %x, %v, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
        return %r : tensor<4xf32>";
    let got = run_body("(%x: tensor<2xf32>) -> tensor<4xf32>", body, &[f32s(&[2], &[-0.0, 3.0])]);
    assert_eq!(got[0], f32s(&[4], &[0.0, -0.0, 0.0, 3.0]));
}

/// What a convolution is given: roles of dimensions are orders of (batch, feature, spatial…).
struct Conv {
    strides: Vec<i64>,
    padding: Vec<(i64, i64)>,
    lhs_dilation: Vec<i64>,
    rhs_dilation: Vec<i64>,
    reversal: Vec<bool>,
    groups: i64,
    batch_groups: i64,
    /// Position in the tensor of each role, for input, kernel and output.
    layouts: [Vec<usize>; 3],
}

/// A grid with its roles in the standard order.
fn standard(grid: &Grid, layout: &[usize]) -> Grid {
    let shape: Vec<i64> = layout.iter().map(|&a| grid.shape[a]).collect();
    let mut result = Grid::filled(shape, 0);
    for p in points(&result.shape.clone()) {
        let mut q = vec![0; p.len()];
        layout.iter().zip(&p).for_each(|(&a, &i)| q[a] = i);
        let at = result.flat(&p);
        result.data[at] = grid.get(&q);
    }
    result
}

/// The convolution in standard order: (batch, feature, spatial…), kernel (input feature, output feature, spatial…).
fn convolve(x: &Grid, k: &Grid, c: &Conv) -> Grid {
    let n = c.strides.len();
    let zeros = [vec![0, 0], vec![0; n]].concat();
    let interior = [vec![0, 0], c.lhs_dilation.iter().map(|d| d - 1).collect()].concat();
    let spread = x.pad(0, &zeros, &zeros, &interior);
    let low = [vec![0, 0], c.padding.iter().map(|p| p.0).collect()].concat();
    let high = [vec![0, 0], c.padding.iter().map(|p| p.1).collect()].concat();
    let x = spread.pad(0, &low, &high, &zeros);
    let batch = x.shape[0] / c.batch_groups;
    let outputs = k.shape[1] / c.groups.max(c.batch_groups);
    let mut shape = vec![batch, k.shape[1]];
    for i in 0..n {
        let reach = (k.shape[2 + i] - 1) * c.rhs_dilation[i] + 1;
        let room = x.shape[2 + i];
        shape.push(if room < reach { 0 } else { (room - reach) / c.strides[i] + 1 });
    }
    let mut result = Grid::filled(shape, 0);
    for p in points(&result.shape.clone()) {
        let group = p[1] / outputs;
        let mut sum = 0;
        for w in points(&k.shape[2..]) {
            for feature in 0..k.shape[0] {
                let mut xp = vec![p[0], feature];
                let mut kp = vec![feature, p[1]];
                if c.groups > 1 {
                    xp[1] += group * k.shape[0];
                }
                if c.batch_groups > 1 {
                    xp[0] += group * batch;
                }
                for i in 0..n {
                    xp.push(p[2 + i] * c.strides[i] + w[i] * c.rhs_dilation[i]);
                    kp.push(if c.reversal[i] { k.shape[2 + i] - 1 - w[i] } else { w[i] });
                }
                sum += x.get(&xp) * k.get(&kp);
            }
        }
        let at = result.flat(&p);
        result.data[at] = sum;
    }
    result
}

/// `[b, f, 0, 1]` with each role at its position.
fn roles(layout: &[usize], first: &str, second: &str) -> String {
    let mut names = vec![String::new(); layout.len()];
    for (role, &position) in layout.iter().enumerate() {
        names[position] = match role {
            0 => first.to_string(),
            1 => second.to_string(),
            spatial => (spatial - 2).to_string(),
        };
    }
    format!("[{}]", names.join(", "))
}

fn shuffled(random: &mut Random, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    for i in (1..rank).rev() {
        order.swap(i, random.int(0, i as i64) as usize);
    }
    order
}

/// A shape given by roles, in the order of the tensor.
fn laid_out(roles: &[i64], layout: &[usize]) -> Vec<i64> {
    let mut shape = vec![0; roles.len()];
    layout.iter().zip(roles).for_each(|(&a, &n)| shape[a] = n);
    shape
}

#[test]
fn convolution_in_every_form() {
    let mut random = Random(11);
    let mut nonempty = 0;
    for round in 0..120 {
        let n = random.int(0, 2) as usize;
        let (groups, batch_groups) = match random.int(0, 3) {
            0 => (random.int(2, 3), 1),
            1 => (1, random.int(2, 3)),
            _ => (1, 1),
        };
        let features = random.int(1, 2);
        let outputs = random.int(1, 2) * groups.max(batch_groups);
        let mut each = |low, high| (0..n).map(|_| random.int(low, high)).collect::<Vec<i64>>();
        let (strides, lhs_dilation, rhs_dilation) = (each(1, 2), each(1, 3), each(1, 2));
        let (size, kernel) = (each(1, 5), each(1, 3));
        let (low, high) = (each(-1, 2), each(-1, 2));
        let flips = each(0, 1);
        let conv = Conv {
            padding: low.iter().copied().zip(high).collect(),
            strides,
            lhs_dilation,
            rhs_dilation,
            reversal: flips.iter().map(|&f| f == 1).collect(),
            groups,
            batch_groups,
            layouts: [
                shuffled(&mut random, n + 2),
                shuffled(&mut random, n + 2),
                shuffled(&mut random, n + 2),
            ],
        };
        // A padded extent may not be negative.
        if (0..n)
            .any(|i| (size[i] - 1) * conv.lhs_dilation[i] + 1 + conv.padding[i].0 + conv.padding[i].1 < 0)
        {
            continue;
        }
        let batch = random.int(1, 2) * batch_groups;
        let x = random.tensor(&laid_out(&[vec![batch, features * groups], size].concat(), &conv.layouts[0]));
        let k = random.tensor(&laid_out(&[vec![features, outputs], kernel].concat(), &conv.layouts[1]));
        let want = convolve(
            &standard(&Grid::of(&x), &conv.layouts[0]),
            &standard(&Grid::of(&k), &conv.layouts[1]),
            &conv,
        );
        let shape = |b: &Buffer| b.shape().iter().map(|&n| n as i64).collect::<Vec<_>>();
        let result = ty(&laid_out(&want.shape, &conv.layouts[2]));
        let padding: Vec<String> = conv.padding.iter().map(|(l, h)| format!("[{l}, {h}]")).collect();
        let body = format!(
            "%r = stablehlo.convolution(%x, %k) dim_numbers = {}x{}->{}, window = {{stride = {:?}, pad = [{}], \
             lhs_dilate = {:?}, rhs_dilate = {:?}, reverse = {:?}}} {{batch_group_count = {batch_groups} : i64, \
             feature_group_count = {groups} : i64}} : ({}, {}) -> {result}\n return %r : {result}",
            roles(&conv.layouts[0], "b", "f"),
            roles(&conv.layouts[1], "i", "o"),
            roles(&conv.layouts[2], "b", "f"),
            conv.strides,
            padding.join(", "),
            conv.lhs_dilation,
            conv.rhs_dilation,
            conv.reversal,
            ty(&shape(&x)),
            ty(&shape(&k)),
        );
        let signature = format!("(%x: {}, %k: {}) -> {result}", ty(&shape(&x)), ty(&shape(&k)));
        let got = run_body(&signature, &body, &[x, k]);
        let got = standard(&Grid::of(&got[0]), &conv.layouts[2]);
        assert_eq!(got.data, want.data, "round {round}: {body}");
        nonempty += !want.data.is_empty() as usize;
    }
    assert!(nonempty > 60, "only {nonempty} convolutions have results");
}

#[test]
fn pooling_in_every_form() {
    let mut random = Random(23);
    type Op = (&'static str, fn(i64, i64) -> i64, i64);
    let ops: [Op; 5] = [
        ("add", |a, b| a + b, 0),
        ("add", |a, b| a + b, 3),
        ("maximum", i64::max, i32::MIN as i64),
        ("minimum", i64::min, 2),
        ("multiply", |a, b| (a as i32).wrapping_mul(b as i32) as i64, 2),
    ];
    for round in 0..80 {
        let (name, join, init) = ops[round % ops.len()];
        let mut each = |low, high| (0..2).map(|_| random.int(low, high)).collect::<Vec<i64>>();
        let (size, window, strides) = (each(1, 5), each(1, 3), each(1, 2));
        let (base, dilation) = (each(1, 2), each(1, 2));
        let (low, high) = (each(-1, 2), each(-1, 2));
        let x = random.tensor(&size);
        let zeros = [0, 0];
        let spread = Grid::of(&x).pad(init, &zeros, &zeros, &[base[0] - 1, base[1] - 1]);
        if (0..2).any(|a| spread.shape[a] + low[a] + high[a] < 0) {
            continue;
        }
        let padded = spread.pad(init, &low, &high, &zeros);
        let shape: Vec<i64> = (0..2)
            .map(|a| {
                let reach = (window[a] - 1) * dilation[a] + 1;
                if padded.shape[a] < reach { 0 } else { (padded.shape[a] - reach) / strides[a] + 1 }
            })
            .collect();
        let mut want = Grid::filled(shape, 0);
        for p in points(&want.shape.clone()) {
            let values = points(&window).into_iter().map(|w| {
                let q: Vec<i64> = (0..2).map(|a| p[a] * strides[a] + w[a] * dilation[a]).collect();
                padded.get(&q)
            });
            let at = want.flat(&p);
            want.data[at] = values.fold(init, join);
        }
        let list = |l: &[i64]| l.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        let result = ty(&want.shape);
        let body = format!(
            "%i = stablehlo.constant dense<{init}> : tensor<i32>
            %r = \"stablehlo.reduce_window\"(%x, %i) <{{window_dimensions = array<i64: {}>, window_strides = array<i64: {}>, \
             base_dilations = array<i64: {}>, window_dilations = array<i64: {}>, \
             padding = dense<[[{}, {}], [{}, {}]]> : tensor<2x2xi64>}}> ({{
            ^bb0(%a: tensor<i32>, %b: tensor<i32>):
              %s = stablehlo.{name} %b, %a : tensor<i32>
              stablehlo.return %s : tensor<i32>
            }}) : ({}, tensor<i32>) -> {result}
            return %r : {result}",
            list(&window), list(&strides), list(&base), list(&dilation), low[0], high[0], low[1], high[1], ty(&size),
        );
        let got = run_body(&format!("(%x: {}) -> {result}", ty(&size)), &body, &[x]);
        assert_eq!(to_ints(&got[0]), want.data, "round {round}: {body}");
    }
}

#[test]
fn contraction_of_any_axes() {
    let mut random = Random(5);
    for round in 0..40 {
        // Loop letters: 0 and 1 batch, 2 and 3 free, 4 and 5 contracted.
        let extents: Vec<i64> = (0..6).map(|_| random.int(1, 3)).collect();
        let kept: Vec<bool> = (0..6).map(|_| random.int(0, 2) > 0).collect();
        let letters = |own: &[usize], random: &mut Random| {
            let mine: Vec<usize> = own.iter().copied().filter(|&l| kept[l]).collect();
            shuffled(random, mine.len()).into_iter().map(|i| mine[i]).collect::<Vec<usize>>()
        };
        let (left, right) = (letters(&[0, 1, 2, 4, 5], &mut random), letters(&[0, 1, 3, 4, 5], &mut random));
        let shape = |side: &[usize]| side.iter().map(|&l| extents[l]).collect::<Vec<i64>>();
        let (x, y) = (random.tensor(&shape(&left)), random.tensor(&shape(&right)));
        let find = |side: &[usize], l: usize| side.iter().position(|&m| m == l);
        let list = |side: &[usize], wanted: [usize; 2]| {
            wanted.into_iter().filter_map(|l| find(side, l)).collect::<Vec<usize>>()
        };
        let free = |side: &[usize]| side.iter().copied().filter(|l| [2, 3].contains(l)).collect::<Vec<_>>();
        let batch = [0usize, 1].into_iter().filter(|&l| kept[l]).collect::<Vec<_>>();
        let out = [batch, free(&left), free(&right)].concat();
        let result = ty(&shape(&out));
        let mut want = Vec::new();
        for p in points(&shape(&out)) {
            let contracted: Vec<usize> = [4usize, 5].into_iter().filter(|&l| kept[l]).collect();
            let mut sum = 0;
            for c in points(&shape(&contracted)) {
                let value = |l: usize| match find(&out, l) {
                    Some(i) => p[i],
                    None => c[find(&contracted, l).unwrap()],
                };
                let point = |side: &[usize]| side.iter().map(|&l| value(l)).collect::<Vec<i64>>();
                sum += common::at(&x, &point(&left)) * common::at(&y, &point(&right));
            }
            want.push(sum);
        }
        let body = format!(
            "%r = stablehlo.dot_general %x, %y, batching_dims = {:?} x {:?}, contracting_dims = {:?} x {:?} : ({}, {}) -> {result}\n return %r : {result}",
            list(&left, [0, 1]),
            list(&right, [0, 1]),
            list(&left, [4, 5]),
            list(&right, [4, 5]),
            ty(&shape(&left)),
            ty(&shape(&right)),
        );
        let signature = format!("(%x: {}, %y: {}) -> {result}", ty(&shape(&left)), ty(&shape(&right)));
        let got = run_body(&signature, &body, &[x, y]);
        assert_eq!(to_ints(&got[0]), want, "round {round}: {body}");
    }
}
