/// A file that the operator named cannot be used.
struct UnusableFile: Error, CustomStringConvertible {
  let path: String
  let reason: String

  var description: String { "\(path) cannot be used: \(reason)" }
}
