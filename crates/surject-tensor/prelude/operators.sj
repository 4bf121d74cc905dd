// The operators that have a sign in the notation or that inference needs. The rest is in the libraries beside this.

op add(a, b) { v =:+ v1 + v2 } grad { g1 =+ g; g2 =+ g }
op sub(a, b) { v =:+ v1 - v2 } grad { g1 =+ g; g2 =- g }
op mul(a, b) { v =:+ v1 * v2 } grad { g1 =+ g * v2; g2 =+ v1 * g }
op div(a, b) { v =:+ v1 / v2 } grad { g1 =+ g / v2; g2 =+ neg(g * v / v2) }
op mod(a, b) { v =:+ v1 % v2 } grad { g1 =+ g }
op matmul(a, b) ~logic:"@" { v =:+ v1 * v2 } grad { g1 =+ g * v2; g2 =+ v1 * g }
op neg(x) { v =:+ neg(v1) } grad { g1 =- g }
op slice(x) { v =:+ v1 } grad { g1 =+ g }
