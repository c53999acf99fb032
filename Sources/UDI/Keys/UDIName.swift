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
    /// Strings are by far the most frequent values, and need neither a dynamic cast nor memory of their own. They are
    /// stored as native strings, so that comparing them never calls a subclass of `NSString`.
    case text(String)
    case other(NameBox)
    /// A value that belongs to the main actor.
    case token(NameToken)
  }

  private let value: Value
  /// The hash of `value`. It is computed once, because computing it on the hot path would call user code there.
  let digest: Int

  private init(text: String) {
    var text = text
    text.makeContiguousUTF8()
    value = .text(text)
    // This is the hash of the text alone. The hash of `value` would include the enum case. This saves 62 of the 781
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
  /// A value that is not equal to itself, such as NaN, makes a new name each time. Such a name is equal only to its own
  /// copies.
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
  /// The compiler chooses the initialiser by the static type of the value. It chooses this one if it does not know the
  /// type to be `Sendable`, for example in a generic function. A name that this initialiser made never equals a name
  /// that the other one made, unless the values are strings or `Int`s.
  ///
  /// - Parameter value: What the name stands for; equal values of one type make the same name. As with the keys of a
  ///   dictionary, what `==` and `hash(into:)` depend on must not change afterwards.
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

  /// Whether both are the same name, as far as this is known without calling the user's `==`. False can also mean that
  /// only `==` could tell.
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

// These are deprecated rather than unavailable: the compiler ignores unavailable overloads if another one fits, and so
// an optional would become a name without a warning. `.ci/refused` checks this.
extension UDIName {
  /// Deprecated: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap first.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. With `named: value.map { UDIName($0) }`, nil means no name"
  )
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped?) {
    self.init(anything: value)
  }

  /// Deprecated: a name must not be made from an optional.
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

  // In these generic initialisers, the compiler does not know that the value is an optional. So here `self.init` is the
  // initialiser for all values, and not the deprecated one again.
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

/// The value of a name that is not a string. It is stored behind a reference to keep `UDIName` small, because most
/// lookups pass no name.
final class NameBox: Hashable, @unchecked Sendable {
  // Unchecked: if a name refers to the box directly, the value is `Sendable`. If a `NameToken` does, the comment there
  // says why this is safe.
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
