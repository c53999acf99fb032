/// The reason why a throwing verb, such as `require`, found nothing, or found a dependency that could not be made.
///
/// The first line of the description says what is missing, and what needs it. The chain follows, then advice, and then
/// a line for each context.
public struct UDILinkError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The missing dependency, the place where it was looked up, and the cause.
  public internal(set) var explanation: UDIExplanation

  /// The steps from the asker to the missing dependency, which is the last step. Each step needs the next one.
  ///
  /// The steps between the first and the last are providers, whose factories asked for the next step and passed the
  /// error on.
  public internal(set) var chain: [Step]

  /// The position of the dependency among the parameters of the initialiser that asked for it. It is stored here until
  /// the initialiser's provider adds its own step to the chain.
  var parameter: Int?

  /// The reason why the dependency is missing.
  public var cause: UDIExplanation.Cause { explanation.cause }

  /// One step of the chain from the asker to the missing dependency.
  public struct Step: Sendable, Equatable, CustomStringConvertible {
    /// Whether this is a provider whose factory asked for the next step. If not, it is an object whose verb was called,
    /// or one of whose properties is a dependency; or the missing dependency, which comes last.
    package let isProvider: Bool
    /// The class of the object, or the requested type, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The description of the dependency's name; nil if it has none.
    public let name: String?
    /// The property through which the object asked. Known only in debug builds, and only for properties that are
    /// declared with ``Required``.
    package internal(set) var property: String?
    /// If this step is a provider that was registered with an initialiser, the position of the next step among the
    /// initialiser's parameters, counted from 1. Nil for all other steps.
    package internal(set) var parameter: Int?
    /// The file, in the form of `#fileID`. For an object, this is the file of the call or declaration by which it asks.
    /// For a provider or the missing dependency, it is the file of the call that registered it. Nil if the dependency
    /// is not registered.
    public let fileID: String?
    /// The line of this call or declaration, counted from 1.
    public let line: Int?

    /// The step with its file and line: `Shop.Store (Shop/Wiring.swift:12)`.
    public var description: String {
      let label = label + (parameter.map { spelled(", parameter \($0)") } ?? "")
      guard let fileID, let line else { return label }
      return spelled("\(label) (\(fileID):\(line))")
    }

    /// The step without its file and line.
    fileprivate var label: String {
      property.map { spelled("\(describeType(typeName)).\($0)") } ?? describeKey(typeName, name)
    }
  }

  // MARK: - Description

  /// What is missing and what needs it, on the first line; then the chain, the advice, and a line for each context.
  public var description: String {
    ([summary, way, advice].compactMap(\.self) + explanation.details).joined(separator: "\n")
  }

  /// What is missing and who needs it, in one line.
  var summary: String { [explanation.decision, demand, explanation.doubt].compactMap(\.self).joined(separator: " ") }

  /// The summary, the chain and the advice on a single line.
  var message: String { [summary, way.map { $0 + "." }, advice].compactMap(\.self).joined(separator: " ") }

  /// How many objects and providers are named as needing the dependency, beginning with the nearest.
  private static var namedOneByOne: Int { 4 }
  /// How many steps are shown at each end of a long chain.
  private static var shownAtEachEnd: Int { 8 }

  /// A sentence that says who needs the dependency.
  private var demand: String? {
    // In these cases, the cause already says who needs the dependency.
    if case .cycle = cause { return nil }
    if case .unattached = cause, chain.count == 2 { return nil }
    guard let asker = chain.dropLast().last else { return nil }
    let parameter = asker.parameter.map { spelled(" as parameter \($0) of its initialiser") } ?? ""
    var others = chain.dropLast(2).suffix(Self.namedOneByOne).reversed().map { spelled(", for \($0.label)") }
    if others.count >= Self.namedOneByOne {
      others[(Self.namedOneByOne - 2)...] = [spelled(", and so on up to \(chain[0].label)")]
    }
    return spelled("\(asker.label) needs it\(parameter)\(others.joined()).")
  }

  /// The chain in one line; nil if the asker is not known.
  private var way: String? {
    guard chain.count > 1 else { return nil }
    var steps = chain.map(\.description)
    let omitted = steps.dropFirst(Self.shownAtEachEnd).dropLast(Self.shownAtEachEnd).indices
    if omitted.count > 1 { steps[omitted] = [spelled("… \(omitted.count) more …")] }
    return steps.joined(separator: " → ")
  }
}
