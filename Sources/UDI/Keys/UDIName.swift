/// A name that distinguishes several dependencies of one type.
///
/// Any hashable value can be a name, and a literal can be used as a name:
///
/// ```swift
/// extension UDIName {
///   static let backup = UDIName("backup")
/// }
/// context.bind(disk, as: (any Storage).self, named: .backup)
/// context.bind(tape, as: (any Storage).self, named: "archive")
/// context.bind(disk, as: (any Storage).self, named: "disk \(number)")
/// ```
///
/// Two names are the same if their values are equal and of the same type: `UDIName(1)` and `UDIName("1")` are two
/// names. A lookup with a name finds only dependencies with that name, and a lookup without a name finds only
/// dependencies without one.
///
/// A name is hashed once, when it is made. In code that must be fast, keep the name, like `backup` above.
public struct UDIName: Hashable, Sendable {
  private enum Value: Equatable, Sendable {
    /// Strings have a separate case, because they are by far the most frequent values. With this case, they need no
    /// dynamic cast and no separate memory. They are stored as native strings, so that comparing them never calls a
    /// subclass of `NSString`.
    case text(String)
    case other(NameBox)
    /// The value belongs to the main actor.
    case token(NameToken)
  }

  private let value: Value
  /// The hash of `value`, computed when the name is made, so that lookups do not call user code to compute it.
  let digest: Int

  private init(text: String) {
    var text = text
    text.makeContiguousUTF8()
    value = .text(text)
    // Only the text is hashed, because hashing `value` would include the enum case. That saves 62 of the 781
    // instructions of the benchmark "link by name, a literal".
    digest = text.hashValue
  }

  private init(box: NameBox) {
    value = .other(box)
    digest = box.hashValue
  }

  private init(token: NameToken) {
    value = .token(token)
    digest = token.hashValue
  }

  /// Makes a name from any value.
  ///
  /// A value that is not equal to itself, such as NaN, makes a new name each time. Such a name equals only its own
  /// copies.
  ///
  /// - Parameter value: The value of the name. Equal values of one type make the same name.
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped) {
    if let text = value as? String {
      self.init(text: text)
    } else {
      self.init(box: NameBox(value))
    }
  }

  /// Makes a name from a value that belongs to the main actor, or whose `Hashable` conformance does.
  ///
  /// For example, in a module whose default isolation is the main actor, every enum's conformance belongs to the main
  /// actor. The value's `==`, `hash(into:)` and `description` are called only while names are made, so the name itself
  /// may be used anywhere. The value is released on the main actor.
  ///
  /// The compiler chooses between the initialisers by the static type of the value. It chooses this one if it does not
  /// know that the type is `Sendable`, for example in a generic function. Names from the two initialisers are never
  /// equal, unless the values are strings or `Int`s.
  ///
  /// - Parameter value: The value of the name. Equal values of one type make the same name. As with a dictionary's key,
  ///   the parts of the value that `==` and `hash(into:)` use must not change afterwards.
  @preconcurrency @MainActor
  public init<Wrapped: Hashable>(_ value: Wrapped) {
    Reach.mainActor.assertIsolation(Wrapped.self)
    if let text = value as? String {
      self.init(text: text)
    } else if let number = value as? Int {
      self.init(box: NameBox(number))
    } else {
      self.init(token: .of(value))
    }
  }

  /// Whether both are the same name: their values are equal and of the same type.
  public static func == (left: UDIName, right: UDIName) -> Bool {
    left.digest == right.digest && left.value == right.value
  }

  /// Whether both names are certainly the same. The check never calls the user's `==`, so the result can be false
  /// although the names are the same.
  @inline(__always)
  func isSurely(_ other: UDIName) -> Bool {
    switch (value, other.value) {
    case (.text(let left), .text(let right)): left == right
    case (.other(let left), .other(let right)): left === right
    case (.token(let left), .token(let right)): left === right
    default: false
    }
  }

  /// Hashes the stored hash of the value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(digest)
  }
}

extension UDIName: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
  /// Makes a name from a string literal, with or without interpolations. It equals a `UDIName` of the same `String`.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) {
    self.init(text: value)
  }

  /// Makes a name from an integer literal. It equals a `UDIName` of the same `Int`.
  ///
  /// - Parameter value: The number.
  public init(integerLiteral value: Int) {
    self.init(box: NameBox(value))
  }
}

// These are deprecated rather than unavailable, because the compiler ignores unavailable overloads if another one fits.
// If they were unavailable, an optional would become a name without a warning. `.ci/refused` checks this.
extension UDIName {
  /// Deprecated: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. With `named: value.map { UDIName($0) }`, nil means no name"
  )
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped?) {
    self.init(anything: value)
  }

  /// Deprecated: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. With `named: value.map { UDIName($0) }`, nil means no name"
  )
  @preconcurrency @MainActor
  public init<Wrapped: Hashable>(_ value: Wrapped?) {
    self.init(anythingOfMainActor: value)
  }

  // These initialisers are generic, so they do not know that the value is an optional, and `self.init` calls the
  // initialiser for all values, not the deprecated one.
  private init<Value: Hashable & Sendable>(anything value: Value) { self.init(value) }
  @MainActor private init<Value: Hashable>(anythingOfMainActor value: Value) { self.init(value) }
}

extension UDIName: CustomStringConvertible {
  /// The string, or the description of any other value, in one line. Control characters are escaped. Errors, events,
  /// explanations and snapshots contain this text.
  public var description: String {
    switch value {
    case .text(let text): oneLine(text)
    case .other(let box): box.description
    case .token(let token): token.description
    }
  }

  /// The type of the value, as a text.
  var typeName: String {
    switch value {
    case .text: "String"
    case .other(let box): box.typeName
    case .token(let token): token.typeName
    }
  }
}

/// Contains the value of a name if the value is not a string. The box is an object to keep `UDIName` small, because
/// most lookups pass no name.
final class NameBox: Hashable, @unchecked Sendable {
  // Unchecked: if a name refers to the box directly, the value is `Sendable`. If a `NameToken` refers to the box, the
  // comment in `NameToken` says why this is safe.
  private let value: AnyHashable

  init(_ value: some Hashable) { self.value = AnyHashable(value) }

  static func == (left: NameBox, right: NameBox) -> Bool {
    // The first check makes a name equal to itself, even if its value is not, as with NaN.
    if left === right { return true }
    // With `AnyHashable` alone, 1 and 1.0 would be equal.
    return type(of: left.value.base) == type(of: right.value.base) && left.value == right.value
  }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }

  var typeName: String { "\(type(of: value.base))" }
  /// The value's description, in one line.
  var description: String { oneLine(String(describing: value.base)) }
}
