extension UDIExplanation: CustomStringConvertible {
  /// The cause on the first line, then the advice, then a line for each context, then what needs the dependency.
  public var description: String {
    ([summary, advice].compactMap(\.self) + details + [need].compactMap(\.self)).joined(separator: "\n")
  }

  /// The cause, on one line. If the cause is uncertain because removed bindings were not recorded, the line says so.
  public var summary: String { [decision, doubt].compactMap(\.self).joined(separator: " ") }

  /// The objects and providers that have looked up the dependency, in one line; nil if none is known.
  private var need: String? {
    // At most four are named.
    let others = dependents.count - 4
    let names = dependents.prefix(4).map(\.phrase).joined(separator: ", ")
    return dependents.isEmpty ? nil : spelled("Needed by \(names)\(others > 0 ? spelled(" and \(others) more") : "")")
  }

  /// A sentence that says why the true cause might be a different one, which only records of removed bindings would
  /// have shown; nil if the cause is certain.
  var doubt: String? {
    switch cause {
    case _ where wasRecording: nil
    case .notRegistered, .otherNames, .otherType, .moreGeneralType, .outOfReach, .inScope, .unattached, .contextRemoved:
      "If one was there and has died, that was not recorded: set `UDIRecording.isOn = true` to find out."
    default: nil
    }
  }

  /// The cause in one line, without the sentence that says why the cause is uncertain.
  var decision: String { verdict.text }

  private var verdict: Message {
    switch cause {
    case .found(let place):
      "\(key) is there, in \(place.context): \(place.finding.listed(for: key)).\(describeEquallyNear)"
    case .cameLater(let place): "\(key) was not there when it was looked up. It is now: \(place.registered)."
    case .dead(let place):
      "\(key) has died: the \(place.finding.object) bound in \(place.bound) is gone, because nothing held it."
    case .replaced(let place), .withdrawn(let place):
      "\(key) is no longer in \(place.context): \(place.finding.listed(for: key))."
    case .otherNames(let names): "No \(type) \(spell(name)) is registered \(range), only one \(spell(names))."
    case .otherType(let place):
      "No \(key) is registered \(range), but there is one in \(place.context): \(place.finding.listed(for: key))."
    case .moreGeneralType(let place):
      """
      No \(key) is registered \(range), but there may be one in \(place.context), because a \(type) is a \
      \(describeType(place.finding.typeName)): \(place.finding.listed(for: key)).
      """
    case .outOfReach(let place):
      "\(key) is out of reach: it is \(place.registered), and was looked for \(range)."
    case .inScope(let place, let scopePath):
      "\(key) is in the scope \(quoted(scopePath)), which is closed to lookups from outside: it is \(place.registered)."
    case .unattached(let className):
      "The \(className) that asks is attached to nothing, so the lookup began at AppContext, which has no \(key)."
    case .notRegistered: "No \(key) is registered in this tree\(doubt == nil ? "" : " now")."
    case .contextRemoved: "No \(key) is registered \(range), and \(quoted([fullPath.first ?? ""])) has lost its parent."
    case .otherArguments(let wanted, let given):
      "The provider of \(key) wants \(describeArguments(wanted)) and got \(describeArguments(given))."
    case .argumentsNotHashable(let types):
      "The provider of \(key) keeps an instance for each set of arguments, and \(list(types)) cannot be compared."
    case .isolatedElsewhere(let actor):
      "The factory of \(key) belongs to \(actor). This lookup ran elsewhere, and nothing had been made yet."
    case .asynchronous(nil):
      "The factory of \(key) is asynchronous, and no instance is kept. This lookup could not wait."
    case .asynchronous(let failure?):
      "The factory of \(key) is asynchronous, and this lookup could not wait for another try. It \(failure.phrase)"
    case .notSendable: "\(key) was registered as a type that is not Sendable, but this lookup is for a Sendable type."
    case .argumentNotSendable(let type):
      """
      The factory of \(key) may run anywhere and so takes Sendable arguments. This lookup was compiled for arguments \
      that need not be Sendable, and at run time it is not known whether \(describeType(type)) is Sendable.
      """
    case .factoryReturnedNil: "The factory of \(key) returned nil."
    case .failed(let place, let message):
      "\(key) is \(place.registered), but its factory \(place.finding.failure?.phrase ?? "failed: \(oneLine(message))")"
    case .cycle(let path): "\(path.joined(separator: " → ")): each of these is needed to make the one before."
    case .tooDeep(let depth, let size):
      "\(key) is too deep, inside \(depth) others\(size.map { spelled(", for a stack of \($0 >> 10) KiB") } ?? "")."
    case .notConvertible(let made):
      "\(key) is served by the provider of \(describeType(made)), but the instance that it made does not conform to it."
    case .contextClosed(let path):
      "\(key) is not there: nothing is made in the context \(quoted(path)), which is closed or being closed."
    case .noScope(let kind, let present):
      """
      \(key) is made once in each scope\(kind == nil ? "" : " of the kind ")\(kind.map { quoted([$0]) } ?? ""), but \
      there is \(present.isEmpty ? "no scope" : "only ")\
      \(present.reversed().map { quoted([$0]) }.joined(separator: " in ")) around \
      \(fullPath.isEmpty ? "the context that asks" : quoted(fullPath))\
      \(isInFactory ? ", the context of the factory that asks" : "").
      """
    case .scopeIsAbove(let path):
      "\(key) is registered below the scope around, \(quoted(path)), whose instances would outlive that registration."
    case .contextGone: "The context from which \(key) was to be looked up is gone."
    }
  }

  private var describeEquallyNear: String {
    guard let other = equallyNear.first?.context else { return "" }
    return spelled(" Another one is equally near, in \(other): the branch that was added first comes first.")
  }

  /// A phrase for the contexts where the lookup looks.
  private var range: String {
    let directions =
      switch search {
      // From a closed context, lookups go on at its former parent.
      case .lineage where fullPath.count > 1 || contexts.contains { $0.fullPath[0] != fullPath[0] }: ", below and above"
      case .lineage, .descendants: " and below"
      case .local: " itself"
      case .ancestors: " and above"
      }
    return spelled("in \(quoted(fullPath))\(directions)")
  }

  private func list(_ types: [String]) -> String { types.map(describeType).joined(separator: ", ") }
  private func spell(_ name: String?) -> String { name.map { spelled("named \"\($0)\"") } ?? "without a name" }
  private func spell(_ names: [String?]) -> String {
    let others = contexts.reduce(0) { $0 + $1.omittedCount }
    return names.map(spell).joined(separator: " and one ") + (others > 0 ? spelled(" and \(others) more") : "")
  }

  // MARK: - The contexts

  /// The first line says where the lookup looks. Then there is a line for each context that is listed, perhaps one that
  /// counts the others, and perhaps one for a place elsewhere.
  var details: [String] {
    guard !fullPath.isEmpty else { return [] }
    let count = contexts.count + omittedCount
    let number: Message = count == 1 ? "one context" : "\(isAbridged ? "the first " : "")\(count) contexts"
    var lines = [spelled("Looked \(range) (.\(search.rawValue)), at \(number.text):")]
    for context in contexts {
      var findings = context.findings.map { $0.listed(for: key) }
      if context.omittedCount > 0 { findings.append(spelled("\(context.omittedCount) more with other names")) }
      let list = findings.isEmpty ? "nothing" : findings.joined(separator: "; ")
      lines.append(spelled("  \(quoted(context.fullPath)): \(list)"))
    }
    // If fewer than `enoughContexts` are listed, the others have nothing.
    if omittedCount > 0 {
      lines.append(spelled("  \(omittedCount) more\(contexts.count < Self.enoughContexts ? ": nothing" : "")"))
    }
    lines += nearestOutside.map { [spelled("Elsewhere, \($0.context): \($0.finding.listed(for: key))")] } ?? []
    return lines
  }

  // MARK: - The parts of sentences

  @inline(never)
  var key: String { describeKey(typeName, name) }
  @inline(never)
  var type: String { describeType(typeName) }
}

extension UDIExplanation.Place {
  fileprivate var context: String { quoted(fullPath) }
  fileprivate var bound: String { spelled("\(context) at \(finding.site)\(finding.attachment)") }
  fileprivate var registered: String { spelled("registered in \(context), at \(finding.site)") }
}
