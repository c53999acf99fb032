import UDI

/// What the library promises, written down as plainly as possible: a tree that is traversed at each lookup.
///
/// Contexts and objects are numbers here. The randomised test keeps the real ones beside them.
struct Oracle {
  struct Binding: Equatable {
    let object: Int
    /// The object whose verb made the binding; nil for a context's verb.
    let binder: Int?
    let isMulti: Bool
    /// Gives the order of the bindings in one context.
    let serial: Int
  }

  struct Provider: Equatable {
    /// Identifies what the provider makes.
    let id: Int
    /// If each scope of some kinds has an instance of its own, which `Oracle.number(of:in:)` identifies: the kinds.
    let scopeKinds: Set<String>?
    let serial: Int
  }

  struct Context {
    var parent: Int?
    /// Where lookups from a closed context go on: what was above it and is not closed.
    var above: Int?
    /// The kind of a scope; nil for any other context.
    let scopeKind: String?
    var isScope: Bool { scopeKind != nil }
    var isClosed = false
    /// The keys that a closed context had, and closed contexts above it.
    var closedKeys: Set<Int> = []
    /// The kinds of the closed scopes above it.
    var closedScopes: Set<String> = []
    var children: [Int] = []
    /// By key number.
    var bindings: [Binding?]
    var providers: [Provider?]
    /// Whether a provider with a closer was registered here.
    var hasClosers = false
  }

  let keyCount: Int
  private(set) var contexts: [Int: Context] = [:]
  private(set) var liveObjects: Set<Int> = []
  /// The contexts that objects are attached to.
  private(set) var attachedTo: [Int: Int] = [:]
  private var nextSerial = 0
  /// What providers with closers have made, by the instances' numbers, in the order in which it was made.
  private var unclosed: [Int] = []
  /// With what an instance was made that its context kept, or others from the same provider, by the instances' numbers.
  private var helpers: [Int: Set<Int>] = [:]
  /// The misuse that has to be reported.
  var reports: [UDIMisuse.Kind: Int] = [:]

  init(keyCount: Int) { self.keyCount = keyCount }

  // MARK: The tree

  mutating func addContext(_ id: Int, scopeKind: String?, below parent: Int?) {
    contexts[id] = Context(
      scopeKind: scopeKind, bindings: Array(repeating: nil, count: keyCount),
      providers: Array(repeating: nil, count: keyCount))
    if let parent { move(id, below: parent) }
  }

  mutating func move(_ id: Int, below parent: Int) {
    remove(id)
    contexts[parent]!.children.append(id)
    contexts[id]!.parent = parent
  }

  mutating func remove(_ id: Int) {
    guard let parent = contexts[id]!.parent else { return }
    contexts[parent]!.children.removeAll { $0 == id }
    contexts[id]!.parent = nil
  }

  /// Forgets contexts that are gone.
  mutating func discard(_ ids: [Int]) {
    remove(ids[0])
    for id in ids {
      reset(id)
      contexts[id] = nil
    }
    for id in contexts.keys where ids.contains(contexts[id]!.above ?? -1) { contexts[id]!.above = nil }
  }

  /// A context and everything below it, breadth-first.
  ///
  /// - Parameter entersScopes: Whether this includes what is in scopes below the context.
  func branch(_ id: Int, entersScopes: Bool = true) -> [Int] {
    var queue = [id]
    var head = 0
    while head < queue.count {
      queue += contexts[queue[head]]!.children.filter { entersScopes || !contexts[$0]!.isScope }
      head += 1
    }
    return queue
  }

  func ancestors(_ id: Int) -> [Int] {
    var line = [id]
    while let parent = contexts[line.last!]!.parent { line.append(parent) }
    return line
  }

  /// The contexts that a lookup upwards visits.
  private func wayUp(_ id: Int) -> [Int] { contexts[id]!.above.map { [id] + ancestors($0) } ?? ancestors(id) }

  // MARK: Bindings

  mutating func addObject(_ id: Int) { liveObjects.insert(id) }

  mutating func release(_ id: Int) {
    liveObjects.remove(id)
    attachedTo[id] = nil
    withdraw { $0.binder == id || $0.object == id }
  }

  mutating func bind(_ object: Int, _ key: Int, in context: Int, binder: Int?, isMulti: Bool) {
    guard accepts(context) else { return }
    if !isMulti {
      for id in contexts.keys where contexts[id]!.bindings[key]?.object == object { contexts[id]!.bindings[key] = nil }
    }
    contexts[context]!.bindings[key] = Binding(object: object, binder: binder, isMulti: isMulti, serial: nextSerial)
    nextSerial += 1
  }

  mutating func unbind(_ key: Int, in context: Int) { contexts[context]!.bindings[key] = nil }

  mutating func unbind(_ key: Int, by binder: Int) {
    for id in contexts.keys where contexts[id]!.bindings[key]?.binder == binder { contexts[id]!.bindings[key] = nil }
  }

  /// - Parameter context: The context that the object is now attached to; nil if it is detached.
  mutating func attach(_ object: Int, to context: Int?) {
    let keepsMulti = context.map { !contexts[$0]!.isClosed } ?? false
    withdraw { $0.binder == object && !(keepsMulti && $0.isMulti) }
    attachedTo[object] = context
  }

  private mutating func withdraw(where condition: (Binding) -> Bool) {
    for id in contexts.keys {
      for key in 0..<keyCount {
        if let binding = contexts[id]!.bindings[key], condition(binding) { contexts[id]!.bindings[key] = nil }
      }
    }
  }

  // MARK: Providers

  mutating func register(_ id: Int, _ key: Int, in context: Int, scopeKinds: Set<String>?, hasCloser: Bool) {
    guard accepts(context) else { return }
    if hasCloser { contexts[context]!.hasClosers = true }
    drop(contexts[context]!.providers[key])
    contexts[context]!.providers[key] = Provider(id: id, scopeKinds: scopeKinds, serial: nextSerial)
    nextSerial += 1
  }

  mutating func unregister(_ key: Int, in context: Int) {
    contexts[context]!.bindings[key] = nil
    drop(contexts[context]!.providers[key])
    contexts[context]!.providers[key] = nil
  }

  /// Drops what a context owns.
  mutating func reset(_ context: Int) {
    contexts[context]!.providers.forEach { drop($0) }
    for number in unclosed where Oracle.scope(of: number) == context { drop(number) }
    helpers = helpers.filter { owner(of: $0.key) != context }
  }

  /// Drops what a provider has made. What scopes have made with it stays theirs.
  private mutating func drop(_ provider: Provider?) { if let provider { drop(provider.id) } }

  private mutating func drop(_ number: Int) {
    guard let index = unclosed.firstIndex(of: number) else { return }
    unclosed.remove(at: index)
    reports[.unclosed, default: 0] += 1
  }

  // MARK: The lifetime `.scope`

  /// The number of the instance that a provider makes for a scope.
  static func number(of provider: Int) -> (_ scope: Int) -> Int { { scope in (scope + 1) * 10_000_000 + provider } }

  /// The scope that has the instance with a number; nil if another provider has made it.
  static func scope(of number: Int) -> Int? { number < 10_000_000 ? nil : number / 10_000_000 - 1 }

  /// The scope that owns what a provider of one context makes for another: the nearest one around the latter; nil if
  /// there is none, if it is closed, or if it is above the former.
  private func scope(of kinds: Set<String>, for context: Int, providerIn home: Int) -> Int? {
    for id in wayUp(context) {
      let scope = contexts[id]!
      if scope.scopeKind.map(kinds.contains) == true {
        return scope.isClosed || ancestors(home).dropFirst().contains(id) ? nil : id
      }
      if !scope.closedScopes.isDisjoint(with: kinds) { return nil }
    }
    return nil
  }

  // MARK: Closing

  /// Notes that a provider with a closer has made something.
  mutating func make(_ number: Int) { unclosed.append(number) }

  /// The context whose provider makes the instance with a number, or the scope that has it.
  private func owner(of number: Int) -> Int? {
    Oracle.scope(of: number) ?? contexts.first { $0.value.providers.contains { $0?.id == number } }?.key
  }

  /// Notes that the factory of an instance that is kept has found another one. Only inside one context, it matters for
  /// the order of closing.
  mutating func note(_ maker: Int, isMadeWith helper: Int) {
    guard let context = owner(of: maker), owner(of: helper) == context, maker != helper else { return }
    if contexts[context]!.hasClosers || contexts[context]!.isScope { helpers[maker, default: []].insert(helper) }
  }

  /// The instances of a context, as if everything had been made in the order of registration, each instance after those
  /// that help to make it.
  private func inOrderOfMaking(in context: Int) -> [Int] {
    let all = Set(unclosed + helpers.keys + helpers.values.joined()).filter { owner(of: $0) == context }
    var order: [Int] = []
    var begun: Set<Int> = []
    func make(_ number: Int) {
      guard begun.insert(number).inserted else { return }
      for helper in sorted(helpers[number] ?? []) { make(helper) }
      order.append(number)
    }
    func sorted(_ numbers: Set<Int>) -> [Int] { numbers.sorted { $0 % 10_000_000 < $1 % 10_000_000 } }
    for number in sorted(all) { make(number) }
    return order
  }

  /// Closes a context and everything below it.
  ///
  /// - Returns: The numbers of the instances that are closed, in the order in which that happens.
  mutating func close(_ id: Int) -> [Int] {
    let (branch, above) = (branch(id), contexts[id]!.parent ?? contexts[id]!.above)
    var closedKeys: [Int: Set<Int>] = [:]
    var closedScopes: [Int: Set<String>] = [:]
    for id in branch {
      let own = (0..<keyCount).filter { contexts[id]!.bindings[$0] != nil || contexts[id]!.providers[$0] != nil }
      let above = contexts[id]!.parent.flatMap { closedKeys[$0] } ?? []
      closedKeys[id] = contexts[id]!.closedKeys.union(own).union(above)
      closedScopes[id] = contexts[id]!.closedScopes.union(contexts[id]!.parent.map(scopes) ?? [])
    }
    func scopes(_ id: Int) -> Set<String> {
      closedScopes[id].map { $0.union(contexts[id]!.scopeKind.map { [$0] } ?? []) } ?? []
    }
    remove(id)
    var closed: [Int] = []
    let binders = attachedTo.filter { branch.contains($0.value) }
    withdraw { $0.binder.map { binders[$0] != nil } ?? false }
    for id in branch.reversed() {
      let providers = contexts[id]!.providers.compactMap(\.?.id)
      let isOwned = { providers.contains($0) || Oracle.scope(of: $0) == id }
      closed += inOrderOfMaking(in: id).reversed().filter { unclosed.contains($0) && isOwned($0) }
      unclosed.removeAll(where: isOwned)
      addContext(id, scopeKind: contexts[id]!.scopeKind, below: nil)
      contexts[id]!.isClosed = true
      contexts[id]!.closedKeys = closedKeys[id]!
      contexts[id]!.closedScopes = closedScopes[id]!
      contexts[id]!.above = above
    }
    for id in contexts.keys {
      guard let former = contexts[id]!.above, let keys = closedKeys[former] else { continue }
      contexts[id]!.closedKeys.formUnion(keys)
      contexts[id]!.closedScopes.formUnion(scopes(former))
      contexts[id]!.above = above
    }
    return closed
  }

  /// Binds in a context that the binder names. If the binder's own context is closed, it must not bind anywhere.
  mutating func multiBind(_ object: Int, _ key: Int, in context: Int, binder: Int) {
    if let own = attachedTo[binder], !accepts(own) { return }
    bind(object, key, in: context, binder: binder, isMulti: true)
  }

  /// Whether something can be added to a context. If not, that is reported.
  private mutating func accepts(_ context: Int) -> Bool {
    if !contexts[context]!.isClosed { return true }
    reports[.contextClosed, default: 0] += 1
    return false
  }

  // MARK: Lookups

  func order(_ context: Int, _ search: UDISearch) -> [Int] {
    switch search {
    case .lineage: branch(context, entersScopes: false) + wayUp(context).dropFirst()
    case .descendants: branch(context, entersScopes: false)
    case .local: [context]
    case .ancestors: wayUp(context)
    }
  }

  /// What a context has for a key, and its place in the order. A binding comes first.
  ///
  /// - Parameter asker: The context that asks.
  /// - Returns: The object is nil if each scope would have one, but there is no such scope.
  private func answer(_ key: Int, at id: Int, for asker: Int) -> (object: Int?, serial: Int)? {
    if let binding = contexts[id]!.bindings[key] { return (binding.object, binding.serial) }
    return contexts[id]!.providers[key].map { provider in
      guard let kinds = provider.scopeKinds else { return (provider.id, provider.serial) }
      return (scope(of: kinds, for: asker, providerIn: id).map(Oracle.number(of: provider.id)), provider.serial)
    }
  }

  func link(_ key: Int, from context: Int, _ search: UDISearch) -> Int? {
    for id in order(context, search) {
      if let answer = answer(key, at: id, for: context) { return answer.object }
      if contexts[id]!.closedKeys.contains(key) { return nil }
    }
    return nil
  }

  /// All dependencies under some keys, in the order of the contexts, and within one context in the order of their
  /// registration.
  func linkAll(_ keys: [Int], from context: Int, _ search: UDISearch) -> [Int] {
    order(context, search).flatMap { id in
      keys.compactMap { answer($0, at: id, for: context) }.sorted { $0.serial < $1.serial }.compactMap(\.object)
    }
  }
}
