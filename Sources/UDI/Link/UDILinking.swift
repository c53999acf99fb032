/// Where lookups begin: a context, or an object, whose lookups begin in its effective context.
///
/// The verbs that look something up are declared here, once for both. Only the library conforms to this protocol; its
/// requirements are not for you.
public protocol UDILinking {
  // The first two are called by each lookup. They have loose parameters: a value that holds the context would count a
  // reference, which costs a hit ("link" in `Benchmarks/instructions`) 177 instructions.

  /// Looks up a dependency. For the library only.
  func _find(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer)
  /// Looks up a dependency, and throws if there is none. For the library only.
  func _findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer) throws
  /// Where the lookup begins, for all other lookups. For the library only.
  var _origin: UDIOrigin { get }
}

extension UDIContext: UDILinking {
  /// Where the lookup begins. For the library only.
  public var _origin: UDIOrigin { .context(self) }
}

extension UDIObject {
  /// Looks up a dependency. For the library only.
  @inlinable
  @inline(__always)
  public func _find(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer
  ) {
    unsafe _attachedContext.find(type, name, reach, search, site, self, into: memory)
  }

  /// Looks up a dependency, and throws if there is none. For the library only.
  @inlinable
  @inline(__always)
  public func _findOrThrow(
    _ type: Any.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite,
    into memory: UnsafeMutableRawPointer
  ) throws {
    try unsafe _attachedContext.findOrThrow(type, name, reach, search, site, self, into: memory)
  }

  /// Where the lookup begins. For the library only.
  public var _origin: UDIOrigin { .object(_attachedContext, self) }
}

/// Where a lookup begins, for lookups that are not hot. For the library only.
public enum UDIOrigin {
  /// A context.
  case context(UDIContext)
  /// An object, and its attachment.
  case object(UDIAttachment, AnyObject)
}

// MARK: - Lookups that are not hot

extension UDIOrigin {
  /// Performs a lookup that finds only a dependency that exists already and need not be cast.
  @usableFromInline
  func present<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?
  ) -> Dependency? {
    var found: Dependency?
    unsafe withUnsafeMutablePointer(to: &found) {
      let memory = UnsafeMutableRawPointer($0)
      switch self {
      case .context(let context): _ = unsafe context.attempt(type, name, reach, search, into: memory)
      case .object(let attachment, _): _ = unsafe attachment.attempt(type, name, reach, search, into: memory)
      }
    }
    return found
  }

  @inlinable
  func lookUpFresh<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, _ site: UDICallSite
  ) -> Dependency? {
    context("link", isRequired: false, type, name, site)?.lookUpFresh(type, name, reach, search, asker(site))
  }

  @inlinable
  func lookUp<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, with arguments: Pack,
    isFresh: Bool, _ site: UDICallSite
  ) -> Dependency? {
    context("link", isRequired: false, type, name, site)?
      .lookUp(type, name, reach, search, with: arguments, isFresh: isFresh, asker(site))
  }

  @inlinable
  func lookUpOrThrow<Dependency, Pack: AnyArgumentPack>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, with arguments: Pack,
    _ site: UDICallSite
  ) throws -> Dependency {
    let context = try context(requiredFor: "require", type, name, search, site)
    do { return try context.lookUpOrThrow(type, name, reach, search, with: arguments, asker(site)) } catch {
      throw seen(error, site)
    }
  }

  @inlinable
  func lookUpAll<Dependency>(
    _ type: Dependency.Type, _ name: UDIName?, _ reach: UDIReach, _ search: UDISearch?, ofAnyName: Bool,
    _ site: UDICallSite
  ) -> [Dependency] {
    context("linkAll", isRequired: nil, type, name, site)?
      .lookUpAll(type, name, reach, search, ofAnyName: ofAnyName) ?? []
  }
}

// MARK: - The context, and errors

extension UDIOrigin {
  /// The context where the lookups of an object begin. If there is none, that is reported.
  @inlinable
  func context(
    _ verb: String, isRequired: Bool?, _ type: Any.Type, _ name: UDIName?, _ site: UDICallSite
  ) -> UDIContext? {
    switch self {
    case .context(let context): context
    case .object(let attachment, let owner):
      attachment.contextForLink(verb, isRequired: isRequired, type, name, site, owner)
    }
  }

  @usableFromInline
  func context(
    requiredFor verb: String, _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, _ site: UDICallSite
  ) throws -> UDIContext {
    switch self {
    case .context(let context): return context
    case .object(let attachment, let owner):
      if let context = attachment.contextForLink(verb, isRequired: true, type, name, site, owner) { return context }
      throw attachment.goneError(type, name, search, Asker(owner, site))
    }
  }

  @inlinable
  func asker(_ site: UDICallSite) -> Asker? {
    switch self {
    case .context: nil
    case .object(_, let owner): Asker(owner, site)
    }
  }

  @usableFromInline
  func seen(_ error: any Error, _ site: UDICallSite) -> any Error {
    switch self {
    case .context: error
    case .object(let attachment, let owner): attachment.explained(error, Asker(owner, site))
    }
  }
}
