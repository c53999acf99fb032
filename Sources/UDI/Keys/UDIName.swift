/// A name that distinguishes several dependencies of one type.
///
/// A name is a text. A literal can be used as a name, and a name can be made from any value that is not an object:
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
/// Two names are the same if their texts are equal. A lookup with a name finds only dependencies with that name, and a
/// lookup without a name finds only dependencies without one.
///
/// A name is hashed once, when it is made. In code that must be fast, store the name, like `backup` above.
public struct UDIName: Hashable, Sendable {
  /// The hash of `text`. It is declared before `text`, so that `==` compares it first.
  let digest: UInt64
  /// The text. For a name that was made from a string, this is the string.
  package let text: String

  private init(text: String) {
    var text = text
    // The text is stored as a native string, so that comparing it never calls a subclass of `NSString`.
    text.makeContiguousUTF8()
    self.text = text
    #if _pointerBitWidth(_32)
      // The ids of keys need 64 bits here, too.
      digest = UInt64(UInt(bitPattern: [text].hashValue)) << 32 | UInt64(UInt(bitPattern: text.hashValue))
    #else
      digest = UInt64(UInt(bitPattern: text.hashValue))
    #endif
  }

  /// Makes a name from any value.
  ///
  /// The text of a name that is made from a string is that string. The text for any other value consists of the value's
  /// type and the result of `String(reflecting:)`, for example `Swift.Int 5`. So `UDIName(1)` and `UDIName("1")` are
  /// two names. Values of one type that have the same description make the same name.
  ///
  /// The value is described once and not kept. A description that belongs to the main actor is used only if the name is
  /// made there. An enum case without associated values is described by its own name, even if its type describes it
  /// differently. Two such cases therefore always make two names. Such a name is also made fast, without reflection.
  ///
  /// - Parameter value: The value.
  /// - Precondition: The value is not an instance of a class, whose description need not distinguish it from others.
  public init<Value>(_ value: Value) {
    let type = type(of: value as Any)
    // The cast would unwrap an optional.
    if !TypeMetadata(type).isOptional, let text = value as? String {
      self.init(text: text)
      return
    }
    // The message of a precondition would be missing in release builds.
    if type is AnyClass { fatalError("A \(type) is an object and cannot be a name: name it by a text.") }
    let typeName = _typeName(type, qualified: true)
    // Describing a case with `String(reflecting:)` takes millions of instructions the first time.
    let bareCase = childCount(value, type: type) == 0 ? unsafe caseName(value) : nil
    let description = unsafe bareCase.map { unsafe "\(typeName).\(String(cString: $0))" } ?? String(reflecting: value)
    self.init(text: "\(typeName) \(description)")
  }

  // This is deprecated rather than unavailable, because the compiler ignores unavailable overloads if another one fits.
  // If it were unavailable, an optional would become a name without a warning. `.ci/refused` checks this.

  /// Deprecated: a name must not be made from an optional.
  ///
  /// - Parameter value: The value to unwrap.
  @available(*, deprecated, message: "unwrap it first, or write `value.map { UDIName($0) }`, where nil means no name")
  public init<Wrapped>(_ value: Wrapped?) { self.init(value as Any) }
}

// Two of the runtime's functions on which the standard library's reflection is based.

/// How many children a value has: none if it is an enum's case without associated values.
@_silgen_name("swift_reflectionMirror_count") private func childCount<Value>(_ value: Value, type: Any.Type) -> Int

/// The name of an enum's case, which the compiler has written as a constant; nil if it has left out such names, and for
/// a value of any other type.
@_silgen_name("swift_EnumCaseName") private func caseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

extension UDIName: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// Makes a name from a string literal, with or without interpolations. It equals a `UDIName` of the same `String`.
  ///
  /// - Parameter value: The text.
  public init(stringLiteral value: String) { self.init(text: value) }

  /// Makes a name from an integer literal. It equals a `UDIName` of the same `Int`.
  ///
  /// - Parameter value: The number.
  public init(integerLiteral value: Int) { self.init(value) }

  /// The text, on one line. Control characters are escaped. Errors, events, explanations and snapshots contain this
  /// text.
  public var description: String { oneLine(describeType(text)) }
}
