//! Words of the seeds: compositions with an addend, cuts into several results, closed markers, products of sizes, affine
//! axes of many terms, files, writing through slices.

mod support;

use std::collections::HashMap;
use support::{Check, Program, check_gradients, run};
use surject_ir::Buffer;
use surject_tensor::{LowerOptions, Session, lower};

/// The shape of a value of a text, and what its results are.
fn shape(text: &str, name: &str) -> String {
    let mut session = Session::new("t.sj", text);
    if let Err(error) = session.run_text().and_then(|()| session.graph().infer()) {
        panic!("{}\n{text}", session.render(&error));
    }
    let tensor = session.tensor(name).unwrap();
    session.graph().shape(&tensor).unwrap().to_string()
}

fn error(text: &str) -> String {
    let mut session = Session::new("t.sj", text);
    match session.run_text().and_then(|()| session.graph().infer()) {
        Ok(()) => panic!("accepted: {text}"),
        Err(error) => session.render(&error),
    }
}

fn count(n: usize) -> Vec<f64> {
    (1..=n).map(|k| k as f64).collect()
}

#[test]
fn a_composition_with_an_addend_adds_it_at_every_point() {
    let text = "input a: \"3->2\"; input b: \"2->3\"; input c: \"2\";
                { v } =:+ fma(a, b, c) ~logic:\"@\"; { w } =:+ a * b ~logic:\"@\"; w =+ c; output v, w;";
    let (a, b, c) = (count(6), count(6), vec![10.0, 20.0]);
    let results = run(text, &[("a", &a), ("b", &b), ("c", &c)]);
    assert_eq!(results[0].shape, [2, 2]);
    let product = [22.0, 28.0, 49.0, 64.0];
    for (k, expected) in product.into_iter().enumerate() {
        // Three positions are contracted.
        assert_eq!(results[0].values[k], expected + 3.0 * c[k / 2]);
        assert_eq!(results[1].values[k], expected + c[k / 2]);
    }
    // The addend broadcasts, and its axes are those of the result.
    let text = "input a: \"3->2\"; input b: \"5|3\"; input c; { v } =:+ fma(a, b, c) ~logic:\"@\"; output v;";
    assert_eq!((shape(text, "v"), shape(text, "c")), ("5|2".to_string(), "5|2".to_string()));
    let text = "op joined(a, b, c) ~logic:\"@\" { v =:+ fma(v1, v2, v3) } grad { g1 =+ g * v2; g2 =+ v1 * g; g3 =+ g }
                input a: \"3->2\"; input b: \"5|3\"; input c: \"2\"; let y = joined(a, b, c);
                let loss = (y *. y) ++ \"...|... => 0\";";
    check_gradients(text, &Check::default());
    assert!(
        error("input a: \"3->2\"; input b: \"3\"; input c: \"4\"; { v } =:+ fma(a, b, c) ~logic:\"@\";")
            .contains("SJ0401")
    );
}

#[test]
fn one_source_is_cut_into_several_results() {
    let text = "input x: \"6,2\"; let [p, q] = x ++^ \"a^b, c => a, c; c, b\" [\"a\", \"b\"]; set_dim(a, 1);
                set_equal(b, 5); output p, q;";
    let results = run(text, &[("x", &count(12))]);
    assert_eq!((results[0].shape.clone(), results[1].shape.clone()), (vec![1, 2], vec![2, 5]));
    assert_eq!(results[0].values, [1.0, 2.0]);
    assert_eq!(results[1].values, [3.0, 5.0, 7.0, 9.0, 11.0, 4.0, 6.0, 8.0, 10.0, 12.0]);

    // Sizes flow from results to the source; a middle part may belong to none.
    let text = "input x; let [p, q] = x ++^ \"a^4^b => a; b\" [\"a\", \"b\"]; set_dim(a, 2); set_dim(b, 3); output p, q;";
    assert_eq!(shape(text, "x"), "9");
    let results = run(text, &[("x", &count(9))]);
    assert_eq!((results[0].values.clone(), results[1].values.clone()), (vec![1.0, 2.0], vec![7.0, 8.0, 9.0]));

    // A cut is the inverse of a concatenation, and so is its gradient.
    let text = "input x: \"5\"; let [p, q] = x ++^ \"a^b => a; b\" [\"a\"]; set_dim(a, 2);
                let loss = ((p *. p) ++ \"i => 0\") + 3.0 *. ((q *. q *. q) ++ \"i => 0\");";
    check_gradients(text, &Check::default());
    // Neither result may be empty, which one alone could.
    let text = "input x: \"5\"; let [p, q] = x ++^ \"a^b => a; b\" [\"a\"]; set_dim(a, 5); output p, q;";
    assert!(error(text).contains("SJ0407"), "{}", error(text));
    assert_eq!(
        shape("input x: \"5\"; let p = x ++^ \"a^b => a\" [\"a\"]; set_dim(a, 5); output p;", "p"),
        "5"
    );
}

#[test]
fn a_closed_marker_says_where_a_row_would_grow() {
    let text = |x: &str, y: &str| format!("input x: \"{x}\"; input y: \"{y}\"; let z = x + y; output z;");
    // Flanks meet from their outer edges.
    assert_eq!(shape(&text("3,<>,2,4", "3,<>,4"), "z"), "3,2,4");
    assert!(error(&text("3,<>,2,4", "3,4")).contains("SJ0401"));
    assert_eq!(shape(&text("3,4,<>", "3,<>"), "z"), "3,4");
    assert_eq!(shape("input x: \"5,<>,7\"; let y = x ++ \"a,<>,b => a,<>,b\"; output y;", "y"), "5,7");
    assert_eq!(shape(&text("unit,4", "3,4"), "z"), "3,4");
}

#[test]
fn sizes_multiply_subtract_and_divide() {
    let text = |size: &str| {
        format!(
            "input x: \"3,4\"; x ++ \"ij => ij\" [\"i\", \"j\"]; let y = {{ w, i = [], o = [{size}] }} + 0.0; output y;"
        )
    };
    for (size, expected) in [
        ("i*i", "9"),
        ("i*j", "12"),
        ("i *. j, j", "12,4"),
        ("i*j*j", "48"),
        ("i+j", "7"),
        ("j-i", "1"),
        ("j-1", "3"),
        ("i*j/i", "4"),
        ("i*j/6", "2"),
    ] {
        // A size of one that nothing names may close to the unit.
        assert_eq!(shape(&text(size), "y").replace("unit", "1"), expected, "{size}");
    }
    for size in ["i-j", "i-3", "j/i"] {
        assert!(error(&text(size)).contains("error[SJ04"), "{}", error(&text(size)));
    }
    // The factor follows from the product.
    let text = "input x: \"12\"; input y: \"4\"; input z; x ++ \"n => n\" [\"n\"]; y ++ \"i => i\" [\"i\"];
                z ++ \"j => j\" [\"j\"]; set_equal(i * j, n); output z;";
    assert_eq!(shape(text, "z"), "3");
    let text = "input x: \"16\"; input z; x ++ \"n => n\" [\"n\"]; z ++ \"j => j\" [\"j\"]; set_equal(j * j, n); output z;";
    assert_eq!(shape(text, "z"), "4");
}

#[test]
fn an_affine_axis_has_many_terms() {
    // Position 4i + 2j + k of an axis of 4·(3-1) + 2·(2-1) + (2-1) + 1 = 12 positions.
    let text = "input x: \"12\"; input a: \"3\"; input b: \"2\"; input c: \"2\";
                let y = x ++ \"4*i<+2*j+k => i, j, k\" [\"j\", \"k\"]; set_dim(j, 2); set_dim(k, 2); output y;";
    assert_eq!(shape(text, "y"), "3,2,2");
    let results = run(text, &[("x", &count(12))]);
    let expected: Vec<f64> = (0..12).map(|p| (4 * (p / 4) + 2 * (p / 2 % 2) + p % 2 + 1) as f64).collect();
    assert_eq!(results[0].values, expected);
    // The size of the axis follows, and a convolution by two kernels is one after the other.
    let text = "input x; input a: \"5\"; input b: \"3\"; input c: \"2\";
                let y = einsum3(x, b, c, \"i<+j+2*k; j; k => i\" [\"i\"]); set_dim(i, 5); let z = y + a; output y, z;";
    assert_eq!(shape(text, "x"), "9");
    let x = count(9);
    let (b, c) = ([1.0, -2.0, 5.0], [3.0, 7.0]);
    let results = run(text, &[("x", &x), ("b", &b), ("c", &c), ("a", &[0.0; 5])]);
    for i in 0..5 {
        let sum = |f: &dyn Fn(usize, usize) -> f64| {
            (0..3).flat_map(|j| (0..2).map(move |k| (j, k))).map(|(j, k)| f(j, k)).sum::<f64>()
        };
        assert_eq!(results[0].values[i], sum(&|j, k| x[i + j + 2 * k] * b[j] * c[k]));
    }
    // Padded kernels leave the size as it is.
    let text = "input x: \"8\"; input b: \"3\"; input c: \"3\"; let y = einsum3(x, b, c, \"2*i=+j+k; j; k => i\"); output y;";
    assert_eq!(shape(text, "y"), "4");
    let results = run(text, &[("x", &count(8)), ("b", &[1.0; 3]), ("c", &[1.0; 3])]);
    let at = |p: i64| if (0..8).contains(&p) { (p + 1) as f64 } else { 0.0 };
    let expected: Vec<f64> =
        (0..4).map(|i| (0..3).flat_map(|j| (0..3).map(move |k| 2 * i + j + k - 2)).map(at).sum()).collect();
    assert_eq!(results[0].values, expected);
    let text = "input x: \"6,7\"; { k1, o = [2] } *. 1.0; { k2, o = [3] } *. 1.0;
                let y = einsum3(x, k1, k2, \"h, i<+a+2*b; a; b => h, i\"); let loss = (y *. y) ++ \"h, i => 0\";";
    check_gradients(text, &Check::default());
    // On the result side as well: a sum over all ways to make a position.
    let text = "input a: \"2\"; input b: \"3\"; input c: \"2\"; let y = einsum3(a, b, c, \"i; j; k => i<+j+k\"); output y;";
    let results = run(text, &[("a", &[1.0, 2.0]), ("b", &[1.0, 1.0, 1.0]), ("c", &[1.0, -1.0])]);
    assert_eq!(results[0].shape, [5]);
    assert_eq!(results[0].values, [1.0, 2.0, 0.0, -1.0, -2.0]);
}

#[test]
fn a_slice_is_written_through() {
    let text = "index i < 3; input x: \"2\"; { rows, b = [3] } @| i =: x; rows @| i =+ 10.0; output rows;";
    let program = Program::of(text);
    assert_eq!(program.lowered.state.len(), 1);
    let given = |k: f64| {
        HashMap::from([
            ("i".to_string(), vec![k]),
            ("x".to_string(), vec![7.0, 8.0]),
            ("rows".to_string(), count(6)),
        ])
    };
    let results = program.run(&given(1.0));
    assert_eq!(results[0].shape, [3, 2]);
    // The other rows stay as they were, in the result and in the new state.
    assert_eq!(results[0].values, [1.0, 2.0, 17.0, 18.0, 5.0, 6.0]);
    assert_eq!(results[1].values, results[0].values);
    let results = program.run(&given(2.0));
    assert_eq!(results[0].values, [1.0, 2.0, 3.0, 4.0, 17.0, 18.0]);

    // Accumulators read the slice; a parameter and a gradient have slices, too.
    let text = "index i < 2; input x: \"3\"; { w, b = [2], o = [3] }; w @| i =- 2.0 *. x; output w;";
    let program = Program::of(text);
    let given = HashMap::from([
        ("i".to_string(), vec![1.0]),
        ("x".to_string(), vec![1.0, 2.0, 3.0]),
        ("w".to_string(), vec![10.0; 6]),
    ]);
    assert_eq!(program.run(&given)[0].values, [10.0, 10.0, 10.0, 8.0, 6.0, 4.0]);
    assert!(
        error("index i < 2; input x: \"2|3\"; x @| i =: 0.0;").contains("is an input, and is not written")
    );
    assert!(
        error("index i < 2; input x: \"3\"; { r, b = [4], o = [3] } @| i =: x; output r;").contains("SJ0401")
    );
}

#[test]
fn a_file_gives_values_and_their_axes() {
    let folder = std::env::temp_dir().join(format!("surject-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let values = support::buffer(surject_ir::DType::F32, &[2, 3], &count(6));
    surject_runtime::npy::write(folder.join("v.npy"), &values).unwrap();
    let empty: Buffer = support::buffer(surject_ir::DType::F32, &[0], &[]);
    surject_runtime::npy::write(folder.join("empty.npy"), &empty).unwrap();
    let evaluated = |text: &str| {
        let mut session = Session::new(&folder.join("net.sj").display().to_string(), text);
        match session.run_text().and_then(|()| session.graph().infer()) {
            Ok(()) => Ok(session),
            Err(error) => Err(session.render(&error)),
        }
    };
    let shape = |text: &str, name: &str| {
        let session = evaluated(text).unwrap();
        session.graph().shape(&session.tensor(name).unwrap()).unwrap().to_string()
    };
    assert_eq!(shape("let w = file(\"v.npy\"); output w;", "w"), "2,3");
    assert_eq!(shape("let w = wrap(file(\"v.npy\"), i: [3], o: [2]); output w;", "w"), "3->2");
    // A terminal that starts as a file has its shape; reshaped, it has as many elements.
    assert_eq!(shape("input x: \"3\"; let y = { w = file(\"v.npy\") } *. x; output y;", "w"), "2,3");
    assert_eq!(shape("let y = { w = file(\"v.npy\") } *. 2.0; output y;", "w"), "2,3");
    let text = "input x: \"3\"; let y = { w = wrap(file(\"v.npy\"), i: [3], o: [2]) } * x; output y;";
    assert_eq!(shape(text, "w"), "3->2");
    assert_eq!(shape("let y = reshape(file(\"v.npy\"), o: [3, 2]); output y;", "y"), "3,2");
    let message = evaluated("let w = file(\"no.npy\");").err().unwrap();
    assert!(message.contains("error[SJ0552]") && message.contains("net.sj:1:14"), "{message}");
    let message = evaluated("let w = file(\"empty.npy\");").err().unwrap();
    assert!(message.contains("error[SJ0552]"), "{message}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The results of a text in f32.
fn run_f32(text: &str, given: &[&[f64]]) -> Vec<(Vec<usize>, Vec<f64>)> {
    let mut session = Session::new("t.sj", text);
    let lowered = session.run_text().and_then(|()| lower(session.graph(), &LowerOptions::default()));
    let lowered = lowered.unwrap_or_else(|error| panic!("{}", session.render(&error)));
    surject_ir::verify(&lowered.program).unwrap_or_else(|e| panic!("{e}"));
    let arguments: Vec<Buffer> = lowered
        .inputs
        .iter()
        .zip(given)
        .map(|(port, values)| {
            let shape: Vec<usize> = port.ty.space.sizes().unwrap().iter().map(|n| *n as usize).collect();
            support::buffer(port.ty.dtype, &shape, values)
        })
        .collect();
    let results = surject_ir::interp::run(&lowered.program, "main", &arguments).unwrap();
    results.iter().map(|b| (b.shape().to_vec(), support::values(b))).collect()
}

#[test]
fn words_of_random_bits_become_numbers() {
    // Four numbers of 32 bits a word, in the shape that the context asks for; one number a word.
    assert_eq!(shape("input x: \"10\"; let y = uint4x32_to_prec_uniform(x); output y;", "y"), "40");
    let text =
        "input x: \"10\"; input z: \"5|8\"; let y = uint4x32_to_prec_uniform(x); let s = y + z; output s;";
    assert_eq!((shape(text, "y"), shape(text, "s")), ("5|8".to_string(), "5|8".to_string()));
    assert_eq!(shape("input x: \"24\"; let y = uint4x32_to_prec_uniform1(x); output y;", "y"), "24");
    assert!(
        error("input x: \"2,3\"; let y = uint4x32_to_prec_uniform(x); output y;").contains("error[SJ0403]")
    );

    // The first known answer of Threefry-4x32 with 20 rounds: key and counter zero.
    let known = [0x9c6c_a96au32, 0xe17e_ae66, 0xfc10_ecd4, 0x5256_a7d8];
    let number = |bits: u32| f64::from(bits >> 8) / f64::from(1 << 24);
    let text = "let word = threefry4x32(0, [0]); let y = uint4x32_to_prec_uniform(word); output y;";
    let results = run_f32(text, &[]);
    assert_eq!(results[0], (vec![4], known.map(number).to_vec()));
    let text =
        "input key: \"\"; let y = uint4x32_to_prec_uniform1(threefry4x32(key, range(3, 2))); output y;";
    let results = run_f32(text, &[&[0.0]]);
    assert_eq!((results[0].0.clone(), results[0].1[0]), (vec![3, 2], number(known[0])));

    // Every number is of its own, in [0, 1), and about as often below a half as above.
    let text = "input key: \"\"; let words = threefry4x32_crypto(key, range(250)); let y = uint4x32_to_prec_uniform(words); output y;";
    let values = run_f32(text, &[&[7.0]])[0].1.clone();
    assert!(values.len() == 1000 && values.iter().all(|x| (0.0..1.0).contains(x)));
    let mean = values.iter().sum::<f64>() / 1000.0;
    assert!((mean - 0.5).abs() < 0.03, "{mean}");
    // Key 7 and counter 3, and the same with two rounds.
    let word = [0xd30f_ac4au32, 0x04ec_0df8, 0x6c03_8983, 0x8d52_6488];
    assert_eq!(values[12..16], word.map(number));
    let text = "let y = uint4x32_to_prec_uniform(threefry4x32_light(7, [3])); output y;";
    assert_eq!(run_f32(text, &[])[0].1, [0xau32, 0x0140_000a, 0xa, 0xa].map(number));
    // Words are no numbers.
    let text = "let w = threefry4x32(1, range(4)); output w;";
    let mut session = Session::new("t.sj", text);
    let lowered = session.run_text().and_then(|()| lower(session.graph(), &LowerOptions::default()));
    assert!(
        lowered.unwrap_err().to_string().contains("`w` holds words of random bits, and numbers are needed")
    );
}
