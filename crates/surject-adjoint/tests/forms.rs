//! What gradients look like: snapshots of the text form, and refusals.

use surject_adjoint::{AdjointError, Mode, Options, gradient};
use surject_ir::{parse, print};

fn derived(text: &str, options: &Options) -> String {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    print(&gradient(&program, "main", options).unwrap_or_else(|e| panic!("{e}")))
}

fn vjp() -> Options {
    Options { mode: Mode::Vjp, primals: false, ..Options::default() }
}

/// Two assignments, with the roles of the maps exchanged.
#[test]
fn matmul() {
    insta::assert_snapshot!(derived(
        "func main(a: f32[4,5], b: f32[5,6]) -> (c) {
           c : f32[4,6] =:+ over i<4, j<5, k<6 at [i,k]: a[i,j] * b[j,k] @ \"matmul.mlir:3:10\"
         }",
        &vjp()
    ));
}

#[test]
fn padded_convolution() {
    insta::assert_snapshot!(derived(
        "func main(x: f32[2,3,8], w: f32[4,3,3]) -> (y) {
           y : f32[2,4,8] =:+ over n<2, f<4, o<8, c<3, k<3 at [n,f,o]:
             (x[n, c, o + k - 1] where 0 <= o + k - 1 < 8 else 0.0f32) * w[f,c,k]
         }",
        &vjp()
    ));
}

#[test]
fn strided_padded_convolution() {
    insta::assert_snapshot!(derived(
        "func main(x: f32[64], w: f32[3]) -> (y) {
           y : f32[32] =:+ over o<32, k<3 at [o]: (x[2*o + k - 1] where 0 <= 2*o + k - 1 < 64 else 0.0f32) * w[k]
         }",
        &vjp()
    ));
}

#[test]
fn max_reduce() {
    insta::assert_snapshot!(derived(
        "func main(x: f32[4,6]) -> (m) { m : f32[4] =:max over r<4, c<6 at [r]: x[r,c] }",
        &vjp()
    ));
}

#[test]
fn mean_square() {
    insta::assert_snapshot!(derived(
        "func main(x: f32[4], y: f32[4], n: i32[]) -> (s, n) {
           let d : f32[4] =: over i<4: tanh(x[i]) - y[i]
           s : f32[] =:+ over i<4 at []: d * d
         }",
        &Options::default()
    ));
}

#[test]
fn a_scan() {
    insta::assert_snapshot!(derived(
        "func main(xs: f32[5,3], h0: f32[3]) -> (h) {
           zero : i32[] =: 0i32
           n : i32[], h : f32[3] = while (zero, h0) {
             cond(i: i32[], c: f32[3]) -> (more) { more : i1[] =: i < 5i32 }
             body(j: i32[], d: f32[3]) -> (next, e) {
               x : f32[1,3] = call dynamic_slice{sizes=[1,3]}(xs, j, zero)
               e : f32[3] =: over k<3: tanh(d[k] + x[0,k])
               next : i32[] =: j + 1i32
             }
           }
         }",
        &vjp()
    ));
}

fn refusal(text: &str, options: &Options) -> String {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    match gradient(&program, "main", options) {
        Err(error) => error.to_string(),
        Ok(derived) => panic!("{}", print(&derived)),
    }
}

#[test]
fn refusals_name_the_operation_and_its_place() {
    let cases = [
        "func main(x: f32[]) -> (y) { y : f32[] =: bitcast f32(bitcast i32(x[]) + 1i32) @ \"bits.mlir:2:3\" }",
        "func main(x: f32[4]) -> (m) {
           init : f32[] =: 0.0f32
           m : f32[4] = call reduce_window{sizes=[2], strides=[1], base_dilations=[2], window_dilations=[1], padding=[[0,-2]]}(x, init) {
             region(a: f32[], b: f32[]) -> (c) { c : f32[] =: a * b + a }
           } @ \"fold.mlir:7:1\"
         }",
        "func main(n: i32[4]) -> (n) {}",
    ];
    let messages: Vec<String> = cases.iter().map(|text| refusal(text, &vjp())).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn selections() {
    let program =
        parse("func main(x: f32[2], n: i32[]) -> (a, b, n) { a : f32[] =: x[0]\n b : f32[] =: x[1] }")
            .unwrap();
    let fault = |options: Options, function: &str| gradient(&program, function, &options).unwrap_err();
    let parameters = |list: &[usize]| Options {
        parameters: Some(list.to_vec()),
        mode: Mode::Gradient(Some(0)),
        ..Options::default()
    };
    let messages: Vec<String> = [
        fault(Options::default(), "main"),
        fault(Options::default(), "other"),
        fault(parameters(&[1]), "main"),
        fault(parameters(&[7]), "main"),
        fault(parameters(&[0, 0]), "main"),
        fault(Options { mode: Mode::Gradient(Some(2)), ..Options::default() }, "main"),
        fault(Options { mode: Mode::Gradient(Some(3)), ..Options::default() }, "main"),
    ]
    .iter()
    .map(AdjointError::to_string)
    .collect();
    insta::assert_snapshot!(messages.join("\n"));
    assert!(gradient(&program, "main", &parameters(&[0])).is_ok());
}
