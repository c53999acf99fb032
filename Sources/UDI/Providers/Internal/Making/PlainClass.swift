import Synchronization

/// A class whose objects take no part in the tree. A provider remembers one.
struct PlainClass: AtomicRepresentable, Equatable {
  private let word: UInt

  static let none = PlainClass(word: 0)

  private init(word: UInt) { self.word = word }

  /// - Parameter isInFirstWord: Whether every value of the provider's type begins with a reference to the object.
  // The parameter goes into the lowest bit, which is free because a class's metadata is aligned to words.
  init(of object: AnyObject, isInFirstWord: Bool) {
    word = UInt(bitPattern: ObjectIdentifier(type(of: object))) | (isInFirstWord ? 1 : 0)
  }

  var isInFirstWord: Bool { word & 1 != 0 }

  /// Whether an object is of exactly this class.
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
