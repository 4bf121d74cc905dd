// The inputs of `a` meet the outputs of `b`.
input a: "5->3";
input b: "4->5";
let c = a * b;
output c;
