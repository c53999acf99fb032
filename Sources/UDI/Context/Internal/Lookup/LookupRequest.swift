/// What a lookup asks for, and where. A `link` or `require` without arguments that finds something at once does without
/// this value: it would count references to the name.
@usableFromInline
struct LookupRequest: Sendable {
  /// The type that the dependency is registered under.
  @usableFromInline let type: Any.Type
  /// Where the caller may use the dependency.
  @usableFromInline let reach: UDIReach
  /// The dependency's name, if it has one.
  @usableFromInline let name: UDIName?
  /// The direction; nil for the context's own.
  @usableFromInline let search: UDISearch?
  /// Whether to make a new instance, whatever the lifetime.
  @usableFromInline let isFresh: Bool
  /// The call of the verb, or the declaration of the property, if that is known.
  @usableFromInline let site: UDICallSite

  @_alwaysEmitIntoClient
  init(
    _ type: Any.Type, _ reach: UDIReach, named name: UDIName? = nil, search: UDISearch? = nil, isFresh: Bool = false,
    at site: UDICallSite = UDICallSite("", 0)
  ) {
    (self.type, self.reach, self.name, self.search) = (type, reach, name, search)
    (self.isFresh, self.site) = (isFresh, site)
  }

  var key: KeyIdentity { TypeToken.of(type).key(named: name) }

  /// Notifies the observer that a lookup has found nothing. Do not call this under a lock.
  ///
  /// - Parameter path: The path of the context where the lookup began.
  func tellMiss(from path: @autoclosure () -> [String], isRequired: Bool) {
    UDIObserver.tell {
      .missed(.init(typeName: key.typeName, name: name?.description, fullPath: path(), isRequired: isRequired))
    }
  }
}

/// The object or provider that looks something up, for the record of who needs what: the object's attachment and class,
/// or the provider and nil.
typealias Dependent = (identity: AnyObject, objectType: Any.Type?)
