/// The way in which a property with ``Linked`` keeps its dependency.
public enum UDIKeeping: Sendable {
  /// The property holds the dependency until the object is attached again or detached.
  case strongly
  /// The property refers to the dependency weakly, and looks it up again after it has been released.
  ///
  /// The dependency has to be a class instance.
  case weakly
  /// The property looks the dependency up at each read.
  case never
}
