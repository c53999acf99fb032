/// The lines about contexts in an explanation's description.
extension UDIExplanation {
  /// The first line says where the lookup looks. Then there is a line for each context, and perhaps one for a place
  /// elsewhere.
  var details: [String] {
    guard !fullPath.isEmpty else { return [] }
    let count = contexts.count + emptyCount + omittedCount
    let number = count == 1 ? "one context" : "\(isAbridged ? "the first " : "")\(count) contexts"
    var lines = ["Looked \(direction), in \(number):"]
    for context in contexts {
      let findings = context.findings.map(describe)
      lines.append("  \(quoted(context.fullPath)): \(findings.isEmpty ? "nothing" : findings.joined(separator: "; "))")
    }
    if omittedCount > 0 { lines.append("  \(omittedCount) more that have something") }
    if emptyCount > 0 { lines.append("  \(emptyCount) more: nothing") }
    if let place = nearestOutside { lines.append("Elsewhere, \(place.context): \(describe(place.finding))") }
    return lines
  }

  private var direction: String {
    switch search {
    case .lineage: "from \(start) downwards, breadth-first, then upwards (.lineage)"
    case .descendants: "from \(start) downwards, breadth-first (.descendants)"
    case .local: "in \(start) alone (.local)"
    case .ancestors: "from \(start) upwards (.ancestors)"
    }
  }

  private func describe(_ finding: Finding) -> String {
    let age = finding.deadFor?.inWords
    let what =
      switch finding.kind {
      case .live: "\(finding.object), bound"
      case .dead: "\(finding.object), dead\(age.map { " for \($0)" } ?? ""), bound"
      case .replaced, .withdrawn:
        "\(finding.object), \(finding.end)\(age.map { " \($0) ago" } ?? "") and "
          + "\(finding.isAlive ? "still alive" : "dead by now"), bound"
      case .kept: "\(finding.object), kept by the \(describeProvider(finding)) registered"
      case .provider: "the \(describeProvider(finding)) registered"
      case .override: "\(finding.object), put there by a test,"
      }
    return "\(what)\(finding.key == key ? "" : " as \(finding.key)") at \(finding.site)"
  }

  private func describeProvider(_ finding: Finding) -> String {
    var facts = ["provider (\(finding.lifetime ?? ""))"]
    if !finding.argumentTypes.isEmpty { facts.append("which wants \(spell(arguments: finding.argumentTypes))") }
    if let failure = finding.failure, failure.message == FactoryFailure.nilMessage {
      facts.append("whose factory returned nil \(failure.circumstances)")
    } else if let failure = finding.failure {
      facts.append("whose factory failed \(failure.circumstances) (\(oneLine(failure.message)))")
    }
    return facts.joined(separator: ", ") + (facts.count > 1 ? "," : "")
  }
}

extension UDIExplanation.Place {
  var context: String { quoted(fullPath) }
  var object: String { finding.object }
  var site: String { finding.site }
}

extension UDIExplanation.Finding {
  var key: String { describeKey(typeName, name) }
  var object: String { className ?? "object" }
  var site: String { "\(fileID):\(line)" }
  /// A phrase that says where the object was attached; empty if that is not known.
  var attachment: String {
    guard let attachFileID, let attachLine else { return "" }
    return ", where it was attached at \(attachFileID):\(attachLine),"
  }
  /// Whether this binding was withdrawn or replaced, and by which call.
  var end: String {
    guard let endFileID, let endLine else { return "withdrawn when the context that it was attached to ended" }
    return "\(kind == .withdrawn ? "withdrawn by the bind" : "replaced") at \(endFileID):\(endLine)"
  }
}

extension UDIExplanation.Failure {
  /// The arguments with which the factory failed, and how long ago it did.
  var circumstances: String {
    "\(argumentTypes.isEmpty ? "" : "with (\(argumentTypes.joined(separator: ", "))), ")\(age.inWords) ago"
  }
}

extension Duration {
  fileprivate var inWords: String {
    switch self {
    case ..<Duration.seconds(1): "less than a second"
    case ..<Duration.seconds(120): "\(components.seconds) s"
    case ..<Duration.seconds(7200): "\(components.seconds / 60) min"
    default: "\(components.seconds / 3600) h"
    }
  }
}
