import Testing
import UDI

@MainActor final class ViewModel: Service {
  let title: String
  init(_ title: String) { self.title = title }
}

/// Not `Sendable`.
protocol Local: AnyObject { var count: Int { get set } }
final class Counter: Local { var count = 0 }

@MainActor @Suite struct MainActorTests {
  let context = UDIContext(tag: "context")

  @Test func anyVerbWorksInPlaceOnTheMainActor() throws {
    context.register((any Service).self) { @MainActor in ViewModel("a") }
    context.register((any Service).self, named: "n") { (_, title: String) in ViewModel(title) }
    context.register(ViewModel.self, lifetime: .context) { @MainActor context in ViewModel(context.tag) }
    #expect((context.link((any Service).self) as? ViewModel)?.title == "a")
    #expect((try context.require((any Service).self, named: "n", with: "b") as? ViewModel)?.title == "b")
    #expect(context.linkAll(ViewModel.self).map(\.title) == ["context"])
    #expect(Member().attached(to: context).linkInLine(ViewModel.self) === context.link(ViewModel.self))
  }

  @Test func elsewhereItIsAwaited() async throws {
    context.register(ViewModel.self, lifetime: .context) { @MainActor in ViewModel("made") }
    let context = context
    let (before, awaited, after) = try await Task.detached {
      let (before, misuse) = MisuseLog.during { context.link(ViewModel.self) }
      #expect(misuse.map(\.kind) == [.notMade])
      #expect(misuse.first?.message.contains("belongs to the main actor") == true)
      let awaited = try await context.obtain(ViewModel.self)
      return (before, awaited, context.link(ViewModel.self))
    }.value
    #expect(before == nil && awaited === after)
    #expect(try await Task.detached { try await context.obtain(ViewModel.self) }.value === awaited)
  }

  /// A factory with a context is one with no arguments; both may be asynchronous.
  @Test func argumentsOfAsynchronousFactories() async throws {
    context.register((any Local).self) { (_, counter: Counter, count: Int) in
      await Task.yield()
      counter.count += count
      return counter
    }
    context.register((any Local).self, named: "alone") { context in
      await Task.yield()
      return context.tag == "context" ? Counter() : nil
    }
    let counter = Counter()
    #expect(try await context.obtain((any Local).self, with: counter, 3).count == 3)
    #expect(try await context.obtain((any Local).self, named: "alone").count == 0)
    let error = await #expect(throws: UDILinkError.self) { _ = try await context.obtain((any Local).self, with: 3) }
    #expect(error?.cause == .otherArguments(wanted: ["UDITests.Counter", "Swift.Int"], given: ["Swift.Int"]))
    await #expect(throws: UDILinkError.self) { _ = try await context.obtain((any Local).self) }
    #expect(context.registrations(of: (any Local).self).map(\.lifetime) == [.unique, .context])
  }

  @Test func whatIsNotSendableStaysOnTheMainActor() throws {
    context.register((any Local).self, lifetime: .context) { Counter() }
    context.link((any Local).self)?.count += 1
    #expect(try context.require((any Local).self).count == 1)
    let local: any Local = try context.require()
    let optional: (any Local)? = try context.require()
    #expect(local === optional)
    context.register((any Local).self, named: "n") { (_, start: Counter) in
      start
    }.onCreate { _, local in
      local.count = 10
    }
    #expect(context.link((any Local).self, named: "n", with: Counter())?.count == 10)
    let (counts, misuse) = MisuseLog.during { context.linkAll((any Local).self).map(\.count) }
    #expect(counts == [1])
    #expect(misuse.map(\.kind) == [.notMade], "the other one wants a counter")
    #expect(context.link((any Local).self, fresh: true)?.count == 0)
    #expect(context.link(UDIKey<any Local>())?.count == 1)
    #expect(context.registrations(of: (any Local).self).first?.link()?.count == 1)
  }
}
