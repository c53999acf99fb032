/// A binding, a provider or a test's override that a context has, or a binding that it had.
///
/// Snapshots, explanations and reports of leaks consist of entries. An entry is a value: it holds no object.
public struct UDIEntry: Sendable, Equatable, Codable {
  /// The kinds of entries.
  @nonexhaustive
  public enum Kind: String, Sendable, Equatable, Codable {
    /// A binding whose object is alive.
    case live
    /// A binding whose object has been released.
    case dead
    /// A binding that was replaced, because another instance was bound in its place.
    case replaced
    /// A binding that was withdrawn. Either its instance was bound in another context, or the object that had bound it
    /// with `multiBind` was attached to a context that has ended.
    case withdrawn
    /// A provider that keeps an instance, together with that instance, which is the one that was made without
    /// arguments.
    case kept
    /// A provider that keeps no such instance. It may keep others: those that were made with arguments, and those that
    /// a ``UDIStorage`` keeps.
    case provider
    /// The value of a test's override.
    case override
  }

  /// A failure of a factory.
  public struct Failure: Sendable, Equatable, Codable {
    /// The first 1,000 characters of the error's message. If the factory returned nil, a text that says so.
    public let message: String
    /// The types of the arguments that the factory was given besides the context. If it returned nil, the types of the
    /// arguments that it takes.
    public let argumentTypes: [String]
    /// How long ago the factory failed. If it has returned nil several times in a row, how long ago it first did. Nil
    /// in snapshots.
    public internal(set) var age: Duration?
  }

  /// The kind of this entry.
  public let kind: Kind
  /// The type that the dependency is registered under, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The description of the name that the dependency is registered under; nil if there is none.
  public let name: String?
  /// The class of the object, or the type of the value; nil if it is not known.
  public let className: String?
  /// Whether the object is alive, or the value is kept. The object of a replaced or withdrawn binding can still be
  /// alive.
  public internal(set) var isAlive: Bool
  /// The name of the provider's lifetime; nil for bindings and overrides.
  public let lifetime: String?
  /// The types of the arguments that the provider's factory takes besides the context.
  public let argumentTypes: [String]
  /// The file of the call that made the registration, in the form of `#fileID`.
  public let fileID: String
  /// The line of that call, counted from 1.
  public let line: Int
  /// The file of the call that had attached the object, or of the registration of the provider that made it, in the
  /// form of `#fileID`. It is known if the object bound itself while ``UDIRecording`` was on. Nil for all other
  /// entries, and if the object was not attached, or was attached by setting `attachedContext`.
  package let attachFileID: String?
  /// The line of that call or registration, counted from 1; nil if `attachFileID` is nil.
  package let attachLine: Int?
  /// The file of the call that replaced or withdrew the binding, in the form of `#fileID`; nil if there was no such
  /// call.
  package let endFileID: String?
  /// The line of that call, counted from 1.
  package let endLine: Int?
  /// How long ago the binding was replaced, withdrawn, or found to be dead. Nil for all other entries, for a dead
  /// binding that had not been noticed before, and in snapshots.
  public internal(set) var deadFor: Duration?
  /// The last failure of the provider's factory; nil if the factory has made something since, or has never failed.
  public internal(set) var failure: Failure?
  /// How long the provider's factory took when it last made an instance while ``UDIRecording`` was on; nil if it has
  /// made none in that time.
  public let lastDuration: Duration?

  /// Whether this is a provider, which may keep an instance.
  package var isProvider: Bool { lifetime != nil }

  /// The same entry without the parts that change as time passes, so that snapshots of an unchanged tree are equal.
  package var timeless: UDIEntry {
    var copy = self
    copy.deadFor = nil
    copy.failure?.age = nil
    return copy
  }
}
