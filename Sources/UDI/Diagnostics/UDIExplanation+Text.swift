extension UDIExplanation: CustomStringConvertible {
  /// The cause on the first line, then the advice, then what each context has.
  public var description: String {
    ([summary] + (advice.map { [$0] } ?? []) + details).joined(separator: "\n")
  }

  /// The cause, in one line, and what is uncertain because nothing was recorded.
  public var summary: String { [decision, doubt].compactMap(\.self).joined(separator: " ") }

  /// Whether there may be another cause, which only a record would have shown.
  private var isUncertain: Bool {
    guard !wasRecording else { return false }
    switch cause {
    case .notRegistered, .otherNames, .otherType, .outOfReach, .inScope, .unattached, .contextRemoved: return true
    default: return false
    }
  }

  /// What is uncertain; nil if that makes no difference.
  var doubt: String? {
    isUncertain
      ? "If one was there and has died, that was not recorded: set `UDIRecording.isOn = true` to find out." : nil
  }

  /// The cause alone, in one line.
  var decision: String {
    switch cause {
    case .found(let place): found(place)
    case .cameLater(let place):
      "\(key) was not there when it was looked up. It is now: in \(spell(place.path)), registered at \(site(place.finding))."
    case .dead(let place):
      "\(key) has died: \(article(place.finding)) bound in \(spell(place.path)) at \(site(place.finding)) is gone, because nobody held it."
    case .replaced(let place):
      """
      \(key) is not in \(spell(place.path)) any more: \(article(place.finding)) bound there at \(site(place.finding))\
      \(place.finding.isAlive ? ", which is still alive," : "") was \(spell(endOf: place.finding)), and what was bound then is gone.
      """
    case .withdrawn(let place):
      """
      \(key) is not in \(spell(place.path)) any more: \(article(place.finding)) bound there at \(site(place.finding)) was \
      \(spell(endOf: place.finding)); `multiBind` keeps both.
      """
    case .otherNames(let names):
      "No \(typeName) \(spell(name)) is registered \(range), only one \(names.map(spell).joined(separator: " and one "))."
    case .otherType(let place) where place.finding.kind == .provider:
      """
      No \(key) is registered \(range), but the provider of \(describeKey(place.finding.typeName, place.finding.name)) in \
      \(spell(place.path)), registered at \(site(place.finding)), makes one.
      """
    case .otherType(let place):
      """
      No \(key) is registered \(range), but the \(className(place.finding)) in \(spell(place.path)) is one: it is registered as \
      \(describeKey(place.finding.typeName, place.finding.name)), at \(site(place.finding)).
      """
    case .outOfReach(let place):
      "\(key) is out of reach: it is registered in \(spell(place.path)), at \(site(place.finding)), and was looked for \(range)."
    case .inScope(let place, let scopePath):
      """
      \(key) is in the scope \(spell(scopePath)), which is closed to lookups from outside: it is registered in \
      \(spell(place.path)), at \(site(place.finding)).
      """
    case .unattached(let className):
      "The \(className) that asks is attached to nothing, so the lookup began at AppContext, which has no \(key)."
    case .notRegistered: "No \(key) is registered in this tree\(isUncertain ? " now" : "")."
    case .contextRemoved:
      """
      No \(key) is registered \(range), and there is nothing above: "\(oneLine(contextPath.first ?? ""))" was removed from its \
      parent, or its parent is gone.
      """
    case .otherArguments(let wanted, let given):
      "The provider of \(key) wants \(spell(arguments: wanted)) and got \(spell(arguments: given))."
    case .argumentsNotHashable(let types):
      "The provider of \(key) keeps an instance for each set of arguments, and \(types.joined(separator: ", ")) cannot be compared."
    case .isolatedElsewhere(let actor):
      "The factory of \(key) belongs to \(actor). This lookup ran elsewhere, and nothing had been made yet."
    case .notSendable:
      "\(key) was registered as a type that is not Sendable, and this lookup is for one that is."
    case .argumentNotSendable(let type):
      """
      The factory of \(key) may run anywhere and so takes Sendable arguments. This lookup was compiled for arguments that need not be \
      Sendable, and at run time nobody can know whether \(type) is Sendable.
      """
    case .factoryReturnedNil: "The factory of \(key) returned nil."
    case .failed(let place, let message):
      """
      \(key) is registered in \(spell(place.path)), at \(site(place.finding)), but its factory failed the last time\
      \(place.finding.failure.map { ", \(circumstances($0))" } ?? ""): \(oneLine(message))
      """
    case .cycle(let path): "\(path.joined(separator: " → ")): each of these is needed to make the one before."
    case .notConvertible(let made):
      "\(key) is served by the provider of \(made), but what that provider made does not conform to it."
    case .contextGone: "The context from which \(key) was to be looked up is gone."
    }
  }

  /// What to do about it, in one line; nil if nothing is wrong.
  public var advice: String? {
    switch cause {
    case .found: nil
    case .cameLater: "Register it before it is looked up, or await `linkWhenAvailable`."
    case .dead:
      """
      Hold it for as long as it is needed: a context holds bound objects only weakly. Or have the context own it: `provide` it.
      """
    case .replaced:
      """
      A context has one binding for each type and name. Bind one of the two under a name, or bind the first again when the second has gone.
      """
    case .withdrawn:
      "`bind` moves an instance: it withdraws it from every other context. To have it in both, call `multiBind` for the second."
    case .otherNames:
      "Look it up by the name that it is registered under: names are exact, and a dependency with a name is never found without it."
    case .otherType(let place) where place.finding.lifetime != nil:
      """
      Look up \(place.finding.typeName); or register it as \(typeName), or add `.implements` for \(typeName) to its registration: a \
      dependency is found under exactly the types that it was registered under.
      """
    case .otherType(let place):
      """
      Look up \(place.finding.typeName); or register it as \(typeName), too: a dependency is found under exactly the types that it was \
      registered under.
      """
    case .outOfReach(let place): wayOut(place)
    case .inScope where isInFactory:
      """
      The factory was handed \(spell(contextPath)), which is outside. Register its provider in the scope, or link it from inside the scope \
      as `.unique` or `.graph`: those factories are handed the context that asks.
      """
    case .inScope: "Link it from inside the scope; or register it above the scope, where everyone finds it."
    case .unattached: "Attach the object to a context: `object.attach(to: context)`, or `attached(to:)`."
    case .notRegistered where isUncertain:
      """
      If one was bound, hold it for as long as it is needed: a context holds bound objects only weakly. If none was, provide or bind \
      one as \(typeName), or register a provider.
      """
    case .notRegistered:
      "Provide or bind one as \(typeName), or register a provider. If it comes later, await `linkWhenAvailable`."
    case .contextRemoved:
      """
      Link it while the context is in the tree: before a `withScope` ends, and before the context is removed. A parent holds its children, \
      and nothing in the tree holds its root: hold that yourself.
      """
    case .otherArguments(let wanted, _):
      wanted.isEmpty ? "Link it without arguments." : "Link it with arguments of these types: `link(_:with:)`."
    case .argumentsNotHashable: "Make them Hashable, or register the provider as `.unique`."
    case .isolatedElsewhere:
      """
      Await `obtain`, which makes it on its actor. If a factory of another actor needs it, obtain it first, and keep it. If it can be \
      made anywhere, register it in a nonisolated function: a closure that is written in an actor's code belongs to that actor.
      """
    case .notSendable:
      """
      Register it as the Sendable type that is looked up; or look it up on the main actor, as the type that it was registered as. What \
      counts is what the compiler knows: in generic code, a type is Sendable only if the code requires that.
      """
    case .argumentNotSendable:
      """
      Link it where the compiler sees that the dependency and all arguments are Sendable: not in generic code that does not require \
      that. Or pass arguments of exactly the types that the factory wants, which may be neither generic, as arrays and optionals are, \
      nor private: a Sendable struct of your own can hold them. Or register the factory on the main actor.
      """
    case .factoryReturnedNil: "Nil means that there is none. To say why, have the factory throw an error instead."
    case .failed: "The next lookup calls the factory again; `require` throws the factory's own error."
    case .cycle:
      "Link one of them later: where it is used, or in `onCreate` under a lifetime that shares it, `.graph` for example."
    case .notConvertible: "Give `implements(_:named:fileID:line:_:)` a closure, which the compiler checks."
    case .contextGone:
      """
      A provider made the object for that context, which owned it: keep the context for as long as you use what it owns.
      """
    }
  }

  private func found(_ place: Place) -> String {
    let finding = place.finding
    let what =
      switch finding.kind {
      case .live: "\(article(finding)) bound in \(spell(place.path)) at \(site(finding))"
      case .kept:
        "the \(className(finding)) that the provider in \(spell(place.path)) has made, registered at \(site(finding))"
      case .override: "\(article(finding)) that a test has put in \(spell(place.path)), at \(site(finding))"
      case .provider, .dead, .replaced, .withdrawn:
        "the provider in \(spell(place.path)) makes one, registered at \(site(finding))"
      }
    guard let other = equallyNear.first else { return "\(key) is there: \(what)." }
    return """
      \(key) is there: \(what). \(equallyNearCount == 1 ? "Another one is" : "\(equallyNearCount) others are") equally near, in \
      \(spell(other.path))\(equallyNearCount == 1 ? "" : " and elsewhere"): the branch that was added first comes first.
      """
  }

  private func wayOut(_ place: Place) -> String {
    if contextPath.starts(with: place.path) {
      return "Search upwards: name `.lineage` or `.ancestors`, or make that the context's `search`."
    }
    if isInFactory, place.path.starts(with: contextPath) {
      return """
        While a factory runs, lookups from its context go up, so that nothing is made from what is below and may end earlier. Register \
        the provider as `.unique` or `.graph`, whose factories are handed the context that asks; or register \(key) further up; or, if \
        this is what you want, have the factory name `search: .lineage`.
        """
    }
    if place.path.starts(with: contextPath) {
      return "Search downwards, with `search: .descendants`, or bind it further up."
    }
    let shared = zip(contextPath, place.path).prefix { $0 == $1 }.map(\.0)
    return """
      No search enters a sibling branch: register it in \(spell(shared)), which is above both, or link from there.
      """
  }
}

// MARK: - What each context has

extension UDIExplanation {
  /// Lines about the contexts that were looked at.
  var details: [String] {
    guard !contextPath.isEmpty else { return [] }
    let count = contexts.count + emptyCount + omittedCount
    let number = count == 1 ? "one context" : "\(isAbridged ? "the first " : "")\(count) contexts"
    var lines = ["Looked \(direction), in \(number):"]
    for context in contexts {
      let findings = context.findings.map(describe)
      lines.append("  \(spell(context.path)): \(findings.isEmpty ? "nothing" : findings.joined(separator: "; "))")
    }
    if omittedCount > 0 { lines.append("  \(omittedCount) more that have something") }
    if emptyCount > 0 { lines.append("  \(emptyCount) more: nothing") }
    if let place = nearestOutside { lines.append("Elsewhere, \(spell(place.path)): \(describe(place.finding))") }
    return lines
  }

  private func describe(_ finding: Finding) -> String {
    let what =
      switch finding.kind {
      case .live: "a \(className(finding)), bound"
      case .dead:
        "a \(className(finding)), dead\(finding.deadFor.map { " for \(describe($0))" } ?? ""), bound"
      case .replaced, .withdrawn:
        """
        a \(className(finding)), \(spell(endOf: finding))\(finding.deadFor.map { " \(describe($0)) ago" } ?? "") and \
        \(finding.isAlive ? "still alive" : "dead by now"), bound
        """
      case .kept: "a \(className(finding)), kept by the \(describeProvider(finding)) registered"
      case .provider: "the \(describeProvider(finding)) registered"
      case .override: "a \(className(finding)), put there by a test,"
      }
    let isOther = finding.typeName != typeName || finding.name != name
    return "\(what)\(isOther ? " as \(describeKey(finding.typeName, finding.name))" : "") at \(site(finding))"
  }

  private func describeProvider(_ finding: Finding) -> String {
    var facts: [String] = []
    if !finding.argumentTypes.isEmpty { facts.append("which wants \(spell(arguments: finding.argumentTypes))") }
    if let failure = finding.failure {
      facts.append("whose factory failed \(circumstances(failure)) (\(oneLine(failure.message)))")
    }
    return "provider (\(finding.lifetime ?? ""))\(facts.isEmpty ? "" : ", \(facts.joined(separator: ", ")),")"
  }

  /// With which arguments a factory failed, and how long ago.
  private func circumstances(_ failure: Failure) -> String {
    let arguments = failure.argumentTypes.isEmpty ? "" : "with \(spell(arguments: failure.argumentTypes)), "
    return "\(arguments)\(describe(failure.age)) ago"
  }

  private func describe(_ duration: Duration) -> String {
    switch duration {
    case ..<Duration.seconds(1): "less than a second"
    case ..<Duration.seconds(120): "\(duration.components.seconds) s"
    case ..<Duration.seconds(7200): "\(duration.components.seconds / 60) min"
    case ..<Duration.seconds(1_000_000_000): "\(duration.components.seconds / 3600) h"
    // A decoded duration may be too long for `components`, which would stop the program.
    default: "a long time"
    }
  }

  private var direction: String {
    switch search {
    case .lineage: "from \(spell(contextPath)) downwards, breadth-first, then upwards (.lineage)"
    case .descendants: "from \(spell(contextPath)) downwards, breadth-first (.descendants)"
    case .local: "in \(spell(contextPath)) alone (.local)"
    case .ancestors: "from \(spell(contextPath)) upwards (.ancestors)"
    }
  }

  private var range: String {
    switch search {
    case .lineage:
      contextPath.count > 1 ? "in \(spell(contextPath)), below and above" : "in \(spell(contextPath)) and below"
    case .descendants: "in \(spell(contextPath)) and below"
    case .local: "in \(spell(contextPath)) itself"
    case .ancestors: "in \(spell(contextPath)) and above"
    }
  }

  private var key: String { describeKey(typeName, name) }
  private func spell(_ path: [String]) -> String { "\"\(describePath(path))\"" }
  private func spell(_ name: String?) -> String { name.map { "named \($0)" } ?? "without a name" }
  private func spell(arguments: [String]) -> String {
    arguments.isEmpty ? "no arguments" : "(\(arguments.joined(separator: ", ")))"
  }
  /// How another binding ended this one.
  private func spell(endOf finding: Finding) -> String {
    let site = "\(finding.endFileID ?? "?"):\(finding.endLine ?? 0)"
    return finding.kind == .withdrawn ? "withdrawn by the bind at \(site)" : "replaced at \(site)"
  }
  private func site(_ finding: Finding) -> String { "\(finding.fileID):\(finding.line)" }
  private func className(_ finding: Finding) -> String { finding.className ?? "object" }
  private func article(_ finding: Finding) -> String { "the \(className(finding))" }
}
