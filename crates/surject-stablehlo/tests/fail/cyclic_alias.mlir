#a = [#b]
#b = [#a]
module attributes {x = #a} {
}
