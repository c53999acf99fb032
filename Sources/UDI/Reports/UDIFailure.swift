/// A dependency that cannot be made or closed, or that has failed while it ran, and the error.
///
/// Failures are parts of ``UDIWarmUpError``, ``UDICloseError`` and `UDIUnmetNeeds`. ``UDIContext/untilClosed()`` throws
/// a failure.
public struct UDIFailure: Error, Sendable, CustomStringConvertible {
  /// The type that the dependency is registered under, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The description of the name that the dependency is registered under; nil if there is none.
  public let name: String?
  /// The tags of the contexts from the root to the one where the dependency was looked up, or that owned it, both
  /// included.
  public let fullPath: [String]
  /// The error that was thrown or, in `UDIUnmetNeeds`, would be.
  public let error: any Error
  /// The file of the call that registered the dependency, in the form of `#fileID`. Nil in ``UDIWarmUpError``.
  package internal(set) var fileID: String?
  /// The line of that call, counted from 1.
  package internal(set) var line: Int?

  /// The dependency, the context and the error.
  public var description: String {
    guard let fileID, let line else { return spelled("\(dependency): \(error)") }
    return spelled("\(dependency), registered at \(fileID):\(line): \(error)")
  }

  private var dependency: String { spelled("\(describeKey(typeName, name)) in \(quoted(fullPath))") }

  /// The number of failures, and each error once, with all dependencies that have failed because of it. After the tenth
  /// error, only the first line of each follows.
  ///
  /// - Parameter what: What is wrong with the dependencies.
  package static func describe(_ failures: [UDIFailure], _ what: String) -> String {
    if failures.count == 1 { return spelled("One dependency \(what): \(failures[0].description)") }
    // A cause leaves out who needed the missing dependency, because several may need the same one.
    let causes = failures.map { ($0.error as? UDILinkError)?.explanation.decision ?? "\($0.error)" }
    let dependencies = failures.map(\.dependency)
    let count = Set(dependencies).count
    var lines = [spelled("\(count == 1 ? "One dependency" : "\(count) dependencies") \(what):")]
    let firsts = causes.indices.filter { causes.firstIndex(of: causes[$0]) == $0 }
    for (number, first) in firsts.enumerated() {
      // All lines of a description are indented like its first one.
      let description = failures[first].description.split(separator: "\n", omittingEmptySubsequences: false)
      lines.append("  " + description.prefix(number < 10 ? .max : 1).joined(separator: "\n  "))
      let others = causes.indices.filter { $0 > first && causes[$0] == causes[first] }.map { dependencies[$0] }
      if !others.isEmpty { lines.append("    For the same reason: " + others.joined(separator: ", ")) }
    }
    return lines.joined(separator: "\n")
  }
}

extension UDIFailure {
  init(_ key: KeyIdentity, path: [String], error: any Error) {
    self.init(typeName: key.type.text, name: key.name?.description, fullPath: path, error: error)
  }

  func reportWhileClosing() { report(.closingFailed, "Something failed while a context was closed") }

  func report(_ kind: UDIMisuse.Kind, _ what: String) {
    UDIReporter.current.report(
      UDIMisuse(kind: kind, message: "\(what): \(self)", fileID: fileID ?? "", line: line ?? 0))
  }
}
