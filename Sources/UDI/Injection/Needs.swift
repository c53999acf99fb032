import Synchronization

/// The dependencies that an object requires: its properties with the wrapper `Required`.
extension Node {
  /// Looks up the dependencies that an object requires, after it has been attached. Missing ones are reported: the
  /// program stops only when the property is read.
  ///
  /// - Parameter site: The call, or the registration, that attached the object; nil if that is not known.
  /// - Returns: False if a factory has attached the object anew or detached it. The rest was then done for the new
  ///   context, or is no longer wanted.
  @discardableResult
  static func fillRequired(_ object: AnyObject, _ attachment: UDIAttachment, at site: UDICallSite?) -> Bool {
    let now = attachment.stamp
    for property in PropertyLink.needs(of: object) {
      PropertyLink.of(object, property).fill(attachment, of: object, at: site)
      if attachment.stamp != now { return false }
    }
    return true
  }

  static func hasRequired(_ object: AnyObject) -> Bool { !PropertyLink.needs(of: object).isEmpty }
}

extension PropertyLink {
  /// The properties that are filled when the object is attached.
  static func needs(of object: AnyObject) -> [RequiredProperties.Property] {
    someAreRequired.load(ordering: .relaxed) ? RequiredProperties.of(type(of: object)).usableFromOutside : []
  }

  static func of(_ object: AnyObject, _ property: RequiredProperties.Property) -> PropertyLink {
    // The wrapper consists of a reference to its link.
    let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()) + property.offset
    return unsafe address.load(as: PropertyLink.self)
  }

  /// The name of the property in an object to which this link belongs; nil if the program does not contain it.
  func name(in object: AnyObject) -> String? {
    RequiredProperties.of(type(of: object)).all.first { Self.of(object, $0) === self }?.name
  }
}

/// Explanations of properties, for `UDITesting`.
extension UDIContext {
  /// Explains what the first read of an object's property finds.
  ///
  /// - Parameter wrapper: The address of the property's wrapper: `Required`, `Linked` or `Followed`.
  /// - Returns: Nil if the property has been set, so that a read looks nothing up.
  package func explanation(ofProperty wrapper: UnsafeRawPointer) -> UDIExplanation? {
    let stored = unsafe wrapper.load(as: AnyObject.self)
    let link = (stored as? FollowedProperty)?.link ?? stored as? PropertyLink
    return link?.lookup.map { explanation(of: $0) }
  }
}
