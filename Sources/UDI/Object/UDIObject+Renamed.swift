/// These forms catch a `link` that was meant to be `linkInLine`. On objects, the verb that returns a dependency is
/// `linkInLine`; `link` keeps it in a property.
extension UDIObject {
  /// Unavailable: objects have `linkInLine`.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also with arguments.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also for a fresh instance.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also for a fresh instance with arguments.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: objects have `linkInLine`, also by key.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? { nil }
}
