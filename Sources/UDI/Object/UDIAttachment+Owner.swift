import Synchronization

/// Which object an attachment belongs to, and whether an object has an attachment.
///
/// Asking the runtime whether a class conforms to `UDIObject` is slow: the first time, the runtime goes through all
/// conformances in the program, which takes longer than everything else about a new instance of a class. So the runtime
/// is asked only if the class is not known to conform, and if there is a stranger: an attachment whose object's class
/// is not known yet, so that it might belong to this object.
///
/// No object is missed if its attachment is made together with it, as `UDIObject` demands. If the class of such an
/// object is not known, its attachment is still counted in `strangers`, because an attachment is taken off the count
/// only after the class has become known. Two threads cannot make this untrue:
///
/// - A thread that has an object sees that its attachment has been counted, because the hand-over of the object orders
///   the two. The other attachments cannot make the count zero: each of them is added before it is subtracted.
/// - If the thread sees that the attachment has been subtracted, it also sees that the class is known, because the
///   subtraction releases and the thread's load acquires. (All changes in between add or subtract, so they belong to
///   the release.)
extension UDIAttachment {
  /// How many attachments exist whose object's class is not known yet.
  static let strangers = Atomic<Int>(0)
  /// Stands in `owner` for an object of which only the class is known.
  static var classIsKnown: UInt { 1 }

  /// Whether the object is a `UDIObject`, on whatever actor its conformance may be used.
  static func exists(for object: AnyObject) -> Bool {
    let type: Any.Type = Swift.type(of: object)
    if strangers.load(ordering: .acquiring) == 0 {
      // Looking for the identity, instead of making it, saves memory for each class.
      return TypeToken.find(type)?.identity.read { $0.isMember.load(ordering: .relaxed) } ?? false
    }
    let identity = TypeToken.of(type).identity
    if identity.read({ $0.isMember.load(ordering: .relaxed) }) { return true }
    if identity.read({ $0.isPlain.load(ordering: .relaxed) }) { return false }
    // This cast is of a reference, because a cast of an `Any` would search the program's conformances three times.
    if object is any UDIObject { return true }
    identity.read { $0.isPlain.store(true, ordering: .relaxed) }
    return false
  }

  /// Records which object this attachment belongs to.
  ///
  /// - Precondition: The attachment does not belong to another object.
  @inline(__always)
  func remember(owner object: AnyObject) {
    let address = Unretained(object).address
    let known = owner.load(ordering: .relaxed)
    if known == address { return }
    if known > Self.classIsKnown { refuseSharing() }
    rememberClass(of: object)
    owner.store(address, ordering: .relaxed)
  }

  /// Records the class of the object that this attachment belongs to.
  func rememberClass(of object: AnyObject) {
    if owner.load(ordering: .relaxed) != 0 { return }
    TypeToken.of(type(of: object)).identity.read { $0.isMember.store(true, ordering: .relaxed) }
    let isFirst = owner.compareExchange(expected: 0, desired: Self.classIsKnown, ordering: .relaxed).exchanged
    if isFirst { Self.strangers.subtract(1, ordering: .releasing) }
  }

  /// Stops the program. This is called with and without the tree lock, so it must not take a lock or run user code.
  private func refuseSharing() -> Never {
    fatalError("two objects share one UDIAttachment. Let each store its own: `let _attachedContext = UDIAttachment()`")
  }
}
