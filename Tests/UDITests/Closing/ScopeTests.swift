import Foundation
import Testing
import UDI
import UDIInspector

/// Not `Sendable`, so that the verbs of the main actor are called.
private protocol Domestic: AnyObject {}
@MainActor private final class Cat: Domestic {}

/// Asks with its verbs.
@MainActor private final class Asker: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  var service: (any Service)?
  var domestic: (any Domestic)?
  func didAttachContext() {}
}

/// Asks with wrappers, which take the search in their declaration.
@MainActor private final class Declaring: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var linked: (any Service)?
  @Linked var linkedDomestic: (any Domestic)?
  @Linked(keeps: .never) var inLine: (any Service)?
  @Linked(keeps: .never) var inLineDomestic: (any Domestic)?
  @Linked(keeps: .weakly) var weakly: (any Service)?
  @Linked(keeps: .weakly) var weaklyDomestic: (any Domestic)?
  @AppLinked var app: (any Service)?
  @AppLinked var appDomestic: (any Domestic)?
  @Followed var followed: (any Service)?
  @Followed var followedDomestic: (any Domestic)?

  init(_ context: UDIContext, _ search: UDISearch?) {
    _linked = Linked(search: search)
    _linkedDomestic = Linked(search: search)
    _inLine = Linked(search: search, keeps: .never)
    _inLineDomestic = Linked(search: search, keeps: .never)
    _weakly = Linked(search: search, keeps: .weakly)
    _weaklyDomestic = Linked(search: search, keeps: .weakly)
    _app = AppLinked(search: search)
    _appDomestic = AppLinked(search: search)
    _followed = Followed(search: search)
    _followedDomestic = Followed(search: search)
    attachedContext = context
  }

  func didAttachContext() {}

  var isLinked: Bool { agreed([linked, inLine, weakly].map { $0 != nil }) }
  var isLinkedDomestic: Bool { agreed([linkedDomestic, inLineDomestic, weaklyDomestic].map { $0 != nil }) }

  /// What a property keeps has no influence on what it finds.
  private func agreed(_ found: [Bool]) -> Bool {
    #expect(Set(found).count == 1)
    return found[0]
  }
}

private actor Desk: UDIFinalObject {
  nonisolated let _attachedContext = UDIAttachment()
}

/// Nobody outside sees into a scope.
@MainActor @Suite(.silent) struct ScopeTests {
  /// A way to ask for a dependency.
  struct Way: CustomTestStringConvertible {
    /// The name in `API/UDI.txt`.
    let symbol: String
    let finds: @MainActor (UDIContext, UDISearch?) async throws -> Bool

    init(_ symbol: String, _ finds: @escaping @MainActor (UDIContext, UDISearch?) async throws -> Bool) {
      self.symbol = symbol
      self.finds = finds
    }

    var testDescription: String { symbol }
  }

  // MARK: All ways to ask

  private static let made: UDIName = "made"
  private static let withNumber: UDIName = "with a number"

  /// Each verb and wrapper appears once for each of its overloads: first for what is `Sendable`, then for what is not.
  nonisolated static let ways: [Way] =
    linking + linkingAll + making + requiring + waiting + explaining + objectsLinking + objectsMaking + objectsWaiting
    + objectsFollowing + objectsExplaining + wrappers + rules

  nonisolated private static let linking = [
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") { $0.link((any Service).self, search: $1) != nil },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") { $0.link((any Domestic).self, search: $1) != nil },
    Way("UDILinking.link(_:search:fileID:line:)") { $0.link(UDIKey((any Service).self), search: $1) != nil },
    Way("UDILinking.link(_:search:fileID:line:)") { $0.link(UDIKey((any Domestic).self), search: $1) != nil },
  ]

  nonisolated private static let linkingAll = [
    Way("UDILinking.linkAll(_:search:fileID:line:)") { !$0.linkAll((any Service).self, search: $1).isEmpty },
    Way("UDILinking.linkAll(_:search:fileID:line:)") { !$0.linkAll((any Domestic).self, search: $1).isEmpty },
    Way("UDIContext.registrations(of:search:)") { !$0.registrations(of: (any Service).self, search: $1).isEmpty },
    Way("UDIContext.registrations(of:search:)") { !$0.registrations(of: (any Domestic).self, search: $1).isEmpty },
  ]

  nonisolated private static let making = [
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      $0.link((any Service).self, named: withNumber, search: $1, with: 1) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      $0.link((any Domestic).self, named: withNumber, search: $1, with: 1) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") {
      $0.link((any Service).self, named: made, search: $1, fresh: true) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") {
      $0.link((any Domestic).self, named: made, search: $1, fresh: true) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      $0.link((any Service).self, named: withNumber, search: $1, fresh: true, with: 1) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      $0.link((any Domestic).self, named: withNumber, search: $1, fresh: true, with: 1) != nil
    },
  ]

  nonisolated private static let requiring = [
    Way("UDILinking.require(_:named:search:fileID:line:)") { (try? $0.require((any Service).self, search: $1)) != nil },
    Way("UDILinking.require(_:named:search:fileID:line:)") {
      (try? $0.require((any Domestic).self, search: $1)) != nil
    },
    Way("UDILinking.require(_:search:fileID:line:)") {
      (try? $0.require(UDIKey((any Service).self), search: $1)) != nil
    },
    Way("UDILinking.require(_:search:fileID:line:)") {
      (try? $0.require(UDIKey((any Domestic).self), search: $1)) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let context = $0, search = $1
      @MainActor func require() throws -> any Service { try context.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let context = $0, search = $1
      @MainActor func require() throws -> (any Service)? { try context.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let context = $0, search = $1
      @MainActor func require() throws -> any Domestic { try context.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let context = $0, search = $1
      @MainActor func require() throws -> (any Domestic)? { try context.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(_:named:search:fileID:line:with:_:)") {
      (try? $0.require((any Service).self, named: withNumber, search: $1, with: 1)) != nil
    },
    Way("UDILinking.require(_:named:search:fileID:line:with:_:)") {
      (try? $0.require((any Domestic).self, named: withNumber, search: $1, with: 1)) != nil
    },
  ]

  nonisolated private static let waiting = [
    Way("UDILinking.obtainAll(_:search:fileID:line:)") {
      (try? await $0.obtainAll((any Service).self, search: $1))?.isEmpty == false
    },
    Way("UDILinking.obtainAll(_:search:fileID:line:)") {
      (try? await $0.obtainAll((any Domestic).self, search: $1))?.isEmpty == false
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:)") {
      (try? await $0.obtain((any Service).self, search: $1)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:)") {
      (try? await $0.obtain((any Domestic).self, search: $1)) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = $0, search = $1
      @MainActor func obtain() async throws -> any Service { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = $0, search = $1
      @MainActor func obtain() async throws -> (any Service)? { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = $0, search = $1
      @MainActor func obtain() async throws -> any Domestic { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = $0, search = $1
      @MainActor func obtain() async throws -> (any Domestic)? { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(_:search:fileID:line:)") {
      (try? await $0.obtain(UDIKey((any Service).self), search: $1)) != nil
    },
    Way("UDILinking.obtain(_:search:fileID:line:)") {
      (try? await $0.obtain(UDIKey((any Domestic).self), search: $1)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:with:_:)") {
      (try? await $0.obtain((any Service).self, named: withNumber, search: $1, with: 1)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:with:_:)") {
      (try? await $0.obtain((any Domestic).self, named: withNumber, search: $1, with: 1)) != nil
    },
    Way("UDILinking.updates(of:named:search:fileID:line:)") {
      var updates = $0.updates(of: (any Service).self, search: $1).makeAsyncIterator()
      return if case .some(.some) = await updates.next() { true } else { false }
    },
    Way("UDILinking.updates(of:named:search:fileID:line:)") {
      var updates = $0.updates(of: (any Domestic).self, search: $1).makeAsyncIterator()
      return if case .some(.some) = await updates.next() { true } else { false }
    },
    Way("UDILinking.updates(ofAll:search:fileID:line:)") {
      var updates = $0.updates(ofAll: (any Service).self, search: $1).makeAsyncIterator()
      return await updates.next()?.isEmpty == false
    },
    Way("UDILinking.updates(ofAll:search:fileID:line:)") {
      var updates = $0.updates(ofAll: (any Domestic).self, search: $1).makeAsyncIterator()
      return await updates.next()?.isEmpty == false
    },
    Way("UDILinking.whileAvailable(_:_:search:fileID:line:_:)") { context, search in
      await comes(to: context) { try? await context.whileAvailable((any Service).self, search: search) { $0 } }
    },
    Way("UDILinking.whileAvailable(_:_:search:fileID:line:_:)") { context, search in
      let key = UDIKey<any Service>()
      return await comes(to: context) { try? await context.whileAvailable(key, search: search) { $0 } }
    },
    Way("UDILinking.linkWhenAvailable(_:named:search:within:clock:fileID:line:)") { context, search in
      await comes(to: context) { try? await context.linkWhenAvailable((any Service).self, search: search) }
    },
    Way("UDILinking.linkWhenAvailable(_:named:search:within:clock:fileID:line:)") { context, search in
      await comes(to: context) { try? await context.linkWhenAvailable((any Domestic).self, search: search) }
    },
  ]

  /// Whether the awaited dependency comes.
  private static func comes(to context: UDIContext, _ wait: @escaping @MainActor () async -> Any?) async -> Bool {
    let task = Task { await wait() != nil }
    await settle([context])
    task.cancel()
    return await task.value
  }

  nonisolated private static let explaining = [
    Way("UDILinking.explain(_:named:search:with:)") { isFound($0.explain((any Service).self, search: $1)) },
    Way("UDILinking.explain(_:named:search:with:)") { isFound($0.explain((any Domestic).self, search: $1)) },
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound($0.explain((any Service).self, named: withNumber, search: $1, with: 1))
    },
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound($0.explain((any Domestic).self, named: withNumber, search: $1, with: 1))
    },
  ]

  private static func isFound(_ explanation: UDIExplanation) -> Bool {
    switch explanation.cause {
    case .found: return true
    case .inScope, .contextClosed: return false
    default:
      Issue.record("neither found nor in a scope: \(explanation)")
      return false
    }
  }

  nonisolated private static let objectsLinking = [
    Way("UDIObject.link(_:named:search:fileID:line:)") { Asker().attached(to: $0).link(\.service, search: $1) },
    Way("UDIObject.link(_:named:search:fileID:line:)") { Asker().attached(to: $0).link(\.domestic, search: $1) },
    Way("UDIObject.link(_:named:search:fileID:line:)") {
      var service: (any Service)?
      return Asker().attached(to: $0).link(&service, search: $1)
    },
    Way("UDIObject.link(_:named:search:fileID:line:)") {
      var domestic: (any Domestic)?
      return Asker().attached(to: $0).link(&domestic, search: $1)
    },
    Way("UDIObject.linkInLine(_:named:search:fileID:line:)") {
      Asker().attached(to: $0).linkInLine((any Service).self, search: $1) != nil
    },
    Way("UDIObject.linkInLine(_:named:search:fileID:line:)") {
      Asker().attached(to: $0).linkInLine((any Domestic).self, search: $1) != nil
    },
    Way("UDILinking.linkAll(_:search:fileID:line:)") {
      !Asker().attached(to: $0).linkAll((any Service).self, search: $1).isEmpty
    },
    Way("UDILinking.linkAll(_:search:fileID:line:)") {
      !Asker().attached(to: $0).linkAll((any Domestic).self, search: $1).isEmpty
    },
    Way("UDILinking.require(_:named:search:fileID:line:)") {
      (try? Asker().attached(to: $0).require((any Service).self, search: $1)) != nil
    },
    Way("UDILinking.require(_:named:search:fileID:line:)") {
      (try? Asker().attached(to: $0).require((any Domestic).self, search: $1)) != nil
    },
    Way("UDILinking.require(_:search:fileID:line:)") {
      (try? Asker().attached(to: $0).require(UDIKey((any Service).self), search: $1)) != nil
    },
    Way("UDILinking.require(_:search:fileID:line:)") {
      (try? Asker().attached(to: $0).require(UDIKey((any Domestic).self), search: $1)) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func require() throws -> any Service { try asker.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func require() throws -> (any Service)? { try asker.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func require() throws -> any Domestic { try asker.require(search: search) }
      return (try? require()) != nil
    },
    Way("UDILinking.require(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func require() throws -> (any Domestic)? { try asker.require(search: search) }
      return (try? require()) != nil
    },
  ]

  nonisolated private static let objectsMaking = [
    Way("UDILinking.link(_:search:fileID:line:)") {
      Asker().attached(to: $0).link(UDIKey((any Service).self), search: $1) != nil
    },
    Way("UDILinking.link(_:search:fileID:line:)") {
      Asker().attached(to: $0).link(UDIKey((any Domestic).self), search: $1) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") {
      Asker().attached(to: $0).link((any Service).self, named: made, search: $1, fresh: true) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:)") {
      Asker().attached(to: $0).link((any Domestic).self, named: made, search: $1, fresh: true) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      Asker().attached(to: $0).link((any Service).self, named: withNumber, search: $1, fresh: true, with: 1)
        != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      Asker().attached(to: $0).link((any Domestic).self, named: withNumber, search: $1, fresh: true, with: 1)
        != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      Asker().attached(to: $0).link((any Service).self, named: withNumber, search: $1, with: 1) != nil
    },
    Way("UDILinking.link(_:named:search:fresh:fileID:line:with:_:)") {
      Asker().attached(to: $0).link((any Domestic).self, named: withNumber, search: $1, with: 1) != nil
    },
    Way("UDILinking.require(_:named:search:fileID:line:with:_:)") {
      (try? Asker().attached(to: $0).require((any Service).self, named: withNumber, search: $1, with: 1)) != nil
    },
    Way("UDILinking.require(_:named:search:fileID:line:with:_:)") {
      (try? Asker().attached(to: $0).require((any Domestic).self, named: withNumber, search: $1, with: 1)) != nil
    },
  ]

  nonisolated private static let objectsWaiting = [
    Way("UDILinking.obtainAll(_:search:fileID:line:)") {
      (try? await Asker().attached(to: $0).obtainAll((any Service).self, search: $1))?.isEmpty == false
    },
    Way("UDILinking.obtainAll(_:search:fileID:line:)") {
      (try? await Asker().attached(to: $0).obtainAll((any Domestic).self, search: $1))?.isEmpty == false
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain((any Service).self, search: search)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain((any Domestic).self, search: search)) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func obtain() async throws -> any Service { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func obtain() async throws -> (any Service)? { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func obtain() async throws -> any Domestic { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0), search = $1
      @MainActor func obtain() async throws -> (any Domestic)? { try await asker.obtain(search: search) }
      return (try? await obtain()) != nil
    },
    Way("UDILinking.obtain(_:search:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain(UDIKey((any Service).self), search: search)) != nil
    },
    Way("UDILinking.obtain(_:search:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain(UDIKey((any Domestic).self), search: search)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:with:_:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain((any Service).self, named: withNumber, search: search, with: 1)) != nil
    },
    Way("UDILinking.obtain(_:named:search:fileID:line:with:_:)") { context, search in
      let asker = Asker().attached(to: context)
      return (try? await asker.obtain((any Domestic).self, named: withNumber, search: search, with: 1)) != nil
    },
    Way("UDILinking.updates(of:named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0)
      var updates = asker.updates(of: (any Service).self, search: $1).makeAsyncIterator()
      return if case .some(.some) = await updates.next() { true } else { false }
    },
    Way("UDILinking.updates(of:named:search:fileID:line:)") {
      let asker = Asker().attached(to: $0)
      var updates = asker.updates(of: (any Domestic).self, search: $1).makeAsyncIterator()
      return if case .some(.some) = await updates.next() { true } else { false }
    },
    Way("UDILinking.updates(ofAll:search:fileID:line:)") {
      let asker = Asker().attached(to: $0)
      var updates = asker.updates(ofAll: (any Service).self, search: $1).makeAsyncIterator()
      return await updates.next()?.isEmpty == false
    },
    Way("UDILinking.updates(ofAll:search:fileID:line:)") {
      let asker = Asker().attached(to: $0)
      var updates = asker.updates(ofAll: (any Domestic).self, search: $1).makeAsyncIterator()
      return await updates.next()?.isEmpty == false
    },
    Way("UDILinking.whileAvailable(_:_:search:fileID:line:_:)") { context, search in
      let asker = Asker().attached(to: context)
      return await comes(to: context) { try? await asker.whileAvailable((any Service).self, search: search) { $0 } }
    },
    Way("UDILinking.whileAvailable(_:_:search:fileID:line:_:)") { context, search in
      let (asker, key) = (Asker().attached(to: context), UDIKey<any Service>())
      return await comes(to: context) { try? await asker.whileAvailable(key, search: search) { $0 } }
    },
    Way("UDILinking.linkWhenAvailable(_:named:search:within:clock:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return await comes(to: context) { try? await asker.linkWhenAvailable((any Service).self, search: search) }
    },
    Way("UDILinking.linkWhenAvailable(_:named:search:within:clock:fileID:line:)") { context, search in
      let asker = Asker().attached(to: context)
      return await comes(to: context) { try? await asker.linkWhenAvailable((any Domestic).self, search: search) }
    },
  ]

  nonisolated private static let objectsFollowing = [
    Way("UDIObject.follow(_:named:search:isolation:fileID:line:_:)") {
      var finds = false
      Declaring($0, nil).follow((any Service).self, search: $1) { _, found in finds = found != nil }
      return finds
    },
    Way("UDIObject.follow(_:named:search:isolation:fileID:line:_:)") {
      var finds = false
      Asker().attached(to: $0).follow((any Domestic).self, search: $1) { _, found in finds = found != nil }
      return finds
    },
    Way("UDIObject.follow(_:named:search:fileID:line:_:)") {
      let (found, desk) = (AsyncStream<Bool>.makeStream(), Desk().attached(to: $0))
      desk.follow((any Service).self, search: $1) { _, service in found.continuation.yield(service != nil) }
      for await isThere in found.stream { return isThere }
      return false
    },
  ]

  nonisolated private static let objectsExplaining = [
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound(Asker().attached(to: $0).explain((any Service).self, search: $1))
    },
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound(Asker().attached(to: $0).explain((any Domestic).self, search: $1))
    },
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound(Asker().attached(to: $0).explain((any Service).self, named: withNumber, search: $1, with: 1))
    },
    Way("UDILinking.explain(_:named:search:with:)") {
      isFound(Asker().attached(to: $0).explain((any Domestic).self, named: withNumber, search: $1, with: 1))
    },
  ]

  nonisolated private static let wrappers = [
    Way("Linked.init(named:search:keeps:fileID:line:)") { Declaring($0, $1).isLinked },
    Way("Linked.init(named:search:keeps:fileID:line:)") { Declaring($0, $1).isLinkedDomestic },
    Way("AppLinked.init(named:search:fileID:line:)") { context, search in
      withAppContext(context) { Declaring(context, search).app != nil }
    },
    Way("AppLinked.init(named:search:fileID:line:)") { context, search in
      withAppContext(context) { Declaring(context, search).appDomestic != nil }
    },
    Way("Followed.init(named:search:fileID:line:)") { Declaring($0, $1).followed != nil },
    Way("Followed.init(named:search:fileID:line:)") { Declaring($0, $1).followedDomestic != nil },
  ]

  nonisolated private static let rules = [
    Way("UDIRules.inject(_:named:search:)") {
      let asker = Asker()
      $0.rules(for: Asker.self).inject(\.service, search: $1)
      $0.inject(into: asker)
      return asker.service != nil
    },
    Way("UDIRules.inject(_:named:search:)") {
      let asker = Asker()
      $0.rules(for: Asker.self).inject(\.domestic, search: $1)
      $0.inject(into: asker)
      return asker.domestic != nil
    },
  ]

  // MARK: What each finds

  /// root → (window → (scope → inside), beside → below), with everything in the scope.
  struct Family {
    let root = UDIContext(tag: "root")
    let window, scope, inside, beside, below: UDIContext
    private let service = Plain("inside")
    private let domestic = Cat()

    @MainActor init() throws {
      window = try root.makeChild(tag: "window")
      scope = try window.makeScope(tag: "scope")
      inside = try scope.makeChild(tag: "inside")
      beside = try root.makeScope(tag: "beside")
      below = try beside.makeChild(tag: "below")
      scope.bind(service, as: (any Service).self)
      scope.bind(domestic, as: (any Domestic).self)
      scope.register((any Service).self, named: made) { Plain("made") }.metadata(1)
      scope.register((any Domestic).self, named: made) { Cat() }.metadata(1)
      scope.register((any Service).self, named: withNumber) { (_, _: Int) in Plain("made") }
      scope.register((any Domestic).self, named: withNumber) { (_, _: Int) in Cat() }
    }
  }

  @Test("Nothing is found from outside, by any way and with any search", arguments: ways)
  func fromOutside(_ way: Way) async throws {
    let family = try Family()
    for context in [family.root, family.window, family.beside, family.below] {
      for search in [nil] + UDISearch.allCases {
        let finds = try await way.finds(context, search)
        #expect(!finds, "\(context), \(search.map { "\($0)" } ?? "no search")")
      }
    }
  }

  @Test("The same is found from inside", arguments: ways)
  func fromInside(_ way: Way) async throws {
    let family = try Family()
    for context in [family.scope, family.inside] {
      for search in [nil, UDISearch.lineage] {
        let log = MisuseLog()
        let finds = try await withReporter(log.reporter) { try await way.finds(context, search) }
        #expect(finds, "\(context)")
        // Some ways ask all providers, and so also the one that wants a number.
        #expect(log.all.isEmpty || way.symbol.contains("All"), "\(log.all)")
      }
    }
  }

  /// `Required` stops the program if something is missing.
  @Test func requiredIsFoundFromInsideAlone() async throws {
    final class Strict: UDIObject {
      let _attachedContext = UDIAttachment()
      @Required var service: any Service
      func didAttachContext() {}
    }
    let family = try Family()
    _ = Strict().attached(to: family.inside).service
    await #expect(processExitsWith: .failure) {
      let family = try await Family()
      _ = Strict().attached(to: family.window).service
    }
  }

  @Test("Every verb and wrapper that takes a search is in the table")
  func tableIsComplete() throws {
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let interface = try String(contentsOf: project.appending(path: "API/UDI.txt"), encoding: .utf8)
    var listed: [String: Int] = [:]
    for line in interface.split(separator: "\n") where line.contains("search: UDISearch?") {
      // The deprecated forms, which warn about an optional, look up as the others do.
      if line.contains("Wrapped?.Type") { continue }
      // So does the form of `inject` for the Swift 5 mode, which the compiler offers to `Swift5ClientTests` only.
      if line.contains("consuming ReferenceWritableKeyPath") { continue }
      let symbol = String(line.prefix(while: { $0 != " " }).dropLast())
      // These make contexts. And `Required` ends the program if something is missing.
      let others = ["UDIContext.makeChild", "UDIContext.makeScope", "UDIContext.withScope", "Required."]
      if !others.contains(where: symbol.hasPrefix) { listed[symbol, default: 0] += 1 }
    }
    let ways = Dictionary(Self.ways.map { ($0.symbol, 1) }, uniquingKeysWith: +)
    #expect(Set(listed.keys) == Set(ways.keys))
    for (symbol, count) in listed {
      // Contexts and objects share the verbs of `UDILinking`.
      #expect(ways[symbol, default: 0] >= (symbol.hasPrefix("UDILinking.") ? 2 * count : count), "\(symbol)")
    }
  }

  // MARK: The tree

  @Test func fromInsideEverythingAboveIsSeen() throws {
    let family = try Family()
    let (clock, theme) = (Plain("clock"), Plain("theme"))
    family.root.bind(clock, as: (any Other).self)
    family.window.bind(theme, as: (any Loose).self)
    #expect(family.inside.link((any Other).self) === clock && family.scope.link((any Other).self) === clock)
    #expect(family.inside.link((any Loose).self)?.label == "theme")
    #expect(family.inside.linkAll((any Other).self).count == 1)
  }

  @Test func aScopeInAScopeIsClosedToTheOuterOne() throws {
    let family = try Family()
    let tab = try family.scope.makeScope(tag: "tab")
    let player = Plain("player")
    tab.bind(player, as: (any Other).self)
    #expect(family.scope.link((any Other).self) == nil && family.inside.link((any Other).self) == nil)
    #expect(tab.link((any Service).self) != nil)
  }

  @Test func findAndPathsAndSnapshotsSeeIt() throws {
    let family = try Family()
    #expect(family.root.find("inside") === family.inside)
    #expect(family.window.children == [family.scope])
    #expect(family.root.descendants.contains(family.inside))
    #expect(family.root.context(at: ["window", "scope", "inside"]) === family.inside)
    #expect(family.inside.path == ["window", "scope", "inside"])
    #expect(family.scope.isScope && !family.inside.isScope && !family.root.isScope)
    let snapshot = family.root.snapshot()
    #expect(snapshot.contexts.compactMap(\.scopeKind) == ["beside", "scope"])
    #expect(snapshot.description.contains("    ▸ scope (scope)\n      • UDITests.Service: Plain"))
    #expect(snapshot.mermaid().contains("scope (scope)"))
  }

  @Test func explanationsSayThatItIsClosed() throws {
    let root = UDIContext(tag: "App")
    let session = try root.makeScope(tag: "Session")
    let plain = Plain()
    let line = #line + 1
    try session.makeChild(tag: "Cart").bind(plain, as: (any Service).self)
    let file = "UDITests/ScopeTests.swift"
    #expect(
      root.explain((any Service).self).description == """
        UDITests.Service is in the scope "App / Session", which is closed to lookups from outside: it is registered in \
        "App / Session / Cart", at \(file):\(line).
        Link it from inside the scope; or register it above, or bind it there, too, with `multiBind(_:as:in:)`.
        Looked in "App" and below (.lineage), at one context:
          "App": nothing
        Elsewhere, "App / Session / Cart": Plain, bound at \(file):\(line)
        """)
    let other = try root.makeScope(tag: "Other").makeChild(tag: "Below")
    guard case .inScope(let place, let scopePath) = other.explain((any Service).self).cause else {
      Issue.record("it is in a scope")
      return
    }
    #expect(place.fullPath == ["App", "Session", "Cart"] && scopePath == ["App", "Session"])
    #expect(throws: UDILinkError.self) { try root.require((any Service).self) }
  }

  @Test func anOwnersFactoryThatNeedsWhatStandsInAScopeIsToldWhereToBe() throws {
    let root = UDIContext(tag: "App")
    let session = try root.makeScope(tag: "Session")
    session.provide(Plain(), as: (any Other).self)
    func register(_ lifetime: UDILifetime) {
      root.register((any Service).self, lifetime: lifetime) { context -> any Service in
        _ = try context.require((any Other).self)
        return Plain()
      }
    }
    register(.context)
    let error = #expect(throws: UDILinkError.self) { try session.require((any Service).self) }
    #expect(error?.explanation.advice?.hasPrefix("The factory was given \"App\", which is outside the scope.") == true)
    // What it says.
    register(.unique)
    #expect(session.link((any Service).self) != nil)
  }

  /// The scope is around both, the factory and what it needs.
  @Test func anOwnersFactoryThatNeedsWhatStandsBelowInTheSameScope() throws {
    let root = UDIContext(tag: "App")
    let shop = try root.makeScope(tag: "Session").makeChild(tag: "Shop")
    let desk = try shop.makeChild(tag: "Desk")
    desk.provide(Plain(), as: (any Other).self)
    shop.register((any Service).self, lifetime: .context) { context -> any Service in
      _ = try context.require((any Other).self)
      return Plain()
    }
    let error = #expect(throws: UDILinkError.self) { try desk.require((any Service).self) }
    guard case .outOfReach(let place) = error?.cause else {
      Issue.record("it is out of reach")
      return
    }
    #expect(place.fullPath == ["App", "Session", "Shop", "Desk"])
  }

  /// The explanation prefers what is open and further away to what is nearer but closed.
  @Test func explanationsPreferWhatIsOpen() throws {
    let root = UDIContext(tag: "App")
    let shop = try root.makeChild(tag: "Shop")
    let (closed, open) = (Plain(), Plain())
    try root.makeScope(tag: "Session").bind(closed, as: (any Service).self)
    try root.makeChild(tag: "Account").bind(open, as: (any Service).self)
    guard case .outOfReach(let place) = shop.explain((any Service).self).cause else {
      Issue.record("it is out of reach")
      return
    }
    #expect(place.fullPath == ["App", "Account"])
  }

  // MARK: Moves

  @Test func aScopeStaysOneWhereverItIsMoved() throws {
    let family = try Family()
    try family.root.addChild(family.scope)
    #expect(family.root.link((any Service).self) == nil && family.window.link((any Service).self) == nil)
    family.scope.removeFromParent()
    #expect(family.scope.isScope && family.scope.link((any Service).self) != nil)
    try family.window.addChild(family.inside)
    #expect(family.inside.link((any Service).self) == nil)
  }

  @Test func whatIsMovedOutOfAScopeIsSeenAndWhatIsMovedIntoItIsNot() throws {
    let family = try Family()
    let here = Plain("here")
    family.inside.bind(here, as: (any Other).self)
    try family.window.addChild(family.inside)
    #expect(family.root.link((any Other).self) === here)
    try family.scope.addChild(family.inside)
    #expect(family.root.link((any Other).self) == nil && family.inside.link((any Service).self) != nil)
  }

  // MARK: Watchers

  /// What happens in a scope does not even wake a consumer outside. If it did, the consumer would be given another
  /// instance.
  @Test func consumersOutsideAreNotNotifiedOfWhatHappensInside() async throws {
    let family = try Family()
    family.root.register((any Service).self, lifetime: .unique) { Plain("outside") }
    let outside = UDISearch.allCases.map { Follower(family.root.updates(of: (any Service).self, search: $0)) }
    let inside = Follower(family.inside.updates(of: (any Service).self))
    let all = [family.root, family.window, family.scope, family.inside]
    await settle(all)
    #expect(outside.allSatisfy { $0.take() == ["outside"] } && inside.take() == ["inside"])
    let new = Plain("new")
    family.scope.bind(new, as: (any Service).self)
    family.inside.bind(new, as: (any Other).self)
    family.scope.register((any Service).self) { Plain("made") }
    try family.root.addChild(family.scope)
    await settle(all)
    #expect(outside.allSatisfy { $0.take().isEmpty })
    #expect(inside.take() == ["new"])
    for follower in outside + [inside] { await follower.end() }
  }

  /// A reset announces a change for each key whose instance it drops. In a scope, only consumers inside are notified.
  @Test func consumersOutsideAreNotNotifiedOfAReset() async throws {
    let root = UDIContext(tag: "root")
    let scope = try root.makeScope(tag: "scope")
    root.register((any Service).self) { Plain("outside") }
    scope.register((any Service).self, lifetime: .context) { Plain("inside") }
    let outside = Follower(root.updates(of: (any Service).self))
    let inside = Follower(scope.updates(of: (any Service).self))
    await settle([root, scope])
    #expect(outside.take() == ["outside"] && inside.take() == ["inside"])
    scope.reset()
    await settle([root, scope])
    #expect(outside.take().isEmpty)
    #expect(inside.take() == ["inside"], "another one")
    for follower in [outside, inside] { await follower.end() }
  }

  // MARK: For the time of an operation

  @Test func withScopeEndsItsScope() async throws {
    let root = UDIContext(tag: "root")
    let service = Plain()
    root.bind(service, as: (any Service).self)
    func tags(_ tag: String) -> [String] {
      root.withScope(tag: tag) { outer in
        root.withScope(tag: tag) { inner in
          #expect(outer.isScope && inner.isScope && inner.link((any Service).self) === service)
          return [outer.tag, inner.tag]
        }
      }
    }
    let tags = tags("request")
    #expect(tags[0] == "request" && tags[1].hasPrefix("request #"))
    let parent = try await root.withScope(tag: "request") { scope async in scope.parent }
    #expect(parent === root)
    func fail() throws { try root.withScope(tag: "request") { _ in throw OutOfOrder() } }
    #expect(throws: OutOfOrder.self) { try fail() }
    #expect(root.children.isEmpty)
  }

  @Test func aTagThatIsTakenGetsANumber() async throws {
    let root = UDIContext(tag: "root")
    try root.makeScope(tag: "session")
    #expect(try root.makeScope(tag: "session").tag.hasPrefix("session #"))
    #expect(try await root.makeScope(tag: "session") { _ in }.tag.hasPrefix("session #"))
    #expect(Set(root.children.map(\.tag)).count == 3)
  }
}
