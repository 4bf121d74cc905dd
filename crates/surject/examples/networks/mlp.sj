// A perceptron with two hidden layers, from images of 8x8 pixels to the scores of ten digits.
let hidden1 = mlp_layer(64)();
let hidden2 = mlp_layer(32)();
let classify = dense(10)();
fn net(image) = classify(hidden2(hidden1(image)));
