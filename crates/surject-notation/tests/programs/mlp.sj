// A multi-layer perceptron: one set of parameters for each `()`.
input x: "32|64";
input target: "32|10";
index step < 100;

fn dense(hidden)()(x) = relu({ w } * x + { b = 0., o = [hidden] });

fn mlp(hidden = 128)() {
  let first = dense(hidden)();
  let second = dense(hidden)();
  |x| { w_out } * second(first(x)) + { b_out }
}

let net = mlp(hidden: 32)();
let logits = net(x @| step);
let shift = logits @^^ "...|...->... => ...|...->0";
let counts = exp(logits - shift);
let probs = counts /. (counts ++ "...|v => ...|0");
let loss = -(target *. log(probs)) ++ "...|... => 0";
loss.zero_grads;
loss.backprop;
{ sgd_delta } =: w.grad + (!.weight_decay *. w);
{ sgd_momentum } =: (!.momentum *. sgd_momentum) + sgd_delta;
p =- learning_rate *. sgd_delta;
p =- learning_rate * sgd_delta ~logic:".";
{ rows, b = [100] } @| step =: probs;
rows @| step =+ fma(probs, probs, logits) ~logic:"@";
output loss, probs;
