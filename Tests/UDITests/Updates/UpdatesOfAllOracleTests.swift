import Foundation
import Testing
import TreeModel

@testable import UDI

/// Random changes to a tree with consumers of `updates(ofAll:)` in many places. After each change, every consumer must
/// have been given what `linkAll` finds, and never the same twice.
///
/// All of it runs on the main actor. `UDI_SEED` sets another first seed.
@MainActor struct UpdatesOfAllOracleTests {
  @Test("Consumers have what linkAll finds, and are given nothing twice")
  func random() async throws {
    let first = ProcessInfo.processInfo.environment["UDI_SEED"].flatMap { UInt64($0) } ?? 1
    for seed in first..<first &+ 12 {
      let world = try World(seed: seed)
      for step in 0..<150 {
        let change = world.change()
        try #require(await world.comeToRest(), "seed \(seed), step \(step): \(change) keeps consumers busy")
        try #require(world.firstMismatch() == nil, "seed \(seed), step \(step), after: \(change)")
      }
      await world.end()
    }
  }
}

/// A tree, what is in it, and the consumers that follow it.
@MainActor private final class World {
  private struct Post {
    let context: UDIContext
    let search: UDISearch?
    let follower: AllFollower

    var found: [any Module] { context.linkAll((any Module).self, search: search) }
  }

  private static let names: [UDIName?] = [nil, "a", "b"]
  private var random: SplitMix
  private let root = UDIContext(tag: "root")
  private let contexts: [UDIContext]
  private var passing: [UDIContext] = []
  private var posts: [Post] = []
  private var held: [any Module & Other] = []
  private let count = Tally()

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    let (left, right) = (try root.makeChild(tag: "left"), try root.makeChild(tag: "right"))
    let scope = try right.makeScope(tag: "scope")
    contexts = [root, left, right, try left.makeChild(tag: "leaf"), scope, try scope.makeChild(tag: "inside")]
    for _ in 0..<10 {
      let (context, search) = (pick(contexts), pick([nil] + UDISearch.allCases))
      posts.append(
        Post(
          context: context, search: search,
          follower: AllFollower(context.updates(ofAll: (any Module).self, search: search))))
    }
  }

  private func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: choices.indices, using: &random)] }

  private func newLabel() -> String {
    count.add()
    return "\(count.count)"
  }

  /// Dead objects that take no part in the tree are found when something touches their bindings.
  func comeToRest() async -> Bool {
    for post in posts { _ = post.found }
    return await settle(contexts)
  }

  func end() async { for post in posts { await post.follower.end() } }

  /// A consumer that was not given what it should have been given.
  func firstMismatch() -> String? {
    for post in posts {
      let (found, follower) = (post.found, post.follower)
      let isRight =
        found.count == follower.last.count && zip(found, follower.last).allSatisfy { $0 === $1 }
        && Self.names.allSatisfy { name in
          let named = post.context.link((any Module).self, named: name, search: post.search)
          return zip(follower.names, follower.last).first { $0.0 == name }?.1 === named
        }
      let isGivenTwice = zip(follower.seen, follower.seen.dropFirst()).contains { $0 == $1 }
      if isRight, !isGivenTwice { continue }
      let labels = found.map { ($0 as? any Loose)?.label ?? "" }
      return "\(post.search as Any) from \(post.context): \(follower.seen.suffix(2)), not \(labels)"
    }
    return nil
  }

  /// Changes something.
  ///
  /// - Returns: A description of the change.
  func change() -> String {
    let (context, name) = (pick(contexts), pick(Self.names))
    switch Int.random(in: 0..<19, using: &random) {
    case 0, 1, 2:
      let member = Member(newLabel())
      held.append(member)
      context.bind(member, as: (any Module).self, named: name)
      return "bound a member in \(context)"
    case 3:
      let plain = Plain(newLabel())
      held.append(plain)
      context.bind(plain, as: (any Module).self, named: name)
      return "bound in \(context)"
    case 4:
      if let object = held.randomElement(using: &random) {
        context.multiBind(object, as: (any Module).self, named: name)
      }
      return "bound again in \(context)"
    case 5, 6, 7:
      if !held.isEmpty { held.remove(at: Int.random(in: held.indices, using: &random)) }
      return "dropped"
    case 8:
      context.unbind((any Module).self, named: name)
      return "unbound in \(context)"
    case 9, 10:
      let count = count
      let registration = context.register((any Module).self, named: name, lifetime: .context) {
        count.add()
        return Plain("\(count.count)") as any Module
      }
      if pick([true, false]) { registration.implements((any Module).self, named: "b") }
      return "registered in \(context)"
    case 11:
      context.unregister((any Module).self, named: name)
      return "unregistered in \(context)"
    case 12:
      context.reset()
      return "reset \(context)"
    case 13, 14:
      try? context.addChild(pick(contexts))
      return "moved below \(context)"
    case 15:
      context.removeFromParent()
      return "removed \(context)"
    case 16:
      context.search = pick(UDISearch.allCases)
      return "changed the search of \(context)"
    case 17:
      // A branch comes with what is in it.
      let (branch, member) = (UDIContext(tag: newLabel()), Member(newLabel()))
      held.append(member)
      try? branch.makeChild(tag: "twig").bind(member, as: (any Module).self, named: name)
      try? context.addChild(branch)
      passing.append(branch)
      return "added a branch below \(context)"
    default:
      guard let branch = passing.popLast() else { return "nothing" }
      if pick([true, false]) { branch.removeFromParent() } else { _ = branch.closeAtOnce() }
      return "ended a branch"
    }
  }
}
