//! The collection of cases: numeric witnesses by their ids, on the reference interpreter in f64.

mod support;

use support::run;

/// Runs a text and compares its outputs.
fn check(text: &str, given: &[(&str, &[f64])], expected: &[&[f64]]) {
    let found: Vec<Vec<f64>> = run(text, given).into_iter().map(|output| output.values).collect();
    assert_eq!(found, expected, "{text}");
}

fn count(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

macro_rules! values {
    ($($id:ident $text:literal $(given { $($name:literal: $values:expr),* })? => [$($expected:expr),*];)*) => {$(
        #[test]
        #[allow(non_snake_case)]
        fn $id() {
            check($text, &[$($(($name, &$values)),*)?], &[$(&$expected),*]);
        }
    )*};
}

values! {
    CM03 "let a = [(1, 2, 3), (4, 5, 6)]; let b = [(1,), (0,), (1,)]; { c } =:+ a * b ~logic:\"@\"; output c;"
        => [[4.0, 10.0]];
    ES17 "input a: \"2->3\"; let y = a ++ \"i->o => io\"; output y;" given { "a": count(6) }
        => [[0.0, 2.0, 4.0, 1.0, 3.0, 5.0]];
    ES29 "let y = range(3) ++ \"i=>ii\"; output y;" => [[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]];
    ES31 "let y = (range(2) + 1) ++ \"i=>i1\"; output y;" => [[0.0, 1.0, 0.0, 2.0]];
    ES41 "let c = [[1, 0], [0, 1]]; input a: \"2,2\"; input b: \"2,2\";
        let y = where(c, a, b, \"ij;ij;ij=>i\"); let loss = y ++ \"i => 0\"; loss.backprop;
        let ga = a.grad; let gb = b.grad; output y, ga, gb;"
        given { "a": [2.0, 7.0, 7.0, 3.0], "b": [7.0, 10.0, 40.0, 7.0] }
        => [[12.0, 43.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]];
    CP03 "input x: \"2,3,4\"; input y: \"7\"; x ++ \"a..r.. => ..r..a\" [\"a\", \"r\"]; y ++ \"j=>j\" [\"j\"];
        let total = a + j + r; let embedded = dim(a) + dim(j) + dim(r); output total, embedded;"
        => [[21.0], [21.0]];
    SL01 "index s < 2; let data = rebatch(range(12), o: [3]); let part = data @| s; output part;"
        given { "s": [1.0] } => [[6.0, 7.0, 8.0, 9.0, 10.0, 11.0]];
    CV07 "let x = reshape(range(98), o: [7, 7, 2]); let pool = max_pool2d(window_size: 3, stride: 2)();
        let y = pool(x); output y;"
        => [[32.0, 33.0, 36.0, 37.0, 40.0, 41.0, 60.0, 61.0, 64.0, 65.0, 68.0, 69.0, 88.0, 89.0, 92.0, 93.0, 96.0, 97.0]];
    CV11 "let x = reshape(range(16), o: [4, 4]); let k = [[0, 1], [2, 3]];
        let y = x @^+ k \"2*oh<+kh, 2*ow<+kw; kh, kw => oh, ow\"; output y;" => [[8.0, 10.0, 16.0, 18.0]];
    CV13 "input x: \"4,4\"; input k: \"2,2\";
        let y = x @^+ k \"2*oh<+kh, 2*ow<+kw; kh, kw => oh, ow\"; let loss = y ++ \"... => 0\"; loss.backprop;
        let gx = x.grad; let gk = k.grad; output loss, gx, gk;"
        given { "x": [1.0; 16], "k": [0.0, 0.0, 0.0, 10.0] }
        => [[44.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 4.0]];
    CV15 "let x = reshape(range(16), o: [4, 4]) - 16; let ones = reshape(range(9), o: [3, 3]) *. 0 + 1;
        let m = x @^^ \"oh=+kh, ow=+kw => oh, ow\" [\"kh\", \"kw\"]; set_dim(kh, 3); set_dim(kw, 3);
        let y = x +* ones \"oh=+kh, ow=+kw; kh, kw => oh, ow\"; output m, y;"
        => [[-11.0, -10.0, -9.0, -9.0, -7.0, -6.0, -5.0, -5.0, -3.0, -2.0, -1.0, -1.0, -3.0, -2.0, -1.0, -1.0], [-54.0, -78.0, -72.0, -46.0, -69.0, -99.0, -90.0, -57.0, -45.0, -63.0, -54.0, -33.0, -22.0, -30.0, -24.0, -14.0]];
    CV17 "input x: \"2,4\"; let y = interleave(deinterleave_even(x), deinterleave_odd(x)); output y;"
        given { "x": count(8) } => [count(8)];
    BL05 "input x: \"2\"; let l = [x, -x]; let b = [| x, -x |]; let t = (x, -x); output l, b, t;"
        given { "x": [1.0, 2.0] } => [[1.0, 2.0, -1.0, -2.0], [1.0, 2.0, -1.0, -2.0], [1.0, -1.0, 2.0, -2.0]];
    BL11 "let a = [1, 2]; let b = [3, 4, 5]; let c = [6, 7];
        let y = [a, [b, c] ++^ \"i;j => i^j\"] ++^ \"i;j => i^j\"; let z = y + [0, 0, 0, 0, 0, 0, 0]; output y, z;"
        => [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]];
    BL13 "input a: \"2\"; input b: \"3\"; input c: \"2\";
        let loss = ([a, b, c] ++^ \"i;j;k => i^j^k\") ++ \"... => 0\"; loss.backprop;
        let ga = a.grad; let gb = b.grad; let gc = c.grad; output ga, gb, gc;"
        => [[1.0; 2], [1.0; 3], [1.0; 2]];
    BL19 "let x = range(9); let y = x ++^ \"a^b^c => b,\" [\"a\", \"c\"]; set_dim(a, 2); set_dim(c, 3); output y;"
        => [[2.0, 3.0, 4.0, 5.0]];

    // What evaluation says beyond the collection.
    numbers_of_the_host "let n = 3; let y = [n, 1, -n] *. (n / 2) **. 2; output y;" => [[6.75, 2.25, -6.75]];
    sizes_divide "input x: \"6\"; x ++ \"i => i\" [\"i\"]; let y = { w = 1.0, o = [i / 3] } * [1, 1]; output y;"
        given { "w": [1.0; 4] } => [[2.0, 2.0]];
    one_scale_for_both "input x: \"2\"; fn f(x) = x *. { s = 2.0 }; let y = f(f(x)); output y;"
        given { "x": [1.0, 3.0], "s": [0.0; 2], "f.s": [3.0, 3.0] } => [[9.0, 27.0]];
    momentum "input g: \"2\"; { v } =+ g; { v2 } =: v *. 2.0; output v, v2;"
        given { "g": [1.0, 2.0], "v": [10.0, 10.0] } => [[11.0, 12.0], [22.0, 24.0], [11.0, 12.0]];
}
