/// Managing the providers of a context.
extension UDIContext {
  /// The lifetime of dependencies that are registered here without one. ``makeChild(tag:search:)`` passes it on to the
  /// new child. If this default changes, children that exist already keep theirs.
  public var defaultLifetime: UDILifetime {
    get { change { node, _ in node.treeLocked.extras?.defaultLifetime ?? .unique } }
    set {
      change { node, garbage in
        if let old = node.treeLocked.extras?.defaultLifetime { garbage.add(old.kind) }
        node.treeLocked.ensureExtras().defaultLifetime = newValue
      }
    }
  }

  /// Removes everything that is registered under the given key in this context: the binding, and the provider with the
  /// instances that it keeps. Other contexts are not affected.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether anything was removed.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unregister<Dependency>(_ key: UDIKey<Dependency>) -> Bool { unregister(Dependency.self, named: key.name) }

  /// Removes everything that is registered under the given type in this context: the binding, and the provider with the
  /// instances that it keeps. Other contexts are not affected.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  /// - Returns: Whether anything was removed.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unregister<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let identity = KeyIdentity.of(.of(type), name)
    let (done, storages) = change { node, garbage -> (Bool, [DroppedStorage]) in
      var done = false
      if node.treeLocked.state == .closing { return (false, []) }
      if let binding = node.ownBinding(identity) {
        binding.takeOut(&garbage)
        done = true
      }
      guard let provider = node.provider(identity.id) else { return (done, []) }
      return (true, node.unregister(provider, &garbage))
    }
    withExtendedLifetime(identity) {}
    for storage in storages { storage.reset() }
    return done
  }

  /// Releases the instances that the providers of this context keep; those of other contexts stay. The next link makes
  /// a new instance.
  ///
  /// - Complexity: O(providers of this context), and O(log siblings) on each level upwards at which the answer changes.
  public func reset() { reset { _ in true } }

  /// Releases the instances that this context's providers with the given lifetime keep; those of other contexts stay.
  /// The next link makes a new instance.
  ///
  /// - Parameter lifetime: The lifetime of the providers.
  /// - Complexity: O(providers of this context), and O(log siblings) on each level upwards at which the answer changes.
  public func reset(_ lifetime: UDILifetime) { reset { $0 == lifetime } }

  private func reset(where condition: (UDILifetime) -> Bool) {
    var keys: [KeyIdentity] = []
    let storages = change { node, garbage -> [DroppedStorage] in
      var concerned: [Provider] = []
      // A context that is being closed drops each instance itself, after closing the instance.
      if node.treeLocked.state == .closing { return [] }
      node.treeLocked.providers.forEach { if condition($0.provider.lifetime) { concerned.append($0.provider) } }
      var storages: [DroppedStorage] = []
      for provider in concerned {
        storages += provider.drop(isReset: true, &garbage)
        garbage.add(provider)
        keys.append(provider.key)
      }
      return storages
    }
    for storage in storages { storage.reset() }
    // Watchers are notified last. If they were notified before the storages are reset, they could still find the old
    // instance in a storage.
    change { node, _ in
      for key in keys { node.notifyWatchersHereAndAbove(of: key.id) }
    }
  }
}

// MARK: - Modules

/// A group of registrations that are installed in a context together.
///
/// ```swift
/// struct NetworkModule: UDIModule {
///   func register(in context: UDIContext) {
///     context.register((any Session).self, lifetime: .context) { URLSession.shared }
///     context.install(LoggingModule())
///   }
/// }
/// AppContext.install(NetworkModule())
/// ```
///
/// Declare a public module `Sendable`, so that it can be installed from anywhere. For a struct or an
/// enum that is not public, the compiler infers the conformance by itself.
///
/// A context installs the same module only once. If a module sets ``UDIContext/defaultLifetime``, the setting applies
/// only to that module.
public protocol UDIModule {
  /// Registers the module's dependencies. Called by ``UDIContext/install(_:)``, with no lock held.
  ///
  /// - Parameter context: The context to register in.
  func register(in context: UDIContext)
}

// MARK: - Setting up

extension UDIContext {
  /// Adds a block that runs once, before the first lookup that reaches this context. A lookup reaches this context if
  /// the lookup begins here, climbs through here, or comes down from above and has found nothing on its way.
  ///
  /// The block registers and binds, and may link. Lookups in the block find everything that the block has registered
  /// and bound so far. Other threads that look something up in the meantime wait until the block has ended. If several
  /// blocks are pending, they run in the order in which they were added.
  ///
  /// A set-up block does not replace registrations that were made outside set-up blocks, so a test can register a fake
  /// before the block runs. While the block runs, `register`, `provide`, `bind` and `multiBind` on its thread do not
  /// replace a provider or a live binding that this context has under the same key, unless that came from a set-up
  /// block of this context. If a provider stays, `register` and `provide` return that provider's registration, so a
  /// chained `implements` serves the other type from that provider. If a binding stays, `register` and `provide` return
  /// a registration that is not in the tree, and `implements` does nothing. Registrations by this block or another
  /// set-up block of this context are replaced as usual. A module that the block installs counts as part of the block.
  ///
  /// A block that was written in main-actor code runs on the main actor, before the first such lookup on the main
  /// actor. A lookup off the main actor does not wait for it. There is one exception: if a block that may run anywhere
  /// is still to come, such a lookup waits, because blocks run one after the other.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this call is written. A function that belongs to no actor counts as the
  ///     main actor's if it is passed in main-actor code. To let it run anywhere, pass nil for `isolation`.
  ///   - block: Called with this context.
  /// - Precondition: The block belongs to the main actor or to no actor.
  public func setUp(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (UDIContext) -> Void
  ) {
    add(SetUp.Block(.ofBlock(block.isolation, in: isolation, "setUp"), IsolatedBlock(block).isolationErased))
  }

  /// Makes a context in which nothing can be bound or registered. In it, and in every context made below it, every
  /// attempt to bind or register is ignored. Each lookup is a miss, as long as nothing else is added to the tree.
  ///
  /// Use it in tests, with ``withAppContext(_:operation:)`` or ``replaceAppContext(with:)``: the code under test then
  /// runs without its dependencies.
  ///
  /// - Returns: The root of a new tree.
  public static func makeInert() -> UDIContext {
    let context = UDIContext(tag: "Inert")
    context.change { node, _ in node.treeLocked.state = .inert }
    return context
  }
}
