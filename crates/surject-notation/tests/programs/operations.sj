op matmul(a, b) ~logic:"@" {
  v =:+ v1 * v2;
} grad {
  g1 =+ g * v2;
  g2 =+ v1 * g
}
op max_pool(x) ~logic:"2*oh=+wh, c => oh, c" {
  v =:@^ v1;
} grad {
  { mask_rhs1 } =: eq(v, v1);
  g1 =+ where(mask_rhs1, g, 0.0)
}
op fused(a, b, c) { v =:+ fma(v1, v2, v3) }
op joined(a, b, c) ~logic:"@" { v =:+ fma(v1, v2, v3) }
op gate(x) {
  v =: relu(v1)
} grad {
  g1 =+ relu_gate(v, g);
  g1 =+ -g;
  g1 =+ identity(g + v);
  v =** v1 ** v ;
  lhs_sum =:|| (v < v1);
  x_rhs1 =:^^ v % v1
}
