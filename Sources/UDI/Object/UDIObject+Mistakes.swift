/// These forms catch a `link` that was meant to be `linkInLine`: on objects, `linkInLine` returns a dependency, while
/// `link` keeps it in a property.
extension UDIObject {
  /// Unavailable: use `linkInLine` on objects.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil
  ) -> Dependency? { nil }

  /// Unavailable: use `linkInLine` on objects, with the same arguments.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: use `linkInLine` on objects, with the same arguments, including `fresh`.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool
  ) -> Dependency? { nil }

  /// Unavailable: use `linkInLine` on objects, with the same arguments, including `fresh`.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency, First, each More>(
    _ type: Dependency.Type, named name: UDIName? = nil, search: UDISearch? = nil, fresh: Bool,
    with argument: First, _ more: repeat each More
  ) -> Dependency? { nil }

  /// Unavailable: use `linkInLine` on objects, with the same key.
  @available(*, unavailable, renamed: "linkInLine")
  public func link<Dependency>(
    _ key: UDIKey<Dependency>, search: UDISearch? = nil
  ) -> Dependency? { nil }
}
