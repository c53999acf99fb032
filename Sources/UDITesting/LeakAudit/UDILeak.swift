public import UDI
import UDIInspector

/// An object or a context that has outlived an operation during which it was registered, attached or made.
public struct UDILeak: Sendable, Equatable, CustomStringConvertible {
  /// One context that an object was attached to.
  public struct Attachment: Sendable, Hashable {
    /// The tags of the contexts from the root to this one, both included.
    public let fullPath: [String]
    /// Whether the context is also still alive. An object holds the context that it is attached to.
    public let isContextAlive: Bool
    /// The file of the call of `attached(to:)`. If a provider made the object, this is the file of the provider's
    /// registration. Nil if the object was attached by setting `attachedContext`.
    public let fileID: String?
    /// The line of that call, counted from 1; nil if `fileID` is nil.
    public let line: Int?

    fileprivate var place: String {
      guard let fileID, let line else { return quoted(fullPath) }
      return "\(quoted(fullPath)), at \(fileID):\(line)"
    }
  }

  /// The class of the object. If a context has leaked, this is `UDIContext`.
  public let className: String
  /// The registrations of the object, and the contexts that have them, in order; empty if the object was only attached.
  public let registrations: [UDIExplanation.Place]
  /// The contexts that the object was attached to, in order.
  public let attachments: [Attachment]
  /// Whether a context of the attachments or, if there are none, of the registrations is also still alive. If so,
  /// something holds the context, which may be the only reason why the object is still alive.
  public let isContextAlive: Bool
  /// If a context has leaked, the tags of the contexts from the root to this one, both included; otherwise nil.
  public let fullPath: [String]?
  /// If a context has leaked, the providers that are registered in it and below it. A provider whose factory captures
  /// the context keeps the context alive.
  public let providers: [UDIExplanation.Place]
  /// The leak trace: the references that lead from an object that the audit knows to the leaked object, for example
  /// `Coordinator.handlers[2] {captures} → Model`. If an object holds itself, the trace leads from the object back to
  /// itself. Nil if no trace was found.
  ///
  /// The search begins at the contexts of the audited tree, and at all objects that the audit knows. It looks into
  /// stored properties, collections and captures of closures. It does not look into running tasks, global and local
  /// variables, C libraries, or memory that a type reaches through pointers.
  public let trace: String?
  /// The other leaked objects and contexts that this one holds, directly or through others, and that nothing alive is
  /// known to hold. They go when this one goes, so they are not reported separately. Their own `held` is empty, and
  /// they have no trace.
  public let held: [UDILeak]
  /// Whether tasks that began during the audit have not ended. They hold the context that was made for the audit, and
  /// perhaps also the leaked object or context. Always false if the audit used the test's own context.
  public let areTasksRunning: Bool

  /// A description of the leak: what leaked, where it was registered, attached or made, what holds it, and what it
  /// holds.
  public var description: String {
    let text = fullPath.map(describeContext) ?? describeObject()
    return held.isEmpty ? text : "\(text)\(text.hasSuffix(".") ? "" : ".") \(describeHeld())"
  }

  /// A sentence that counts what the leak holds, by class.
  private func describeHeld() -> String {
    let counts = held.reduce(into: [:]) { $0[$1.className, default: 0] += 1 }
    let classes = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
    let shown = classes.prefix(5) + (classes.count > 5 ? ["and others"] : [])
    let number = held.count == 1 ? "another object" : "\(held.count) other objects"
    return "It keeps \(number) alive: \(shown.joined(separator: ", "))."
  }

  private func describeObject() -> String {
    // The object holds the context that it is attached to, and not one in which it is only bound.
    let others = attachments.filter { attachment in !registrations.contains { $0.fullPath == attachment.fullPath } }
    let registered = registrations.map(\.description).joined(separator: "; as ")
    let attached = others.map(\.place).joined(separator: "; to ")
    let places = [("registered as ", registered), ("attached to ", attached)].filter { !$1.isEmpty }.map(+)
    var text = "Still alive: the \(className) that was \(places.joined(separator: "; and ")). "
    if isContextAlive {
      let last = others.last?.fullPath ?? registrations.last?.fullPath
      let alive = attachments.last(where: \.isContextAlive)?.fullPath ?? last
      text += alive == last ? "So is that context. " : "So is the context \(alive.map(quoted) ?? ""). "
    }
    return text + describeHolder(isContextAlive ? "one of them" : "it")
  }

  private func describeHolder(_ held: String) -> String {
    if let trace { return "It is held: \(trace)" }
    let others = "a global or local variable, a C library, or an object that is not in the tree."
    if areTasksRunning {
      return "Who holds \(held)? Perhaps a task that began during the audit and has not ended; or else \(others)"
    }
    return "Who holds \(held)? Nothing that the audit knows does: perhaps a task, \(others)"
  }

  private func describeContext(_ path: [String]) -> String {
    let start = "The context \(quoted(path)) is still alive."
    if let trace {
      let isCaptured = trace.contains(" {provider of ") && trace.contains("} {captures}")
      let advice = isCaptured ? ". Use the context that the factory is given." : ""
      return "\(start) It is held: \(trace)\(advice)"
    }
    if providers.isEmpty || areTasksRunning { return "\(start) \(describeHolder("it"))" }
    let places = providers.prefix(5).map { "of \($0)" }
    let more = providers.count > places.count ? ["one of \(providers.count - places.count) others"] : []
    return """
      \(start) Its own provider \((places + more).joined(separator: ", or ")), may hold it: \
      use the context that the factory is given.
      """
  }

  /// - Parameters:
  ///   - subject: An object or a context that an audit reports.
  ///   - trace: The leak trace, if one was found.
  ///   - held: What else has leaked, and is held by the subject.
  init(_ subject: BindingAudit.Subject, trace: String? = nil, held: [UDILeak] = []) {
    self.trace = trace
    self.held = held
    areTasksRunning = subject.areTasksRunning
    className = "\(subject.objectType)"
    registrations = unique(
      subject.notes.compactMap { note in note.entry.map { .init(fullPath: note.path, finding: $0) } })
    attachments = unique(
      subject.notes.filter { $0.entry == nil }.map { note in
        Attachment(
          fullPath: note.path, isContextAlive: note.isContextAlive, fileID: note.site?.fileID, line: note.site?.line)
      })
    let isAttached = !attachments.isEmpty
    isContextAlive = subject.notes.contains { $0.isContextAlive && ($0.entry == nil) == isAttached }
    fullPath = subject.fullPath
    providers = subject.providers
  }
}

/// The elements without repetitions, in order.
func unique<Element: Equatable>(_ elements: [Element]) -> [Element] {
  elements.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}
