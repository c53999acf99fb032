extension UDILinkError {
  /// Advice on what to do. If a closure cannot wait for a dependency, the advice is to change the closure's
  /// registration.
  var advice: String? {
    guard cause.isOnlyHere, let closure = chain.last(where: { $0.isProvider && $0.parameter == nil }) else {
      return explanation.advice
    }
    return spelled(
      """
      Change the registration of \(closure.description), because what a closure looks up by itself does not wait. Give \
      `using:` an initialiser, whose parameters are obtained first. Or write an asynchronous closure, and await \
      `context.obtain()` in it, or `obtainAll` for all of a type.
      """)
  }
}

extension UDIExplanation {
  /// Advice on what to do about the cause, on one line; nil if nothing is wrong.
  public var advice: String? { remedy?.text }

  private var remedy: Message? {
    switch cause {
    case .found: nil
    case .cameLater: "Register it before it is looked up, or await `linkWhenAvailable`."
    case .dead:
      "Hold it for as long as it is needed, because a context does not. Or have the context own it: `provide` it."
    case .replaced: "What took its place is gone, too. Bind one of the two under a name, or bind the first one again."
    case .withdrawn(let place) where place.finding.endFileID == nil:
      "What an object binds elsewhere ends with the context that the object is attached to. Attach it to a lasting one."
    case .withdrawn: "`bind` moves an instance. To have it in both contexts, name both: `multiBind(_:as:in:)`."
    case .otherNames: "Look it up exactly as it is registered: by its name, or without a name if it has none."
    case .otherType(let place) where typeName.hasPrefix("Swift.Optional<"):
      "Look up \(describeType(place.finding.typeName)), without the question mark: `link` returns an optional anyway."
    case .otherType(let place) where place.finding.typeName.hasPrefix("Swift.Optional<"):
      "Register it as \(type), without the question mark: its factory may return nil, or give none."
    case .otherType(let place), .moreGeneralType(let place):
      """
      Look up \(describeType(place.finding.typeName)); or register it as \(type), \
      \(place.finding.isProvider ? spelled("or add `.implements` for \(type) to its registration") : "too"): a \
      dependency is found under exactly the types that it was registered under.
      """
    case .outOfReach(let place) where fullPath.starts(with: place.fullPath):
      "Search upwards: name `.lineage` or `.ancestors`, or make that the context's `search`."
    case .outOfReach(let place) where !place.fullPath.starts(with: fullPath):
      """
      No search enters a sibling branch: link from there; or have an object in both, with `multiBind(_:as:in:)`; or \
      register it in \(quoted(zip(fullPath, place.fullPath).prefix { $0 == $1 }.map(\.0))), which is above both.
      """
    case .outOfReach where isInFactory:
      """
      While a factory runs, lookups from its context go up, so that no instance is made from what may end earlier. \
      Register \(key) further up, or what needs it further down; or, if this is what you want, have the factory name \
      `search: .lineage`.
      """
    case .outOfReach:
      "Search downwards: `search: .descendants`; or bind it further up, or in both, with `multiBind(_:as:in:)`."
    case .inScope where isInFactory:
      """
      The factory was given \(quoted(fullPath)), which is outside the scope. Register what needs \(key) with \
      `lifetime: .scope`, or `.scope("kind")` if only scopes of one kind have it, and link from inside: each of these \
      scopes then makes its own.
      """
    case .inScope:
      "Link it from inside the scope; or register it above, or bind it there, too, with `multiBind(_:as:in:)`."
    case .unattached: "Attach the object to a context: `attached(to:)`, or set `attachedContext`."
    case .notRegistered: "Provide or bind one as \(type), or register a provider."
    case .contextRemoved:
      "Link it before the `withScope` ends or the context is removed. And hold the root: nothing in the tree does."
    case .otherArguments(let wanted, _):
      wanted.isEmpty ? "Link it without arguments." : "Link it with arguments of these types: `link(_:with:)`."
    case .argumentsNotHashable: "Make them Hashable, or register the provider as `.unique`."
    case .isolatedElsewhere:
      """
      Await `obtain`, which makes it on its actor; and keep it, if a factory of another actor needs it. If it can be \
      made anywhere, register it in a nonisolated function: a closure in an actor's code belongs to that actor.
      """
    case .asynchronous(nil):
      """
      Await `obtain`, which makes it; so can an asynchronous factory that needs it: `try await context.obtain()`. To \
      find it without waiting, await `warmUp` first, which makes what is registered as `.context` or `.scope`.
      """
    case .asynchronous: "Await `obtain`, which calls the factory again, and throws the factory's own error."
    case .notSendable:
      """
      Register it as the Sendable type that is looked up; or look it up on the main actor, as the type that it was \
      registered as. The compiler decides: in generic code, a type is Sendable only if the code requires that.
      """
    case .argumentNotSendable:
      """
      Link it where the compiler sees that the dependency and all arguments are Sendable: not in generic code that \
      does not require that. Or pass arguments of exactly the types that the factory wants, which may be neither \
      generic, as arrays and optionals are, nor private: a Sendable struct of your own can hold them. Or register the \
      factory on the main actor.
      """
    case .factoryReturnedNil: "Nil means that there is none. To say why, have the factory throw an error instead."
    case .failed: "The next lookup calls the factory again; `require` throws the factory's own error."
    case .cycle: "Link one of them later: where it is used, or in `onCreate` under a lifetime that shares it."
    case .tooDeep:
      "First make what is needed further in, if it is kept; or use a thread with more stack. Or is there no end to it?"
    case .notConvertible:
      "Instead of `implements`, register a factory that asks for the instance: the compiler checks what it returns."
    case .contextClosed:
      "Look it up before `close()` is called, or before a `withScope` ends. Or register it above, where it stays."
    case .noScope(let kind, _) where isInFactory:
      "What needs it must not outlive the scope: register that as `.scope\(kind.map { "(\"\($0)\")" } ?? "")`, too."
    case .noScope:
      """
      Look it up inside a scope: `makeScope` and `withScope` make one, whose kind is its tag or `kind`. Outside, only \
      what is bound there is found: `multiBind(_:as:in:)`.
      """
    case .scopeIsAbove: "Register it as `.context`; or register it in the scope, or above the scope."
    case .contextGone: "Keep a context for as long as you use the objects that it owns: they do not keep it alive."
    }
  }
}
