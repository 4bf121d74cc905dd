// Optimisers. Each is a function of one parameter: it reads `p.grad` and assigns `p`, and what it remembers is state of
// its own for every parameter. `update(loss, sgd(learning_rate: 0.1))` applies one to every parameter of a loss, with
// one `()` for each.

// With momentum 0 the velocity is the gradient. `nesterov` 1 looks one step ahead, 0 does not.
fn sgd(learning_rate = 0.01, momentum = 0.0, weight_decay = 0.0, nesterov = 0.0)()(p) {
  { sgd_delta } =: p.grad + !.weight_decay *. p;
  { sgd_velocity } =: !.momentum *. sgd_velocity + sgd_delta;
  let ahead = sgd_delta + !.momentum *. sgd_velocity;
  p =- !.learning_rate *. (sgd_velocity + !.nesterov *. (ahead - sgd_velocity))
}

// Kingma and Ba (2015). Both means start at 0, which the corrections undo.
fn adam(learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 0.00000001, weight_decay = 0.0)()(p) {
  { adam_steps } =+ 1.0;
  { adam_delta } =: p.grad + !.weight_decay *. p;
  { adam_mean } =+ (1.0 - !.beta1) *. (adam_delta - adam_mean);
  { adam_square } =+ (1.0 - !.beta2) *. (adam_delta *. adam_delta - adam_square);
  let mean = adam_mean /. (1.0 - pow(!.beta1, adam_steps));
  let square = adam_square /. (1.0 - pow(!.beta2, adam_steps));
  p =- !.learning_rate *. mean /. (sqrt(square) + !.epsilon)
}

// The weight decay apart from the gradient (Loshchilov and Hutter, 2019).
fn adamw(learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 0.00000001, weight_decay = 0.01)()(p) {
  { adam_steps } =+ 1.0;
  { adam_mean } =+ (1.0 - !.beta1) *. (p.grad - adam_mean);
  { adam_square } =+ (1.0 - !.beta2) *. (p.grad *. p.grad - adam_square);
  let mean = adam_mean /. (1.0 - pow(!.beta1, adam_steps));
  let square = adam_square /. (1.0 - pow(!.beta2, adam_steps));
  p =- !.learning_rate *. (mean /. (sqrt(square) + !.epsilon) + !.weight_decay *. p)
}
