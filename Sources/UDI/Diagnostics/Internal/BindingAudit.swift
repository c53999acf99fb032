import Synchronization

/// What is registered while it goes on, to see afterwards what has outlived it: what `UDITesting` finds leaks with.
///
/// It notes what is bound, and what contexts come to own, in one tree; and, wherever that is, in one task and those that it starts.
package final class BindingAudit: Sendable {
  /// An object that outlived the audit, and all that it was registered as.
  package struct Survivor: Sendable {
    package let objectType: Any.Type
    package let registrations: [Registration]
  }

  /// One registration of it.
  package struct Registration: Sendable {
    package let typeName: String
    package let name: String?
    package let path: [String]
    /// Whether the context is alive, too.
    package let isContextAlive: Bool
    package let fileID: String
    package let line: Int
  }

  private struct Note {
    weak var object: AnyObject?
    weak var context: UDIContext?
    let key: KeyIdentity
    let path: [String]
    let site: CallSite
  }

  /// Guarded by the tree lock.
  private nonisolated(unsafe) var notes: [Note] = []
  /// Guarded by the tree lock: the last note of each object.
  private nonisolated(unsafe) var latest: [ObjectIdentifier: Int] = [:]
  /// Guarded by the tree lock: the root of the tree, as long as the audit goes on.
  private nonisolated(unsafe) var root: Node?
  /// Guarded by the tree lock: with how many notes the dead ones are next let go of.
  private nonisolated(unsafe) var nextSweep = 64

  /// The audit of the task.
  @TaskLocal private static var ofTask: BindingAudit?
  /// How many audits go on, so that where there are none nobody is asked.
  private static let count = Atomic<Int>(0)
  /// Guarded by the tree lock: those that go on.
  @exclusivity(unchecked) private nonisolated(unsafe) static var all: [BindingAudit] = []

  package init() {}

  /// Audits an operation.
  ///
  /// - Parameters:
  ///   - root: The root of the tree to watch, which whoever calls keeps for the time of the operation.
  ///   - operation: What to run.
  nonisolated(nonsending) package func watch<Result>(
    _ root: UDIContext, operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    begin(root)
    defer { end() }
    return try await Self.$ofTask.withValue(self) { try await operation() }
  }

  /// The same for an operation that is not asynchronous.
  package func watch<Result>(_ root: UDIContext, operation: () throws -> Result) rethrows -> Result {
    begin(root)
    defer { end() }
    return try Self.$ofTask.withValue(self) { try operation() }
  }

  private func begin(_ context: UDIContext) {
    context.change { node, _ in
      unsafe root = node
      unsafe Self.all.append(self)
    }
    Self.count.add(1, ordering: .sequentiallyConsistent)
  }

  private func end() {
    Self.count.subtract(1, ordering: .sequentiallyConsistent)
    Tree.change { _ in
      unsafe root = nil
      unsafe Self.all.removeAll { $0 === self }
    }
  }
}

// MARK: - The outcome

extension BindingAudit {
  /// How many objects are alive of those that were registered.
  ///
  /// - Parameter isIgnored: Which of them do not count.
  package func countOfSurvivors(_ isIgnored: (AnyObject) -> Bool) -> Int {
    var seen: Set<ObjectIdentifier> = []
    for (object, _) in alive() where !isIgnored(object) { seen.insert(ObjectIdentifier(object)) }
    return seen.count
  }

  /// What is alive of what was registered, in that order.
  ///
  /// - Parameter isIgnored: Which objects do not count.
  package func survivors(_ isIgnored: (AnyObject) -> Bool) -> [Survivor] {
    let alive = alive()
    var order: [ObjectIdentifier] = []
    var found: [ObjectIdentifier: (type: Any.Type, registrations: [Registration])] = [:]
    for (object, note) in alive where !isIgnored(object) {
      let id = ObjectIdentifier(object)
      if found[id] == nil { order.append(id) }
      found[id, default: (type(of: object), [])].registrations.append(
        Registration(
          typeName: note.key.type.name, name: note.key.name?.description, path: note.path,
          isContextAlive: note.context != nil, fileID: note.site.fileID, line: note.site.line))
    }
    return order.compactMap { id in found[id].map { Survivor(objectType: $0.type, registrations: $0.registrations) } }
  }

  private func alive() -> [(AnyObject, Note)] {
    Tree.change { _ in unsafe notes.compactMap { note in note.object.map { ($0, note) } } }
  }
}

// MARK: - In the tree. Everything here runs under the tree lock

extension BindingAudit {
  @inline(__always)
  static func note(_ object: @autoclosure () -> AnyObject?, _ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    guard count.load(ordering: .relaxed) > 0, let object = object() else { return }
    noteForAll(object, entry, node, &garbage)
    garbage.add(object)
  }

  @inline(never)
  private static func noteForAll(_ object: AnyObject, _ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    let own = ofTask
    var root = node
    while let parent = root.parent { root = parent }
    for audit in unsafe all where unsafe audit === own || audit.root == root {
      audit.add(object, entry, node, &garbage)
    }
  }

  private func add(_ object: AnyObject, _ entry: Entry, _ node: Node, _ garbage: inout Garbage) {
    let context = node.context
    if let context { garbage.add(context) }
    let id = ObjectIdentifier(object)
    if let index = unsafe latest[id] {
      // What is loaded from weak references may be the last one, and so leaves the lock.
      let (earlier, place) = unsafe (notes[index].object, notes[index].context)
      Schedule.reached(.loadedToLook)
      if let earlier { garbage.add(earlier) }
      if let place { garbage.add(place) }
      if earlier === object, unsafe notes[index].key === entry.key, place === context, context != nil { return }
    }
    unsafe latest[id] = notes.count
    unsafe notes.append(
      Note(object: object, context: context, key: entry.key, path: node.fullPath, site: entry.site))
    if unsafe notes.count >= nextSweep { sweep(&garbage) }
  }

  /// Lets go of notes of objects that have died.
  private func sweep(_ garbage: inout Garbage) {
    unsafe notes = notes.filter { note in
      guard let object = note.object else {
        // A key's last reference runs the `deinit` of its name.
        garbage.add(note.key)
        return false
      }
      Schedule.reached(.loadedToLook)
      garbage.add(object)
      return true
    }
    unsafe latest = [:]
    for (index, note) in unsafe notes.enumerated() {
      // The garbage holds the objects, since they were looked at above.
      guard let object = note.object else { continue }
      unsafe latest[ObjectIdentifier(object)] = index
    }
    unsafe nextSweep = max(64, notes.count * 2)
  }
}
