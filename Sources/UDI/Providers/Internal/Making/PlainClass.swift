import Synchronization

/// A class whose instances take no part in the tree, as a provider remembers it.
struct PlainClass: AtomicRepresentable, Equatable {
  private let word: UInt

  static let none = PlainClass(word: 0)

  private init(word: UInt) { self.word = word }

  /// - Parameter isInFirstWord: Whether all values of the provider's type begin with the reference to the object.
  // A class's metadata is aligned to words, so the lowest bit is free.
  init(of object: AnyObject, isInFirstWord: Bool) {
    word = UInt(bitPattern: ObjectIdentifier(type(of: object))) | (isInFirstWord ? 1 : 0)
  }

  var isInFirstWord: Bool { word & 1 != 0 }

  /// Whether this is the class of an object.
  @inline(__always)
  func isClass(of object: Unretained<AnyObject>) -> Bool {
    object.read { UInt(bitPattern: ObjectIdentifier(type(of: $0))) } == word & ~1
  }

  static func encodeAtomicRepresentation(_ value: consuming PlainClass) -> UInt.AtomicRepresentation {
    UInt.encodeAtomicRepresentation(value.word)
  }

  static func decodeAtomicRepresentation(_ storage: consuming UInt.AtomicRepresentation) -> PlainClass {
    PlainClass(word: UInt.decodeAtomicRepresentation(storage))
  }
}
