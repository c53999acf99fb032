public import UDI

/// Checking registrations without making anything.
extension UDIContext {
  /// Checks whether the registrations here and below would find the dependencies that they need.
  ///
  /// The check makes nothing.
  ///
  /// ```swift
  /// let unmet = root.unmetNeeds()
  /// guard unmet.failures.isEmpty else { throw unmet }
  /// ```
  ///
  /// The parameters of an initialiser that was registered with `register(using:)` are known without calling it. For
  /// each of them, this method goes the way that the lookup would go, and on to the needs of the dependency that it
  /// finds. It finds dependencies that are missing, dependencies that take arguments, circles, and instances outside a
  /// scope that would have to be made of an instance of the scope.
  ///
  /// A parameter whose type is an optional may be missing. If the dependency that is registered for it is part of a
  /// circle, or if there is no scope for it, the parameter is nil, and the result mentions that.
  ///
  /// The dependencies that a closure looks up in the context that it is given are not known: the result lists such
  /// closures. A closure that takes no context counts as one that needs nothing. The properties of objects, such as
  /// those with `@Required`, are not checked: making the objects does that.
  ///
  /// A dependency that a context owns is looked up from that context. A dependency that is registered as
  /// `UDILifetime.scope` is looked up from each scope below that would own it, unless something else is found there. If
  /// there is no such scope, it is looked up from a new one, in which nothing is registered, and which counts as one of
  /// each kind. If such an instance needs something that only a scope has, such as a request, make a scope with a
  /// sample of it. A dependency that is registered as `UDILifetime.unique` or `UDILifetime.graph` is looked up from its
  /// context. If it does not find the dependencies that it needs there, it is looked up from the scopes. It is enough
  /// if it finds them from one of these.
  ///
  /// - Returns: The needs that are not met, with paths. If this context is a scope, registrations for scopes further up
  ///   are checked, too.
  /// - Complexity: O(parameters of the registrations here and below, and contexts above, for each of them). If
  ///   something is registered for scopes, or not found, once for each scope, and O(contexts below) to find the scopes.
  public func unmetNeeds() -> UDIUnmetNeeds {
    let check = NeedsCheck()
    for context in [self] + descendants { check.add(context) }
    for provider in providersOfScope where nearest(provider.key) === provider {
      check.check(provider.maker, at: (self, false))
    }
    return check.result
  }

  /// What a factory's lookup finds under a key in this context, or above it.
  fileprivate func nearest(_ key: KeyIdentity) -> Entry? {
    change { node, garbage in node.nearestLiveEntry(key.id, .ancestors, &garbage) }
  }
}

/// The result of `unmetNeeds()`.
public struct UDIUnmetNeeds: Error, Sendable, CustomStringConvertible {
  /// The needs that are not met.
  ///
  /// Each has the registration with the need, the context from which the dependency is looked up, and the error that
  /// the lookup would throw. The error's chain begins with the registration that the check began with.
  public fileprivate(set) var failures: [UDIFailure] = []
  /// The same for optional parameters that are nil although something is registered for them: it is part of a circle,
  /// or there is no scope for it.
  public fileprivate(set) var nilParameters: [UDIFailure] = []
  /// The registrations whose needs are not known, because closures that take a context look them up.
  ///
  /// They keep no instance yet.
  public fileprivate(set) var unchecked: [UDIExplanation.Place] = []

  /// The registrations for a kind of scopes of which there is none in their context or below.
  ///
  /// They were checked as if looked up from a new scope. If a sample of each scope is there, the kind may be misspelt.
  public fileprivate(set) var withoutScope: [UDIExplanation.Place] = []

  /// The number of failures, and each error once; then the optional parameters that are nil; then the registrations
  /// that were not checked, and those without a scope.
  public var description: String {
    var text = failures.isEmpty ? "All known needs are met." : UDIFailure.describe(failures, "cannot be made")
    if !nilParameters.isEmpty { text += "\n" + UDIFailure.describe(nilParameters, "must do without a parameter") }
    if !unchecked.isEmpty { text += "\nWhat closures need is not known:" + unchecked.map { "\n  \($0)" }.joined() }
    let strays = withoutScope.map { "\n  \($0)" }
    if !strays.isEmpty { text += "\nNo scope below is of the kind of:" + strays.joined() }
    return text
  }
}

extension UDIExplanation.Place: CustomStringConvertible {
  /// The key, the context, and the line of the registration.
  public var description: String { "\(finding.key) in \(quoted(fullPath)), at \(finding.site)" }
}

/// One run of `unmetNeeds`.
private final class NeedsCheck {
  /// Where lookups begin: at a context, or in a new scope below it.
  typealias Place = (context: UDIContext, isInNewScope: Bool)

  /// A provider that is being checked, and one of its parameters: its position, counted from 1, and the type that is
  /// looked up.
  typealias Step = (
    provider: Provider, id: [UInt], place: Place, need: (position: Int, type: Any.Type, isOptional: Bool)
  )

  private(set) var result = UDIUnmetNeeds()
  /// The providers that have been checked, each at one place.
  private var checked: Set<[UInt]> = []
  /// The providers that are being checked, each for the parameter of the one before.
  private var path: [Step] = []

  /// Checks what is registered in a context.
  func add(_ context: UDIContext) {
    // What serves another type, too, is found under both.
    for found in context.providers {
      let provider = found.maker
      let (isOwner, isForEachLookup) = (provider.sharing == .scope, [.unique, .graph].contains(provider.sharing))
      if !isOwner, !isForEachLookup { check(provider, at: (context, false)) }
      if !isOwner, !isForEachLookup || isMet(provider, at: (context, false)) { continue }
      // A scope may hide it, so that nobody finds it from there.
      let scopes = scopes(of: context, owning: isOwner ? provider : nil).filter {
        $0.context.nearest(found.key) === found
      }
      // What is made for each lookup may be meant for some scopes only.
      if isForEachLookup, scopes.contains(where: { isMet(provider, at: $0) }) { continue }
      for place in scopes { check(provider, at: place) }
    }
  }

  /// The places from which scopes look up what is registered in a context.
  ///
  /// - Parameter provider: If there is one, only the scopes that own what it makes count.
  private func scopes(of context: UDIContext, owning provider: Provider? = nil) -> [Place] {
    let scopes = ([context] + context.descendants).filter { scope in
      provider.map { $0.owner(asking: scope) === scope } ?? scope.isScope
    }
    if !scopes.isEmpty { return scopes.map { ($0, false) } }
    if let provider, provider.scopeKind != nil { note(provider, in: \.withoutScope) }
    return [(context, provider != nil || !sequence(first: context, next: \.parent).contains(where: \.isScope))]
  }

  /// Checks a provider. If a need is not met, takes back what has been found.
  private func isMet(_ provider: Provider, at place: Place) -> Bool {
    let before = (result, checked)
    check(provider, at: place)
    let count = result.failures.count + result.nilParameters.count
    if count == before.0.failures.count + before.0.nilParameters.count { return true }
    (result, checked) = before
    return false
  }

  func check(_ provider: Provider, at place: Place) {
    let id = id(of: provider, at: place)
    guard checked.insert(id).inserted else { return }
    guard let types = provider.parameterTypes(in: place.context) else { return note(provider, in: \.unchecked) }
    for (index, type) in types.enumerated() {
      let wrapped = wrappedType(of: type)
      let need = (position: index + 1, type: wrapped ?? type, isOptional: wrapped != nil)
      path.append((provider, id, place, need))
      switch place.context.nearest(TypeIdentity.of(need.type)) {
      case nil: if !need.isOptional { add(.notRegistered) }
      case let needed as Provider: check(needed: needed.maker, at: place)
      // A bound instance, one that is kept, or an override.
      default: break
      }
      path.removeLast()
    }
  }

  /// Checks what has been found for the parameter at the end of the path.
  private func check(needed provider: Provider, at place: Place) {
    let wanted = provider.argumentTypes
    if !wanted.isEmpty { return add(.otherArguments(wanted: typeNames(wanted), given: [])) }
    let next: Place? =
      switch provider.sharing {
      case .unique, .graph: place
      case .scope: place.isInNewScope ? place : provider.owner(asking: place.context).map { ($0, false) }
      default: provider.context.map { ($0, false) }
      }
    guard let next else {
      // A provider of another lifetime has no context if it has been taken back meanwhile.
      guard let cause = place.context.change({ node, _ in provider.owner(around: node).obstacle }) else { return }
      return add(cause, along: path.suffix(1))
    }
    let id = id(of: provider, at: next)
    guard let first = path.firstIndex(where: { $0.id == id }) else { return check(provider, at: next) }
    let circle = path[first...]
    add(.cycle((circle.map(\.provider) + [provider]).map(\.key.description)), along: circle)
  }

  private func id(of provider: Provider, at place: Place) -> [UInt] {
    [provider.id, UInt(bitPattern: ObjectIdentifier(place.context)), place.isInNewScope ? 1 : 0]
  }

  /// Notes why the parameter at the end of the path gets nothing.
  ///
  /// - Parameter part: The end of the path. If it has an optional parameter, that one is nil instead.
  private func add(_ cause: UDIExplanation.Cause, along part: ArraySlice<Step> = []) {
    let optional = part.firstIndex { $0.need.isOptional }
    let path = path[...(optional ?? path.count - 1)]
    guard let (provider, _, place, need) = path.last else { return }
    var error = place.context.error(of: cause, need.type)
    for step in path.reversed() { error = step.provider.passOn(error.asked(asParameter: step.need.position)) }
    let failure = UDIFailure(provider, path: place.context.fullPath, error: error)
    if optional == nil { result.failures.append(failure) } else { result.nilParameters.append(failure) }
  }

  /// Adds a provider to a list of the result, unless it has its instance already.
  private func note(_ provider: Provider, in list: WritableKeyPath<UDIUnmetNeeds, [UDIExplanation.Place]>) {
    if let place = provider.placeIfNotMade, !result[keyPath: list].contains(place) {
      result[keyPath: list].append(place)
    }
  }
}

extension Provider {
  fileprivate var context: UDIContext? { Tree.change { _ in place?.context } }

  /// Where the provider is registered; nil if it keeps an instance by itself, or has left its context.
  fileprivate var placeIfNotMade: UDIExplanation.Place? {
    Tree.change { garbage in
      guard !showsInstance, let place else { return nil }
      return UDIExplanation.Place(fullPath: place.fullPath, finding: sighted(&garbage).entry)
    }
  }
}
