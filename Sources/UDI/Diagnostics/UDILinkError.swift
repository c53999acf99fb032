/// Why `require` found nothing, or why what it found could not be made.
///
/// The first line of its description says what is missing and for whom. Then come the chain from the one who asked to
/// what is missing, what to do, and what each context had.
public struct UDILinkError: Error, Sendable, Hashable {
  /// What was missing, where it was looked for, and what went wrong.
  public let explanation: UDIExplanation

  /// The chain from the one who asked to what is missing, which is the last step. Each step needs the next one.
  ///
  /// In between are the providers whose factories asked in turn and passed the error on.
  public let chain: [Step]

  /// The position of the dependency among the parameters of an initialiser, until the initialiser's provider adds its
  /// step.
  let parameter: Int?

  init(explanation: UDIExplanation, chain: [Step], parameter: Int? = nil) {
    self.explanation = explanation
    self.chain = chain
    self.parameter = parameter
  }

  /// What went wrong.
  public var cause: UDIExplanation.Cause { explanation.cause }

  /// One step of the chain from the one who asked to what is missing.
  public struct Step: Sendable, Hashable, Codable {
    /// What a step is.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable {
      /// An object whose verb was called, or one of whose properties is a dependency.
      case object
      /// A provider whose factory asked for the next step.
      case provider
      /// The dependency that was asked for last, and is missing.
      case missing
    }

    /// What it is.
    public let kind: Kind
    /// The class of the object, or the requested type, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The requested name, if any, as its description.
    public let name: String?
    /// The object's property that asked. It is known for properties that are declared with ``Required``, in debug
    /// builds.
    public let property: String?
    /// The position of the next step among the parameters of the initialiser that the provider was registered with,
    /// from 1. Nil for all other steps.
    public let parameter: Int?
    /// The file of the call or declaration by which the object asks, or of the provider's registration, as `#fileID`
    /// gives it. Nil if the dependency is registered nowhere.
    public let fileID: String?
    /// The line of that call, declaration or registration, from 1.
    public let line: Int?
  }
}

extension UDILinkError.Step: CustomStringConvertible {
  /// What it is and where: `Shop.Store (Shop/Wiring.swift:12)`.
  public var description: String {
    let label = label + (parameter.map { ", parameter \($0)" } ?? "")
    guard let fileID, let line else { return label }
    return "\(label) (\(fileID):\(line))"
  }

  /// What it is.
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

  /// The same with the chain and the advice, for a message on a single line.
  var message: String {
    [summary, way.map { "\($0)." }, explanation.advice].compactMap(\.self).joined(separator: " ")
  }

  /// This many of those who need the dependency are named one by one, the nearest first.
  private static var namedOneByOne: Int { 4 }
  /// Of a longer chain, this many steps are shown at its beginning, and as many at its end.
  private static var shownAtEachEnd: Int { 8 }

  /// Who needs the dependency.
  private var demand: String? {
    switch cause {
    // These causes already say it.
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

  /// The chain, in one line; nil if nobody is known who asked.
  private var way: String? {
    guard chain.count > 1 else { return nil }
    let steps = chain.map(\.description)
    let omitted = steps.count - 2 * Self.shownAtEachEnd
    guard omitted > 1 else { return steps.joined(separator: " → ") }
    let shown = steps.prefix(Self.shownAtEachEnd) + ["… \(omitted) more …"] + steps.suffix(Self.shownAtEachEnd)
    return shown.joined(separator: " → ")
  }
}
