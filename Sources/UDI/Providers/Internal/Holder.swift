/// What a provider has made and keeps, for one set of arguments.
@usableFromInline
final class Holder: @unchecked Sendable {
  // Unchecked: what is mutable is guarded by the tree lock.

  /// The provider keeps its holders, and is kept by whoever uses one.
  private let provider: Unretained<Provider>
  let arguments: ArgumentKey?
  /// The user's own, for a lifetime that has one.
  let storage: (any UDIStorage)?
  private(set) var entry: MadeEntry?
  private var creation: Creation?
  /// Whether what is being made was dropped before it was there.
  private var isDropped = false

  /// Not under a lock: makes the user's storage.
  init(_ provider: Provider, _ arguments: ArgumentKey?) {
    self.provider = Unretained(provider)
    self.arguments = arguments
    storage = provider.lifetime.makeStorage?()
  }

  enum Claim {
    case found(Made)
    case wait(Gate, Creation)
    /// The caller is to make one, for this context, and then to call `keep` or `end`.
    case make(UDIContext)
    case gone
  }

  /// Finds what is kept, or who makes it, or says that the caller has to.
  ///
  /// - Throws: `ProviderFailure.cycle` where waiting would have no end.
  func claim(_ context: UDIContext, _ resolution: Resolution) throws -> Claim {
    let provider = provider.object
    return try Tree.change { garbage in
      guard let node = provider.node else { return .gone }
      if let entry {
        if let made = entry.made { return .found(made) }
        self.entry = nil
        provider.forget(entry, &garbage)
        garbage.add(entry)
      }
      if let creation { return .wait(try creation.prepareToWait(resolution), creation) }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      creation = Creation(provider, maker: resolution)
      isDropped = false
      return .make(owner)
    }
  }

  /// Keeps what the caller has made, and gives it to those who wait for it.
  func keep(_ made: Made) {
    let provider = provider.object
    let isWeak = provider.sharing == .weak
    if isWeak, made.isBox { provider.reportWeakValue(made) }
    let wasDropped = Tree.change { garbage in
      defer { end(.made(made), &garbage) }
      guard provider.node != nil, !isDropped else { return true }
      guard storage == nil, !(isWeak && made.isBox) else { return false }
      let new = MadeEntry(made, provider, isWeak: isWeak)
      entry = new
      if arguments == nil { provider.show(new) }
      return false
    }
    if wasDropped { storage?.reset() }
  }

  /// Ends the making without keeping anything.
  func end(_ outcome: Creation.Outcome) {
    Tree.change { garbage in end(outcome, &garbage) }
  }

  private func end(_ outcome: Creation.Outcome, _ garbage: inout Garbage) {
    guard let creation else { return }
    self.creation = nil
    creation.end(outcome)
    garbage.add(creation)
  }

  /// Lets go of what is kept, and will not keep what is being made. Under the tree lock.
  func drop(_ garbage: inout Garbage) {
    isDropped = true
    if let entry { garbage.add(entry) }
    entry = nil
  }

  /// Whether something is kept or being made. Under the tree lock.
  func isInUse(_ garbage: inout Garbage) -> Bool {
    if creation != nil || storage != nil { return true }
    guard let entry else { return false }
    guard let made = entry.made else { return false }
    garbage.add(made.object)
    return true
  }
}

/// The holders of one provider. Under the tree lock.
struct Holders {
  private var withoutArguments: Holder?
  private var byArguments: [Int: [Holder]] = [:]
  /// With how many sets of arguments those that hold nothing are next looked for.
  private var nextSweep = 32

  func find(_ digest: Int?) -> [Holder] {
    guard let digest else { return withoutArguments.map { [$0] } ?? [] }
    return byArguments[digest] ?? []
  }

  mutating func add(_ holder: Holder, _ garbage: inout Garbage) {
    guard let arguments = holder.arguments else { return withoutArguments = holder }
    if byArguments.count >= nextSweep { sweep(&garbage) }
    byArguments[arguments.digest, default: []].append(holder)
  }

  /// Lets go of holders that hold nothing any more.
  private mutating func sweep(_ garbage: inout Garbage) {
    for (digest, holders) in byArguments {
      var used: [Holder] = []
      for holder in holders {
        if holder.isInUse(&garbage) { used.append(holder) }
        garbage.add(holder)
      }
      byArguments[digest] = used.isEmpty ? nil : used
    }
    nextSweep = max(32, byArguments.count * 2)
  }

  /// Lets go of everything that is kept.
  ///
  /// - Returns: The user's storages, to be reset when the lock was given back.
  mutating func drop(_ garbage: inout Garbage) -> [any UDIStorage] {
    let all = find(nil) + byArguments.values.joined()
    for holder in all {
      holder.drop(&garbage)
      garbage.add(holder)
    }
    byArguments = [:]
    return all.compactMap(\.storage)
  }
}

extension Provider {
  /// The holder for a set of arguments, made if there is none.
  final func holder(for arguments: ArgumentKey?) -> Holder {
    // As with names: arguments are compared by the user's `==`, so not under the lock. And a holder makes the user's storage.
    var compared: [Holder] = []
    var new: Holder?
    while true {
      let candidates = Tree.change { garbage -> [Holder]? in
        let present = holders?.find(arguments?.digest) ?? []
        guard let new, present.allSatisfy({ one in compared.contains { $0 === one } }) else { return present }
        if holders == nil { holders = Holders() }
        holders?.add(new, &garbage)
        return nil
      }
      guard let candidates else { return unsafe new.unsafelyUnwrapped }
      if let found = candidates.first(where: { $0.arguments == arguments }) { return found }
      compared = candidates
      if new == nil { new = Holder(self, arguments) }
    }
  }
}

/// What a provider made, as an entry: what slots point at in its place.
final class MadeEntry: Entry, @unchecked Sendable {
  // Unchecked: it adds constants.

  /// The instance or its box, where it is owned.
  let owned: AnyObject?
  private let provider: Unretained<Provider>

  /// - Parameter isWeak: Whether somebody else keeps it.
  init(_ made: Made, _ provider: Provider, isWeak: Bool) {
    self.provider = Unretained(provider)
    owned = isWeak ? nil : made.object
    if isWeak {
      super.init(.observed, made.form, key: provider.key, isExact: provider.makesExactType, provider.site)
    } else {
      super.init(
        made.isBox ? .boxed : .owned, without: made.form, key: provider.key, isExact: provider.makesExactType,
        provider.site)
    }
  }

  /// The instance, or nil if it is dead.
  var made: Made? {
    (owned ?? object).map { Made(object: $0, form: form, isBox: kind == .boxed) }
  }

  override func withdraw(_ garbage: inout Garbage) {
    provider.object.forget(self, &garbage)
  }

  /// The provider that made it. Under a lock under which a slot points at this entry.
  var maker: Provider { provider.object }

  override func obtain(_ context: UDIContext, _ arguments: [Any], isFresh: Bool) throws -> Made? { made }
}
