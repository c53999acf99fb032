/// Why `require` found nothing, or why what it found could not be made.
public struct UDILinkError: Error, Sendable {
  /// What was the matter.
  public enum Reason: Sendable, Hashable {
    /// Nothing of the type is registered where the lookup looked, or nothing that lives.
    case notFound
    /// Only under other names, nil among them standing for none.
    case otherNames([UDIName?])
    /// The provider wants other arguments; the types' names.
    case otherArguments(wanted: [String], given: [String])
    /// The provider keeps an instance for each set of arguments, but some cannot be compared; the types' names.
    case argumentsNotHashable([String])
    /// The provider's factory runs on the main actor alone, and the lookup did not.
    case onlyOnMainActor
    /// The provider's factory returned nil.
    case factoryReturnedNil
    /// What it takes to make the dependency takes the dependency: the keys from there to there.
    case cycle([String])
    /// What the provider of another type made does not conform to the type asked for; the name of the type it makes.
    case notConvertible(from: String)
    /// The context that the object is attached to is gone.
    case contextGone
  }

  /// The type that was asked for, as `String(reflecting:)` spells it.
  public let typeName: String
  /// The name that was asked for, if any.
  public let name: UDIName?
  /// The tags from the root to the context where the lookup began, the root's included; empty where there is none.
  public let contextPath: [String]
  /// The direction it took.
  public let search: UDISearch
  /// What was the matter.
  public let reason: Reason
}

extension UDILinkError: CustomStringConvertible {
  /// What was looked for, where, and what to check; the cause stands first.
  public var description: String {
    let key = describeKey(typeName, name)
    return switch reason {
    case .notFound:
      """
      No live \(key) is registered \(range). \
      Bind one there, and keep it alive elsewhere: a context holds what is bound in it only weakly. Or register a provider.
      """
    case .otherNames(let names):
      """
      No live \(key) is registered \(range), only \(names.map(spell).joined(separator: ", ")): \
      names are exact, and a dependency with a name is never found without it.
      """
    case .otherArguments(let wanted, let given):
      """
      \(key) has a provider \(range), but that wants \(spell(wanted)) and got \(spell(given)). \
      Ask with exactly these types: `link(_:with:)`.
      """
    case .argumentsNotHashable(let types):
      """
      \(key) is kept, one instance for each set of arguments, and \(types.joined(separator: ", ")) cannot be compared. \
      Make it Hashable, or register the provider as `.unique`.
      """
    case .onlyOnMainActor:
      """
      \(key) is made on the main actor only, and this lookup, \(range), was elsewhere while nothing was made yet. \
      Await `linkOnMainActor`, or link it on the main actor first.
      """
    case .factoryReturnedNil:
      "The factory of \(key) returned nil for a lookup \(range)."
    case .cycle(let path):
      """
      \(path.joined(separator: " → ")): each of these is needed to make the one before. \
      Link one of them later: in `onCreate`, or where it is used.
      """
    case .notConvertible(let made):
      "\(key) is served by the provider of \(made), but what that made does not conform to it."
    case .contextGone:
      """
      The context from which \(key) was to be looked up is gone: a provider made the object for that context, which owned it. \
      Keep the context as long as you use what it owns.
      """
    }
  }

  private var range: String {
    let place = "\"\(describePath(contextPath))\""
    return switch search {
    case .descendants: "in the context \(place) and below it"
    case .local: "in the context \(place) alone"
    case .ancestors: "in the context \(place) and above it"
    }
  }

  private func spell(_ name: UDIName?) -> String { name.map { "one named \($0)" } ?? "one without a name" }

  private func spell(_ types: [String]) -> String {
    types.isEmpty ? "no arguments" : "(\(types.joined(separator: ", ")))"
  }
}
