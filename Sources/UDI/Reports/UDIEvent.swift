/// An event of which a ``UDIObserver`` is notified: something was made, closed or missed.
@nonexhaustive
public enum UDIEvent: Sendable, Equatable {
  /// A factory has made an instance.
  case made(Made)
  /// An instance, or a context, has been closed.
  case closed(Closed)
  /// A lookup has found nothing.
  case missed(Missed)

  /// The making of an instance by a factory.
  public struct Made: Sendable, Equatable {
    /// The type that the provider is registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that the provider is registered under; nil if there is none.
    public let name: String?
    /// The name of the provider's lifetime.
    public let lifetime: String
    /// The tags from the root to the context that the factory was given.
    public let fullPath: [String]
    /// How long the factory ran, including everything that it looked up.
    public let duration: Duration
    /// The keys of the providers whose factories asked for the instance, the outermost first. Empty if other code asked
    /// for it.
    public let askers: [String]
    /// The file of the call that registered the provider, in the form of `#fileID`.
    public let fileID: String
    /// The line of that call, counted from 1.
    public let line: Int
  }

  /// The closing of an instance or a context.
  public struct Closed: Sendable, Equatable {
    /// The type that the instance's provider is registered under, as `String(reflecting:)` spells it; nil if a context
    /// was closed (together with all contexts below it).
    public let typeName: String?
    /// The description of the name that the provider is registered under; nil if there is none.
    public let name: String?
    /// The tags from the root to the context; for an instance, to the context that owned it.
    public let fullPath: [String]
    /// How long closing took: the `onClose` closure of an instance, or everything that a context had to wait for.
    public let duration: Duration
    /// The message of the error that the `onClose` closure threw; nil if it threw none.
    public let failure: String?
  }

  /// A lookup that has found nothing.
  public struct Missed: Sendable, Equatable {
    /// The type that was looked up, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the name that was looked up; nil if there was none.
    public let name: String?
    /// The tags from the root to the context where the lookup began. Empty if the lookup was an object's, and the
    /// context that the object is attached to is gone.
    public let fullPath: [String]
    /// Whether the lookup has thrown an error: true for `require` and `obtain`, for example, and false for `link`.
    public let isRequired: Bool
  }
}
