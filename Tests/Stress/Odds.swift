import Foundation
import UDI

/// A value and a lock of Foundation's. The thread sanitizer does not see into `Mutex`, and occasionally reports a race
/// that is none.
private final class Guarded<Value>: @unchecked Sendable {
  // Unchecked: `lock` guards the value.
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

protocol Thing: AnyObject, Sendable {}
protocol Other: AnyObject, Sendable {}

/// A value that has the same hash as half of all such values, and whose `==` uses the tree. It serves as an argument.
final class Nosy: Hashable, Sendable {
  private let number: Int
  private let root: UDIContext

  init(_ number: Int, _ root: UDIContext) {
    self.number = number
    self.root = root
  }

  deinit { root.unbind((any Other).self, named: "nosy") }

  static func == (left: Nosy, right: Nosy) -> Bool {
    _ = left.root.link((any Service).self, search: .local)
    return left.number == right.number
  }

  func hash(into hasher: inout Hasher) { hasher.combine(number % 2) }
}

/// A storage that uses the tree.
final class NosyStorage: UDIStorage {
  private let kept = Guarded<UDIMade?>(nil)
  private let root: UDIContext
  init(_ root: UDIContext) { self.root = root }

  func load() -> UDIMade? {
    _ = root.link((any Service).self, search: .local)
    return kept.withLock { $0 }
  }

  func store(_ made: UDIMade) { replace(with: made) }
  func reset() { replace(with: nil) }

  private func replace(with made: UDIMade?) {
    // Released after the lock has been given back.
    let old = kept.withLock { kept in
      defer { kept = made }
      return kept
    }
    withExtendedLifetime(old) {}
  }
}

/// Binds itself as a thing, and another object as a part.
final class Oddity: UDIObject, Thing, Other {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {
    bind(self, as: (any Thing).self)
    multiBind(Plain(), as: (any Part).self, named: "passing")
  }
}

/// Rare operations, under types of their own, so that it can be checked that nothing is left in the end.
final class Odds: Sendable {
  private let field: Field
  private let lifetimes: [UDILifetime]
  private let consumers = Guarded<[Task<Void, Never>]>([])

  init(_ field: Field) {
    self.field = field
    let root = field.root
    lifetimes = [.unique, .graph, .weak, .context, UDILifetime("nosy", storage: .custom { NosyStorage(root) })]
  }

  /// What a thread holds of these.
  struct Hand {
    fileprivate var registrations: [UDIRegistration<any Thing>] = []
    fileprivate var objects: [Oddity] = []
  }

  /// Does one random thing.
  ///
  /// - Parameter own: A context that the thread has made; it is moved, and goes.
  func act(_ hand: inout Hand, own: UDIContext?, _ random: inout some RandomNumberGenerator) {
    let context = field.fixed[Int.random(in: field.fixed.indices, using: &random)]
    let number = Int.random(in: 0..<6, using: &random)
    let name = [nil, UDIName(number)][number % 2]
    switch Int.random(in: 0..<11, using: &random) {
    case 0:
      let registration = context.register((any Thing).self, named: name, lifetime: lifetimes[number % lifetimes.count])
      {
        number < 3 ? Oddity() : Oddity().attached(to: $0)
      }.onCreate { context, _ in
        _ = context.link((any Service).self)
      }
      registration.implements((any Other).self, named: name)
      hand.registrations.append(registration)
    case 1: context.register((any Other).self, named: "nosy", lifetime: .weak) { (_, argument: Nosy) in Oddity() }
    case 2: for number in 0..<3 { _ = context.link((any Other).self, named: "nosy", with: Nosy(number, field.root)) }
    case 3:
      for registration in context.registrations(of: (any Thing).self) {
        _ = registration.link()
        if number == 0 { registration.unregister() }
      }
    case 4: _ = context.explain((any Thing).self, named: name).description
    case 5: hand.objects.append(Oddity().attached(to: own ?? context))
    case 6:
      if let object = hand.objects.last {
        (own ?? context).provide(object as any Thing, as: (any Thing).self, named: name)
      }
    case 7: if let own { follow(own) }
    case 8: own?.search = UDISearch.allCases[number % UDISearch.allCases.count]
    default:
      _ = context.link((any Thing).self, named: name)
      _ = context.link((any Other).self, named: name)
      _ = try? (own ?? context).require((any Other).self, named: name, search: .ancestors)
    }
    if hand.registrations.count > 4 { hand.registrations.removeFirst().unregister() }
    if hand.objects.count > 4 { hand.objects.removeFirst() }
  }

  /// Follows lookups from a passing context until the context goes.
  private func follow(_ context: UDIContext) {
    let updates = context.updates(of: (any Thing).self)
    let consumer = Task { for await _ in updates { await Task.yield() } }
    let old = consumers.withLock { consumers in
      consumers.append(consumer)
      return consumers.count > 24 ? consumers.removeFirst() : nil
    }
    old?.cancel()
  }

  /// Ends the consumers, and unregisters everything: nothing may be left then.
  func end() async {
    for consumer in consumers.withLock({ $0 }) {
      consumer.cancel()
      await consumer.value
    }
    for context in [field.root] + field.fixed {
      for registration in context.registrations(of: (any Thing).self) { registration.unregister() }
      for registration in context.registrations(of: (any Other).self) { registration.unregister() }
    }
    for context in [field.root] + field.fixed {
      precondition(context.registrations(of: (any Thing).self).isEmpty, "a thing is left at \(context)")
      precondition(context.registrations(of: (any Other).self).isEmpty, "another is left at \(context)")
    }
  }
}
