module {
  module @inner {
  }
}
