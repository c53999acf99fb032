/// A reference that does not keep its object alive, and is as cheap as a pointer.
///
/// The references that lookups follow are of this kind. If they were counted, retaining and releasing would be most of
/// the work of a lookup, and a count could reach zero under a lock, which must never happen.
///
/// The type is marked safe, because all code follows a rule, which the compiler cannot check: a reference is used only
/// while its object is certain to be alive. It can be certain for two reasons:
///
/// - A reference that is part of the tree leads to an entry or a `UDIAttachment`, and is removed before the object is
///   freed, under the lock that guards the reference (see `Tree.swift`). Therefore, if the reference is read under this
///   lock, its object lives at least until the lock is released.
/// - Something else holds the object for as long as the reference is used. For example, entries hold their keys, a
///   thread holds its `Resolution`, an object holds the links of its properties, and a lookup holds the provider whose
///   factory it runs. A `TypeIdentity` is held for ever.
@safe
struct Unretained<Object: AnyObject>: Hashable, CompactTableElement {
  private let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  /// Makes a reference to an object that is alive.
  @inline(__always)
  @unsafe init(_ reference: Unmanaged<Object>) { unsafe self.reference = reference }

  /// Makes a reference from the address of an object that is alive.
  @inline(__always)
  @unsafe init(address: UInt) {
    unsafe reference = .fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
  }

  /// The object, retained for the caller.
  @inline(__always)
  var object: Object { unsafe reference.takeUnretainedValue() }

  /// Reads the object without retaining it, for the hot path.
  @inline(__always)
  func read<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try unsafe reference._withUnsafeGuaranteedRef(body)
  }

  /// Retains the object for ever.
  func retain() { unsafe _ = reference.retain() }

  /// The object's address, which distinguishes it from other objects.
  var address: UInt { unsafe UInt(bitPattern: reference.toOpaque()) }

  static func == (left: Unretained, right: Unretained) -> Bool { left.address == right.address }

  func hash(into hasher: inout Hasher) { hasher.combine(address) }

  /// The address without its low bits, which are zero for every object. This hash is good enough for tables that
  /// scramble hashes themselves.
  var hashValue: Int { Int(bitPattern: address >> 4) }

  // MARK: - As an element of a table

  var key: Unretained { self }
  static func hash(_ key: Unretained) -> UInt { scrambled(key.address) }
}

extension Unretained: Sendable where Object: Sendable {}
