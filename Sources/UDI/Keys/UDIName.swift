/// A name that tells dependencies of one type apart.
///
/// Any hashable value can be a name, and a literal is one:
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
/// Names compare by type and value: `UDIName(1)` and `UDIName("1")` are two names. A dependency with a name and one
/// without are different dependencies; no lookup falls back from one to the other.
///
/// A name is hashed once, when it is made. On a hot path, keep the name, like `backup` above.
public struct UDIName: Hashable, Sendable {
  private enum Value: Equatable, Sendable {
    /// Strings are by far the most frequent, and need neither a dynamic cast nor memory of their own. They are stored
    /// as native strings, so that comparing them never calls a subclass of `NSString`.
    case text(String)
    case other(NameBox)
    /// A value that belongs to the main actor.
    case token(NameToken)
  }

  private let value: Value
  /// The hash of `value`, computed once: otherwise it would call user code on the hot path.
  let digest: Int

  private init(text: String) {
    var text = text
    text.makeContiguousUTF8()
    value = .text(text)
    // Not the hash of `value`, which would include the case. This serves the row "link by name, a literal" of the
    // benchmarks with 62 of 781 instructions.
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
  /// A value that is not equal to itself, such as NaN, makes a new name each time; copies of that name are the same
  /// name.
  ///
  /// - Parameter value: What the name stands for; equal values of one type make the same name.
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped) {
    if let text = value as? String {
      self.init(text: text)
    } else {
      self.init(box: NameBox(value))
    }
  }

  /// Makes a name from a value that belongs to the main actor, or whose `Hashable` conformance does.
  ///
  /// In a module whose default isolation is the main actor, for example, the conformance of every enum belongs to the
  /// main actor. The value's `==`, `hash(into:)` and `description` are called only while names are made, so the name
  /// may be used anywhere. The value is released on the main actor.
  ///
  /// The type as the compiler sees it decides which initialiser is called. It is this one if the type is not known to
  /// be `Sendable`, for example in a generic function. Names that were made by different initialisers are different,
  /// whatever their values, unless the values are strings or `Int`s.
  ///
  /// - Parameter value: What the name stands for; equal values of one type make the same name. As with the keys of a
  ///   dictionary, what its `==` and `hash(into:)` see must not change afterwards.
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

  /// Whether both are the same name: equal values of one type.
  public static func == (left: UDIName, right: UDIName) -> Bool {
    left.digest == right.digest && left.value == right.value
  }

  /// Whether both are certainly the same name; false also if only the user's `==` can tell.
  @inline(__always)
  func isSurely(_ other: UDIName) -> Bool {
    switch (value, other.value) {
    case (.text(let left), .text(let right)): left == right
    case (.other(let left), .other(let right)): left === right
    case (.token(let left), .token(let right)): left === right
    default: false
    }
  }

  /// Feeds the value's hash, which was computed when the name was made, to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(digest)
  }
}

extension UDIName: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
  /// Makes a name from a string literal, with interpolations or without: the same as `UDIName` of that `String`.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) {
    self.init(text: value)
  }

  /// Makes a name from an integer literal, the same as `UDIName` of that `Int`.
  ///
  /// - Parameter value: The number.
  public init(integerLiteral value: Int) {
    self.init(box: NameBox(value))
  }
}

// These are deprecated and not unavailable: if another overload fits, the compiler ignores those that are unavailable,
// and an optional would become a name without a warning. `.ci/refused` checks this.
extension UDIName {
  /// Not to be used: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap first.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. With `named: value.map { UDIName($0) }`, nil means no name"
  )
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped?) {
    self.init(anything: value)
  }

  /// Not to be used: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap first.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. With `named: value.map { UDIName($0) }`, nil means no name"
  )
  @preconcurrency @MainActor
  public init<Wrapped: Hashable>(_ value: Wrapped?) {
    self.init(anythingOfMainActor: value)
  }

  // Generic functions do not know that the type is an optional, so they reach the initialisers for all values.
  private init<Value: Hashable & Sendable>(anything value: Value) { self.init(value) }
  @MainActor private init<Value: Hashable>(anythingOfMainActor value: Value) { self.init(value) }
}

extension UDIName: CustomStringConvertible {
  /// The name as it appears in messages: strings in quotes, other values as they describe themselves.
  public var description: String {
    switch value {
    case .text(let text): "\"\(oneLine(text))\""
    case .other(let box): box.description
    case .token(let token): token.description
    }
  }
}

/// Any value other than a string. It is behind a reference, so that a name, which most lookups do not have, is small.
final class NameBox: Hashable, @unchecked Sendable {
  // Unchecked: the box of a name contains a `Sendable` value; a `NameToken` uses its own box as it explains there.
  private let value: AnyHashable

  init(_ value: some Hashable) { self.value = AnyHashable(value) }

  static func == (left: NameBox, right: NameBox) -> Bool {
    // A name is equal to itself, even if its value is not: NaN, for example.
    if left === right { return true }
    // With `AnyHashable` alone, 1 and 1.0 would be equal.
    return type(of: left.value.base) == type(of: right.value.base) && left.value == right.value
  }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }

  /// The value as it describes itself, in one line.
  var description: String { oneLine(String(describing: value.base)) }
}
