/// Managing the providers of a context.
extension UDIContext {
  /// The lifetime of everything that is registered here without a lifetime. A new child gets its parent's default from
  /// ``makeChild(tag:search:)``. Children that exist already keep theirs when this one changes.
  public var defaultLifetime: UDILifetime {
    get { change { node, _ in node.treeLocked.extras?.defaultLifetime ?? .unique } }
    set {
      change { node, garbage in
        if let old = node.treeLocked.extras?.defaultLifetime { garbage.add(old.kind) }
        node.treeLocked.ensureExtras().defaultLifetime = newValue
      }
    }
  }

  /// Takes back what is registered under a key in this very context: the binding, the provider, and what the provider
  /// has made and keeps.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether anything was registered.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unregister<Dependency>(_ key: UDIKey<Dependency>) -> Bool {
    let identity = KeyIdentity.of(.of(Dependency.self), key.name)
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

  /// Takes back what is registered under a type in this very context: the binding, the provider, and what the provider
  /// has made and keeps.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  /// - Returns: Whether anything was registered.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unregister<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    unregister(UDIKey(type, named: name))
  }

  /// Releases everything that the providers of this very context have made and keep. The next link makes a new
  /// instance.
  ///
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset() { reset { _ in true } }

  /// Releases everything that this very context's providers with one given lifetime have made and keep. The next link
  /// makes a new instance.
  ///
  /// - Parameter lifetime: The lifetime.
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset(_ lifetime: UDILifetime) { reset { $0 == lifetime } }

  private func reset(where condition: (UDILifetime) -> Bool) {
    var keys: [KeyIdentity] = []
    let storages = change { node, garbage -> [DroppedStorage] in
      var concerned: [Provider] = []
      // What is being closed is dropped when it has been closed.
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
    // Watchers are notified only now: if they had been notified earlier, they could still have found the old instance
    // in a storage.
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
/// Declare a public module `Sendable`, so that it can be installed from anywhere. If a module is not public, the
/// compiler infers `Sendable` itself.
///
/// A context installs the same module only once. If a module sets ``UDIContext/defaultLifetime``, the setting holds for
/// that module only.
public protocol UDIModule {
  /// Registers what the module offers. Called by ``UDIContext/install(_:)``, with no lock held.
  ///
  /// - Parameter context: The context to register in.
  func register(in context: UDIContext)
}

// MARK: - Setting up

extension UDIContext {
  /// Adds a block that runs once, before the first lookup that begins here, comes up through here, or comes down from
  /// above without having found anything on its way.
  ///
  /// The block registers and binds, and can link. Lookups in the block find what the block has registered and bound so
  /// far. Other threads that look something up in the meantime wait until the block has ended. If several blocks are
  /// waiting to run, they run in the order in which they were added.
  ///
  /// What was registered outside set-up blocks stays, so that a test can register a fake before the block runs: while
  /// the block runs, `register`, `provide`, `bind` and `multiBind` on its thread neither replace nor hide a provider or
  /// a live binding that is in this context under the same key, unless that provider or binding came from a set-up
  /// block of this context. If a provider stays, `register` and `provide` return the registration of that provider, so
  /// that `implements`, chained to the call, serves the other type from that provider. If a binding stays, `register`
  /// and `provide` return a registration that is not in the tree, and `implements` does nothing. What the block itself
  /// or another block of this context registered is replaced as usual. A module that the block installs counts as part
  /// of the block.
  ///
  /// A block that was written in main-actor code runs on the main actor, before the first such lookup on the main
  /// actor. Lookups off the main actor do not wait for it.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this call is written. If a function that belongs to no actor is passed in
  ///     main-actor code, it counts as the main actor's. To let such a function run anywhere, pass nil for `isolation`.
  ///   - block: Called with this context.
  /// - Precondition: The block belongs to the main actor or to no actor.
  public func setUp(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (UDIContext) -> Void
  ) {
    add(SetUp.Block(.ofBlock(block.isolation, in: isolation, "setUp"), IsolatedBlock(block).isolationErased))
  }

  /// Makes a context in which nothing can be bound or registered. In this context and in every context made below it,
  /// each lookup is a miss, and every attempt to bind or register is ignored.
  ///
  /// For tests, with ``withAppContext(_:operation:)`` or ``replaceAppContext(with:)``: the code under test then runs
  /// without its dependencies.
  ///
  /// - Returns: The root of a new tree.
  public static func makeInert() -> UDIContext {
    let context = UDIContext(tag: "Inert")
    context.change { node, _ in node.treeLocked.state = .inert }
    return context
  }
}
