import Foundation
import Observation
import Testing
import TreeModel

@testable import UDI

/// What is bound or provided.
final class Leaf: UDIFinalObject, Sendable {
  let _attachedContext = UDIAttachment()
  let text: String
  init(_ text: String) { self.text = text }
}

/// What a provider makes of other things. `text` says of what.
protocol MadeOf: AnyObject, Sendable {
  var text: String { get }
}

private final class MadeValue: MadeOf {
  let text: String
  let parts: [any Sendable]
  init(_ text: String, _ parts: [any Sendable]) { (self.text, self.parts) = (text, parts) }
}

/// The same under the lifetime `.weak`: the death of any other object is not told before its provider is next asked.
private final class MadeObject: MadeOf, UDIFinalObject {
  let _attachedContext = UDIAttachment()
  let text: String
  let parts: [any Sendable]
  init(_ text: String, _ parts: [any Sendable]) { (self.text, self.parts) = (text, parts) }
}

private struct Missing: Error {}

/// Random changes to a tree with consumers of derived things in many places. After each change, what each consumer was
/// given last is what a fresh lookup finds.
///
/// In the environment, `UDI_SEED` is the first seed, `UDI_ROUNDS` the number of seeds, and `UDI_LIFE` the first letters of
/// the lifetimes; `UDI_RESET=0` leaves out resets.
@MainActor struct DerivedOracleTests {
  static func number(_ name: String, _ standard: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
  }

  @Test("Consumers of derived things have what a lookup finds")
  func random() async throws {
    let first = Self.number("UDI_SEED", 1)
    try await withReporter(UDIReporter { _ in }) {
      for seed in first..<first &+ Self.number("UDI_ROUNDS", 3) {
        let world = try DerivedWorld(seed: seed)
        for step in 0..<150 {
          let change = await world.change()
          let log = { world.log.suffix(25).joined(separator: "\n") }
          try #require(await world.comeToRest(), "seed \(seed), step \(step) keeps consumers busy\n\(log())")
          let mismatch = world.firstMismatch()
          try #require(mismatch == nil, "seed \(seed), step \(step), after \(change)\n\(log())")
        }
        await world.end()
      }
    }
  }
}

@MainActor private final class Drawer: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Followed(named: "d0") var d0: (any MadeOf)?
  @Followed(named: "d1") var d1: (any MadeOf)?
  @Followed(named: "d2") var d2: (any MadeOf)?
  @Followed(named: "d3") var d3: (any MadeOf)?
  let index: Int
  var drawn: String?
  var draws = 0
  init(_ index: Int) { self.index = index }
  var text: String? { [d0, d1, d2, d3].indices.contains(index) ? value?.text : nil }
  private var value: (any MadeOf)? {
    switch index {
    case 0: d0;
    case 1: d1;
    case 2: d2;
    default: d3
    }
  }
  func draw() {
    draws += 1
    drawn = withObservationTracking {
      value?.text
    } onChange: { [weak self] in
      Task { @MainActor in self?.draw() }
    }
  }
}

@MainActor private final class Caller: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  var last: String?
  var calls = 0
  init(_ index: Int, in context: UDIContext) {
    _attachedContextSet(context)
    follow((any MadeOf).self, named: UDIName("d\(index)")) { caller, made in
      caller.last = made?.text
      caller.calls += 1
    }
  }
  private func _attachedContextSet(_ context: UDIContext) { _ = attached(to: context) }
}

@MainActor private final class DerivedWorld {
  private struct Post {
    let context: UDIContext
    let index: Int
    let search: UDISearch?
    let follower: FollowerOf<String?>
  }
  private var random: SplitMix
  private let root = UDIContext(tag: "root")
  private var contexts: [UDIContext]
  private var posts: [Post] = []
  private var drawers: [(UDIContext, Drawer)] = []
  private var callers: [(UDIContext, Int, Caller)] = []
  private var held: [Leaf] = []
  private var closed: Set<ObjectIdentifier> = []
  private var count = 0
  var log: [String] = []

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let scope = try right.makeScope(tag: "scope")
    contexts = [root, left, right, try left.makeChild(tag: "leaf"), scope, try scope.makeChild(tag: "inside")]
    for _ in 0..<8 { addPost() }
    for _ in 0..<4 { addDrawer() }
    for _ in 0..<3 { addCaller() }
  }

  private func addPost() {
    let (context, index) = (pick(open), pick([0, 1, 2, 3]))
    let search = pick([nil, nil, .lineage, .ancestors, .descendants, .local] as [UDISearch?])
    let follower = FollowerOf<String?>()
    if pick([true, false, false]) {
      follower.follow(context.updates(ofAll: (any MadeOf).self, search: search)) { found in
        .some(found.map { "\($0.name.map { "\($0)" } ?? "-"):\($0.dependency.text)" }.joined(separator: " | "))
      }
      posts.append(Post(context: context, index: -1, search: search, follower: follower))
      return
    }
    follower.follow(context.updates(of: (any MadeOf).self, named: UDIName("d\(index)"), search: search)) {
      .some($0?.text)
    }
    posts.append(Post(context: context, index: index, search: search, follower: follower))
  }
  private func addDrawer() {
    let (context, index) = (pick(open), pick([0, 1, 2, 3]))
    let drawer = Drawer(index).attached(to: context)
    drawer.draw()
    drawers.append((context, drawer))
  }
  private func addCaller() {
    let (context, index) = (pick(open), pick([0, 1, 2, 3]))
    callers.append((context, index, Caller(index, in: context)))
  }

  private var open: [UDIContext] { contexts.filter { !closed.contains(ObjectIdentifier($0)) } }
  private func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }
  private func newLabel(_ origin: String) -> String { count += 1; return "\(origin)#\(count)" }

  func comeToRest() async -> Bool { await settle(contexts) }
  func end() async { for post in posts { await post.follower.end() } }

  private func fresh(_ context: UDIContext, _ index: Int, _ search: UDISearch?) -> String? {
    if index >= 0 { return context.link((any MadeOf).self, named: UDIName("d\(index)"), search: search)?.text }
    // The same with names, as `updates(ofAll:)` gives them.
    return context.linkAll((any MadeOf).self, search: search).map(\.text).joined(separator: " | ")
  }

  private func message(_ consumer: String, _ given: String?, _ wanted: String?) -> String {
    "\(consumer): given \(given ?? "nil"), found \(wanted ?? "nil")"
  }

  func firstMismatch() -> String? {
    for post in posts where !closed.contains(ObjectIdentifier(post.context)) {
      let wanted = fresh(post.context, post.index, post.search)
      guard let last = post.follower.seen.last else { return "no element" }
      var given = last
      if post.index < 0 {
        given = given?.split(separator: "|").map {
          $0.trimmingCharacters(in: .whitespaces).split(separator: ":", maxSplits: 1)[1]
        }.joined(separator: " | ")
      }
      if given != wanted {
        let search = post.search.map { "\($0)" } ?? "-"
        return message("updates d\(post.index) from \(post.context), \(search)", given, wanted)
      }
    }
    for (context, drawer) in drawers where !closed.contains(ObjectIdentifier(context)) {
      let wanted = fresh(context, drawer.index, nil)
      if drawer.drawn != wanted { return message("drawer d\(drawer.index) in \(context)", drawer.drawn, wanted) }
    }
    for (context, index, caller) in callers where !closed.contains(ObjectIdentifier(context)) {
      let wanted = fresh(context, index, nil)
      if caller.last != wanted { return message("caller d\(index) in \(context)", caller.last, wanted) }
    }
    return nil
  }

  func change() async -> String {
    let text = await changeOne()
    log.append(text)
    return text
  }

  private func name(_ index: Int) -> UDIName? { index == 0 ? nil : UDIName("l\(index)") }

  private func changeOne() async -> String {
    let context = pick(open)
    let leaf = pick([0, 1, 2])
    switch Int.random(in: 0..<24, using: &random) {
    case 0, 1, 2, 3:
      let new = Leaf(newLabel("L\(leaf)"))
      held.append(new)
      context.bind(new, as: Leaf.self, named: name(leaf))
      return "bound \(new.text) in \(context)"
    case 4, 5:
      guard !held.isEmpty else { return "nothing" }
      let gone = held.remove(at: Int.random(in: held.indices, using: &random))
      return "dropped \(gone.text)"
    case 6, 7:
      context.unbind(Leaf.self, named: name(leaf))
      return "unbound L\(leaf) in \(context)"
    case 8, 9:
      let new = Leaf(newLabel("P\(leaf)"))
      context.provide(new, as: Leaf.self, named: name(leaf), replaces: true)
      return "provided \(new.text) in \(context)"
    case 10:
      context.unregister(Leaf.self, named: name(leaf))
      return "unregistered L\(leaf) in \(context)"
    case 11, 12, 13, 14, 15: return register(in: context)
    case 16:
      let index = pick([0, 1, 2, 3])
      context.unregister((any MadeOf).self, named: UDIName("d\(index)"))
      return "unregistered d\(index) in \(context)"
    case 17, 18:
      let child = pick(open)
      do { try context.addChild(child) } catch { return "refused move" }
      return "moved \(child) below \(context)"
    case 19:
      if context !== root { context.removeFromParent() }
      return "removed \(context)"
    case 20:
      guard context !== root, open.count > 4 else { return "nothing" }
      let below = open.filter { $0 === context || isBelow($0, context) }
      guard open.count - below.count >= 2 else { return "nothing" }
      for context in below { closed.insert(ObjectIdentifier(context)) }
      try? await context.close()
      return "closed \(context) and \(below.count - 1) below"
    case 21:
      count += 1
      let new = try? pick([true, false]) ? context.makeScope(tag: "s\(count)") : context.makeChild(tag: "c\(count)")
      if let new { contexts.append(new) }
      if open.count < 9 { addPost(); addDrawer(); addCaller() }
      return "made a child below \(context)"
    case 22 where DerivedOracleTests.number("UDI_RESET", 1) > 0:
      context.reset()
      return "reset \(context)"
    default:
      // A burst.
      var texts: [String] = []
      for _ in 0..<3 {
        let new = Leaf(newLabel("B\(leaf)"))
        held.append(new)
        let context = pick(open)
        context.bind(new, as: Leaf.self, named: name(leaf))
        texts.append("\(new.text) in \(context)")
      }
      return "burst " + texts.joined(separator: ", ")
    }
  }

  private func isBelow(_ one: UDIContext, _ other: UDIContext) -> Bool {
    var next = one.parent
    while let context = next {
      if context === other { return true }
      next = context.parent
    }
    return false
  }

  private enum Need: CustomStringConvertible {
    var description: String {
      switch self {
      case .leaf(let i, let o, let s): "L\(i)\(o ? "?" : "")\(s.map { " \($0)" } ?? "")"
      case .made(let i, let o): "d\(i)\(o ? "?" : "")"
      case .all(let s): "all\(s.map { " \($0)" } ?? "")"
      case .choice(let a, let b, let c): "L\(a) ? L\(b) : L\(c)?"
      case .linked(let i): "link L\(i)"
      }
    }
    case leaf(Int, isOptional: Bool, UDISearch?)
    case made(Int, isOptional: Bool)
    case all(UDISearch?)
    /// If the first is there, the second, else the third.
    case choice(Int, Int, Int)
    case linked(Int)
  }

  private func register(in context: UDIContext) -> String {
    let index = pick([0, 1, 2, 3])
    let allowed = ProcessInfo.processInfo.environment["UDI_LIFE"] ?? "ugcsw"
    let lifetimes = allowed.map { ["u": UDILifetime.unique, "g": .graph, "c": .context, "s": .scope, "w": .weak][$0]! }
    let lifetime = pick(lifetimes)
    let label = newLabel("d\(index)")
    var needs: [Need] = []
    for _ in 0..<pick([1, 1, 2, 3]) {
      let optional = pick([true, false])
      switch pick([0, 1, 2, 3, 4, 5, 6, 7, 8]) {
      case 0, 1: needs.append(.leaf(pick([0, 1, 2]), isOptional: optional, nil))
      case 2:
        needs.append(.leaf(pick([0, 1, 2]), isOptional: optional, pick([.lineage, .descendants, .local, .ancestors])))
      case 3...5 where index > 0:
        needs.append(.made(Int.random(in: 0..<index, using: &random), isOptional: optional))
      case 3...5: needs.append(.leaf(0, isOptional: false, nil))
      case 6: needs.append(.all(pick([nil, .lineage, .descendants, .ancestors])))
      case 7: needs.append(.choice(pick([0, 1, 2]), pick([0, 1, 2]), pick([0, 1, 2])))
      default: needs.append(.linked(pick([0, 1, 2])))
      }
    }
    let chosen = needs
    let make: @Sendable (UDIContext) throws -> any MadeOf = { context in
      var texts: [String] = []
      var parts: [any Sendable] = []
      func name(_ index: Int) -> UDIName? { index == 0 ? nil : UDIName("l\(index)") }
      func add(_ leaf: Leaf?) { texts.append(leaf?.text ?? "nil"); if let leaf { parts.append(leaf) } }
      for need in chosen {
        switch need {
        case .leaf(let index, let isOptional, let search):
          if isOptional {
            add(context.link(Leaf.self, named: name(index), search: search))
          } else {
            add(try context.require(Leaf.self, named: name(index), search: search))
          }
        case .made(let index, let isOptional):
          let name = UDIName("d\(index)")
          let made: (any MadeOf)? =
            isOptional ? context.link((any MadeOf).self, named: name) : try context.require(named: name)
          texts.append(made?.text ?? "nil")
          if let made { parts.append(made) }
        case .all(let search):
          texts.append("[" + context.linkAll(Leaf.self, search: search).map(\.text).joined(separator: ",") + "]")
        case .choice(let first, let second, let third):
          if context.link(Leaf.self, named: name(first)) != nil {
            add(try context.require(Leaf.self, named: name(second)))
          } else {
            add(context.link(Leaf.self, named: name(third)))
          }
        case .linked(let index): add(context.link(Leaf.self, named: name(index)))
        }
      }
      let text = "\(label)(\(texts.joined(separator: ", ")))"
      return lifetime == .weak ? MadeObject(text, parts) : MadeValue(text, parts)
    }
    let name = UDIName("d\(index)")
    context.register((any MadeOf).self, named: name, lifetime: lifetime, replaces: true, isolation: nil) {
      try make($0)
    }
    return "registered \(label) \(lifetime) in \(context): \(chosen)"
  }
}
