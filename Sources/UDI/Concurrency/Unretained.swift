/// A reference that does not keep its object alive, at the cost of a plain pointer.
///
/// The tree's own edges are of this kind: counting them would be most of the work of a lookup, and a count that reaches zero
/// under a lock is what the library must never let happen. They are sound because of what the locks guard (`Tree.swift`):
/// whoever frees a `Binding` or a `UDIAttachment` first takes it out, under the locks, of everything that
/// refers to it in this way. So a reference that is read under a lock that guards it is to a living object until that
/// lock is given back. That is the rule for every use, and why the type is marked safe: the compiler cannot check it.
///
/// Keys need no lock: `HeldKey` counts those with a name, and those without one are never freed.
@usableFromInline
@safe
struct Unretained<Object: AnyObject>: Equatable {
  private let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  /// Remakes a reference from `address`.
  @inline(__always)
  init(address: UInt) {
    unsafe reference = .fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
  }

  /// The object, retained for the reader.
  @inline(__always)
  var object: Object { unsafe reference.takeUnretainedValue() }

  /// Reads the object without retaining it: for the hot path.
  @inline(__always)
  func read<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try unsafe reference._withUnsafeGuaranteedRef(body)
  }

  /// Counts a reference, which `release` has to take back.
  func retain() { unsafe _ = reference.retain() }

  /// Takes back what `retain` counted.
  func release() { unsafe reference.release() }

  /// The object's address, to tell it from others.
  var address: UInt { unsafe UInt(bitPattern: reference.toOpaque()) }

  @usableFromInline
  static func == (left: Unretained, right: Unretained) -> Bool { left.address == right.address }
}

extension Unretained: Sendable where Object: Sendable {}
