use crate::{interp, parse, print, verify};

/// Programs written by hand in the text form: each is what it prints as, and verifies.
fn program(text: &str) -> String {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    verify(&program).unwrap();
    assert!(interp::run(&program, "main", &crate::testing::random_args(&program.functions[0], 1)).is_ok());
    let printed = print(&program);
    assert_eq!(print(&parse(&printed).unwrap()), printed);
    printed
}

#[test]
fn matmul() {
    insta::assert_snapshot!(program(
        "func main(a: f32[4,5], b: f32[5,6]) -> (c) {
           c : f32[4,6] =:+ over i<4, j<5, k<6 at [i,k]: a[i,j] * b[j,k] @ \"matmul.mlir:3:10\"
         }"
    ));
}

#[test]
fn bias_and_activation() {
    insta::assert_snapshot!(program(
        "func main(x: f32[4,6], b: f32[6]) -> (y) { y : f32[4,6] =: over i<4, j<6: tanh(x[i,j] + b[j]) }"
    ));
}

#[test]
fn softmax() {
    insta::assert_snapshot!(program(
        "program softmax
         func main(x: f32[4,6]) -> (y) {
           let m : f32[4] =:max over r<4, c<6 at [r]: x[r,c]
           let e : f32[4,6] =: over r<4, c<6: exp(x - m[r])
           let s : f32[4] =:+ over r<4, c<6 at [r]: e
           y : f32[4,6] =: over r<4, c<6: e / s[r]
         }"
    ));
}

#[test]
fn convolution_with_padding() {
    insta::assert_snapshot!(program(
        "func main(x: f32[8], w: f32[3]) -> (y) {
           y : f32[8] =:+ over o<8, k<3 at [o]: (x[o + k - 1] where 0 <= o + k - 1 < 8 else -0.0f32) * w[k]
         }"
    ));
}

#[test]
fn concatenation() {
    insta::assert_snapshot!(program(
        "func main(a: i32[2], b: i32[3]) -> (c) {
           c : i32[5] =: over i<5:
             (a[i] where 0 <= i < 2 else 0i32) + (b[i - 2] where 0 <= i - 2 < 3 else 0i32)
         }"
    ));
}

#[test]
fn unit_axes_and_nested_sums() {
    insta::assert_snapshot!(program(
        "func main(x: f64[1,3], `max`: i8[]) -> (y, z) {
           y : f64[3,1] =: over i<3, j<1: x[j,i] * (+ over a<3, b<1, c<3 at [a,b]: x[0,c])
           z : i8[1,2] =: over i<1, j<2: and(`max`[], index(j)i8 * -3i8)
         }"
    ));
}

#[test]
fn other_operations() {
    insta::assert_snapshot!(program(
        "func main(x: f32[2]) -> (y, z, w) {
           // Groups where they are needed, and only there.
           y : f32[2] =: over i<2: select(x < 2.0f32, (x - (x - x)) * x / (x * x), bitcast f32(i32(x) + 1i32))
           z : c64[2] =: over i<2: complex(x, x) * c64(1.0, -inf) + c64(reduce_precision<5,10>(x))
           w : f32[2] =: over i<2: next_after(inf_f32, bits(0x7fc00001)f32)
         }"
    ));
}

#[test]
fn a_scan() {
    insta::assert_snapshot!(program(
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
         }"
    ));
}

#[test]
fn a_sort_with_its_order() {
    insta::assert_snapshot!(program(
        "func main(x: f32[2,4]) -> (s, order) {
           positions : i32[2,4] =: over i<2, j<4: index(j)i32
           s : f32[2,4], order : i32[2,4] = call sort{axis=1, stable=true}(x, positions) {
             region(a: f32[], b: f32[], p: i32[], q: i32[]) -> (less) { less : i1[] =: a < b }
           } @ \"argsort\"
         }"
    ));
}

#[test]
fn a_choice_and_literals() {
    insta::assert_snapshot!(program(
        "func main(i: i32[]) -> (y) {
           table : f16[2,2] = constant [1.5, -0.0, inf, bits(0x7e01)]
           y : f16[2,2] = if i {
             branch() -> (table) {}
             branch() -> (t) { t : f16[2,2] =: over i<2, j<2: table[j,i] }
           }
         }"
    ));
}
