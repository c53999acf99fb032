import Testing
import UDI

/// Every way to declare a dependency, in a plain class.
private class Consumer: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var linked: (any Service)?
  @Linked(named: "n") var named: (any Service)?
  @Linked(search: .ancestors) var above: (any Other)?
  @Linked(keeps: .never) var inLine: (any Service)?
  @Linked(keeps: .weakly) var weakly: (any Service)?
  @AppLinked var app: (any Service)?
  func didAttachContext() {}
}

/// What is missing is reported when it is attached.
private final class Strict: Consumer {
  @Required var required: any Service
}

private final class LocalConsumer: UDIObject, @unchecked Sendable {
  let _attachedContext = UDIAttachment()
  @Linked var local: (any Local)?
  func didAttachContext() {}
}

private final class Early: UDIObject, @unchecked Sendable {
  let _attachedContext = UDIAttachment()
  @Linked var service: (any Service)?
  var first: (any Service)?
  func didAttachContext() { first = service }
}

/// Replaces its own property.
private final class Fickle: UDIObject, @unchecked Sendable {
  let _attachedContext = UDIAttachment()
  @Linked var service: (any Service)?
  @Linked(keeps: .never) var inLine: (any Service)?
  func didAttachContext() {}
  func replace() {
    _service = Linked(search: .ancestors)
    _inLine = Linked(keeps: .never)
  }
}

private actor Desk: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var service: (any Service)?
  @Linked(keeps: .never) var inLine: (any Service)?
  @Linked(keeps: .weakly) var weakly: (any Service)?
  @AppLinked var app: (any Service)?
  nonisolated func didAttachContext() {}
  func read() -> [(any Service)?] { [service, inLine, weakly, app] }
}

@MainActor private final class Panel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked var local: (any Local)?
  @Linked(keeps: .never) var inLine: (any Local)?
  @Linked(keeps: .weakly) var weakly: (any Local)?
  @Required var service: any Service
  @AppLinked var app: (any Local)?
  func didAttachContext() {}
}

private protocol Shape: Sendable {}
private struct Figure: Shape {}

private final class Drawing: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .weakly) var shape: (any Shape)?
  func didAttachContext() {}
}

@Suite struct WrapperTests {
  let context = UDIContext(tag: "context")
  let service = Plain("service")

  /// Reads do not retain what the property looks up, but a lookup does.
  @Test func aFactoryMayReplaceThePropertyThatIsBeingRead() {
    let fickle = Fickle().attached(to: context)
    context.register((any Service).self, lifetime: .unique) {
      fickle.replace()
      return Plain("made")
    }
    #expect(fickle.service != nil && fickle.service != nil)
    #expect(fickle.inLine != nil && fickle.inLine != nil)
    context.unregister((any Service).self)
  }

  @Test func eachFindsItFromTheObjectsContext() throws {
    let child = try context.makeChild(tag: "child")
    let (named, other, app) = (Plain("named"), Plain("other"), Plain("app"))
    child.bind(service, as: (any Service).self)
    child.bind(named, as: (any Service).self, named: "n")
    context.bind(other, as: (any Other).self)
    let root = UDIContext(tag: "App")
    root.bind(app, as: (any Service).self)
    let consumer = Strict().attached(to: child)
    withAppContext(root) {
      #expect(consumer.linked === service && consumer.inLine === service && consumer.weakly === service)
      #expect(consumer.required === service)
      #expect(consumer.named === named && consumer.above === other && consumer.app === app)
    }
  }

  @Test func whatEachKeeps() {
    let consumer = Consumer().attached(to: context)
    for property in [\Consumer.linked, \.inLine, \.weakly] as [ReferenceWritableKeyPath<Consumer, (any Service)?>] {
      weak var watched: Plain?
      do {
        let service = Plain("mortal")
        watched = service
        context.bind(service, as: (any Service).self)
        #expect(consumer[keyPath: property] === service)
      }
      // Only `@Linked` holds it.
      #expect((watched != nil) == (property == \.linked))
      #expect((consumer[keyPath: property] != nil) == (property == \.linked))
      consumer[keyPath: property] = nil
      #expect(watched == nil)
    }
    let strict = Strict()
    weak var watched: Plain?
    do {
      let service = Plain("required")
      watched = service
      context.bind(service, as: (any Service).self)
      strict.attachedContext = context
    }
    #expect(watched != nil && strict.required === watched)
    withAppContext(context) { #expect(consumer.app === watched) }
    // When it is attached elsewhere, it lets go.
    let (other, next) = (UDIContext(tag: "other"), Plain("next"))
    other.bind(next, as: (any Service).self)
    strict.attachedContext = other
    #expect(watched == nil && strict.required === next)
  }

  @Test func aMissIsNotKept() {
    let consumer = Consumer().attached(to: context)
    #expect(consumer.linked == nil && consumer.weakly == nil && consumer.inLine == nil)
    context.bind(service, as: (any Service).self)
    #expect(consumer.linked === service && consumer.weakly === service && consumer.inLine === service)
  }

  @Test func whatWasLinkedIsKeptUntilTheObjectIsAttachedElsewhere() {
    let consumer = Consumer().attached(to: context)
    context.bind(service, as: (any Service).self)
    #expect(consumer.linked === service && consumer.weakly === service)
    let newer = Plain("newer")
    context.bind(newer, as: (any Service).self)
    #expect(consumer.linked === service && consumer.weakly === service && consumer.inLine === newer)
    let other = UDIContext(tag: "other")
    consumer.attachedContext = other
    #expect(consumer.linked == nil && consumer.weakly == nil && consumer.inLine == nil)
    other.bind(newer, as: (any Service).self)
    #expect(consumer.linked === newer && consumer.weakly === newer)
    // Attaching it to the same context once more counts, too.
    other.bind(service, as: (any Service).self)
    consumer.attachedContext = other
    #expect(consumer.linked === service && consumer.weakly === service)
  }

  @Test func aContextThatIsRemovedStaysTheObjectsContext() throws {
    let child = try context.makeChild(tag: "child")
    child.bind(service, as: (any Service).self)
    let consumer = Consumer().attached(to: child)
    context.removeChild(child)
    #expect(consumer.linked === service && consumer.inLine === service && consumer.weakly === service)
    #expect(consumer.above == nil)
  }

  @Test func whatIsSetIsGiven() {
    context.bind(service, as: (any Service).self)
    let consumer = Strict().attached(to: context)
    let mock = Plain("mock")
    consumer.linked = mock
    consumer.inLine = mock
    consumer.weakly = mock
    consumer.required = mock
    consumer.app = mock
    #expect(consumer.linked === mock && consumer.inLine === mock && consumer.weakly === mock)
    #expect(consumer.required === mock && consumer.app === mock)
    consumer.linked = nil
    consumer.inLine = nil
    consumer.weakly = nil
    #expect(consumer.linked === service && consumer.inLine === service && consumer.weakly === service)
  }

  @Test func whatIsSetBeforeOutlivesTheAttachment() {
    let consumer = Strict()
    let mock = Plain("mock")
    context.bind(service, as: (any Service).self)
    consumer.linked = mock
    consumer.weakly = mock
    consumer.required = mock
    consumer.attachedContext = context
    #expect(consumer.linked === mock && consumer.weakly === mock && consumer.required === mock)
    consumer.linked = nil
    #expect(consumer.linked === service)
  }

  @Test func whatTheLookupSetStands() {
    let consumer = Consumer().attached(to: context)
    nonisolated(unsafe) let unchecked = consumer
    let fallback = Plain("fallback")
    context.register((any Service).self) { () throws -> Made in
      unsafe unchecked.linked = fallback
      unsafe unchecked.weakly = fallback
      throw OutOfOrder()
    }
    withReporter(.silent) {
      #expect(consumer.linked === fallback)
      consumer.weakly = nil
      #expect(consumer.weakly === fallback)
    }
  }

  /// What the hook read while a provider made the object is also what the object reads later.
  @Test func whatWasLinkedWhileTheObjectWasMadeIsKept() throws {
    context.register((any Service).self, lifetime: .unique) { Made("made") }
    context.register(Early.self, lifetime: .context) { context in Early().attached(to: context) }
    let early = try #require(context.link(Early.self))
    #expect(early.first != nil && early.service === early.first)
  }

  @Test func offTheMainActorWhatIsNotSendableIsNoticed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let local = LocalConsumer().attached(to: UDIContext(tag: "x"))
      onThreads(1) { _ in _ = local.local }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("property of LocalConsumer: UDITests.Local is not Sendable"))
  }

  /// The short way of a read must not be taken for it.
  @Test func offTheMainActorWhatIsKeptAndNotSendableIsNoticedToo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let local = LocalConsumer().attached(to: UDIContext(tag: "x"))
      await MainActor.run {
        local.local = Counter()
        if local.local == nil { fatalError("it is not kept") }
      }
      onThreads(1) { _ in _ = local.local }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("property of LocalConsumer: UDITests.Local is not Sendable"))
  }

  /// The property can be accessed while the lookup runs, and while the old value dies.
  @Test func nothingIsHeldWhileOthersRun() {
    let consumer = Consumer().attached(to: context)
    nonisolated(unsafe) let unchecked = consumer
    context.register((any Service).self, lifetime: .unique) { unsafe Made("made", parts: [unchecked._attachedContext]) }
    _ = consumer.linked
    consumer.linked = Farewell { _ = unsafe unchecked.linked }
    consumer.linked = nil
    #expect(consumer.linked is Made)
  }

  @Test func inAnActor() async {
    let desk = Desk().attached(to: context)
    context.bind(service, as: (any Service).self)
    let read = await withAppContext(context) { await desk.read() }
    #expect(read.allSatisfy { $0 === service })
  }

  @MainActor @Test func onTheMainActorWhatIsNotSendable() {
    let counter = Counter()
    context.bind(counter, as: (any Local).self)
    context.bind(service, as: (any Service).self)
    let panel = Panel().attached(to: context)
    panel.local?.count += 1
    panel.inLine?.count += 1
    panel.weakly?.count += 1
    withAppContext(context) { panel.app?.count += 1 }
    #expect(counter.count == 4 && panel.service === service)
  }

  @Test func offTheMainActorWhatIsSendable() {
    nonisolated(unsafe) let consumer = Consumer().attached(to: context)
    context.bind(service, as: (any Service).self)
    onThreads(1) { [service] _ in
      let (linked, inLine) = unsafe (consumer.linked, consumer.inLine)
      #expect(linked === service && inLine === service)
    }
  }

  @Test func whatIsNoClassInstanceCannotBeKeptWeakly() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = UDIContext(tag: "context")
      context.provide(Figure(), as: (any Shape).self)
      _ = Drawing().attached(to: context).shape
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Figure is not a class, so a property cannot keep it weakly"))
  }

  @Test func whatMustBeThereExplainsItsAbsence() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Strict().attached(to: UDIContext(tag: "nowhere")).required
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      output.contains(
        "No UDITests.Service is registered in this tree. "))
    #expect(output.contains("Strict.required needs it.\n"))
    #expect(output.contains(#""nowhere": nothing"#))
  }

  @Test func providersServeThemToo() {
    let consumer = Consumer().attached(to: context)
    context.register((any Service).self, lifetime: .unique) { Made("made") }
    let first = consumer.linked
    #expect(first is Made && consumer.linked === first && consumer.inLine !== consumer.inLine)
    // A weak property does not hold the value that it was given.
    #expect(consumer.weakly is Made)
  }
}
