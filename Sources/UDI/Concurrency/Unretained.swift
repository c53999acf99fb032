/// A reference that does not keep its object alive, and costs no more than a plain pointer.
///
/// The tree's own edges are references of this kind. If they were counted, retaining and releasing would be most of the
/// work of a lookup, and a count could reach zero under a lock, which the library must never allow. These references
/// are valid because of what the locks guard (`Tree.swift`): before a `Binding` or a `UDIAttachment` is freed, it is
/// removed, under the locks, from everything that refers to it in this way. So if a reference is guarded by a lock and
/// is read under that lock, its object lives at least until the lock is given back. The compiler cannot check this
/// rule, but every use follows it, which is why the type is marked safe.
///
/// Keys need no lock: `HeldKey` retains keys with a name, and keys without a name are never freed.
@usableFromInline
@safe
struct Unretained<Object: AnyObject>: Hashable {
  private let reference: Unmanaged<Object>

  @inline(__always)
  init(_ object: Object) { unsafe reference = .passUnretained(object) }

  /// Recreates a reference from the address of an object that is alive.
  @inline(__always)
  @unsafe init(address: UInt) {
    unsafe reference = .fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
  }

  /// The object, retained for the caller.
  @inline(__always)
  var object: Object { unsafe reference.takeUnretainedValue() }

  /// Reads the object without retaining it. This is for the hot path.
  @inline(__always)
  func read<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    try unsafe reference._withUnsafeGuaranteedRef(body)
  }

  /// Retains the object. `release` has to balance this.
  func retain() { unsafe _ = reference.retain() }

  /// Releases the object once, to balance `retain`.
  func release() { unsafe reference.release() }

  /// The object's address, which distinguishes it from other objects.
  var address: UInt { unsafe UInt(bitPattern: reference.toOpaque()) }

  @usableFromInline
  static func == (left: Unretained, right: Unretained) -> Bool { left.address == right.address }

  @usableFromInline
  func hash(into hasher: inout Hasher) { hasher.combine(address) }

  /// The address, without the bits that are zero in all addresses of objects. This is enough for tables that spread
  /// hashes themselves.
  @usableFromInline var hashValue: Int { Int(bitPattern: address >> 4) }
}

extension Unretained: Sendable where Object: Sendable {}
