// A small image classifier: no shape but that of the images is written, and no loop at all.
input image: "4|8,8,1";
let conv = conv2d(6)();
let pool = max_pool2d()();
let classify = dense(10)();
let features = pool(relu(conv(image)));
let scores = classify(features);
output scores;
