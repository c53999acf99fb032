/// The context of a closure, which contains its captures: a heap object without a class, whose metadata describes its
/// content.
///
/// For each closure, the compiler writes a list of the types of its captures. The position of a capture depends on the
/// types of the captures before it. A context is therefore read only if all types are known, and nothing is guessed.
@safe
struct ClosureContext {
  /// The address of a closure's context that is alive.
  let address: UnsafeRawPointer

  /// What a closure has captured.
  enum Capture {
    case value(Any.Type)
    /// A reference to a heap object, for example to a captured variable, which is a separate heap object.
    case reference
    /// A function, which consists of the address of its code and its context.
    case function
    /// Something that the closure does not hold strongly.
    case notHeld
  }

  /// The captures, and where they are in the context, in bytes; nil if their types are not all known.
  var captures: [(Capture, offset: Int)]? {
    let metadata = unsafe address.load(as: UnsafeRawPointer.self)
    guard let descriptor = unsafe metadata.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) else { return nil }
    let captureCount = unsafe Int(descriptor.load(as: UInt32.self))
    let sourceCount = unsafe Int(descriptor.load(fromByteOffset: 4, as: UInt32.self))
    let bindingCount = unsafe Int(descriptor.load(fromByteOffset: 8, as: UInt32.self))
    let names = (0..<captureCount + 2 * sourceCount).map { index in
      let place = unsafe descriptor + 12 + 4 * index
      return unsafe MangledName(at: place + Int(place.load(as: Int32.self)))
    }
    // With parameter packs, the number of words before the captures is not known.
    if names.contains(where: \.hasPack) { return nil }
    let bindings = unsafe address + Int(metadata.load(fromByteOffset: 8, as: UInt32.self))
    let generics = unsafe Generics(names[captureCount...], bindings, bindingCount)

    var end = unsafe bindings + 8 * bindingCount
    var captures: [(Capture, offset: Int)] = []
    for name in names[..<captureCount] {
      guard let content = Self.capture(name, generics) else { return nil }
      let start = unsafe end.alignedUp(toMultipleOf: content.alignment)
      unsafe end = start + content.size
      captures.append((content.capture, unsafe start - address))
    }
    return unsafe isWhole(end - address) ? captures : nil
  }

  /// Whether the context is as long as its captures, which end after the given number of bytes. If not, the captures
  /// are at other positions than assumed.
  private func isWhole(_ count: Int) -> Bool {
    guard let size = unsafe allocatedSize(address) else { return true }
    #if canImport(Darwin)
      return count <= size
    #else
      // The C library allocates up to 15 bytes more than requested, and more than that for a larger alignment.
      return count <= size && size < count + 48
    #endif
  }

  /// The metadata that a generic closure has captured for its type parameters.
  private struct Generics {
    private var types: [String: Any.Type] = [:]

    init(_ sources: ArraySlice<MangledName>, _ bindings: UnsafeRawPointer, _ count: Int) {
      var rest = sources
      while let parameter = rest.popFirst(), let source = rest.popFirst() {
        // "B" and a number mean: the type is the binding with this number.
        guard source.text.first == "B", let index = Int(source.text.dropFirst()), index < count else { continue }
        types[parameter.text] = unsafe bindings.load(fromByteOffset: 8 * index, as: Any.Type.self)
      }
    }

    func resolve(_ name: MangledName, dropping dropped: Int) -> Any.Type? {
      if let type = unsafe name.resolved(dropping: dropped) { return type }
      if let type = types[String(name.text.dropLast(dropped))] { return type }
      // The name mentions type parameters. To replace them, the runtime needs some generic type with the same number of
      // parameters.
      let arguments = ["x", "q_", "q0_", "q1_"].map { types[$0] }.prefix { $0 != nil }.compactMap(\.self)
      let templates: [Any.Type] = [
        [Int].self, KeyValuePairs<Int, Int>.self, Template3<Int, Int, Int>.self, Template4<Int, Int, Int, Int>.self,
      ]
      guard let count = Optional(arguments.count), count > 0, count == types.count else { return nil }
      return unsafe arguments.withUnsafeBytes {
        unsafe name.resolved(dropping: dropped, in: TypeLayout(templates[count - 1]).descriptor, $0.baseAddress)
      }
    }
  }

  /// A capture whose type has the given name, its size and its alignment; nil if they are not known.
  private static func capture(
    _ name: MangledName, _ generics: Generics
  ) -> (capture: Capture, size: Int, alignment: Int)? {
    let text = name.text
    if ["Xw", "Xo", "Xu"].contains(where: text.hasSuffix) {
      // These suffixes mark captures that are `weak`, `unowned` or `unowned(unsafe)`.
      return generics.resolve(name, dropping: 2).map { (.notHeld, TypeLayout($0).size, 8) }
    }
    if text.hasSuffix("Xx") || text.hasSuffix("XX") || text == "Bo" { return (.reference, 8, 8) }
    // A block, or an optional one, is one word.
    if ["Bp", "Bb", "Bw"].contains(text) || text.hasSuffix("XB") || text.hasSuffix("XBSg") { return (.notHeld, 8, 8) }
    if text.hasPrefix("Bi"), text.hasSuffix("_"), let bits = Int(text.dropFirst(2).dropLast()) {
      let size = (bits + 7) / 8
      let padded = 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount)
      return size > 8 ? nil : (.notHeld, padded, padded)
    }
    if ["XMt", "Xmt"].contains(where: text.hasSuffix) { return (.notHeld, 0, 1) }
    if let isThick = isThickFunction(text) { return isThick ? (.function, 16, 8) : (.notHeld, 8, 8) }
    if let type = generics.resolve(name, dropping: 0) {
      let layout = TypeLayout(type)
      return (.value(type), layout.size, layout.alignment)
    }
    // An object of a generic class. Its type arguments are not known here, but they are not needed for a reference.
    let isObject = name.beginsWithClass && text.hasPrefix("?y") && (text.hasSuffix("G") || text.hasSuffix("GSg"))
    return isObject ? (.reference, 8, 8) : nil
  }

  /// Whether functions of the type with this name have a context; nil if this is not the name of a function type.
  ///
  /// The name of a function type ends with `I`, letters that describe the function, and `_`.
  private static func isThickFunction(_ text: String) -> Bool? {
    // An optional function is stored like a function. If it is nil, it has no context.
    if text.hasSuffix("_Sg") { return isThickFunction(String(text.dropLast(2))) }
    // A function that runs where its caller runs has a parameter for that, which is marked by two letters more.
    if text.contains("IL") { return isThickFunction(text.replacing("IL", with: "")) }
    guard text.hasSuffix("_"), let start = text.lastIndex(of: "I") else { return nil }
    var letters = text[text.index(after: start)...].dropLast()
    guard !letters.isEmpty, letters.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
    while let first = letters.first, "sPeA".contains(first) { letters.removeFirst() }
    switch letters.popFirst() {
    case "g", "x", "y": return letters.first != "B"
    case "t": return false
    default: return nil
    }
  }
}

// Generic types with as many parameters as no type of the standard library has.
private enum Template3<A, B, C> {}
private enum Template4<A, B, C, D> {}
