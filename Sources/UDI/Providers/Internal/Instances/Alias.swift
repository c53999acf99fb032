/// Serves a provider's instances as another type.
final class Alias: Provider, @unchecked Sendable {
  // Unchecked: this class adds constants, and `derived`, which the tree lock guards.
  let target: Provider
  private let convert: (Instance) -> Instance?
  /// Where `convert` may run.
  let conversion: Isolation
  /// The latest conversion of an instance that the provider keeps weakly, if the conversion is a different object.
  /// Slots never refer to the conversion: it may outlive the instance, and a lookup would then still find it.
  @exclusivity(unchecked) private var derived: Derived?

  /// A conversion and the instance it was made from. The record keeps neither alive. The instance is identified by a
  /// weak reference instead of its address, because a later instance could get the same address.
  private struct Derived {
    weak var origin: AnyObject?
    let entry: InstanceEntry
  }

  init(
    _ type: Any.Type, _ name: UDIName?, _ site: UDICallSite, _ reach: UDIReach, _ isolation: Isolation,
    of target: Provider, _ conversion: Isolation, _ convert: @escaping (Instance) -> Instance?
  ) {
    self.target = target
    self.convert = convert
    self.conversion = conversion
    super.init(type, name, target.lifetime, nil, site, reach, isolation, wanted: target.wanted)
  }

  /// The provider that the instances come from, and the aliases by way of which they come, the nearest first.
  var sources: some Sequence<Provider> { sequence(first: target) { ($0 as? Alias)?.target } }

  override func obtain(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Instance? {
    // The target's instance belongs to the main actor: on other threads, nothing may even hold a reference to it.
    if target.reach == .mainActor, !MainActorCheck.isOnMainActor {
      guard arguments == nil, !isFresh, let present = kept() else {
        PerThread.resolution.read { $0.noteActorMiss() }
        throw ProviderFailure.isolatedElsewhere(.mainActor)
      }
      return present
    }
    let original: Instance?
    do { original = try target.obtain(context, arguments, isFresh: isFresh) } catch {
      if case ProviderFailure.asynchronous(let unmade) = error {
        throw ProviderFailure.asynchronous(unmade.asked(through: self))
      }
      throw passOn(error)
    }
    let isShared = !isFresh && sharing != .unique
    return try original.map { try serve($0, arguments, for: isShared ? nil : context) }
  }

  /// Returns an instance of the target, converted to this alias's type.
  ///
  /// - Parameter context: The context that asked, if the instance was made for this context alone; nil if several
  ///   contexts share the instance.
  /// - Throws: `ProviderFailure.isolatedElsewhere` or `ProviderFailure.notConvertible`; `ProviderFailure.cycle` if the
  ///   conversion needs itself.
  func serve(_ instance: Instance, _ arguments: Arguments?, for context: UDIContext?) throws -> Instance {
    if let present = converted(from: instance) { return present }
    // The isolation is checked only now, because an earlier conversion may be handed out anywhere.
    if !conversion.isHere {
      PerThread.resolution.read { $0.noteActorMiss() }
      throw ProviderFailure.isolatedElsewhere(conversion)
    }
    let converted = try PerThread.resolution.object.converting(through: self, arguments, for: context) {
      convert(instance)
    }
    guard let converted else {
      let failure = ProviderFailure.notConvertible(from: target.madeType)
      noteFailure(failure, arguments)
      throw failure
    }
    forgetFailure()
    let attachment = attachment(of: converted)
    let other = Tree.change { garbage -> Instance? in
      // The conversion is kept only if the provider keeps the instance, and if the provider and this alias are still
      // registered.
      guard let node, let isWeak = target.keepsWeakly(instance.object, &garbage) else { return nil }
      // If another thread has converted the instance in the meantime, its result is used.
      if let other = self.instance(from: instance, &garbage) { return other }
      keep(converted, of: instance, isWeak: isWeak, &garbage)
      if !isWeak, let attachment, let owner = node.context {
        attachment.setOwner(owner, &garbage)
        garbage.add(owner)
      }
      return nil
    }
    return other ?? converted
  }

  /// The attachment of a conversion that takes part in the tree and might be kept. If the context owns the conversion,
  /// the conversion must not hold the context.
  private func attachment(of converted: Instance) -> UDIAttachment? {
    guard UDIAttachment.areInUse, target.sharing != .unique, !converted.isBox, converted.object is any UDIObject else {
      return nil
    }
    // The cast of an `Any` also checks whether the conformance may be used on this thread.
    return ((converted.object as Any) as? any UDIObject)?._attachedContext
  }

  /// The conversion of the instance that the target keeps now, if there is one already.
  private func kept() -> Instance? {
    Tree.change { garbage in
      if let shown {
        garbage.add(shown)
        return shown.instance
      }
      guard let derived = unsafe derived, let origin = derived.origin else { return nil }
      garbage.add(derived.entry)
      let instance = derived.entry.instance
      garbage.add(origin, of: target)
      // Something else might hold the origin, although the provider was reset or has made a newer instance.
      return target.keepsWeakly(origin, &garbage) == nil ? nil : instance
    }
  }

  /// The earlier conversion of the given instance, if there is one and it still exists.
  private func converted(from instance: Instance) -> Instance? {
    Tree.change { garbage in self.instance(from: instance, &garbage) }
  }

  /// The same as `converted(from:)`, for callers that hold the tree lock.
  private func instance(from original: Instance, _ garbage: inout Garbage) -> Instance? {
    if let shown { garbage.add(shown) }
    if let present = shown?.instance(from: original) { return present }
    guard let derived = unsafe derived, let origin = derived.origin else { return nil }
    garbage.add(derived.entry)
    garbage.add(origin, of: target)
    return origin === original.object ? derived.entry.instance : nil
  }

  override func keepsWeakly(_ object: AnyObject, _ garbage: inout Garbage) -> Bool? {
    if let isWeak = showsWeakly(object, &garbage) { return isWeak }
    guard let derived = unsafe derived, let present = derived.entry.instance else { return nil }
    garbage.add(derived.entry)
    garbage.add(present.object, of: derived.entry)
    guard present.object === object, let origin = derived.origin else { return nil }
    garbage.add(origin, of: target)
    // Something else might hold the conversion and its origin, although the target no longer keeps the origin.
    return target.keepsWeakly(origin, &garbage) == nil ? nil : true
  }

  /// Keeps the conversion of an instance. Call this under the tree lock.
  ///
  /// - Parameter isWeak: Whether the provider keeps the instance weakly. If so, the conversion is kept weakly as well.
  private func keep(_ converted: Instance, of original: Instance, isWeak: Bool, _ garbage: inout Garbage) {
    guard !isWeak || !converted.isBox else { return }
    let entry = InstanceEntry(converted, self, isWeak: isWeak, origin: Unretained(original.object).address)
    // The target can be an alias, too. If slots do not refer to its conversion, they must not refer to the same object
    // here either.
    if !isWeak || converted.object === original.object && target.showsWeakly(original.object, &garbage) != nil {
      if let shown { garbage.add(shown) }
      show(entry)
    } else {
      if let old = unsafe derived { garbage.add(old.entry) }
      unsafe derived = Derived(origin: original.object, entry: entry)
    }
  }
}
