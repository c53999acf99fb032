extension UDIEntry: CustomStringConvertible {
  /// The key and the state, on one line: `Shop.Clock: SystemClock`, or `Shop.Store: made, context`.
  public var description: String { state.text }

  private var state: Message {
    switch kind {
    case .live: "\(key): \(object)"
    case .dead, .replaced, .withdrawn: "\(key): \(kind)"
    case .kept, .provider:
      "\(key): \(kind == .kept ? "" : "not ")made, \(lifetime ?? "")\(failure.map { ", factory \($0.phrase)" } ?? "")"
    case .override: "\(key): \(object), put there by a test"
    }
  }

  // MARK: - The parts of sentences

  package var key: String { describeKey(typeName, name) }
  var object: String { className ?? "object" }
  /// The file and the line of the registration.
  package var site: String { spelled("\(fileID):\(line)") }
  /// Whether this is a binding whose object a lookup does not find any more.
  package var isGone: Bool { kind == .dead || kind == .replaced || kind == .withdrawn }

  /// A phrase that says what a context has, for a list.
  ///
  /// - Parameter wanted: The key that the explanation is about. The phrase names the entry's own key only if it is a
  ///   different one.
  func listed(for wanted: String) -> String {
    let age = deadFor.map(inWords)
    let what: Message =
      switch kind {
      case .live: "\(object), bound"
      case .dead: "\(object), dead\(age.map { " for \($0)" } ?? ""), bound"
      case .replaced, .withdrawn:
        "\(object), \(end)\(age.map { " \($0) ago" } ?? "") and \(isAlive ? "still alive" : "dead by now"), bound"
      case .kept: "\(object), kept by the \(provider) registered"
      case .provider: "the \(provider) registered"
      case .override: "\(object), put there by a test,"
      }
    return spelled("\(what.text)\(key == wanted ? "" : " as ")\(key == wanted ? "" : key) at \(site)")
  }

  private var provider: String {
    var facts = argumentTypes.isEmpty ? "" : spelled(", which wants \(describeArguments(argumentTypes))")
    if let failure { facts += spelled(", whose factory \(failure.phrase)") }
    return spelled("provider (\(lifetime ?? ""))\(facts)\(facts.isEmpty ? "" : ",")")
  }

  /// A phrase that says where the object was attached; empty if that is not known.
  var attachment: String {
    guard let attachFileID, let attachLine else { return "" }
    return spelled(", where it was attached at \(attachFileID):\(attachLine),")
  }

  /// A phrase that says whether this binding was withdrawn or replaced, and by which call.
  private var end: String {
    guard let endFileID, let endLine else { return "withdrawn when the context that it was attached to ended" }
    return spelled("\(kind == .withdrawn ? "withdrawn by the bind" : "replaced") at \(endFileID):\(endLine)")
  }
}

extension UDIEntry.Failure {
  /// The message if the factory returned nil. A factory that returned nil is recognised by it.
  static let nilMessage = "it returned nil, and has made nothing since"

  /// How the factory failed: with which arguments, how long ago, and why.
  var phrase: String {
    let ago = age.map { spelled(" \(inWords($0)) ago") } ?? ""
    if message == Self.nilMessage { return spelled("returned nil\(ago)") }
    let arguments = argumentTypes.isEmpty ? "" : spelled(" with (\(argumentTypes.joined(separator: ", ")))")
    return spelled("failed\(arguments)\(ago): \(oneLine(message))")
  }
}

private func inWords(_ time: Duration) -> String {
  let seconds = time.components.seconds
  return switch seconds {
  case ..<1: "less than a second"
  case ..<120: "\(seconds) s"
  case ..<7200: "\(seconds / 60) min"
  default: "\(seconds / 3600) h"
  }
}

/// A phrase for the types of arguments.
func describeArguments(_ types: [String]) -> String {
  types.isEmpty ? "no arguments" : spelled("(\(types.map(describeType).joined(separator: ", ")))")
}
