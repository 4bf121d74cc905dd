// A padded convolution with a stride, and one with a dilation that is not padded.
input image: "2|12,12,3";
let a = image +* { k1, o = [4] } "...|2*oh=+kh, 2*ow=+kw, ..ic..; kh, kw, ..ic.. -> ..oc.. => ...|oh, ow, ..oc.." ["kh", "kw"];
set_dim(kh, 3);
set_dim(kw, 3);
let b = relu(a) +* { k2, o = [5] } "...|h<+2*i, w<+2*j, ..ic..; i, j, ..ic.. -> ..oc.. => ...|h, w, ..oc.." ["i", "j"];
set_dim(i, 2);
set_dim(j, 2);
output b;
