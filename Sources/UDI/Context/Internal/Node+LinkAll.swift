import Synchronization

extension Node {
  /// Every live binding of a type in search order, and within one context in the order in which they were bound.
  ///
  /// - Parameters:
  ///   - type: The type they are registered under.
  ///   - name: Their name; nil for those without one.
  ///   - search: The direction; nil for this context's.
  ///   - ofAnyName: Whether to take all of them whatever their name.
  /// - Complexity: O(contexts that have the key at them or below them, and above a hit), whatever else the tree holds.
  func allDependencies(
    _ type: Any.Type, _ name: UDIName?, _ search: UDISearch?, ofAnyName: Bool
  ) -> FoundDependencies {
    let (identity, token) = TypeIdentity.andToken(of: type)
    let key = KeyIdentity.of(identity, name)
    return Tree.change { garbage in
      let search = search ?? defaultSearch
      let keys = ofAnyName ? keys(of: identity, search) : [key.id]
      let found = FoundDependencies(isExact: token.isExact)
      if keys.count == 1 {
        found.collect(keys[0], from: self, search)
      } else {
        found.collect(keys, from: self, search)
      }
      for binding in found.dead { binding.withdraw(&garbage) }
      found.dead = []
      // The key's last reference may go with what was withdrawn; not before the lock was given back.
      garbage.add(key)
      return found
    }
  }

  /// The ids of all keys of a type that a search from here can meet.
  private func keys(of type: TypeIdentity, _ search: UDISearch) -> [UInt64] {
    guard type.namedKeys.load(ordering: .relaxed) > 0 else { return [type.id] }
    var keys: Set<UInt64> = [type.id]
    var next: Node? = self
    while let node = next {
      node.slots.forEach { slot in
        if slot.best.read({ $0.key.type === type }) { keys.insert(slot.key) }
      }
      next = search == .ancestors ? node.parent : nil
    }
    return Array(keys)
  }
}

/// What a lookup of all has found.
///
/// The references are counted when they are loaded, and that count goes over to the values that the caller makes of them.
@usableFromInline
@safe
final class FoundDependencies {
  private struct Found {
    let object: AnyObject
    let form: StoredForm
    let isExact: Bool
  }

  private let isExact: Bool
  private var live: UnsafeMutableBufferPointer<Found>
  fileprivate var dead: [Binding] = []
  @usableFromInline private(set) var count = 0
  private var taken = 0

  fileprivate init(isExact: Bool) {
    self.isExact = isExact
    unsafe live = .init(start: nil, count: 0)
  }

  deinit {
    for index in taken..<count { unsafe live.deinitializeElement(at: index) }
    unsafe live.deallocate()
  }

  /// Takes out the next dependency, as a value at `memory` or as an object that is still to be cast.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the requested type.
  @usableFromInline
  func next(into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard taken < count else { return .nothing }
    let found = unsafe live.moveElement(from: taken)
    taken += 1
    guard found.isExact else { return .object(found.object) }
    unsafe found.form.write(found.object, to: memory)
    return .written
  }

  @inline(__always)
  private func add(_ binding: Binding) {
    guard let object = binding.object else { return dead.append(binding) }
    if unsafe count == live.count { grow() }
    unsafe live.initializeElement(
      at: count, to: Found(object: object, form: binding.form, isExact: isExact && binding.isExact))
    count += 1
  }

  private func grow() {
    let larger = UnsafeMutableBufferPointer<Found>.allocate(capacity: max(8, count * 2))
    _ = unsafe larger.moveInitialize(fromContentsOf: live[..<count])
    unsafe live.deallocate()
    unsafe live = larger
  }
}

// MARK: - Collecting, under the tree lock

extension FoundDependencies {
  /// Adds what is bound under one key.
  fileprivate func collect(_ key: UInt64, from start: Node, _ search: UDISearch) {
    var level = [start]
    while !level.isEmpty {
      var next: [Node] = []
      for node in level {
        if search == .ancestors, let parent = node.parent { next.append(parent) }
        guard let slot = node.slots.find(key) else { continue }
        if slot.element.depth == 0 { slot.element.best.read { add($0) } }
        guard search == .descendants else { continue }
        let first = next.count
        slot.element.children.forEach { next.append($0) }
        // Slots list children nearest first; a level goes by the order in which they were added.
        if next.count - first > 1 { next[first...].sort { $0.sequence < $1.sequence } }
      }
      level = next
    }
  }

  /// Adds what is bound under any of several keys.
  fileprivate func collect(_ keys: [UInt64], from start: Node, _ search: UDISearch) {
    var level = [start]
    while !level.isEmpty {
      var next: [Node] = []
      for node in level {
        if search == .ancestors, let parent = node.parent { next.append(parent) }
        for binding in keys.compactMap(node.ownBinding).sorted(by: { $0.serial < $1.serial }) { add(binding) }
        guard search == .descendants else { continue }
        let first = next.count
        for key in keys { node.slots.find(key)?.element.children.forEach { next.append($0) } }
        next[first...].sort { $0.sequence < $1.sequence }
        next.removeRepetitions(from: first)
      }
      level = next
    }
  }
}

extension Array<Node> {
  /// Leaves one of several equal neighbours.
  fileprivate mutating func removeRepetitions(from start: Int) {
    var kept = start
    for index in indices.dropFirst(start) where index == start || self[index] != self[kept - 1] {
      self[kept] = self[index]
      kept += 1
    }
    removeLast(count - kept)
  }
}
