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
  /// Whether its provider has let go of it, because it held nothing.
  private var isDetached = false

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
    case make(UDIContext, Creation)
    /// The holder is in use no more: another one is to be asked for.
    case again
    case gone
  }

  /// Finds what is kept, or who makes it, or says that the caller has to.
  ///
  /// - Throws: `ProviderFailure.cycle` where waiting would have no end.
  func claim(_ context: UDIContext, _ resolution: Resolution) throws -> Claim {
    let provider = provider.object
    return try Tree.change { garbage in
      guard let node = provider.node else { return .gone }
      if isDetached { return .again }
      if let entry {
        if let made = entry.made { return .found(made) }
        self.entry = nil
        provider.forget(entry, &garbage)
        garbage.add(entry)
      }
      if let creation { return .wait(try creation.prepareToWait(resolution), creation) }
      guard let owner = context.withNode({ $0 == node }) ? context : node.context else { return .gone }
      let new = Creation(provider, maker: resolution)
      creation = new
      return .make(owner, new)
    }
  }

  /// Keeps what the caller has made, and gives it to those who wait for it.
  func keep(_ made: Made, _ creation: Creation) {
    let provider = provider.object
    let isWeak = provider.sharing == .weak
    if isWeak, made.isBox { provider.reportWeakValue(made) }
    let wasDropped = Tree.change { garbage in
      let isCurrent = self.creation === creation
      end(creation, .made(made), &garbage)
      guard provider.node != nil, isCurrent else { return true }
      if let node = provider.node, !made.isBox { BindingAudit.note(made.object, provider, node, &garbage) }
      guard storage == nil, !(isWeak && made.isBox) else { return false }
      let new = MadeEntry(made, provider, isWeak: isWeak, origin: nil)
      if let entry { garbage.add(entry) }
      entry = new
      if arguments == nil { provider.show(new) }
      return false
    }
    if wasDropped { storage?.reset() }
  }

  /// Ends the making without keeping anything.
  func end(_ creation: Creation, _ outcome: Creation.Outcome) {
    Tree.change { garbage in end(creation, outcome, &garbage) }
  }

  private func end(_ creation: Creation, _ outcome: Creation.Outcome, _ garbage: inout Garbage) {
    if self.creation === creation { self.creation = nil }
    creation.end(outcome)
    garbage.add(creation)
  }

  /// Lets go of what is kept, and of what is being made: that goes to those who wait for it already, and the next one begins anew.
  /// Under the tree lock.
  func drop(_ garbage: inout Garbage) {
    if let creation { garbage.add(creation) }
    creation = nil
    if let entry { garbage.add(entry) }
    entry = nil
  }

  /// Takes it out of use. Under the tree lock.
  func detach() { isDetached = true }

  /// Whether something is kept or being made. Under the tree lock.
  func isInUse(_ garbage: inout Garbage) -> Bool {
    if creation != nil || storage != nil { return true }
    guard let entry else { return false }
    guard let made = entry.made else { return false }
    Schedule.reached(.loadedToLook)
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
        if holder.isInUse(&garbage) { used.append(holder) } else { holder.detach() }
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
    // They stay, for those who are on their way to them.
    let all = find(nil) + byArguments.values.joined()
    for holder in all { holder.drop(&garbage) }
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
