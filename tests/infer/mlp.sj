// Two layers; the sizes of both weights are inferred.
input x: "8|4";
let h = relu({ w1 } * x + { b1, o = [16] });
let y = { w2 } * h + { b2, o = [3] };
output y;
