import Testing

@testable import UDI

@Suite struct MainActorReleaseTests {
  /// Tells a continuation where it dies.
  final class Witness {
    let onDeath: @Sendable (Bool) -> Void
    init(_ onDeath: @escaping @Sendable (_ isOnMainActor: Bool) -> Void) { self.onDeath = onDeath }
    deinit { onDeath(runsOnMainActor) }
  }

  @Test func fromElsewhereTheMainActorReleases() async {
    for _ in 0..<100 {
      let isOnMainActor = await withCheckedContinuation { continuation in
        Task.detached { releaseOnMainActor(Witness { continuation.resume(returning: $0) }) }
      }
      #expect(isOnMainActor)
    }
  }

  @Test func muchFromManyTasks() async {
    let (count, elsewhere) = (1000, Tally())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            releaseOnMainActor(
              Witness {
                if !$0 { elsewhere.add() }
                continuation.resume()
              })
          }
        }
      }
    }
    #expect(elsewhere.count == 0)
  }

  @Test @MainActor func onTheMainActorItGoesAtOnce() {
    let isDead = Tally()
    releaseOnMainActor(Witness { _ in isDead.add() })
    #expect(isDead.count == 1)
  }
}
