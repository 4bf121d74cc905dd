// Two convolutions with pooling and a hidden layer, from images to the scores of ten digits (after LeCun et al., 1998).
let conv1 = conv2d(16)();
let conv2 = conv2d(32)();
let pool = max_pool2d()();
let hidden = mlp_layer(64)();
let classify = dense(10)();
fn net(image) = classify(hidden(pool(relu(conv2(pool(relu(conv1(image))))))));
