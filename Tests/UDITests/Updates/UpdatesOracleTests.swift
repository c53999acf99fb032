import Foundation
import Testing
import TreeModel
import UDI

/// Random changes to a tree with consumers in many places. After each change, every consumer must have been given what
/// a lookup that makes nothing finds.
///
/// All of it runs on the main actor, see `FeedbackTests`. `UDI_SEED` sets another first seed.
@MainActor struct UpdatesOracleTests {
  @Test("Consumers have what a lookup finds, and nobody keeps them busy")
  func random() async throws {
    let first = ProcessInfo.processInfo.environment["UDI_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first &+ 12 {
      let world = try World(seed: seed)
      for step in 0..<150 {
        let change = world.change()
        try #require(await world.comeToRest(), "seed \(seed), step \(step): \(change) keeps consumers busy")
        try #require(world.firstMismatch() == nil, "seed \(seed), step \(step), after \(change)")
      }
      await world.end()
    }
  }
}

/// A tree, what is in it, and the consumers that follow it.
@MainActor private final class World {
  private struct Post {
    let context: UDIContext
    let search: UDISearch
    let isOther: Bool
    let follower: Follower
  }

  private var random: SplitMix
  private let root = UDIContext(tag: "root")
  private let contexts: [UDIContext]
  private var posts: [Post] = []
  private var held: [any Service & Other] = []
  private var count = 0

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let scope = try right.makeScope(tag: "scope")
    contexts = [root, left, right, try left.makeChild(tag: "leaf"), scope, try scope.makeChild(tag: "inside")]
    for _ in 0..<10 {
      let (context, search) = (pick(contexts), pick(UDISearch.allCases))
      let (isOther, holds) = (pick([true, false]), pick([true, false, false]))
      let follower =
        isOther
        ? Follower(context.updates(of: (any Other).self, search: search), holds: holds)
        : Follower(context.updates(of: (any Service).self, search: search), holds: holds)
      posts.append(Post(context: context, search: search, isOther: isOther, follower: follower))
    }
  }

  private func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }

  private func newLabel(_ origin: String) -> String {
    count += 1
    return "\(origin) \(count)"
  }

  func comeToRest() async -> Bool { await settle(contexts) }

  func end() async { for post in posts { await post.follower.end() } }

  /// A consumer that was not given what a lookup finds.
  func firstMismatch() -> String? {
    for post in posts {
      let (context, search) = (post.context, post.search)
      let explanation =
        post.isOther
        ? context.explain((any Other).self, search: search) : context.explain((any Service).self, search: search)
      let (last, label) = (post.follower.last, post.follower.seen.last ?? "no element")
      let isRight: Bool
      if case .found(let place) = explanation.cause {
        if place.finding.kind == .provider {
          // A lookup would make an instance, so the last element must be one that was made. An object bound by hand
          // would be from before the change.
          isRight = label.map { $0.hasPrefix("made") || $0.hasPrefix("helper") } ?? false
        } else {
          let found: (any AnyObject)? =
            post.isOther
            ? context.link((any Other).self, search: search) : context.link((any Service).self, search: search)
          isRight = found === last
        }
      } else {
        isRight = label == nil
      }
      if !isRight {
        return "\(search) from \(context), \(post.isOther ? "Other" : "Service"): \(label as Any)\n\(explanation)"
      }
    }
    return nil
  }

  /// Changes something.
  ///
  /// - Returns: A description of the change.
  func change() -> String {
    let context = pick(contexts)
    let isOther = pick([true, false])
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1, 2:
      let member = Member(newLabel("by hand"))
      held.append(member)
      bind(member, in: context, isOther)
      return "bound in \(context)"
    case 3, 4:
      if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &random)) }
      return "dropped"
    case 5:
      if isOther { context.unbind((any Other).self) } else { context.unbind((any Service).self) }
      return "unbound in \(context)"
    case 6, 7: return "registered in \(context): \(register(in: context, isOther))"
    case 8:
      if isOther { context.unregister((any Other).self) } else { context.unregister((any Service).self) }
      return "unregistered in \(context)"
    case 9:
      context.reset()
      return "reset \(context)"
    case 10:
      try? context.addChild(pick(contexts))
      return "moved below \(context)"
    case 11:
      if context != root { context.removeFromParent() }
      return "removed \(context)"
    case 12:
      let member = Member(newLabel("by hand"))
      held.append(member)
      context.bind(member, as: (any Service).self)
      return "bound in \(context)"
    default:
      for post in posts { post.follower.letGo() }
      return "consumers let go"
    }
  }

  private func bind(_ object: some Service & Other, in context: UDIContext, _ isOther: Bool) {
    if isOther { context.bind(object, as: (any Other).self) } else { context.bind(object, as: (any Service).self) }
  }

  /// Registers a provider whose instances are bound in a given manner.
  private func register(in context: UDIContext, _ isOther: Bool) -> String {
    let lifetime = pick([UDILifetime.unique, .graph, .weak, .context])
    let manner = Int.random(in: 0..<7, using: &random)
    let (label, helperLabel) = (newLabel("made"), newLabel("helper"))
    let makes: @Sendable (UDIContext) -> Member = { context in
      let helper = Member(helperLabel)
      switch manner {
      case 0: return Member(label)
      case 1: return Member(label) { $0.bind($0, as: (any Service).self) }
      case 2: return Member(label) { $0.bind($0, as: (any Other).self) }
      case 3: return Member(label) { $0.bind(helper, as: (any Service).self) }
      case 4: return Member(label) { $0.bind(helper, as: (any Other).self) }
      case 5:
        let member = Member(label)
        context.bind(member, as: (any Other).self)
        return member
      default: return Member(label) { $0.bind($0, as: (any Service).self) }.attached(to: context)
      }
    }
    if isOther {
      context.register((any Other).self, lifetime: lifetime) { makes($0) as any Other }
    } else {
      context.register((any Service).self, lifetime: lifetime) { makes($0) as any Service }
    }
    return "\(lifetime), manner \(manner)"
  }
}
