/// Why a lookup finds what it finds, or why it finds nothing: where it looks, what is there, and what to change.
///
/// ```swift
/// print(context.explain((any Cart).self))
/// // Shop.Cart has died: the Basket bound in "App" at Shop/Checkout.swift:12 is gone, because nobody held it.
/// // Hold it for as long as it is needed: …
/// ```
///
/// An explanation is a value: it holds no object and no context, and can be compared, sent and stored. Its description
/// begins with the cause, then says what to do, and then lists what each context had.
public struct UDIExplanation: Sendable, Hashable, Codable {
  /// What decides the answer of a lookup.
  @nonexhaustive
  public enum Cause: Sendable, Hashable, Codable {
    /// The lookup finds the dependency.
    case found(Place)
    /// There was nothing during the lookup, but there was something a moment later, when the explanation was made.
    case cameLater(Place)
    /// The object that was bound has died.
    case dead(Place)
    /// Another instance was bound in place of this one, and that other instance has died. Usually the replaced one is
    /// still alive (``Finding/isAlive``).
    case replaced(Place)
    /// The instance was bound in another context, which withdrew it from this one.
    case withdrawn(Place)
    /// The type is registered only under these other names; nil stands for no name.
    case otherNames([String?])
    /// An object of the requested type, or a provider that makes such objects, is registered under another type.
    case otherType(Place)
    /// The dependency is registered in the same tree, but where this lookup does not look. The associated value is the
    /// nearest such place.
    case outOfReach(Place)
    /// The dependency is in a scope, which is closed to lookups from outside. `scopePath` contains the tags of all
    /// contexts from the root down to that scope, both included.
    case inScope(Place, scopePath: [String])
    /// The object that asks is attached to nothing, so the lookup began at `AppContext`, which does not have the
    /// dependency. The associated value is the name of the object's class.
    case unattached(String)
    /// Nothing of the type is registered in the tree.
    case notRegistered
    /// Nothing of the type is registered in the branch where the lookup begins. That branch was taken out of its tree,
    /// or the contexts above it are gone.
    case contextRemoved
    /// The provider wants other arguments than it was given. The associated values are the names of the arguments'
    /// types.
    case otherArguments(wanted: [String], given: [String])
    /// The provider keeps an instance for each set of arguments, but some arguments cannot be compared. The associated
    /// value contains the names of their types.
    case argumentsNotHashable([String])
    /// The provider's factory belongs to an actor, and the lookup ran elsewhere. The associated value is the actor's
    /// name.
    case isolatedElsewhere(String)
    /// The provider's factory is asynchronous, and nothing that it made is kept. Only `obtain` can make an instance.
    case asynchronous
    /// The dependency is registered as a type that is not `Sendable`, but the lookup is for a `Sendable` type.
    case notSendable
    /// The factory may run anywhere and therefore takes a `Sendable` argument, but the argument that was given might
    /// not be `Sendable`. The associated value is the name of the argument's type.
    case argumentNotSendable(String)
    /// The provider's factory returned nil.
    case factoryReturnedNil
    /// The provider's factory threw an error the last time it ran, and the provider has made nothing since. The message
    /// is the error's.
    case failed(Place, message: String)
    /// The dependency needs itself in order to be made. The associated value contains the keys on the way from the
    /// dependency back to itself.
    case cycle([String])
    /// The requested type is served by a provider of another type, but what that provider made does not conform to the
    /// requested type. The associated value is the name of the type that the provider makes.
    case notConvertible(from: String)
    /// The context that the object is attached to is gone.
    case contextGone
    /// The context where the lookup begins, or the one whose provider would have to make the dependency, is closed or
    /// is being closed. The associated value contains the tags of all contexts from the root down to it, both included.
    /// (A closed context is a root.)
    case contextClosed(path: [String])
  }

  /// Something that a context has, or had.
  public struct Finding: Sendable, Hashable, Codable {
    /// The kinds of findings.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable {
      /// A binding whose object is alive.
      case live
      /// A binding whose object has died.
      case dead
      /// A binding that was replaced: another instance was bound in its place.
      case replaced
      /// A binding that was withdrawn when its instance was bound in another context.
      case withdrawn
      /// An instance that a provider made, and that the provider or somebody else keeps.
      case kept
      /// A provider that has not made an instance yet, or keeps none of those that it made.
      case provider
      /// What a test has put there with an override.
      case override
    }

    /// What kind of finding this is.
    public let kind: Kind
    /// The type that the binding or the provider is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the binding or the provider is registered under; nil if there is none.
    public let name: String?
    /// The object's class, if it is known.
    public let className: String?
    /// The name of the provider's lifetime; nil for bindings and overrides.
    public let lifetime: String?
    /// The types of the arguments that the provider wants besides the context.
    public let argumentTypes: [String]
    /// The file of the call that made the registration, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
    /// Whether the object is alive. The object of a replaced or withdrawn binding can still be alive.
    public let isAlive: Bool
    /// How long ago the binding was found dead, replaced or withdrawn. Nil for all other findings, and for a dead
    /// binding that nobody had noticed before.
    public let deadFor: Duration?
    /// The file of the call that replaced or withdrew the binding, as `#fileID` gives it.
    public let endFileID: String?
    /// The line of that call, counted from 1.
    public let endLine: Int?
    /// How the provider's factory failed the last time; nil if the provider has made something since, or never failed.
    public let failure: Failure?
  }

  /// How a factory failed.
  public struct Failure: Sendable, Hashable, Codable {
    /// The first 1,000 characters of the error's message; or, if there was no error, that the factory returned nil.
    public let message: String
    /// The types of the arguments that the factory was given besides the context. If the factory returned nil, the
    /// types of the arguments that it wants.
    public let argumentTypes: [String]
    /// How long ago the factory failed. If it has returned nil several times in a row, this is the time since the first
    /// of them.
    public let age: Duration
  }

  /// A context that was looked at.
  public struct Context: Sendable, Hashable, Codable {
    /// The tags of all contexts from the root down to this one, both included.
    public let path: [String]
    /// What the context has, or had, under the requested type: with the requested name, or with another one.
    public let findings: [Finding]
  }

  /// A finding, and the context that has it.
  public struct Place: Sendable, Hashable, Codable {
    /// The tags of all contexts from the root down to this one, both included.
    public let path: [String]
    /// What is there.
    public let finding: Finding
  }

  /// The requested type, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The description of the requested name; nil if there is none.
  public let name: String?
  /// The tags of all contexts from the root down to the one where the lookup begins, both included; empty if there is
  /// no such context.
  public let contextPath: [String]
  /// The direction of the lookup. If the lookup names no direction and the object's context is gone, this is the search
  /// that the context had when the object was attached to it.
  public let search: UDISearch
  /// What decides the answer.
  public let cause: Cause
  /// The contexts that were looked at, in search order. After the first few, only contexts that had something are
  /// listed.
  public let contexts: [Context]
  /// The number of contexts that were looked at but are not listed, because they had nothing.
  public let emptyCount: Int
  /// The number of contexts that were looked at and had something, but are not listed, because there are too many of
  /// them.
  public let omittedCount: Int
  /// Whether the lookup covers more contexts than were looked at. The explanation of an error looks at a limited number
  /// of contexts, so that it is quick even in a large tree.
  public let isAbridged: Bool
  /// If there is no answer, the nearest place in the same tree that has the dependency, although this lookup does not
  /// look there.
  public let nearestOutside: Place?
  /// Other places that are as near as the answer. The answer takes precedence because its branch was added first. If
  /// there are many such places, only the first ones are listed here; ``equallyNearCount`` counts all of them.
  public let equallyNear: [Place]
  /// The number of other places that are as near as the answer.
  public let equallyNearCount: Int
  /// Whether recording was on when this explanation was made: see ``UDIRecording/isOn``. Without records, a binding
  /// whose object has died may have left no trace. Then the cause might be wrong, and the description says so.
  public let wasRecording: Bool
  /// Whether the lookup named no direction and began in a context that was given to a factory that was still running.
  /// Such a lookup goes up, so that nothing is made from what is below.
  public let isInFactory: Bool
}
