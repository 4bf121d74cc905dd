module @"never ends {
}
