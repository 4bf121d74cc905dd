// From points of the plane to the scores of three arms.
let hidden1 = mlp_layer(64)();
let hidden2 = mlp_layer(64)();
let classify = dense(3)();
fn net(point) = classify(hidden2(hidden1(point)));
