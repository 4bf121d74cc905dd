// The operators: what the forward pass writes, and what the gradient writes, by slots. `v` and `g` are the result and
// its gradient, `v1` and `g1` those of the first operand. Every assignment runs over the product space of the use, with
// the index map of its slot: a gradient sums over exactly the axes that its operand does not have.
//
// Gradients of scalar functions are written in terms of the operands, not of the result, so that they also hold where a
// spec adds up several of them in one position.

// The signs of the notation: `+ - *. / %`, `*`, `-x`; with a spec `+*` is mul, `+++` add, `++` sum, `@^^` max_reduce,
// `@^+` tropical; `@|` is slice, `**.` pow.

op add(a, b) { v =:+ v1 + v2 } grad { g1 =+ g; g2 =+ g }
op sub(a, b) { v =:+ v1 - v2 } grad { g1 =+ g; g2 =- g }
op mul(a, b) { v =:+ v1 * v2 } grad { g1 =+ g * v2; g2 =+ v1 * g }
op div(a, b) { v =:+ v1 / v2 } grad { g1 =+ g / v2; g2 =- g * (v1 / v2) / v2 }
op mod(a, b) { v =:+ v1 % v2 } grad { g1 =+ g; g2 =- g * trunc(v1 / v2) }
op matmul(a, b) ~logic:"@" { v =:+ v1 * v2 } grad { g1 =+ g * v2; g2 =+ v1 * g }
op neg(x) { v =:+ neg(v1) } grad { g1 =- g }
op slice(x) { v =:+ v1 } grad { g1 =+ g }

// A power; the gradient by the exponent holds where the base is positive, and is 0 elsewhere.
op pow(a, b) {
  v =:+ v1 ** v2
} grad {
  g1 =+ where(v2 == 0, 0, g * v2 * pow(v1, v2 - 1));
  g2 =+ where(0 < v1, g * pow(v1, v2) * log(v1), 0)
}

// Sums, maxima and minima over the axes that the spec does not keep. The gradient of a maximum goes to every position
// that is equal to it.
op sum(x) { v =:+ v1 } grad { g1 =+ g }
op max_reduce(x) { v =:@^ v1 } grad { g1 =+ where(v == v1, g, 0) }
op min_reduce(x) { v =:^^ v1 } grad { g1 =+ where(v == v1, g, 0) }
op tropical(a, b) {
  v =:@^ v1 + v2
} grad {
  g1 =+ where(v == v1 + v2, g, 0);
  g2 =+ where(v == v1 + v2, g, 0)
}
op any(x) { v =:|| v1 }
op all(x) { v =:&& v1 }

// Three operands. `where` sends its gradient to the branch that was taken and none to the condition.
op where(c, a, b) { v =:+ where(v1, v2, v3) } grad { g2 =+ where(v1, g, 0); g3 =+ where(v1, 0, g) }
op fma(a, b, c) { v =:+ fma(v1, v2, v3) } grad { g1 =+ g * v2; g2 =+ v1 * g; g3 =+ g }
op mul3(a, b, c) {
  v =:+ mul3(v1, v2, v3)
} grad {
  g1 =+ mul3(g, v2, v3);
  g2 =+ mul3(v1, g, v3);
  g3 =+ mul3(v1, v2, g)
}
op einsum3(a, b, c) {
  v =:+ mul3(v1, v2, v3)
} grad {
  g1 =+ mul3(g, v2, v3);
  g2 =+ mul3(v1, g, v3);
  g3 =+ mul3(v1, v2, g)
}

// Values as they are.
op identity(x) { v =:+ v1 } grad { g1 =+ g }
op transpose(x) ~logic:"T" { v =:+ v1 } grad { g1 =+ g }
op stop_gradient(x) { v =:+ v1 }

// The larger and the smaller of two; both have the gradient where they are equal.
op max(a, b) { v =:+ max(v1, v2) } grad { g1 =+ where(le(v2, v1), g, 0); g2 =+ where(le(v1, v2), g, 0) }
op min(a, b) { v =:+ min(v1, v2) } grad { g1 =+ where(le(v1, v2), g, 0); g2 =+ where(le(v2, v1), g, 0) }

// Exponentials, logarithms, roots.
op exp(x) { v =:+ exp(v1) } grad { g1 =+ g * exp(v1) }
op exp2(x) { v =:+ exp2(v1) } grad { g1 =+ g * exp2(v1) * 0.6931471805599453 }
op expm1(x) { v =:+ expm1(v1) } grad { g1 =+ g * exp(v1) }
op log(x) { v =:+ log(v1) } grad { g1 =+ g / v1 }
op log2(x) { v =:+ log2(v1) } grad { g1 =+ g / (v1 * 0.6931471805599453) }
op log1p(x) { v =:+ log1p(v1) } grad { g1 =+ g / (1 + v1) }
op sqrt(x) { v =:+ sqrt(v1) } grad { g1 =+ g / (2 * sqrt(v1)) }
op cbrt(x) { v =:+ cbrt(v1) } grad { g1 =+ g * cbrt(v1) / (3 * v1) }
op recip(x) { v =:+ recip(v1) } grad { g1 =- g * recip(v1) * recip(v1) }
op recip_sqrt(x) { v =:+ recip_sqrt(v1) } grad { g1 =- 0.5 * g * recip_sqrt(v1) / v1 }

// Circular and hyperbolic functions.
op sin(x) { v =:+ sin(v1) } grad { g1 =+ g * cos(v1) }
op cos(x) { v =:+ cos(v1) } grad { g1 =- g * sin(v1) }
op tan(x) { v =:+ tan(v1) } grad { g1 =+ g * (1 + tan(v1) * tan(v1)) }
op asin(x) { v =:+ asin(v1) } grad { g1 =+ g * recip_sqrt((1 - v1) * (1 + v1)) }
op acos(x) { v =:+ acos(v1) } grad { g1 =- g * recip_sqrt((1 - v1) * (1 + v1)) }
op atan(x) { v =:+ atan(v1) } grad { g1 =+ g / (1 + v1 * v1) }
op atan2(y, x) {
  v =:+ atan2(v1, v2)
} grad {
  g1 =+ g * v2 / (v1 * v1 + v2 * v2);
  g2 =- g * v1 / (v1 * v1 + v2 * v2)
}
op sinh(x) { v =:+ sinh(v1) } grad { g1 =+ g * cosh(v1) }
op cosh(x) { v =:+ cosh(v1) } grad { g1 =+ g * sinh(v1) }
op tanh(x) { v =:+ tanh(v1) } grad { g1 =+ g * (1 - tanh(v1) * tanh(v1)) }
op tanh_approx(x) { v =:+ tanh_approx(v1) } grad { g1 =+ g * (1 - tanh_approx(v1) * tanh_approx(v1)) }
op asinh(x) { v =:+ asinh(v1) } grad { g1 =+ g * recip_sqrt(1 + v1 * v1) }
op acosh(x) { v =:+ acosh(v1) } grad { g1 =+ g * recip_sqrt((v1 - 1) * (v1 + 1)) }
op atanh(x) { v =:+ atanh(v1) } grad { g1 =+ g / ((1 - v1) * (1 + v1)) }

// The error function and its kin.
op erf(x) { v =:+ erf(v1) } grad { g1 =+ g * 1.1283791670955126 * exp(-(v1 * v1)) }
op erfc(x) { v =:+ erfc(v1) } grad { g1 =- g * 1.1283791670955126 * exp(-(v1 * v1)) }
op erf_inv(x) {
  v =:+ erf_inv(v1)
} grad {
  g1 =+ g * 0.886226925452758 * exp(erf_inv(v1) * erf_inv(v1))
}
op lgamma(x) { v =:+ lgamma(v1) } grad { g1 =+ g * digamma(v1) }

// Activations.
op relu(x) { v =:+ relu(v1) } grad { g1 =+ relu_gate(v1, g) }
op satur01(x) { v =:+ satur01(v1) } grad { g1 =+ satur01_gate(v1, g) }
op logistic(x) { v =:+ logistic(v1) } grad { g1 =+ g * logistic(v1) * (1 - logistic(v1)) }
op softplus(x) { v =:+ max(v1, 0) + log1p(exp(-abs(v1))) } grad { g1 =+ g * logistic(v1) }
op relu_gate(x, y) { v =:+ relu_gate(v1, v2) } grad { g2 =+ relu_gate(v1, g) }
op satur01_gate(x, y) { v =:+ satur01_gate(v1, v2) } grad { g2 =+ satur01_gate(v1, g) }

// Functions that are constant but for their steps have no gradient, `abs` has one but at 0.
op abs(x) { v =:+ abs(v1) } grad { g1 =+ g * sign(v1) }
op sign(x) { v =:+ sign(v1) }
op trunc(x) { v =:+ trunc(v1) }
op floor(x) { v =:+ floor(v1) }
op ceil(x) { v =:+ ceil(v1) }
op round(x) { v =:+ round(v1) }

// Comparisons give 1 and 0; a condition is true where it is not 0.
op lt(a, b) { v =:+ lt(v1, v2) }
op le(a, b) { v =:+ le(v1, v2) }
op gt(a, b) { v =:+ gt(v1, v2) }
op ge(a, b) { v =:+ ge(v1, v2) }
op eq(a, b) { v =:+ eq(v1, v2) }
op ne(a, b) { v =:+ ne(v1, v2) }
op and(a, b) { v =:+ and(v1, v2) }
op or(a, b) { v =:+ or(v1, v2) }
op not(x) { v =:+ not(v1) }
op is_finite(x) { v =:+ is_finite(v1) }

// Words of 128 random bits, Threefry-4x32 with 20 rounds, and with 2: a key and a counter give a word. A number is the
// word of which the lowest 32 bits are that whole number. Words become numbers of [0, 1): `uint4x32_to_prec_uniform` takes
// a list of words and uses all their bits, four numbers a word for f32, in the shape that the context asks for;
// `uint4x32_to_prec_uniform1` makes one number of each word.
op threefry4x32(key, counter) { v =: threefry4x32_crypto(v1, v2) }
op threefry4x32_crypto(key, counter) { v =: threefry4x32_crypto(v1, v2) }
op threefry4x32_light(key, counter) { v =: threefry4x32_light(v1, v2) }
op uint4x32_to_prec_uniform(words) { v =: uint4x32_to_prec_uniform(v1) }
op uint4x32_to_prec_uniform1(words) { v =: uint4x32_to_prec_uniform1(v1) }

// One of two, as tensors of the shape of both.
op arg1(a, b) { v =:+ arg1(v1, v2) } grad { g1 =+ g }
op arg2(a, b) { v =:+ arg2(v1, v2) } grad { g2 =+ g }
