//! Operations that move or reduce elements, with random attributes, against the specification's formulas index by index.

use proptest::prelude::*;
use surject_stablehlo::interpret::{Tensor, Value, run};
use surject_stablehlo::{ElementType, parse};

/// Runs `%r = …` on `i64` tensors; the shape and the elements of the result.
fn result(body: &str, ty: &str, args: &[(&[usize], &[i64])]) -> (Vec<usize>, Vec<i64>) {
    let text_of = |shape: &[usize]| shape.iter().map(|n| format!("{n}x")).collect::<String>();
    let params: Vec<String> = args
        .iter()
        .enumerate()
        .map(|(i, (shape, _))| format!("%{i}: tensor<{}i64>", text_of(shape)))
        .collect();
    let text = format!("func.func @main({}) -> {ty} {{\n{body}\nreturn %r : {ty}\n}}", params.join(", "));
    let module = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("text", &text)));
    surject_stablehlo::verify(&module).unwrap_or_else(|e| panic!("{}", e[0].render("text", &text)));
    let values = args
        .iter()
        .map(|(shape, values)| Value::Tensor(Tensor::from_i64s(ElementType::I64, shape, values).unwrap()))
        .collect();
    let results =
        run(&module, "main", values).unwrap_or_else(|e| panic!("{}", e.diagnostic().render("text", &text)));
    let tensor = results[0].as_tensor().unwrap();
    (tensor.shape().to_vec(), tensor.to_i64s().unwrap())
}

fn ty(shape: &[usize]) -> String {
    format!("tensor<{}i64>", shape.iter().map(|n| format!("{n}x")).collect::<String>())
}

fn numbered(shape: &[usize]) -> Vec<i64> {
    (1..=shape.iter().product::<usize>() as i64).collect()
}

fn at(shape: &[usize], index: &[i64]) -> usize {
    index.iter().zip(shape).fold(0, |p, (i, n)| p * n + *i as usize)
}

fn indices(shape: &[usize]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![Vec::new()], |all, n| {
        all.iter().flat_map(|index| (0..*n as i64).map(move |i| [index.as_slice(), &[i]].concat())).collect()
    })
}

/// One dimension: size, low, high, interior padding.
fn padded() -> impl Strategy<Value = (usize, i64, i64, i64)> {
    (0usize..4, -3i64..4, -3i64..4, 0i64..3).prop_filter("not negative", |(n, low, high, inner)| {
        *n as i64 + (*n as i64 - 1).max(0) * inner + low + high >= 0
    })
}

/// One dimension: size, window, stride, dilations, padding.
type Windowed = (usize, i64, i64, i64, i64, (i64, i64));

fn windowed() -> impl Strategy<Value = Windowed> {
    (1usize..5, 1i64..4, 1i64..3, 1i64..3, 1i64..3, (-1i64..3, -1i64..3))
        .prop_filter("positive", |w| (w.0 as i64 - 1) * w.3 + 1 + w.5.0 + w.5.1 > 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pad(dims in prop::collection::vec(padded(), 1..4)) {
        let shape: Vec<usize> = dims.iter().map(|d| d.0).collect();
        let size = |d: &(usize, i64, i64, i64)| d.0 as i64 + (d.0 as i64 - 1).max(0) * d.3 + d.1 + d.2;
        let out: Vec<usize> = dims.iter().map(|d| size(d) as usize).collect();
        let list = |f: fn(&(usize, i64, i64, i64)) -> i64| format!("{:?}", dims.iter().map(f).collect::<Vec<_>>());
        let body = format!(
            "%r = stablehlo.pad %0, %1, low = {}, high = {}, interior = {} : ({}, tensor<i64>) -> {}",
            list(|d| d.1), list(|d| d.2), list(|d| d.3), ty(&shape), ty(&out)
        );
        let values = numbered(&shape);
        let found = result(&body, &ty(&out), &[(&shape, &values), (&[], &[-7])]);
        let wanted: Vec<i64> = indices(&out).iter().map(|index| {
            let mut from = Vec::new();
            for (i, d) in index.iter().zip(&dims) {
                let p = i - d.1;
                if p < 0 || p % (d.3 + 1) != 0 || p / (d.3 + 1) >= d.0 as i64 {
                    return -7;
                }
                from.push(p / (d.3 + 1));
            }
            values[at(&shape, &from)]
        }).collect();
        prop_assert_eq!(found, (out, wanted));
    }

    /// Padding and what dilation puts between elements count as the initial value, once each (XLA leaves them out).
    #[test]
    fn reduce_window(dims in prop::collection::vec(windowed(), 1..3), init in -3i64..4) {
        let shape: Vec<usize> = dims.iter().map(|d| d.0).collect();
        let count = |d: &Windowed| {
            let padded = (d.0 as i64 - 1) * d.3 + 1 + d.5.0 + d.5.1;
            let window = (d.1 - 1) * d.4 + 1;
            if padded < window { 0 } else { (padded - window) / d.2 + 1 }
        };
        let out: Vec<usize> = dims.iter().map(|d| count(d) as usize).collect();
        let list = |f: fn(&Windowed) -> i64| {
            let items: Vec<String> = dims.iter().map(|d| f(d).to_string()).collect();
            format!("array<i64: {}>", items.join(", "))
        };
        let pads: Vec<[i64; 2]> = dims.iter().map(|d| [d.5.0, d.5.1]).collect();
        let body = format!(
            "%r = \"stablehlo.reduce_window\"(%0, %1) <{{window_dimensions = {}, window_strides = {}, base_dilations = {}, \
             window_dilations = {}, padding = dense<{pads:?}> : tensor<{}x2xi64>}}> ({{\n^bb0(%a: tensor<i64>, %b: tensor<i64>):\n\
             %s = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %s : tensor<i64>\n}}) : ({}, tensor<i64>) -> {}",
            list(|d| d.1), list(|d| d.2), list(|d| d.3), list(|d| d.4), dims.len(), ty(&shape), ty(&out)
        );
        let values = numbered(&shape);
        let found = result(&body, &ty(&out), &[(&shape, &values), (&[], &[init])]);
        let window: Vec<usize> = dims.iter().map(|d| d.1 as usize).collect();
        let wanted: Vec<i64> = indices(&out).iter().map(|index| {
            init + indices(&window).iter().map(|k| {
                let mut from = Vec::new();
                for ((i, k), d) in index.iter().zip(k).zip(&dims) {
                    let p = i * d.2 + k * d.4 - d.5.0;
                    if p < 0 || p % d.3 != 0 || p / d.3 >= d.0 as i64 {
                        return init;
                    }
                    from.push(p / d.3);
                }
                values[at(&shape, &from)]
            }).sum::<i64>()
        }).collect();
        prop_assert_eq!(found, (out, wanted));
    }

    #[test]
    fn transpose_and_slice(
        shape in prop::collection::vec(0usize..4, 1..4),
        seed in 0usize..24,
        picks in prop::collection::vec((0i64..4, 0i64..4, 1i64..3), 3),
    ) {
        // The permutation of that number.
        let rank = shape.len();
        let (mut left, mut permutation, mut seed) = ((0..rank).collect::<Vec<_>>(), Vec::new(), seed);
        while !left.is_empty() {
            permutation.push(left.remove(seed % left.len()));
            seed /= left.len() + 1;
        }
        let turned: Vec<usize> = permutation.iter().map(|d| shape[*d]).collect();
        let (mut start, mut limit, mut strides, mut out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (n, (a, b, by)) in turned.iter().zip(&picks) {
            let (a, b) = ((*a.min(b)).min(*n as i64), (*a.max(b)).min(*n as i64));
            start.push(a);
            limit.push(b);
            strides.push(*by);
            out.push(((b - a) as usize).div_ceil(*by as usize));
        }
        let ranges: Vec<String> = (0..rank).map(|d| format!("{}:{}:{}", start[d], limit[d], strides[d])).collect();
        let body = format!(
            "%t = stablehlo.transpose %0, dims = {permutation:?} : ({}) -> {}\n%r = stablehlo.slice %t [{}] : ({1}) -> {}",
            ty(&shape), ty(&turned), ranges.join(", "), ty(&out)
        );
        let values = numbered(&shape);
        let found = result(&body, &ty(&out), &[(&shape, &values)]);
        let wanted: Vec<i64> = indices(&out).iter().map(|index| {
            let mut from = vec![0; rank];
            for d in 0..rank {
                from[permutation[d]] = start[d] + index[d] * strides[d];
            }
            values[at(&shape, &from)]
        }).collect();
        prop_assert_eq!(found, (out, wanted));
    }

    /// A gather of windows and a scatter of them, along one indexed dimension.
    #[test]
    fn gather_and_scatter(
        (rows, columns, size) in (1usize..5, 1usize..4, 1usize..4),
        starts in prop::collection::vec(-3i64..7, 0..5),
    ) {
        let size = size.min(rows);
        let (shape, n) = ([rows, columns], starts.len());
        let out = [n, size, columns];
        let body = format!(
            "%r = \"stablehlo.gather\"(%0, %1) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], \
             index_vector_dim = 1>, slice_sizes = array<i64: {size}, {columns}>, indices_are_sorted = false}}> : ({}, {}) -> {}",
            ty(&shape), ty(&[n, 1]), ty(&out)
        );
        let values = numbered(&shape);
        let found = result(&body, &ty(&out), &[(&shape, &values), (&[n, 1], &starts)]);
        let wanted: Vec<i64> = indices(&out).iter().map(|i| {
            let start = starts[i[0] as usize].clamp(0, (rows - size) as i64);
            values[at(&shape, &[start + i[1], i[2]])]
        }).collect();
        prop_assert_eq!(found, (out.to_vec(), wanted));

        let body = format!(
            "%r = \"stablehlo.scatter\"(%0, %1, %2) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], \
             scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}}> ({{\n\
             ^bb0(%a: tensor<i64>, %b: tensor<i64>):\n%s = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %s : tensor<i64>\n}}) : \
             ({}, {}, {}) -> {0}",
            ty(&shape), ty(&[n, 1]), ty(&out)
        );
        let updates = numbered(&out);
        let found = result(&body, &ty(&shape), &[(&shape, &values), (&[n, 1], &starts), (&out, &updates)]);
        let mut wanted = values.clone();
        for i in indices(&out) {
            let row = starts[i[0] as usize] + i[1];
            if (0..rows as i64).contains(&row) {
                wanted[at(&shape, &[row, i[2]])] += updates[at(&out, &i)];
            }
        }
        prop_assert_eq!(found, (shape.to_vec(), wanted));
    }
}
