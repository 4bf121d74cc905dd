// Attention with two heads, written out: which axes meet is all that is said.
input x: "2,5|16";
let q = { wq, o = [2, 8] } * x;
let k = { wk } * x;
let v = { wv, o = [2, 4] } * x;
let scores = (q +* k "... s|h d; ... t|h d => ... s|t->h" ["d"]) /. sqrt(dim(d));
let weights = softmax(spec: "... s|t->h => ... s|->h")()(scores);
let y = { wo, o = [16] } * (weights +* v "... s|t->h; ... t|h e => ... s|h e");
output y;
