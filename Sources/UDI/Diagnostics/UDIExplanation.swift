/// Why a lookup finds what it finds, or nothing: where it looks, what is there, and what to change.
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
  /// What decides the answer.
  @nonexhaustive
  public enum Cause: Sendable, Hashable, Codable {
    /// There is something: the lookup finds it.
    case found(Place)
    /// There was nothing during the lookup, but there was something a moment later, when the explanation was made.
    case cameLater(Place)
    /// The bound object is dead.
    case dead(Place)
    /// Another instance was bound in its place, and is gone, too. Usually the replaced instance is still alive
    /// (``Finding/isAlive``).
    case replaced(Place)
    /// The instance was bound in another context, which withdrew it from this one.
    case withdrawn(Place)
    /// The type is registered only under these other names; nil stands for no name.
    case otherNames([String?])
    /// An object of the requested type is registered as another type; or a provider that makes such objects is.
    case otherType(Place)
    /// It is registered in the same tree, where this lookup does not look. This is the nearest such place.
    case outOfReach(Place)
    /// It is in a scope, which is closed to lookups from outside. The path holds the tags from the root to that scope.
    case inScope(Place, scopePath: [String])
    /// The object that asks is attached to nothing, and `AppContext`, where the lookup began instead, has none. The
    /// associated value is the name of the object's class.
    case unattached(String)
    /// Nothing of the type is registered in the tree.
    case notRegistered
    /// Nothing of the type is registered in the branch where the lookup begins. That branch was taken out of its tree,
    /// or the contexts above it are gone.
    case contextRemoved
    /// The provider wants other arguments. The associated values are the names of the types.
    case otherArguments(wanted: [String], given: [String])
    /// The provider keeps an instance for each set of arguments, but some arguments cannot be compared. The associated
    /// value is the names of their types.
    case argumentsNotHashable([String])
    /// The provider's factory belongs to an actor, and the lookup ran elsewhere. The associated value is the actor's
    /// name.
    case isolatedElsewhere(String)
    /// It is registered as a type that is not `Sendable`, and the lookup is for a `Sendable` one.
    case notSendable
    /// An argument may not be `Sendable`, but the factory, which may run anywhere, was registered for one that is. The
    /// associated value is the argument's type.
    case argumentNotSendable(String)
    /// The provider's factory returned nil.
    case factoryReturnedNil
    /// The provider's factory threw an error the last time, and has made nothing since. The message is the error's.
    case failed(Place, message: String)
    /// The dependency needs itself in order to be made. The associated value is the keys on the way from the dependency
    /// back to itself.
    case cycle([String])
    /// What the provider of another type made does not conform to the requested type. The associated value is the name
    /// of the type that it makes.
    case notConvertible(from: String)
    /// The context that the object is attached to is gone.
    case contextGone
  }

  /// Something that a context has, or had.
  public struct Finding: Sendable, Hashable, Codable {
    /// What it is.
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
      /// What a provider made, and the provider or somebody else keeps.
      case kept
      /// A provider that has made nothing, or keeps nothing that it made.
      case provider
      /// What a test has put there: an override.
      case override
    }

    /// What it is.
    public let kind: Kind
    /// The type it is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name it is registered under, if any, as its description.
    public let name: String?
    /// The object's class, if it is known.
    public let className: String?
    /// The name of the provider's lifetime.
    public let lifetime: String?
    /// The types of the arguments that the provider wants besides the context.
    public let argumentTypes: [String]
    /// The file of the call that registered it, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, from 1.
    public let line: Int
    /// Whether the object is alive. The object of a replaced or withdrawn binding may be.
    public let isAlive: Bool
    /// How long ago the binding was found dead, replaced or withdrawn; nil if nobody had noticed before that it was
    /// dead.
    public let deadFor: Duration?
    /// The file of the call that replaced or withdrew the binding, as `#fileID` gives it.
    public let endFileID: String?
    /// The line of that call, from 1.
    public let endLine: Int?
    /// How the provider's factory failed the last time; nil if it has made something since, or never failed.
    public let failure: Failure?
  }

  /// How a factory failed.
  public struct Failure: Sendable, Hashable, Codable {
    /// What the error said, at most its first 1,000 characters; or that the factory returned nil.
    public let message: String
    /// The types of the arguments that the factory was given besides the context; if it returned nil, the types that it
    /// wants.
    public let argumentTypes: [String]
    /// How long ago that was. If the factory has returned nil several times in a row, this is the first time.
    public let age: Duration
  }

  /// A context that was looked at.
  public struct Context: Sendable, Hashable, Codable {
    /// The tags from the root to the context, including the root's.
    public let path: [String]
    /// What it has, or had, under the type, or under another type if it is of the requested type.
    public let findings: [Finding]
  }

  /// One finding and where it is.
  public struct Place: Sendable, Hashable, Codable {
    /// The tags from the root to the context, including the root's.
    public let path: [String]
    /// What is there.
    public let finding: Finding
  }

  /// The requested type, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The requested name, if any, as its description.
  public let name: String?
  /// The tags from the root to the context where the lookup begins, including the root's; empty if there is no such
  /// context.
  public let contextPath: [String]
  /// The direction of the lookup. If the lookup names none and its context is gone, this is the direction that the
  /// context had when the object that asks was attached to it.
  public let search: UDISearch
  /// What decides the answer.
  public let cause: Cause
  /// The contexts that were looked at, in search order: the first ones, and of the others those that had something.
  public let contexts: [Context]
  /// How many further contexts were looked at and had nothing.
  public let emptyCount: Int
  /// How many further contexts were looked at and had something: too many to list.
  public let omittedCount: Int
  /// Whether there are more contexts than were looked at: an error does not search a tree of unlimited size.
  public let isAbridged: Bool
  /// If there is no answer: the nearest place in the same tree that has one, but where this lookup does not look.
  public let nearestOutside: Place?
  /// Other places that are as near as the answer, and would be the answer if that were not there: the branch that was
  /// added first comes first. These are the first ones of ``equallyNearCount``.
  public let equallyNear: [Place]
  /// How many other places are as near as the answer.
  public let equallyNearCount: Int
  /// Whether recording was on when this explanation was made: see ``UDIRecording/isOn``. Without records, a binding
  /// that has died may have left no trace, so the cause can be wrong; the description then says so.
  public let wasRecording: Bool
  /// Whether the lookup named no search while a factory was running that had received the context. Such a lookup goes
  /// up, so that nothing is made from what is below.
  public let isInFactory: Bool
}
