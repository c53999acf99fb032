/// Why `require` found nothing, or why what it found could not be made.
///
/// The first line of the description says what is missing and for whom. The chain follows, then what to do, and what
/// each context had.
public struct UDILinkError: Error, Sendable, Hashable {
  /// What was missing, where it was looked for, and what went wrong.
  public let explanation: UDIExplanation

  /// The steps from the one who asked to the missing dependency, which is the last step. Each step needs the next one.
  ///
  /// The steps in between are providers. The factory of each of them asked for the next step, and passed the error on.
  public let chain: [Step]

  /// The position of the dependency among the parameters of the initialiser that asked for it. It is kept here until
  /// the initialiser's provider adds its step to the chain.
  let parameter: Int?

  init(explanation: UDIExplanation, chain: [Step], parameter: Int? = nil) {
    self.explanation = explanation
    self.chain = chain
    self.parameter = parameter
  }

  /// What went wrong.
  public var cause: UDIExplanation.Cause { explanation.cause }

  /// One step of the chain from the one who asked to the missing dependency.
  public struct Step: Sendable, Hashable, Codable {
    /// The kinds of steps.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable {
      /// An object whose verb was called, or one of whose properties is a dependency.
      case object
      /// A provider whose factory asked for the next step.
      case provider
      /// The missing dependency, which was asked for last.
      case missing
    }

    /// What this step is.
    public let kind: Kind
    /// The class of the object, or the requested type, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the dependency's name; nil if it has none.
    public let name: String?
    /// The property through which the object asked. It is known only in debug builds, for properties that are declared
    /// with ``Required``.
    public let property: String?
    /// If this step is a provider that was registered with an initialiser: the position of the next step among the
    /// initialiser's parameters, counted from 1. Nil for all other steps.
    public let parameter: Int?
    /// The file, as `#fileID` gives it, of the call or declaration by which an object asks, or of the registration of a
    /// provider or of the missing dependency. Nil if the dependency is registered nowhere.
    public let fileID: String?
    /// The line of that call, declaration or registration, counted from 1.
    public let line: Int?
  }
}

extension UDILinkError.Step: CustomStringConvertible {
  /// What this step is, and where: `Shop.Store (Shop/Wiring.swift:12)`.
  public var description: String {
    let label = label + (parameter.map { ", parameter \($0)" } ?? "")
    guard let fileID, let line else { return label }
    return "\(label) (\(fileID):\(line))"
  }

  /// What this step is.
  fileprivate var label: String {
    property.map { "\(typeName).\($0)" } ?? describeKey(typeName, name)
  }
}

extension UDILinkError: CustomStringConvertible {
  /// What is missing and for whom, on the first line; then the chain, the advice, and what each context had.
  public var description: String {
    ([summary, way, explanation.advice].compactMap(\.self) + explanation.details).joined(separator: "\n")
  }

  /// What is missing and for whom, in one line.
  var summary: String {
    [explanation.decision, demand, explanation.doubt].compactMap(\.self).joined(separator: " ")
  }

  /// The summary, the chain and the advice on a single line.
  var message: String {
    [summary, way.map { "\($0)." }, explanation.advice].compactMap(\.self).joined(separator: " ")
  }

  /// The maximum number of objects and providers that are named as needing the dependency, the nearest first.
  private static var namedOneByOne: Int { 4 }
  /// The number of steps that are shown at each end of a chain that is too long to be shown completely.
  private static var shownAtEachEnd: Int { 8 }

  /// Who needs the dependency.
  private var demand: String? {
    switch cause {
    // In these cases, the cause already says who needs the dependency.
    case .cycle: return nil
    case .unattached where chain.count == 2: return nil
    default: break
    }
    let askers = chain.dropLast().reversed()
    guard let first = askers.first else { return nil }
    let nearest = "\(first.label) needs it" + (first.parameter.map { " as parameter \($0) of its initialiser" } ?? "")
    let others = askers.dropFirst().map(\.label)
    if others.isEmpty { return "\(nearest)." }
    var ends = others.prefix(Self.namedOneByOne - 1).map { "for \($0)" }
    if others.count > ends.count, let outermost = others.last { ends[ends.count - 1] = "and so on up to \(outermost)" }
    return "\(nearest), \(ends.joined(separator: ", "))."
  }

  /// The chain in one line; nil if it is not known who asked.
  private var way: String? {
    guard chain.count > 1 else { return nil }
    let steps = chain.map(\.description)
    let omitted = steps.count - 2 * Self.shownAtEachEnd
    guard omitted > 1 else { return steps.joined(separator: " → ") }
    let shown = steps.prefix(Self.shownAtEachEnd) + ["… \(omitted) more …"] + steps.suffix(Self.shownAtEachEnd)
    return shown.joined(separator: " → ")
  }
}
