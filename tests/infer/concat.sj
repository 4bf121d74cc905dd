// Two tensors one after the other, and the first part taken back.
input a: "3,4";
input b: "2,4";
let c = [a, b] ++^ "i,k; j,k => i^j,k";
let d = c ++^ "3^j,k => j,k";
output c, d;
