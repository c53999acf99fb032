extension Duration {
  /// The duration as a limit; nil if it is so long that it is none. A clock may be unable to tell when it would end.
  var asLimit: Duration? { self < .seconds(1 << 40) ? self : nil }
}
