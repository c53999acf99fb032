import Foundation
import Testing
import UDI
import UDIInspector
import UDITesting

@testable import SocialApp

@Suite(.ownAppContext) struct ManyLogInsTests {
  @Test func tenThousandLogInsLeaveNothingBehind() async throws {
    let server = compose(AppContext)
    try await AppContext.warmUp()
    let window = try AppContext.openWindow()
    let entries = AppContext.snapshot().contexts[0].entries.count
    var remains: [Remains] = []
    var sizes: [Int] = []
    for count in 1...10_000 {
      let session = try await window.logIn()
      // Not the last one: a task that has just ended may still hold something on another thread.
      if count % 100 == 1 { remains.append(try Remains(of: session)) }
      try await session.close()
      if count % 1_000 == 0 { sizes.append(residentSize) }
    }
    #expect(remains.count == 100)
    #expect(remains.count { !$0.isEmpty } == 0)
    #expect(AppContext.descendants == [window])
    #expect(AppContext.snapshot().contexts[0].entries.count == entries)
    #expect(server.openEnds == .none)
    #expect(try AppContext.require(BackgroundScheduler.self).count == 0)
    // Sessions that leave more than 500 bytes each would fail this; a whole session takes many times as much.
    #expect(sizes[9] - sizes[1] < 4_000_000, "The resident sizes: \(sizes)")
  }

  @Test func evenScreensDoNotAddUp() async throws {
    compose(AppContext)
    try await AppContext.warmUp()
    let window = try AppContext.openWindow()
    try await expectNoGrowth(rounds: 5) {
      let session = try await window.logIn()
      try await showScreens(in: session)
      try await session.close()
    }
  }

  @MainActor private func showScreens(in session: UDIContext) async throws {
    let home = HomeModel().attached(to: session)
    try await home.timeline.refresh()
    #expect(home.timeline.lines.count == 2)
  }

  /// What should be gone after a session.
  private struct Remains {
    weak let session: Session?
    weak let scope: UDIContext?
    weak let posts: PostStore?
    weak let database: AnyObject?
    weak let push: PushSubscription?

    init(of scope: UDIContext) throws {
      self.scope = scope
      session = try scope.require(Session.self)
      posts = try scope.require(PostStore.self)
      database = try scope.require((any Database).self) as? MemoryDatabase
      push = try scope.require(PushSubscription.self)
    }

    var isEmpty: Bool { session == nil && scope == nil && posts == nil && database == nil && push == nil }
  }

  /// The resident size of this process in bytes; 0 where nobody says.
  private var residentSize: Int {
    let statm = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return (statm?.split(separator: " ")[1]).flatMap { Int($0) }.map { $0 * 4096 } ?? 0
  }
}
