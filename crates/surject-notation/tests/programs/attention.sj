fn attention(heads, size)()(x) {
  let q = { w_q, o = [heads, size] } * x;
  let k = { w_k } * x;
  let v = { w_v } * x;
  let scores = (q +* k "... s|h d ; ... t|h d => ... s|t -> h" ["h", "d"]) /. sqrt(dim(d));
  let weights = softmax(scores, spec: "... | t -> ...", temperature: 1.0);
  weights +* v "... s|t->h ; ... t|h e => ... s|h e"
}
