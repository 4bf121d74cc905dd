// A step of gradient descent.
input x: "8|4";
input target: "8|1";
index step < 100;
let y = { w } * x + { b, o = [1] };
let loss = (y - target) **. 2 ++ "...|... => 0";
loss.backprop;
let lr = 0.1 * (1 - !@step / 100);
w =- lr * w.grad ~logic:".";
b =- lr * b.grad ~logic:".";
output loss;
