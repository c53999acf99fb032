import Synchronization
import UDI
import UDIInspector

protocol Service: AnyObject, Sendable {}
protocol Part: AnyObject, Sendable {}

/// How many objects are alive. A leak checker considers everything reachable that a table of the library still leads
/// to.
let alive = Atomic<Int>(0)

final class Plain: Part {
  init() { alive.add(1, ordering: .relaxed) }
  deinit { alive.subtract(1, ordering: .relaxed) }
}

/// Binds itself, and the object that it holds.
final class Member: UDIObject, Service {
  let _attachedContext = UDIAttachment()
  let part = Plain()
  init() { alive.add(1, ordering: .relaxed) }
  deinit { alive.subtract(1, ordering: .relaxed) }
  func didAttachContext() {
    bind(self, as: (any Service).self)
    bind(part, as: (any Part).self, named: "part")
  }
}

/// Makes and drops very many contexts, objects and instances. `.ci/leaks` runs it under a leak checker.
@main
struct Churn {
  static func main() async throws {
    let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
    let threads = 2
    await withTaskGroup { group in
      for thread in 0..<threads { group.addTask { await churn(count / threads, "\(thread)") } }
    }
    print("made and dropped \(count) contexts, with their objects")
    guard AppContext.snapshot().contexts.count == 1 else { fatalError("something is left:\n\(AppContext.snapshot())") }
    // The task of the last closing may end a moment later.
    for _ in 0..<10_000 where alive.load(ordering: .sequentiallyConsistent) > 0 { await Task.yield() }
    let left = alive.load(ordering: .sequentiallyConsistent)
    guard left == 0, contexts.count == 0 else { fatalError("\(left) objects are left, and \(contexts.count) contexts") }
  }

  private static func churn(_ count: Int, _ thread: String) async {
    let root = UDIContext(tag: thread)
    defer { root.removeFromParent() }
    for index in 0..<count {
      guard let context = try? (index % 100 == 0 ? AppContext : root).makeChild(tag: "\(thread) \(index)") else {
        fatalError("a tag twice")
      }
      let member = Member().attached(to: context)
      contexts.watch(context)
      context.register((any Part).self, lifetime: index % 2 == 0 ? .context : .graph) { Plain() }
      guard root.link((any Service).self) != nil || index % 100 == 0, context.link((any Part).self) != nil,
        member.linkInLine((any Part).self, named: "part") === member.part
      else { fatalError("context \(index) has lost something") }
      if index % 1000 == 0 {
        _ = root.explain((any Missing).self)
        _ = root.snapshot().text()
      }
      // Some contexts move before they go, and some go together with what is below them.
      if index % 3 == 0 { try? root.addChild(context) }
      if index % 5 == 0 { _ = try? context.makeChild(tag: "below") }
      if index % 4 == 0 {
        context.provide(Plain()).onClose { _ in }
        try? await context.close(because: Plain())
      } else {
        context.removeFromParent()
      }
    }
  }
}

protocol Missing {}

/// Contexts that should be gone.
let contexts = Observed()

final class Observed: Sendable {
  private struct Reference: Sendable {
    weak let context: UDIContext?
  }
  private let references = Mutex<[Reference]>([])
  var count: Int { references.withLock { $0.count { $0.context != nil } } }
  func watch(_ context: UDIContext) { references.withLock { $0.append(Reference(context: context)) } }
}
