import UDI

/// Follows all dependencies of a type, and notes the elements that it is given, as texts such as
/// `["plain", "a: member"]`.
final class AllFollower: FollowerOf<[String]> {
  /// The names in the last element.
  private(set) var names: [UDIName?] = []
  /// The objects of the last element that are still there.
  var last: [AnyObject?] { weakly.map { $0() } }
  private var weakly: [() -> AnyObject?] = []

  /// - Parameter holds: Whether to keep the last element.
  init<Dependency: Sendable>(
    _ updates: UDIResults<[(name: UDIName?, dependency: Dependency)]>, holds: Bool = false
  ) {
    super.init()
    follow(updates) { [weak self] found in
      guard let self else { return nil }
      names = found.map(\.name)
      weakly = found.map { found in { [weak object = found.dependency as AnyObject] in object } }
      if holds { hold(found.map(\.dependency)) }
      return found.map { Self.text($0.name, $0.dependency) }
    }
  }

  static func text(_ name: UDIName?, _ dependency: some Sendable) -> String {
    let label = (dependency as? any Loose)?.label ?? "\(dependency)"
    return name.map { "\($0): \(label)" } ?? label
  }
}
