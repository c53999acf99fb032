/// An object that has looked up dependencies, or a provider whose factory has looked up dependencies.
///
/// The lookups are recorded while ``UDIRecording`` is on.
public struct UDIDependent: Sendable, Equatable, CustomStringConvertible {
  /// Whether the dependent is a provider. Otherwise, it is an object that takes part in the tree.
  public let isProvider: Bool
  /// The class of the object, or the type that the provider is registered under, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The description of the name that the provider is registered under; nil if there is none.
  public let name: String?
  /// The tags of the contexts from the root to the one that the object is attached to, or that the provider is
  /// registered in. Empty if the object is not attached.
  public let fullPath: [String]

  /// The class of the object, or the key of the provider.
  public var description: String { describeKey(typeName, name) }

  /// The object's class or the provider's key, and its context, for a sentence.
  var phrase: String {
    if isProvider { return spelled("the provider of \(description) in \(quoted(fullPath))") }
    return fullPath.isEmpty ? description : spelled("\(description), attached to \(quoted(fullPath))")
  }
}
