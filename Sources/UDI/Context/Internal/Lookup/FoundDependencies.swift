/// The live dependencies of one type that `linkAll` has found.
///
/// Loading an object adds a reference to it. The value that the caller makes from the object takes over this reference.
final class FoundDependencies {
  /// An entry, and its object; nil if the instance has to be made or taken out of its box.
  private typealias Found = (entry: Entry, object: AnyObject?)

  /// The dependencies that have not been returned yet, in reverse order, so that the next one can be taken from the
  /// end. Accesses are not checked for overlaps, because only one call on one thread uses this object. With the check,
  /// `linkAll` takes 17 % longer ("linkAll of 1,000 spread over them, each" in `Benchmarks/compare`).
  @exclusivity(unchecked) private var rest: ContiguousArray<Found>
  let count: Int
  /// Whether a dead entry was withdrawn whose context has another entry for the same key.
  let hasUncovered: Bool
  private let wanted: WantedType

  /// Loads the entries, withdraws the dead ones, and leaves out those that the lookup must not have because of its
  /// reach. Called under the tree lock.
  init(_ entries: ContiguousArray<Unretained<Entry>>, as wanted: WantedType, _ garbage: inout Garbage) {
    var found: ContiguousArray<Found> = []
    var hasUncovered = false
    found.reserveCapacity(entries.count)
    for entry in entries.reversed() {
      if let next = entry.read({ Self.find($0, as: wanted, &hasUncovered, &garbage) }) { found.append(next) }
    }
    count = found.count
    unsafe rest = found
    self.hasUncovered = hasUncovered
    self.wanted = wanted
  }

  private static func find(
    _ entry: Entry, as wanted: WantedType, _ hasUncovered: inout Bool, _ garbage: inout Garbage
  ) -> Found? {
    // The reach is checked before the object is loaded. A thread that may not use the object must not hold it either:
    // if all other references went away in the meantime, that thread would release the object.
    if entry.registered.isRefused(to: wanted.reach) { return nil }
    switch entry.kind {
    case .binding, .observed:
      if let object = entry.object { return (entry, object) }
      let node = entry.node
      entry.withdraw(&garbage)
      if node?.ownEntry(entry.keyID) != nil { hasUncovered = true }
      return nil
    case .owned:
      guard let object = unsafe unsafeDowncast(entry, to: InstanceEntry.self).owned else { return nil }
      return (entry, object)
    case .boxed, .provider, .graphProvider:
      return (entry, nil)
    }
  }

  /// Removes the next dependency and returns it: as a value in `memory`, as an object that still has to be cast, or as
  /// an entry that the caller asks for the instance. Returns `nothing` after the last one.
  ///
  /// - Parameter memory: Uninitialised memory for a value of the requested type.
  func next(into memory: UnsafeMutableRawPointer) -> LookupAnswer {
    guard let (entry, object) = unsafe rest.popLast() else { return .nothing }
    guard let object else {
      // A factory that ran earlier in this lookup might have linked the instance already.
      return entry.kind == .graphProvider ? unsafe entry.answerFromGraph(wanted, into: memory) : .provided(entry)
    }
    guard entry.registered.fits(wanted) else { return .object(object) }
    unsafe entry.form.write(object, to: memory)
    return .written
  }
}
