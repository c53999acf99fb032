import Synchronization

/// How an instance is made: `begin`, then the factory, then `end` or `fail`.
extension Provider {
  /// One run of a factory.
  @safe
  struct FactoryCall {
    /// The context that the factory gets.
    let context: UDIContext
    let resolution: Unretained<Resolution>
    /// The cache that will keep the instance and the creation that other threads wait for; nil if the instance is not
    /// kept.
    let keeping: (cache: InstanceCache, creation: SharedCreation)?
    /// Whether the thread was looking for a watcher when the call began; restored when it ends.
    var isLooking = false
    /// The graph in which the instance was asked for, if its making has a graph of its own.
    var outerGraph: UInt = 0
  }

  /// The next step towards getting an instance.
  enum Step {
    /// The instance is there.
    case found(Instance)
    /// The caller has to make it, and then to call `end` or `fail`.
    case make(FactoryCall)
    /// The provider was removed in the meantime: the caller has to look up again.
    case gone
  }

  /// Begins to get an instance.
  ///
  /// - Parameters:
  ///   - context: The context that asks.
  ///   - arguments: The factory's arguments.
  ///   - isFresh: Whether to make an instance in any case, and not to keep it.
  /// - Throws: `ProviderFailure`; or, if another thread made the instance, what was thrown there.
  final func begin(_ context: UDIContext, _ arguments: Arguments?, isFresh: Bool) throws -> Step {
    let resolution = PerThread.resolution
    let sharing: UDILifetime.Sharing = isFresh ? .unique : self.sharing
    switch sharing {
    case .unique: break
    case .graph:
      let key = try keyForKeeping(arguments)
      if let instance = resolution.read({ $0.shared(self, key) }) { return .found(instance) }
    case .weak, .strong, .custom:
      return try beginShared(context, arguments, resolution)
    }
    try rejectOtherActors()
    try resolution.read { try $0.push(self, context, arguments, isShared: false, isFresh: isFresh) }
    return .make(FactoryCall(context: context, resolution: resolution, keeping: nil))
  }

  private final func rejectOtherActors() throws {
    if isIsolated, !isolation.isHere { throw ProviderFailure.isolatedElsewhere(isolation) }
  }

  /// The key that distinguishes instances that are kept for different arguments.
  private final func keyForKeeping(_ arguments: Arguments?) throws -> ArgumentKey? {
    guard (arguments?.type.count ?? 0) == argumentCount else {
      throw ProviderFailure.arguments(wanted: argumentTypes, given: arguments?.types ?? [])
    }
    guard let arguments else { return nil }
    guard let key = arguments.key(for: self) else {
      throw ProviderFailure.unhashable(arguments.values.filter { !($0 is any Hashable) }.map { type(of: $0) })
    }
    return key
  }

  private final func beginShared(
    _ context: UDIContext, _ arguments: Arguments?, _ resolution: Unretained<Resolution>
  ) throws -> Step {
    let key = try keyForKeeping(arguments)
    var cache = cache(for: key)
    while true {
      if let kept = cache.load() { return .found(kept) }
      switch try cache.claim(context, resolution.object) {
      case .found(let instance): return .found(instance)
      case .gone: return .gone
      case .again: cache = self.cache(for: key)
      case .wait(let gate, let creation):
        Schedule.reached(.waits)
        gate.wait()
        switch creation.takeOutcome(resolution.object) {
        case .made(let instance): return .found(instance)
        case .failed(let error): throw error
        case .undecided: continue
        }
      case .make(let owner, let creation):
        do {
          // Another thread may have made one between the two looks.
          if let kept = cache.load() {
            cache.end(creation, .made(kept))
            return .found(kept)
          }
          try rejectOtherActors()
          try resolution.object.push(self, owner, arguments, isShared: true, isFresh: false)
        } catch {
          cache.end(creation, .undecided)
          throw error
        }
        var call = FactoryCall(context: owner, resolution: resolution, keeping: (cache, creation))
        call.isLooking = resolution.object.isLooking
        call.outerGraph = resolution.object.beginGraph()
        if creation.happensOnce { resolution.object.isLooking = false }
        return .make(call)
      }
    }
  }

  /// Ends what `begin` began: keeps what was made, as the lifetime demands.
  ///
  /// - Parameters:
  ///   - instance: What the factory returned.
  ///   - arguments: The arguments that the factory was given.
  final func end(_ call: FactoryCall, _ instance: Instance, _ arguments: Arguments?, isFresh: Bool) {
    let (context, resolution) = (call.context, call.resolution)
    attach(instance, to: context, isOwned: call.keeping != nil && sharing != .weak)
    forgetFailure()
    if let (cache, creation) = call.keeping {
      cache.keep(instance, creation)
    } else if !isFresh, sharing == .graph {
      let key = arguments?.key(for: self)
      resolution.read { $0.share(instance, self, key) }
    }
    if completes { resolution.read { $0.atEnd(Resolution.Completion(self, instance, call, arguments)) } }
    if call.keeping != nil {
      resolution.object.isLooking = call.isLooking
      resolution.object.endGraph(call.outerGraph)
    }
    resolution.read { $0.pop() }
  }

  /// Ends what `begin` began, without an instance.
  ///
  /// - Parameter arguments: The arguments that the factory was given.
  /// - Returns: The error to throw.
  @inline(never)
  final func fail(_ call: FactoryCall, _ error: any Error, _ arguments: Arguments?) -> any Error {
    // First, so that threads that wait for the instance find the failure recorded.
    noteFailure(error, arguments)
    let error = passOn(error)
    // The threads that wait may not be part of the cycle. They look again, and get an error whose path begins with what
    // they asked for.
    if let (cache, creation) = call.keeping {
      cache.end(creation, isCycle(error) ? .undecided : .failed(error))
      Tree.change { _ in hasEverFailed = true }
      call.resolution.object.isLooking = call.isLooking
      call.resolution.object.endGraph(call.outerGraph)
    }
    call.resolution.read { $0.pop() }
    return error
  }

  /// The error for an entry that is gone.
  static var nothing: any Error { ProviderFailure.nothing }
}

extension Provider {
  /// Refuses arguments that may not be `Sendable` if the factory was promised that they are, because it could send them
  /// elsewhere. Every factory that makes something `Sendable` was promised that.
  ///
  /// - Parameter reach: The reach of the link that gives the arguments. If it is `anywhere`, the compiler knows them to
  ///   be `Sendable`.
  /// - Throws: `ProviderFailure.argumentNotSendable`.
  final func rejectArguments(_ arguments: Arguments?, of reach: Reach) throws {
    guard reach == .mainActor, let arguments else { return }
    // In the case of an alias, the provider that it serves from gets them.
    if let alias = self as? Alias { return try alias.target.rejectArguments(arguments, of: reach) }
    guard self.reach == .anywhere, arguments.type.count == argumentCount else { return }
    for (argument, wanted) in zip(arguments.values, argumentTypes) where !Self.isSendable(argument, as: wanted) {
      throw ProviderFailure.argumentNotSendable(type(of: argument))
    }
  }

  /// Whether a value is certainly `Sendable`, given that the wanted type is. It is if it has exactly that type and the
  /// type's name contains neither `<` nor `(`: at run time, `any P & Sendable` cannot be distinguished from `any P`,
  /// nor an array of one from an array of the other. That also refuses `[Int]`, `Int?` and private types, although they
  /// are `Sendable`; the explanation says what to do.
  private static func isSendable(_ value: Any, as wanted: Any.Type) -> Bool {
    type(of: value) == wanted && !TypeIdentity.of(wanted).text.contains { $0 == "<" || $0 == "(" }
  }
}

// MARK: - The fast way, for what is made for the context that asks

extension Entry {
  /// Begins to make an instance with a `Factory` of this very type, unless the graph has one already. The caller then
  /// calls `endQuick` or `failQuick`.
  ///
  /// - Returns: Nil if it is not such a factory, or if `begin` has to be called.
  final func beginQuick(
    _ context: UDIContext, of type: Any.Type, _ reach: Reach
  ) throws -> Unretained<Resolution>? {
    if registered.isRefused(to: reach) { throw ProviderFailure.notSendable }
    guard isFactory(of: type) else { return nil }
    let provider = unsafe unsafeDowncast(self, to: Provider.self)
    // If this is not the factory's actor, `begin` reports that.
    guard provider.isQuick, !provider.isIsolated || provider.isolation.isHere else { return nil }
    let resolution = PerThread.resolution
    if kind == .graphProvider, provider.mayShareWhatLookupsPass {
      // `begin` finds the instance.
      if resolution.read({ $0.shares(provider.id) }) { return nil }
    }
    try resolution.read { try $0.push(provider, context, nil, isShared: false, isFresh: false) }
    return resolution
  }
}

extension Provider {
  /// Begins to make an instance from arguments with an `ArgumentFactory` of this very type. The caller then calls
  /// `endQuick` or `failQuick`.
  ///
  /// - Parameter arguments: They are `Sendable`, unless the factory was not promised that.
  /// - Returns: The factory; nil if it is not such a factory, or if `begin` has to be called.
  final func beginQuick(
    _ context: UDIContext, of type: Any.Type, _ arguments: Arguments, isFresh: Bool
  ) throws -> (ArgumentFactory, Unretained<Resolution>)? {
    guard isQuick, sharing == .unique, madeType == type, let factory = self as? ArgumentFactory,
      !isIsolated || isolation.isHere
    else {
      return nil
    }
    let resolution = PerThread.resolution
    try resolution.read { try $0.push(self, context, arguments, isShared: false, isFresh: isFresh) }
    return (factory, resolution)
  }

  /// Whether the graph may share something that `answerFromGraph` does not hand out: a value, or an object that has to
  /// be cast. False if the provider is known to make only objects.
  @inline(__always)
  fileprivate final var mayShareWhatLookupsPass: Bool {
    !plainClass.load(ordering: .relaxed).isInFirstWord || !makesExactType
  }

  /// Ends the making of an instance, if its class is that of the previous one and takes no part in the tree. This is
  /// the most frequent case.
  ///
  /// - Parameter memory: Memory that holds the instance, or nil.
  /// - Returns: Whether this was such an instance; if not, `endQuick` still has to be called.
  @inline(__always)
  final func endAtOnce(_ resolution: Unretained<Resolution>, _ memory: UnsafeRawPointer) -> Bool {
    let known = plainClass.load(ordering: .relaxed)
    guard known.isInFirstWord else { return false }
    // It holds a reference or nil; otherwise no class would be known.
    let address = unsafe memory.load(as: UInt.self)
    guard address != 0 else { return false }
    let object = Unretained<AnyObject>(address: address)
    guard known.isClass(of: object) else { return false }
    if kind == .graphProvider {
      func size<Dependency>(_ type: Dependency.Type) -> Int { MemoryLayout<Dependency>.size }
      let form = unsafe StoredForm(references: memory, size: _openExistential(madeType, do: size))
      resolution.read { $0.share(object.object, form, self) }
    }
    resolution.read { $0.pop() }
    return true
  }

  /// - Parameter form: The form of the instance, which lives during the call; nil for a value.
  final func endQuick(_ context: UDIContext, _ resolution: Unretained<Resolution>, _ form: StoredForm) {
    if !isPlain(form) {
      attach(form.borrowed.object, to: context, isOwned: false)
      forgetFailure()
    }
    if kind == .graphProvider { resolution.read { $0.share(form.object, form, self) } }
    resolution.read { $0.pop() }
  }

  /// Does the same for an instance that is a value, or whose form is not known.
  final func endQuick(_ context: UDIContext, _ resolution: Unretained<Resolution>, _ instance: Instance) {
    end(FactoryCall(context: context, resolution: resolution, keeping: nil), instance, nil, isFresh: false)
  }

  /// - Parameter arguments: The arguments that the factory was given.
  /// - Returns: The error to throw.
  final func failQuick(
    _ resolution: Unretained<Resolution>, _ error: any Error, _ arguments: Arguments? = nil
  ) -> any Error {
    noteFailure(error, arguments)
    resolution.read { $0.pop() }
    return passOn(error)
  }
}

// MARK: - Taking part in the tree

extension Provider {
  /// Whether an object's class is known to take no part in the tree.
  @inline(__always)
  private final func isPlain(_ form: StoredForm) -> Bool {
    plainClass.load(ordering: .relaxed).isClass(of: form.borrowed)
  }

  /// Attaches what was made to the context that its factory got, if it takes part in the tree. The attachment is weak
  /// if the context owns the instance.
  private final func attach(_ instance: Instance, to context: UDIContext, isOwned: Bool) {
    guard !instance.isBox, instance.form.address == 0 || !isPlain(instance.form) else { return }
    attach(instance.object, to: context, isOwned: isOwned)
  }

  private final func attach(_ object: AnyObject, to context: UDIContext, isOwned: Bool) {
    guard let member = member(object, for: context) else { return }
    let attachment = member._attachedContext
    let isNew = Tree.change { garbage in
      attachment.attach(providedBy: self, object, to: context, isOwned: isOwned, &garbage)
    }
    if isNew { member.didAttachContext() }
  }

  /// The object as one to attach to a context, if it takes part in the tree and can be attached here.
  final func member(_ object: AnyObject, for context: UDIContext) -> (any UDIObject)? {
    guard UDIAttachment.areInUse else {
      notePlainClass(of: object)
      return nil
    }
    let identity = TypeToken.of(type(of: object)).identity
    if identity.read({ $0.membership }) == .plain {
      notePlainClass(of: object)
      return nil
    }
    // The reference is checked first: if a class does not conform, this looks through the program's conformances once,
    // and a cast of an `Any` does so three times.
    guard object is any UDIObject else {
      identity.read { $0.membership = .plain }
      notePlainClass(of: object)
      return nil
    }
    // The cast of an `Any` also checks whether the conformance can be used here: one that is isolated to the main actor
    // cannot be used elsewhere.
    if let member = (object as Any) as? any UDIObject { return member }
    reportUnattached(object, to: context)
    return nil
  }

  /// Reports that an object takes part in the tree but cannot be attached here. It would not help to attach it later on
  /// its actor, because whoever gets it now would get it unattached.
  private final func reportUnattached(_ object: AnyObject, to context: UDIContext) {
    let name = TypeIdentity.of(type(of: object)).text
    let path = context.change { node, _ in node.fullPath }
    UDIReporter.current.report(
      .notAttached,
      """
      The \(name) that was made for \(key) is not attached to "\(describePath(path))". Its conformance to UDIObject \
      belongs to an actor, usually the main actor, and it was made elsewhere. Make or provide it on that actor: \
      register a closure that belongs to it.
      """, at: site)
  }

  /// Records that the class of what it made takes no part in the tree.
  private final func notePlainClass(of object: AnyObject) {
    let isInFirstWord = TypeToken.of(madeType).facts.contains(.holdsReferences)
    // Sequentially consistent, as is the outcome that `forgetFailure` reads next: see `note`.
    plainClass.store(PlainClass(of: object, isInFirstWord: isInFirstWord), ordering: .sequentiallyConsistent)
  }
}
