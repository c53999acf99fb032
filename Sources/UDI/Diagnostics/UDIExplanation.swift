/// Why a lookup gives what it gives, or nothing: where it looks, what is there, and what to change.
///
/// ```swift
/// print(context.explain((any Cart).self))
/// // Shop.Cart has died: the Basket bound in "App / Checkout" at Shop/Checkout.swift:12 is gone, because nobody held it.
/// // Hold it for as long as it is needed: …
/// ```
///
/// It is a value: it holds no object and no context, and can be compared, sent and stored. Its description begins with the cause, then says
/// what to do, and then what each context had.
public struct UDIExplanation: Sendable, Hashable, Codable {
  /// What decides the answer.
  @nonexhaustive
  public enum Cause: Sendable, Hashable, Codable {
    /// There is something: what a lookup gives.
    case found(Place)
    /// There was nothing when it was looked up, and a moment later, when that was to be explained, there is.
    case cameLater(Place)
    /// What was bound is dead.
    case dead(Place)
    /// Another instance was bound in its place, which is gone, too. Mostly the one that was replaced is still alive
    /// (``Finding/isAlive``).
    case replaced(Place)
    /// The instance was bound in another context, which withdrew it here.
    case withdrawn(Place)
    /// The type is only registered under other names, nil standing for none.
    case otherNames([String?])
    /// An object that is of the type asked for is registered, but as another one; or a provider is that makes such.
    case otherType(Place)
    /// It is registered in the same tree where this lookup does not look; the nearest such place.
    case outOfReach(Place)
    /// It stands in a scope, which is closed to lookups from outside; and the tags from the root to that scope.
    case inScope(Place, scopePath: [String])
    /// The object that asks is attached to nothing, and `AppContext`, which was asked instead, has none; the name of its class.
    case unattached(String)
    /// Nothing of the type is registered in the tree.
    case notRegistered
    /// Nothing of the type is registered in the branch where the lookup begins, and that was taken out of its tree, or what was above it is
    /// gone.
    case contextRemoved
    /// The provider wants other arguments; the types' names.
    case otherArguments(wanted: [String], given: [String])
    /// The provider keeps an instance for each set of arguments, but some cannot be compared; the types' names.
    case argumentsNotHashable([String])
    /// The provider's factory belongs to an actor, and the lookup was elsewhere; the actor.
    case isolatedElsewhere(String)
    /// It is registered as a type that is not `Sendable`, and the lookup is for a `Sendable` one.
    case notSendable
    /// An argument may not be `Sendable`, and the factory, which runs anywhere, was registered for one that is; the argument's type.
    case argumentNotSendable(String)
    /// The provider's factory returned nil.
    case factoryReturnedNil
    /// The provider's factory threw an error the last time, and has made nothing since; what the error said.
    case failed(Place, message: String)
    /// What it takes to make the dependency takes the dependency: the keys from there to there.
    case cycle([String])
    /// What the provider of another type made does not conform to the type asked for; the name of the type it makes.
    case notConvertible(from: String)
    /// The context that the object is attached to is gone.
    case contextGone
  }

  /// Something that a context has, or had.
  public struct Finding: Sendable, Hashable, Codable {
    /// What it is.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable {
      /// A binding whose object lives.
      case live
      /// A binding whose object has died.
      case dead
      /// A binding in whose place another instance was bound.
      case replaced
      /// A binding that was withdrawn when its instance was bound in another context.
      case withdrawn
      /// What a provider made and keeps, or somebody else keeps.
      case kept
      /// A provider that has made nothing, or keeps nothing.
      case provider
      /// What a test has put there.
      case override
    }

    /// What it is.
    public let kind: Kind
    /// The type it is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name it is registered under, if any, as its description.
    public let name: String?
    /// The object's class, where it is known.
    public let className: String?
    /// The name of the provider's lifetime.
    public let lifetime: String?
    /// The types of the arguments that the provider wants besides the context.
    public let argumentTypes: [String]
    /// The file of the call that registered it, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, from 1.
    public let line: Int
    /// Whether there is an object that is alive. That of a binding that was replaced or withdrawn may be.
    public let isAlive: Bool
    /// How long ago the binding was found dead, replaced or withdrawn; nil where that was not noticed before.
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
    /// The types of the arguments that the factory was given besides the context; where it returned nil, those that it wants.
    public let argumentTypes: [String]
    /// How long ago that was. Where the factory has returned nil several times in a row, the first of them.
    public let age: Duration
  }

  /// A context that was looked at.
  public struct Context: Sendable, Hashable, Codable {
    /// The tags from the root to the context, the root's included.
    public let path: [String]
    /// What it has, or had, under the type, or of the type under another one.
    public let findings: [Finding]
  }

  /// One finding and where it is.
  public struct Place: Sendable, Hashable, Codable {
    /// The tags from the root to the context, the root's included.
    public let path: [String]
    /// What is there.
    public let finding: Finding
  }

  /// The type that was asked for, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The name that was asked for, if any, as its description.
  public let name: String?
  /// The tags from the root to the context where the lookup begins, the root's included; empty where there is none.
  public let contextPath: [String]
  /// The direction it takes. Where the lookup names none and its context is gone, the one that the context had when the object that asks was
  /// attached to it.
  public let search: UDISearch
  /// What decides the answer.
  public let cause: Cause
  /// The contexts that were looked at, in search order: the first ones, and of the others those where there was something.
  public let contexts: [Context]
  /// How many others were looked at, which had nothing.
  public let emptyCount: Int
  /// How many others were looked at, which had something: too many to list.
  public let omittedCount: Int
  /// Whether there are more contexts than were looked at: an error does not look through a tree of any size.
  public let isAbridged: Bool
  /// Where there is no answer: the nearest place in the same tree that has one, and where this lookup does not look.
  public let nearestOutside: Place?
  /// What is as near as the answer, and would be given if that were not: the branch that was added first comes first. The first ones of
  /// ``equallyNearCount``.
  public let equallyNear: [Place]
  /// How many there are that are as near as the answer.
  public let equallyNearCount: Int
  /// Whether records were kept when this was made: see ``UDIRecording/isOn``. Without them a binding that has died may have left no trace,
  /// so that the cause can be wrong; the description then says so.
  public let wasRecording: Bool
  /// Whether the lookup named no search while a factory was running that was handed the context. It then goes up: nothing is made of what
  /// stands below.
  public let isInFactory: Bool
}
