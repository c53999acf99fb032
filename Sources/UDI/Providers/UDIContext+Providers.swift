/// What a context does with the providers that it has.
extension UDIContext {
  /// The lifetime of what is registered without one. ``makeChild(tag:search:)`` hands it on; contexts that exist already keep theirs.
  public var defaultLifetime: UDILifetime {
    get { change { node, _ in node.defaultLifetime?.lifetime ?? .unique } }
    set {
      let new = DefaultLifetime(newValue)
      change { node, garbage in
        if let old = node.defaultLifetime { garbage.add(old) }
        node.defaultLifetime = new
      }
    }
  }

  /// Takes back what is registered under a key in this very context: its binding and its provider, with what that made.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether there was something.
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

  /// Takes back what is registered under a type in this very context: its binding and its provider, with what that made.
  ///
  /// - Parameters:
  ///   - type: The type it is registered under.
  ///   - name: The name it is registered under, if any.
  /// - Returns: Whether there was something.
  /// - Complexity: O(log siblings) on each level above whose answer changes.
  @discardableResult
  public func unregister<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    unregister(UDIKey(type, named: name))
  }

  /// Lets go of everything that the providers of this very context made and keep: the next link makes it anew.
  ///
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset() { reset { _ in true } }

  /// Lets go of what the providers of this very context made under one lifetime and keep: the next link makes it anew.
  ///
  /// - Parameter lifetime: The lifetime.
  /// - Complexity: O(providers of this context), and O(log siblings) on each level above whose answer changes.
  public func reset(_ lifetime: UDILifetime) { reset { $0 == lifetime } }

  private func reset(where condition: (UDILifetime) -> Bool) {
    var keys: [KeyIdentity] = []
    let storages = change { node, garbage in
      var concerned: [Provider] = []
      node.providers.forEach { if condition($0.provider.lifetime) { concerned.append($0.provider) } }
      var storages: [DroppedStorage] = []
      for provider in concerned {
        storages += provider.drop(&garbage)
        garbage.add(provider)
        keys.append(provider.key)
      }
      return storages
    }
    for storage in storages { storage.reset() }
    // After that: who were told before could still find the old one there.
    change { node, _ in
      for key in keys { node.notifyWatchersHereAndAbove(of: key.id) }
    }
  }
}

/// A lifetime as a context keeps it: behind a reference, because few contexts have one.
final class DefaultLifetime: Sendable {
  let lifetime: UDILifetime
  init(_ lifetime: UDILifetime) { self.lifetime = lifetime }
}

// MARK: - Modules

/// A group of registrations, to be installed in a context together.
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
/// Declare a public module `Sendable`, so that it can be installed from anywhere; for one that is not public the compiler finds that out.
///
/// The same module is installed once in a context, and a ``UDIContext/defaultLifetime`` that it sets is for the module alone.
public protocol UDIModule {
  /// Registers what the module offers. Called by ``UDIContext/install(_:)``, with no lock held.
  ///
  /// - Parameter context: Where to.
  func register(in context: UDIContext)
}

// MARK: - Setting up

extension UDIContext {
  /// Has a block run once, before the first lookup that begins here, comes up through here, or comes down from above without
  /// having found something on its way.
  ///
  /// The block registers, binds, and may link; its own lookups see what it has done so far. Other threads that look something up
  /// meanwhile wait until it has ended. A block that is given while another one waits to run runs after that.
  ///
  /// What was registered by hand stays, so that a test can put a fake in before the block runs: while the block runs, `register`, `provide`,
  /// `bind` and `multiBind` on its thread neither replace nor hide a provider or a live binding that is in this context under the same key
  /// and did not come from a set-up block of this context. `register` and `provide` then return the registration of the provider that
  /// stays, so that `implements` chained to it serves the other type from that one; where a binding stays, the registration that they
  /// return is not in the tree, and `implements` does nothing. What the block itself registered, or another block of this context, is
  /// replaced as ever. A module that the block installs counts as the block.
  ///
  /// A block that was written in main-actor code runs on the main actor, before the first such lookup there. Lookups elsewhere do not wait
  /// for it.
  ///
  /// - Parameters:
  ///   - isolation: The actor in whose code this is called. A function that belongs to no actor, and is given in main-actor code, counts as the
  ///     main actor's; pass nil if it can be called anywhere.
  ///   - block: Gets this context.
  /// - Precondition: The block belongs to the main actor or to none.
  public func setUp(
    isolation: (any Actor)? = #isolation,
    @_inheritActorContext _ block: @escaping @Sendable @isolated(any) (UDIContext) -> Void
  ) {
    add(SetUp.Block(.ofBlock(block.isolation, in: isolation, "setUp"), IsolatedBlock(block).isolationErased))
  }

  /// Makes a context in which nothing can be bound or registered, as in all that are made below it: every lookup is a miss, and
  /// what is bound or registered is ignored.
  ///
  /// For tests, with ``withAppContext(_:operation:)`` or ``replaceAppContext(with:)``: code under test then runs without
  /// its dependencies.
  ///
  /// - Returns: The root of a tree of its own.
  public static func makeInert() -> UDIContext {
    let context = UDIContext(tag: "Inert")
    context.change { node, _ in node.isInert = true }
    return context
  }
}
