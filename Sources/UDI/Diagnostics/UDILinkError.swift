/// Why `require` found nothing, or why what it found could not be made.
///
/// The first line of its description says what is missing and for whom. Then come the way from who asked to what is missing, what to do, and
/// what each context had.
public struct UDILinkError: Error, Sendable, Hashable {
  /// What was missing, where it was looked for, and what was the matter.
  public let explanation: UDIExplanation

  /// The way from who asked to what is missing, which is the last step. Each step needs the next one.
  ///
  /// In between are the providers whose factories asked in turn, and passed the error on.
  public let chain: [Step]

  /// The place of what was asked for among the parameters of an initialiser, until the provider of that adds its step.
  let parameter: Int?

  init(explanation: UDIExplanation, chain: [Step], parameter: Int? = nil) {
    self.explanation = explanation
    self.chain = chain
    self.parameter = parameter
  }

  /// What was the matter.
  public var cause: UDIExplanation.Cause { explanation.cause }

  /// One step of the way from who asked to what is missing.
  public struct Step: Sendable, Hashable, Codable {
    /// What a step is.
    @nonexhaustive
    public enum Kind: String, Sendable, Hashable, Codable {
      /// An object whose verb was called, or one of whose properties is a dependency.
      case object
      /// A provider whose factory asked for the next step.
      case provider
      /// What was asked for last, and is missing.
      case missing
    }

    /// What it is.
    public let kind: Kind
    /// The class of the object, or the type that was asked for, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name that was asked for, if any, as its description.
    public let name: String?
    /// The object's property that asked. Known of those declared with ``Required``, in debug builds.
    public let property: String?
    /// The place of the next step among the parameters of the initialiser that the provider was registered with, from 1. Nil for all others.
    public let parameter: Int?
    /// The file of the call or declaration by which the object asks, or of the provider's registration, as `#fileID` gives it. Nil for what is
    /// registered nowhere.
    public let fileID: String?
    /// The line of that, from 1.
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
  /// What is missing and for whom, on the first line; the way there; what to do; and what each context had.
  public var description: String {
    ([summary, way, explanation.advice].compactMap(\.self) + explanation.details).joined(separator: "\n")
  }

  /// What is missing and for whom, in a line.
  var summary: String {
    [explanation.decision, demand, explanation.doubt].compactMap(\.self).joined(separator: " ")
  }

  /// The same with the way there and what to do, for a message that is a single line.
  var message: String {
    [summary, way.map { "\($0)." }, explanation.advice].compactMap(\.self).joined(separator: " ")
  }

  /// So many of those who need it are named one by one, the nearest first.
  private static var namedOneByOne: Int { 4 }
  /// So many steps are shown of a longer way at its beginning, and as many at its end.
  private static var shownAtEachEnd: Int { 8 }

  /// For whom it is needed.
  private var demand: String? {
    switch cause {
    // They say it themselves.
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

  /// The way there, in a line; nil where nobody is known who asked.
  private var way: String? {
    guard chain.count > 1 else { return nil }
    let steps = chain.map(\.description)
    let omitted = steps.count - 2 * Self.shownAtEachEnd
    guard omitted > 1 else { return steps.joined(separator: " → ") }
    let shown = steps.prefix(Self.shownAtEachEnd) + ["… \(omitted) more …"] + steps.suffix(Self.shownAtEachEnd)
    return shown.joined(separator: " → ")
  }
}
