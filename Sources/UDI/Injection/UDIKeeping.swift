/// How a property with ``Linked`` keeps what it has looked up.
public enum UDIKeeping: Sendable {
  /// The property holds the dependency until the object is attached again or detached.
  case strongly
  /// The property refers to the dependency weakly, and looks it up again after it has been released. The dependency has
  /// to be a class instance.
  case weakly
  /// The property looks the dependency up at every read.
  case never
}
