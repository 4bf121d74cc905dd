module attributes {a = "x\q"} {
}
