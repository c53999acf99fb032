import Testing
import TreeModel
import UDI

/// Custom storages, and what happens while they are in the middle of an operation.
@Suite(.unlessItHangs) struct StorageTests {
  let context = UDIContext(tag: "context")
  let census = Census()

  /// The storage of what is being made looks up something that an initialiser makes, whose parameter only `obtain` makes.
  @Test func whatAStorageLooksUpTakesNoParametersOfWhatIsBeingMade() async throws {
    let (context, found, loads) = (context, Journal(), Tally())
    let storage = Scripted(onEachLoad: {
      loads.add()
      found.add("\(withReporter(.silent) { context.link((any Beta).self) } != nil)")
    })
    context.register((any Gamma).self, lifetime: .unique) {
      await Task.yield()
      return Made("part")
    }
    context.register(
      (any Beta).self, lifetime: .unique, using: { (part: any Gamma) in Made(parts: [part]) as any Beta })
    context.register(
      (any Alpha).self, lifetime: storage.lifetime, using: { (part: any Gamma) in Made(parts: [part]) as any Alpha })
    let made = try await context.obtain((any Alpha).self) as? Made
    #expect(made?.parts.count == 1)
    #expect(loads.count > 1 && Set(found.all) == ["false"])
  }

  /// Keeps an instance, and pauses where a test wants it to.
  final class Scripted: UDIStorage {
    private let kept = Locked<UDIMade?>(nil)
    let (stores, resets) = (Tally(), Tally())
    private let (onLoad, afterLoad) = (Locked<(@Sendable () -> Void)?>(nil), Locked<(@Sendable () -> Void)?>(nil))
    /// Called with the number of the call, before the instance is stored and afterwards.
    private let (beforeStoring, afterStoring): (@Sendable (Int) -> Void, @Sendable (Int) -> Void)
    private let onEachLoad: @Sendable () -> Void
    /// Called with the number of the call, before the instance is released.
    private let beforeResetting: @Sendable (Int) -> Void

    init(
      beforeStoring: @escaping @Sendable (Int) -> Void = { _ in },
      afterStoring: @escaping @Sendable (Int) -> Void = { _ in },
      beforeResetting: @escaping @Sendable (Int) -> Void = { _ in },
      onEachLoad: @escaping @Sendable () -> Void = {}
    ) {
      self.onEachLoad = onEachLoad
      (self.beforeStoring, self.afterStoring, self.beforeResetting) = (beforeStoring, afterStoring, beforeResetting)
    }

    var lifetime: UDILifetime { UDILifetime("scripted", storage: .custom { self }) }
    var isEmpty: Bool { kept.withLock { $0 == nil } }

    /// Makes the next load call something, once.
    func atNextLoad(_ body: @escaping @Sendable () -> Void) { onLoad.withLock { $0 = body } }

    /// The same after it has looked, and before it answers.
    func afterNextLoad(_ body: @escaping @Sendable () -> Void) { afterLoad.withLock { $0 = body } }

    func load() -> UDIMade? {
      onEachLoad()
      onLoad.withLock { $0.take() }?()
      let found = kept.withLock { $0 }
      afterLoad.withLock { $0.take() }?()
      return found
    }

    func store(_ made: UDIMade) {
      stores.add()
      let number = stores.count
      beforeStoring(number)
      kept.withLock { $0 = made }
      afterStoring(number)
    }

    func reset() {
      resets.add()
      beforeResetting(resets.count)
      kept.withLock { $0 = nil }
    }
  }

  func label(_ made: (any Alpha)?) -> String? { (made as? Made)?.label }

  /// The late instance goes to those who wait for it, but does not replace the one that came after it.
  @Test func aResetWhileItIsMade() {
    let storage = Scripted()
    let (begun, goOn, isDone) = (Meeting(2), Meeting(2), Meeting(2))
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in
      let made = Made("\(census.everBorn + 1)", census)
      if census.everBorn == 1 {
        begun.arrive()
        goOn.arrive()
      }
      return made
    }
    onThreads([
      {
        #expect(label(context.link((any Alpha).self)) == "1")
        isDone.arrive()
      },
      {
        begun.arrive()
        context.reset()
        let second = context.link((any Alpha).self)
        #expect(label(second) == "2" && context.link((any Alpha).self) === second)
        goOn.arrive()
        isDone.arrive()
        #expect(context.link((any Alpha).self) === second)
      },
    ])
    #expect(census.everBorn == 2 && census.alive == 1 && storage.stores.count == 1)
  }

  /// If an instance is on its way into the storage when the storage is reset, nobody who asks later gets it, and it
  /// does not stay.
  @Test func aResetWhileItIsStored() {
    let (isStoring, store, isStored, goOn) = (Meeting(2), Meeting(2), Meeting(2), Meeting(2))
    let storage = Scripted(
      beforeStoring: { number in
        guard number == 1 else { return }
        isStoring.arrive()
        store.arrive()
      },
      afterStoring: { number in
        guard number == 1 else { return }
        isStored.arrive()
        goOn.arrive()
      })
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in
      Made("\(census.everBorn + 1)", census)
    }
    let asks = Meeting(2)
    onThreads([
      { #expect(label(context.link((any Alpha).self)) == "1") },
      {
        isStoring.arrive()
        context.reset()
        store.arrive()
        isStored.arrive()
        // The storage has been reset, and has the first one.
        #expect(storage.resets.count == 1 && !storage.isEmpty)
        storage.atNextLoad { asks.arrive() }
        let second = context.link((any Alpha).self)
        #expect(label(second) == "2")
        #expect(context.link((any Alpha).self) === second)
      },
      {
        asks.arrive()
        goOn.arrive()
      },
    ])
    #expect(census.everBorn == 2 && census.alive == 1 && storage.stores.count == 2 && storage.resets.count == 2)
  }

  /// If nobody asks again, nothing is left.
  @Test func aResetInTheMiddleOfAStore() {
    let storage = Scripted(beforeStoring: { [context] _ in context.reset() })
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in Made("a", census) }
    #expect(context.link((any Alpha).self) != nil)
    #expect(storage.isEmpty && census.alive == 0)
  }

  /// A newer instance is never stored before an older one, which would replace it.
  @Test func nothingIsMadeWhileAnOlderOneIsStored() {
    let storage = Scripted(beforeStoring: { [context] number in
      guard number == 1 else { return }
      context.reset()
      // It would wait for itself.
      #expect(throws: UDILinkError.self) { try context.require((any Alpha).self) }
    })
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in
      Made("\(census.everBorn + 1)", census)
    }
    #expect(label(context.link((any Alpha).self)) == "1")
    let second = context.link((any Alpha).self)
    #expect(label(second) == "2" && context.link((any Alpha).self) === second)
  }

  /// A reset makes nobody wait.
  @Test func storagesThatLinkWhileTheyAreReset() {
    let meeting = Meeting(2)
    let storage = Scripted(beforeResetting: { [context] number in
      if number <= 2 { meeting.arrive() }
      #expect(context.link((any Alpha).self) != nil)
    })
    context.register((any Alpha).self, lifetime: storage.lifetime) { Made() }
    #expect(context.link((any Alpha).self) != nil)
    onThreads(2) { _ in context.reset() }
    context.reset()
    #expect(storage.isEmpty)
  }

  @Test func replacedWhileItIsStored() {
    let storage = Scripted(beforeStoring: { [context] number in
      if number == 1 { context.register((any Alpha).self, replaces: true) { Made("new") } }
    })
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in Made("old", census) }
    #expect(label(context.link((any Alpha).self)) == "old")
    #expect(label(context.link((any Alpha).self)) == "new")
    #expect(storage.isEmpty && census.alive == 0)
  }

  /// Each gives only what it made itself.
  @Test func oneStorageForSeveralSetsOfArguments() {
    let storage = Scripted()
    context.register((any Alpha).self, lifetime: storage.lifetime) { (_, number: Int) in Made("\(number)") }
    let labels = [1, 2, 2, 1].map { label(context.link((any Alpha).self, with: $0)) }
    #expect(labels == ["1", "2", "2", "1"])
  }

  @Test func aStorageIsResetWhenItsContextGoes() {
    let storage = Scripted()
    do {
      let context = UDIContext(tag: "brief")
      context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in Made("own", census) }
      #expect(context.link((any Alpha).self) != nil)
    }
    #expect(census.alive == 0 && storage.isEmpty && storage.resets.count == 1)
  }

  /// Another thread stores one after this thread has looked into the storage, and before it makes one.
  @Test func oneInstanceAlthoughTheStorageWasEmpty() {
    let storage = Scripted()
    context.register((any Alpha).self, lifetime: storage.lifetime) { [census] in Made("a", census) }
    storage.afterNextLoad { [context] in onThreads(1) { _ in #expect(context.link((any Alpha).self) != nil) } }
    let made = context.link((any Alpha).self)
    #expect(made != nil && made === context.link((any Alpha).self) && census.everBorn == 1)
  }

  // MARK: Sets of arguments that nothing is kept for

  /// Keeps an instance as long as a test wants, and uses the library whenever it is called.
  final class Counted: UDIStorage {
    private let kept = Locked<UDIMade?>(nil)
    private let census: Census
    private let isKeeping: @Sendable () -> Bool
    private let context: UDIContext

    init(_ census: Census, _ context: UDIContext, isKeeping: @escaping @Sendable () -> Bool) {
      self.census = census
      self.context = context
      self.isKeeping = isKeeping
      census.born()
    }

    deinit { census.died() }

    func load() -> UDIMade? {
      _ = context.link((any Service).self)
      return isKeeping() ? kept.withLock { $0 } : nil
    }

    func store(_ made: UDIMade) { kept.withLock { $0 = made } }
    func reset() { kept.withLock { $0 = nil } }
  }

  @Test(.exceptUnderThreadSanitizer) func setsOfArgumentsThatNothingIsKeptForAreForgotten() {
    let (storages, other) = (Census(), UDIContext(tag: "other"))
    let isKeeping = Locked(true)
    let lifetime = UDILifetime(
      "counted", storage: .custom { Counted(storages, other) { isKeeping.withLock { $0 } } })
    context.register((any Alpha).self, lifetime: lifetime) { [census] (_, number: Int) in Made("\(number)", census) }
    // Instances that are kept stay.
    let kept = (0..<1000).map { context.link((any Alpha).self, with: $0) }
    #expect((0..<1000).allSatisfy { context.link((any Alpha).self, with: $0) === kept[$0] })
    #expect(storages.alive == 1000)
    // Instances that have expired do not.
    isKeeping.withLock { $0 = false }
    for number in 0..<10_000 { _ = context.link((any Alpha).self, with: number) }
    #expect(storages.alive < 2000)
    context.reset()
    for number in 0..<10_000 { _ = context.link((any Alpha).self, with: number) }
    #expect(storages.alive < 2000)
    context.unregister((any Alpha).self)
    #expect(storages.alive == 0)
  }

  /// Any two are different, but there are only eight hashes.
  struct Bucket: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) { hasher.combine(number % 8) }
  }

  @Test func setsOfArgumentsWithEqualHashesAreForgottenToo() {
    let (storages, other) = (Census(), UDIContext(tag: "other"))
    let lifetime = UDILifetime("counted", storage: .custom { Counted(storages, other) { false } })
    context.register((any Alpha).self, lifetime: lifetime) { (_, bucket: Bucket) in Made("\(bucket.number)") }
    for number in 0..<2_000 { _ = context.link((any Alpha).self, with: Bucket(number: number)) }
    #expect(storages.everBorn == 2_000 && storages.alive < 200)
  }

  /// The storage is found empty, but has something by the time that this is noted.
  @Test func aSetOfArgumentsThatIsAskedForMeanwhileStays() {
    let storages = Locked<[Scripted]>([])
    let lifetime = UDILifetime(
      "each",
      storage: .custom {
        let storage = Scripted()
        storages.withLock { $0.append(storage) }
        return storage
      })
    context.register((any Alpha).self, lifetime: lifetime) { (_, number: Int) in Made("\(number)") }
    let context = context
    let linked = Locked<(any Alpha)?>(nil)
    var next = 0
    // Until there are so many that the library asks which of them still keep anything.
    while next < 1000, linked.withLock({ $0 == nil }) {
      _ = context.link((any Alpha).self, with: next)
      storages.withLock { $0 }[next].reset()
      if next == 0 {
        storages.withLock { $0 }[0].afterNextLoad {
          let made = context.link((any Alpha).self, with: 0)
          linked.withLock { $0 = made }
        }
      }
      next += 1
    }
    let present = linked.withLock { $0 }
    #expect(present != nil && present === context.link((any Alpha).self, with: 0))
  }

  /// Storages that forget at random, and threads that ask with few sets of arguments and with many.
  @Test func threadsAskWhileSetsOfArgumentsAreForgotten() {
    let seed = UInt64.random(in: 0...UInt64.max)
    let random = Locked(SplitMix(seed: seed))
    let (storages, other, context) = (Census(), UDIContext(tag: "other"), context)
    let lifetime = UDILifetime(
      "counted",
      storage: .custom { Counted(storages, other) { random.withLock { $0.next() % 4 > 0 } } })
    let making = Locked<Set<Int>>([])
    context.register((any Alpha).self, lifetime: lifetime) { (_, number: Int) in
      let isAlone = making.withLock { $0.insert(number).inserted }
      #expect(isAlone, "two instances of \(number) at once, seed \(seed)")
      defer { making.withLock { _ = $0.remove(number) } }
      return Made("\(number)")
    }
    onThreads(4) { thread in
      for round in 0..<2000 {
        let number = round % 3 == 0 ? thread * 10_000 + round : round % 7
        #expect(label(context.link((any Alpha).self, with: number)) == "\(number)", "seed \(seed)")
      }
    }
    context.unregister((any Alpha).self)
    #expect(storages.alive == 0, "seed \(seed)")
  }
}
