/// A name that tells apart dependencies of one type.
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
/// A name is hashed once, when it is made. On a hot path keep it, as `backup` above.
public struct UDIName: Hashable, Sendable {
  private enum Value: Equatable, Sendable {
    /// Strings, by far the most frequent, need neither a dynamic cast nor memory of their own. They are stored as
    /// native strings, so that comparing them never calls a subclass of `NSString`.
    case text(String)
    case other(NameBox)
    /// A value of the main actor's.
    case token(NameToken)
  }

  private let value: Value
  /// The hash of `value`, computed once: user code on the hot path otherwise.
  let digest: Int

  private init(text: String) {
    var text = text
    text.makeContiguousUTF8()
    value = .text(text)
    // Not the hash of `value`, which would include the case. This serves the row "link by name, a literal" of the benchmarks with 62 of 781
    // instructions.
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

  /// Makes a name of any value.
  ///
  /// A value that is not equal to itself, such as NaN, makes a new name each time; copies of that are the same name.
  ///
  /// - Parameter value: What the name stands for; equal values of one type are the same name.
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped) {
    if let text = value as? String {
      self.init(text: text)
    } else {
      self.init(box: NameBox(value))
    }
  }

  /// Makes a name of a value that belongs to the main actor, or whose `Hashable` conformance does, as that of every enum in a
  /// module whose default isolation is the main actor.
  ///
  /// The value's `==`, `hash(into:)` and `description` are called only while names are made, so the name may be used anywhere.
  /// The value is released on the main actor.
  ///
  /// Which initialiser is called depends on the type as the compiler sees it: this one where the type is not known to be
  /// `Sendable`, in a generic function for example. Names that were made by different initialisers are different, whatever
  /// their values, unless the values are strings or `Int`s.
  ///
  /// - Parameter value: What the name stands for; equal values of one type are the same name. As with a key of a dictionary,
  ///   what its `==` and `hash(into:)` see must not change afterwards.
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

  /// Whether both are the same name: values of one type that are equal.
  public static func == (left: UDIName, right: UDIName) -> Bool {
    left.digest == right.digest && left.value == right.value
  }

  /// Whether both are certainly the same name; false, too, where only the user's `==` can tell.
  @inline(__always)
  func isSurely(_ other: UDIName) -> Bool {
    switch (value, other.value) {
    case (.text(let left), .text(let right)): left == right
    case (.other(let left), .other(let right)): left === right
    case (.token(let left), .token(let right)): left === right
    default: false
    }
  }

  /// Feeds the hash of the value, computed when the name was made, to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(digest)
  }
}

extension UDIName: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
  /// Makes a name of a string literal, with interpolations or without: the same as `UDIName` of that `String`.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) {
    self.init(text: value)
  }

  /// Makes a name of an integer literal, the same as `UDIName` of that `Int`.
  ///
  /// - Parameter value: The number.
  public init(integerLiteral value: Int) {
    self.init(box: NameBox(value))
  }
}

// Deprecated and not unavailable: the compiler passes over what is unavailable where another overload fits, and an optional would be a name
// without a word. `.ci/refused` checks it.
extension UDIName {
  /// Not to be used: what may be nil is no name.
  ///
  /// - Parameter value: What is to be unwrapped first.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. `named: value.map { UDIName($0) }` asks without a name for nil"
  )
  public init<Wrapped: Hashable & Sendable>(_ value: Wrapped?) {
    self.init(anything: value)
  }

  /// Not to be used: what may be nil is no name.
  ///
  /// - Parameter value: What is to be unwrapped first.
  @available(
    *, deprecated,
    message: "unwrap it first: nil would be a name, too. `named: value.map { UDIName($0) }` asks without a name for nil"
  )
  @preconcurrency @MainActor
  public init<Wrapped: Hashable>(_ value: Wrapped?) {
    self.init(anythingOfMainActor: value)
  }

  // Generic functions, in which nobody knows that it is an optional, reach the initialisers for all values.
  private init<Value: Hashable & Sendable>(anything value: Value) { self.init(value) }
  @MainActor private init<Value: Hashable>(anythingOfMainActor value: Value) { self.init(value) }
}

extension UDIName: CustomStringConvertible {
  /// The name as it appears in messages: text in quotes, other values as they describe themselves.
  public var description: String {
    switch value {
    case .text(let text): "\"\(oneLine(text))\""
    case .other(let box): box.description
    case .token(let token): token.description
    }
  }
}

/// Any other value than a string. Behind a reference, so that a name, which most lookups do not have, takes little room.
final class NameBox: Hashable, @unchecked Sendable {
  // Unchecked: a name has one only of a `Sendable` value, and a `NameToken` uses its own as it says there.
  private let value: AnyHashable

  init(_ value: some Hashable) { self.value = AnyHashable(value) }

  static func == (left: NameBox, right: NameBox) -> Bool {
    // A name is equal to itself, also where its value is not: NaN, for example.
    if left === right { return true }
    // `AnyHashable` alone would find 1 and 1.0 equal.
    return type(of: left.value.base) == type(of: right.value.base) && left.value == right.value
  }

  func hash(into hasher: inout Hasher) { hasher.combine(value) }

  /// The value as it describes itself, in one line.
  var description: String { oneLine(String(describing: value.base)) }
}
