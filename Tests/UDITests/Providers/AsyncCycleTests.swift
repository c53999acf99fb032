import Foundation
import Testing

@testable import UDI

/// Dependencies that need themselves, where at least one factory is asynchronous. Every test ends with an error
/// instead of waiting for ever.
@Suite(.unlessItHangs, .silent) struct AsyncCycleTests {
  let context = UDIContext(tag: "context")

  /// The path of the cycle that an error names; nil if it names none.
  func cycle(_ operation: () async throws -> Void) async -> [String]? {
    do { try await operation() } catch {
      guard case .cycle(let path)? = (error as? UDILinkError)?.cause else {
        Issue.record("\(error)")
        return nil
      }
      return path.map { String($0.split(separator: ".").last ?? "") }
    }
    return nil
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context]) func itself(_ lifetime: UDILifetime) async {
    context.register((any Alpha).self, lifetime: lifetime) { context in
      try await context.obtain((any Alpha).self)
    }
    #expect(await cycle { _ = try await context.obtain((any Alpha).self) } == ["Alpha", "Alpha"])
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context], [UDILifetime.unique, .graph, .weak, .context])
  func eachOther(_ one: UDILifetime, _ other: UDILifetime) async {
    context.register((any Alpha).self, lifetime: one) { context in
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, lifetime: other) { context in
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    let path = await cycle { _ = try await context.obtain((any Alpha).self) }
    // What is kept has a graph of its own, so a graph's Alpha is made once more for a Beta that is kept.
    #expect(
      path
        == (one == .graph && [.weak, .context].contains(other)
          ? ["Beta", "Alpha", "Beta"] : ["Alpha", "Beta", "Alpha"]))
  }

  /// Two tasks begin at either end, and each factory runs before it asks for the other.
  @Test func overTwoTasks() async {
    let both = Latch(2)
    context.register((any Alpha).self, lifetime: .context) { context in
      both.arrive()
      await both.wait()
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, lifetime: .context) { context in
      both.arrive()
      await both.wait()
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    async let one = cycle { _ = try await context.obtain((any Alpha).self) }
    async let other = cycle { _ = try await context.obtain((any Beta).self) }
    let paths = await [one, other]
    for path in paths { #expect(path == ["Alpha", "Beta", "Alpha"] || path == ["Beta", "Alpha", "Beta"]) }
  }

  /// A task makes Alpha, which needs Beta; a thread makes Beta, which needs Alpha.
  @Test func overATaskAndAThread() async {
    let both = Latch(2), meeting = DispatchSemaphore(value: 0)
    context.register((any Alpha).self, lifetime: .context) { context in
      both.arrive()
      await both.wait()
      meeting.signal()
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, lifetime: .context) { context in
      both.arrive()
      meeting.wait()
      meeting.signal()
      _ = try context.require((any Alpha).self)
      return Made()
    }
    async let path = cycle { _ = try await context.obtain((any Alpha).self) }
    let error = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
      Thread.detachNewThread {
        do {
          _ = try context.require((any Beta).self)
          continuation.resume(returning: nil)
        } catch { continuation.resume(returning: error) }
      }
    }
    #expect((error as? UDILinkError)?.cause == .asynchronous(nil))
    #expect(await path == ["Alpha", "Beta", "Alpha"])
  }

  @Test(arguments: [UDILifetime.unique, .context]) func overASynchronousFactory(_ lifetime: UDILifetime) async {
    context.register((any Alpha).self, lifetime: .context) { context in
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, lifetime: lifetime) { context in
      _ = try context.require((any Alpha).self)
      return Made()
    }
    #expect(await cycle { _ = try await context.obtain((any Alpha).self) } == ["Alpha", "Beta", "Alpha"])
    // The closure itself does not wait for what is not made yet.
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Beta).self) }
    if case .asynchronous? = error?.cause {} else { Issue.record("\(error?.description ?? "no error")") }
  }

  @Test(arguments: [UDILifetime.unique, .graph, .weak, .context], [UDILifetime.unique, .graph, .weak, .context])
  func overAnInitialiser(_ one: UDILifetime, _ other: UDILifetime) async {
    context.register((any Alpha).self, lifetime: one) { context in
      _ = try await context.obtain((any Beta).self)
      return Made()
    }
    context.register((any Beta).self, lifetime: other, using: { (alpha: any Alpha) in Made(parts: [alpha]) })
    for path in [
      await cycle { _ = try await context.obtain((any Alpha).self) },
      await cycle { _ = try await context.obtain((any Beta).self) },
    ] {
      #expect(path == ["Alpha", "Beta", "Alpha"] || path == ["Beta", "Alpha", "Beta"], "\(path ?? [])")
    }
  }

  @Test func overTwoInitialisersInTwoTasks() async {
    context.register((any Alpha).self, lifetime: .context, using: { (beta: any Beta) in Made(parts: [beta]) })
    context.register((any Beta).self, lifetime: .context, using: { @MainActor (gamma: any Gamma) in Made() })
    context.register((any Gamma).self, lifetime: .context, using: { (alpha: any Alpha) in Made(parts: [alpha]) })
    async let one = cycle { _ = try await context.obtain((any Alpha).self) }
    async let other = cycle { _ = try await context.obtain((any Gamma).self) }
    for path in await [one, other] { #expect(path?.count == 4 && path?.first == path?.last, "\(path ?? [])") }
  }

  /// The asynchronous factory looks up synchronously.
  @Test func overASynchronousLookup() async {
    context.register((any Alpha).self, lifetime: .context) { context in
      await Task.yield()
      _ = try context.require((any Beta).self)
      return Made()
    }
    context.register((any Beta).self) { context in
      _ = try context.require((any Alpha).self)
      return Made()
    }
    #expect(await cycle { _ = try await context.obtain((any Alpha).self) } == ["Alpha", "Beta", "Alpha"])
  }

  @Test func overThreeContexts() async throws {
    let (middle, bottom) = (try context.makeChild(tag: "middle"), UDIContext(tag: "bottom"))
    try middle.addChild(bottom)
    context.register((any Alpha).self, lifetime: .context) { _ in
      _ = try await middle.obtain((any Beta).self)
      return Made()
    }
    middle.register((any Beta).self, lifetime: .context) { _ in
      _ = try await bottom.obtain((any Gamma).self)
      return Made()
    }
    bottom.register((any Gamma).self, lifetime: .context) { context in
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    #expect(await cycle { _ = try await bottom.obtain((any Gamma).self) } == ["Gamma", "Alpha", "Beta", "Gamma"])
  }

  /// The factory waits for several things at once, in tasks of its own.
  @Test func amongSiblingTasks() async {
    context.register((any Alpha).self, lifetime: .context) { context in
      async let beta = context.obtain((any Beta).self)
      async let gamma = context.obtain((any Gamma).self)
      _ = try await (beta, gamma)
      return Made()
    }
    context.register((any Beta).self, lifetime: .context) {
      await Task.yield(); return Made()
    }
    context.register((any Gamma).self, lifetime: .context) { context in
      _ = try await context.obtain((any Beta).self)
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    #expect(await cycle { _ = try await context.obtain((any Alpha).self) } == ["Alpha", "Gamma", "Alpha"])
  }

  /// Needing the same thing twice is no cycle.
  @Test func aDiamondIsNone() async throws {
    context.register((any Gamma).self, lifetime: .context) {
      await Task.yield(); return Made()
    }
    context.register((any Beta).self, lifetime: .context) { context in
      _ = try await context.obtain((any Gamma).self)
      return Made()
    }
    context.register((any Alpha).self, lifetime: .context) { context in
      async let beta = context.obtain((any Beta).self)
      async let gamma = context.obtain((any Gamma).self)
      _ = try await (beta, gamma)
      return Made()
    }
    _ = try await context.obtain((any Alpha).self)
  }

  /// A task that the factory has started may ask for what the factory made, once that has ended.
  @Test func aTaskThatOutlivesTheFactoryIsNone() async throws {
    let (release, done) = (Latch(), Latch())
    context.register((any Alpha).self, lifetime: .context) { context in
      Task {
        await release.wait()
        #expect((try? await context.obtain((any Alpha).self)) != nil)
        #expect((try? await context.obtain((any Beta).self)) != nil)
        done.arrive()
      }
      await Task.yield()
      return Made()
    }
    context.register((any Beta).self, lifetime: .unique) { context in
      _ = try await context.obtain((any Alpha).self)
      return Made()
    }
    _ = try await context.obtain((any Alpha).self)
    release.arrive()
    await done.wait()
  }

  @Test func withOtherArgumentsEachTimeItEnds() async {
    context.register((any Alpha).self, lifetime: .unique) { (context, number: Int) in
      try await context.obtain((any Alpha).self, with: number + 1)
    }
    await #expect(throws: UDILinkError.self) { try await context.obtain((any Alpha).self, with: 0) }
    context.register((any Beta).self, lifetime: .context) { (context, number: Int) in
      try await context.obtain((any Beta).self, with: number + 1)
    }
    let error = await #expect(throws: UDILinkError.self) { try await context.obtain((any Beta).self, with: 0) }
    #expect(error?.cause == .tooDeep(depth: 1000, stackSize: nil))
  }
}
