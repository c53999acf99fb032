/// The reason why a lookup finds a dependency or finds none.
///
/// An explanation also says where the lookup looks, what is there, and what to change.
///
/// ```swift
/// print(context.explain((any Cart).self))
/// // Shop.Cart has died: the Basket bound in "App" at Shop/Checkout.swift:12 is gone, because nothing held it.
/// // Hold it for as long as it is needed: …
/// ```
///
/// An explanation is a value. It holds no object and no context, and can be compared and sent. Its description begins
/// with the cause, followed by advice and by a list of the contexts with their contents.
public struct UDIExplanation: Sendable, Equatable {
  /// The reason for a lookup's answer.
  @nonexhaustive
  public indirect enum Cause: Sendable, Equatable {
    /// The lookup finds the dependency.
    case found(Place)
    /// The lookup found nothing, but a moment later, when the explanation was made, the dependency was there.
    case cameLater(Place)
    /// The bound object has been released.
    case dead(Place)
    /// Another instance was bound in place of the first one, and is no longer there. Usually the first instance is
    /// still alive (``UDIEntry/isAlive``).
    case replaced(Place)
    /// The binding in this context was withdrawn. Either its instance was bound in another context, or the object that
    /// had bound it with `multiBind` was attached to a context that has ended.
    case withdrawn(Place)
    /// The type is registered, but only under other names: these, and perhaps more. Nil stands for a registration
    /// without a name.
    case otherNames([String?])
    /// An object of the requested type, or a provider that makes such objects, is registered under a different type.
    case otherType(Place)
    /// A provider is registered under a protocol or a superclass of the requested type. It keeps no instance, so it is
    /// not known whether it makes instances of the requested type.
    case moreGeneralType(Place)
    /// The dependency is registered in the same tree, but where this lookup does not look. The associated value is the
    /// nearest such place.
    case outOfReach(Place)
    /// The dependency is in a scope, which lookups from outside do not enter. `scopePath` contains the tags of the
    /// contexts from the root to that scope, both included.
    case inScope(Place, scopePath: [String])
    /// The object that asks is attached to no context, so the lookup began at `AppContext`, which does not have the
    /// dependency. The associated value is the name of the object's class.
    case unattached(String)
    /// No dependency is registered in the tree under the requested type and name.
    case notRegistered
    /// No dependency is registered under the requested type and name in the branch where the lookup begins. This branch
    /// was removed from its tree, or the contexts above it are gone.
    case contextRemoved
    /// The provider's factory takes other arguments than those that it was given. The associated values are the names
    /// of the arguments' types.
    case otherArguments(wanted: [String], given: [String])
    /// The provider keeps an instance for each set of arguments, but some arguments cannot be compared. The associated
    /// value contains the names of their types.
    case argumentsNotHashable([String])
    /// The provider's factory belongs to an actor, and the lookup ran elsewhere. The associated value is the actor's
    /// name.
    case isolatedElsewhere(String)
    /// The provider's factory is asynchronous, and the provider keeps no instance. Only `obtain` and `warmUp` can make
    /// one. The associated value is the factory's last failure; nil if it has made something since, or has never
    /// failed.
    case asynchronous(UDIEntry.Failure?)
    /// The dependency is registered under a type that is not `Sendable`, but the lookup is for a `Sendable` type.
    case notSendable
    /// The factory may run anywhere and so takes only `Sendable` arguments, but the given argument might not be
    /// `Sendable`. The associated value is the name of the argument's type.
    case argumentNotSendable(String)
    /// The provider's factory returned nil.
    case factoryReturnedNil
    /// The provider's factory threw an error when it last ran. `message` is the message of the error.
    case failed(Place, message: String)
    /// Making the dependency requires the dependency itself. The associated value contains the keys on the way from the
    /// dependency back to itself.
    case cycle([String])
    /// Making the dependency requires too many others, each of which is needed to make the one before. `depth` is the
    /// number of factories that were running, one inside the other. `stackSize` is the size in bytes of the thread's
    /// stack, of which too little was left; nil if the number of factories itself was too great.
    case tooDeep(depth: Int, stackSize: Int?)
    /// A provider of a different type was registered for the requested type, too, but its instance does not conform to
    /// the requested type. The associated value is the name of the type that the provider makes.
    case notConvertible(from: String)
    /// The provider makes an instance for each scope (of a kind), and there is no such scope around the context where
    /// the lookup begins. `kind` is the kind that is needed; nil stands for any kind. `present` contains the kinds of
    /// the scopes that are around that context, the outermost first.
    case noScope(kind: String?, present: [String])
    /// The provider makes an instance for each scope, but is registered in a context below the scope that would own the
    /// instance. The associated value contains the tags of the contexts from the root to that scope, both included.
    case scopeIsAbove(scopePath: [String])
    /// The context that the object is attached to is gone.
    case contextGone
    /// A context is closed or being closed: the one where the lookup begins, or the one whose provider would have to
    /// make the dependency. While contexts above it are being closed, too, it is the outermost of those. The associated
    /// value contains the tags of the contexts from the root to this one, both included. (A closed context is a root.)
    case contextClosed(fullPath: [String])

    /// Whether the missing dependency is one that `obtain` would make.
    var needsObtain: Bool { if case .asynchronous = self { true } else { false } }

    /// Whether only another actor, or a task that waits, can make the missing dependency.
    var isOnlyHere: Bool { if case .isolatedElsewhere = self { true } else { needsObtain } }
  }

  /// A context that the explanation has looked at.
  public struct Context: Sendable, Equatable {
    /// The tags of the contexts from the root to this one, both included.
    public let fullPath: [String]
    /// The findings for the requested type in this context: those with the requested name, and those with other names.
    /// Of the latter, an explanation lists the first ten.
    public let findings: [UDIEntry]
    /// The number of dependencies with other names in this context that are not listed.
    package let omittedCount: Int
  }

  /// A finding, and the context that has it.
  public struct Place: Sendable, Equatable {
    /// The context, with nothing but the finding: a place is part of other values, so it has to be small.
    private let context: Context

    /// The tags of the contexts from the root to this one, both included.
    public var fullPath: [String] { context.fullPath }
    /// The finding in this context.
    public var finding: UDIEntry { context.findings[0] }

    package init(fullPath: [String], finding: UDIEntry) {
      context = Context(fullPath: fullPath, findings: [finding], omittedCount: 0)
    }
  }

  /// The requested type, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The description of the requested name; nil if there is none.
  public let name: String?
  /// The tags of the contexts from the root to the one where the lookup begins, both included; empty if there is no
  /// such context.
  public internal(set) var fullPath: [String] = []
  /// The direction of the lookup. If the lookup does not name one, and the object's context is gone, this is the search
  /// that the context had when the object was attached to it.
  public let search: UDISearch
  /// The reason for the answer.
  public internal(set) var cause: Cause
  /// The contexts that were looked at, in search order. After the first few, only contexts with findings are listed. In
  /// all, at most 100 are listed.
  public internal(set) var contexts: [Context] = []
  /// The number of contexts that were looked at and are not listed.
  package internal(set) var omittedCount = 0
  /// Whether the lookup covers more contexts than were looked at. The explanation of an error looks at a limited number
  /// of contexts, so that it takes little time even in a large tree.
  package internal(set) var isAbridged = false
  /// If there is no answer, the nearest place in the same tree that has the dependency, although the lookup does not
  /// look there.
  package internal(set) var nearestOutside: Place?
  /// Whether recording was on when this explanation was made: see ``UDIRecording/isOn``. Without recording, a binding
  /// whose object was released may have left no trace. In that case, the cause might be wrong, and the description says
  /// so.
  public let wasRecording = isRecording
  /// Whether the lookup went up because it named no direction and began in a context that had been given to a running
  /// factory. Such a lookup goes up so that nothing is made from dependencies below.
  package internal(set) var isInFactory = false
  /// The objects and providers that have looked up the dependency that the lookup finds. If the lookup finds nothing,
  /// these are the objects and providers whose lookups under the same key found a dependency that is gone now. They are
  /// in the order of their lookups. Empty in errors, and while ``UDIRecording`` is off.
  public internal(set) var dependents: [UDIDependent] = []

  /// The largest number of contexts that are listed.
  package static var enoughContexts: Int { 100 }

  /// Makes an explanation that contains only the cause.
  init(_ type: Any.Type, named name: UDIName?, search: UDISearch, cause: Cause) {
    (typeName, self.name) = (TypeIdentity.of(type).text, name?.description)
    (self.search, self.cause) = (search, cause)
  }

  /// Other places that are as near as the answer, of those that are listed. The answer takes precedence because its
  /// branch was added first.
  package var equallyNear: [Place] {
    // The list of contexts ends with the level of the answer.
    let places = contexts.compactMap { context in
      context.findings.first(where: isAnswer).map { Place(fullPath: context.fullPath, finding: $0) }
    }
    return Array(places.dropFirst())
  }

  /// If the cause is that nothing is registered, or only in a scope, returns the explanation with a different cause:
  /// the object that asks is attached to no context. For any other cause, returns the explanation unchanged.
  ///
  /// - Parameter owner: The class of the object that asks.
  func blaming(unattached owner: Any.Type) -> UDIExplanation {
    var result = self
    if cause == .notRegistered { result.cause = .unattached("\(owner)") }
    if case .inScope = cause { result.cause = .unattached("\(owner)") }
    return result
  }

  /// Whether this is about a key.
  func isFor(_ key: KeyIdentity) -> Bool { key.type.text == typeName && key.name?.description == name }

  /// Whether the finding is registered under the requested key, and lookups can still find it.
  package func isAnswer(_ finding: UDIEntry) -> Bool {
    finding.typeName == typeName && finding.name == name && !finding.isGone
  }
}
