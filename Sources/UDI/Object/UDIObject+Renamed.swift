/// These forms catch a `link` that was meant to be `linkInLine`. On objects, the verb that returns a dependency is
/// `linkInLine`; `link` keeps it in a property.
extension UDIObject {
  /// Unavailable: objects have `linkInLine`.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? { nil }

  /// Unavailable: on objects, use `linkInLine`, which takes arguments, too.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: on objects, use `linkInLine`, which takes `fresh`, too.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? { nil }

  /// Unavailable: on objects, use `linkInLine`, which takes `fresh` and arguments, too.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: on objects, use `linkInLine`, which takes a key, too.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? { nil }
}
