/// Managing the providers of a context.
extension UDIContext {
  /// The lifetime of what is registered without one. ``makeChild(tag:search:)`` passes it on; contexts that exist
  /// already keep theirs.
  public var defaultLifetime: UDILifetime {
    get { change { node, _ in node.treeLocked.extras?.defaultLifetime ?? .unique } }
    set {
      change { node, garbage in
        if let old = node.treeLocked.extras?.defaultLifetime { garbage.add(old.kind) }
        node.treeLocked.ensureExtras().defaultLifetime = newValue
      }
    }
  }

  /// Takes back what is registered under a key in this very context: its binding, its provider, and what the provider
  /// made.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether anything was registered.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unregister<Dependency>(_ key: UDIKey<Dependency>) -> Bool {
    let identity = KeyIdentity.of(.of(Dependency.self), key.name)
    let (done, storages) = change { node, garbage -> (Bool, [DroppedStorage]) in
      var done = false
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

  /// Takes back what is registered under a type in this very context: its binding, its provider, and what the provider
  /// made.
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

  /// Releases everything that the providers of this very context have made and keep: the next link makes it anew.
  ///
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset() { reset { _ in true } }

  /// Releases what the providers of this very context have made under one lifetime and keep: the next link makes it
  /// anew.
  ///
  /// - Parameter lifetime: The lifetime.
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset(_ lifetime: UDILifetime) { reset { $0 == lifetime } }

  private func reset(where condition: (UDILifetime) -> Bool) {
    var keys: [KeyIdentity] = []
    let storages = change { node, garbage in
      var concerned: [Provider] = []
      node.treeLocked.providers.forEach { if condition($0.provider.lifetime) { concerned.append($0.provider) } }
      var storages: [DroppedStorage] = []
      for provider in concerned {
        storages += provider.drop(&garbage)
        garbage.add(provider)
        keys.append(provider.key)
      }
      return storages
    }
    for storage in storages { storage.reset() }
    // Only now: a watcher that was notified earlier could still have found the old instance in a storage.
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
/// compiler infers that.
///
/// The same module is installed only once in a context, and a ``UDIContext/defaultLifetime`` that it sets holds for
/// that module only.
public protocol UDIModule {
  /// Registers what the module offers. Called by ``UDIContext/install(_:)``, with no lock held.
  ///
  /// - Parameter context: The context to register in.
  func register(in context: UDIContext)
}

// MARK: - Setting up

extension UDIContext {
  /// Has a block run once, before the first lookup that begins here, comes up through here, or comes down from above
  /// without having found anything on its way.
  ///
  /// The block registers and binds, and may link; its own lookups see what it has done so far. Other threads that look
  /// something up in the meantime wait until it has ended. If a block is added while another one is waiting to run, it
  /// runs after that one.
  ///
  /// What was registered by hand stays, so that a test can put a fake in before the block runs. While the block runs,
  /// `register`, `provide`, `bind` and `multiBind` on its thread neither replace nor hide a provider or a live binding
  /// that is in this context under the same key and did not come from a set-up block of this context. If a provider
  /// stays, `register` and `provide` return its registration, so that `implements` chained to it serves the other type
  /// from that provider. If a binding stays, the registration that they return is not in the tree, and `implements`
  /// does nothing. What the block itself or another block of this context registered is replaced as usual. A module
  /// that the block installs counts as part of the block.
  ///
  /// A block that was written in main-actor code runs on the main actor, before the first such lookup there. Lookups
  /// elsewhere do not wait for it.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor counts as the main
  ///     actor's if it is passed in main-actor code; pass nil if it can be called anywhere.
  ///   - block: Called with this context.
  /// - Precondition: The block belongs to the main actor or to no actor.
  public func setUp(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (UDIContext) -> Void
  ) {
    add(SetUp.Block(.ofBlock(block.isolation, in: isolation, "setUp"), IsolatedBlock(block).isolationErased))
  }

  /// Makes a context in which nothing can be bound or registered, nor in any context made below it: every lookup is a
  /// miss, and what is bound or registered is ignored.
  ///
  /// For tests, with ``withAppContext(_:operation:)`` or ``replaceAppContext(with:)``: the code under test then runs
  /// without its dependencies.
  ///
  /// - Returns: The root of a new tree.
  public static func makeInert() -> UDIContext {
    let context = UDIContext(tag: "Inert")
    context.change { node, _ in node.treeLocked.isInert = true }
    return context
  }
}
