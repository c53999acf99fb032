/// Managing the providers of a context.
extension UDIContext {
  /// The lifetime of registrations in this context that name none; ``UDILifetime/context`` if it has not been set.
  ///
  /// Contexts that are made below this one inherit it; existing ones keep theirs.
  ///
  /// A factory that takes arguments is ``UDILifetime/unique`` unless its registration names a lifetime, whatever this
  /// default is.
  ///
  /// ```swift
  /// AppContext.defaultLifetime = .unique    // each lookup makes an instance of its own
  /// ```
  public var defaultLifetime: UDILifetime {
    get { change { node, _ in node.defaultLifetime ?? .context } }
    set {
      change { node, garbage in
        if let old = node.defaultLifetime { garbage.add(old.kind) }
        node.defaultLifetime = newValue
      }
    }
  }

  /// Removes everything that is registered under the given key in this context.
  ///
  /// That is the binding, and the provider with the instances that it keeps. Other contexts are not affected. While the
  /// context is being closed, this method removes nothing.
  ///
  /// - Parameter key: The key.
  /// - Returns: Whether anything was removed.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unregister<Dependency>(_ key: UDIKey<Dependency>) -> Bool { unregister(Dependency.self, named: key.name) }

  /// Removes everything that is registered under the given type in this context.
  ///
  /// That is the binding, and the provider with the instances that it keeps. Other contexts are not affected. While the
  /// context is being closed, this method removes nothing.
  ///
  /// - Parameters:
  ///   - type: The type that the dependency is registered under.
  ///   - name: The dependency's name, if it has one.
  /// - Returns: Whether anything was removed.
  /// - Complexity: O(log siblings) on each level upwards at which the answer changes.
  @discardableResult
  public func unregister<Dependency>(_ type: Dependency.Type, named name: UDIName? = nil) -> Bool {
    let identity = TypeToken.of(type).key(named: name)
    defer { withExtendedLifetime(identity) {} }
    return change { node, garbage in
      if node.treeLocked.state == .closing { return false }
      // The binding counts as removed even if its object has been released already.
      let (binding, provider) = (node.bindingInTable(identity), node.provider(identity.id))
      binding?.takeOut(&garbage)
      if let provider { node.unregister(provider, &garbage) }
      return binding != nil || provider != nil
    }
  }

  /// Releases the instances that this context's providers keep.
  ///
  /// Instances of other contexts stay, and so do those that were passed to `provide`. The next link makes a new
  /// instance.
  ///
  /// Instances that were registered with `onClose` are dropped without being closed, and are reported as
  /// ``UDIMisuse/Kind/unclosed``. While the context is being closed, this method does nothing.
  ///
  /// - Parameter lifetime: The lifetime of the providers; nil for all providers.
  /// - Complexity: O(providers of this context and the instances that they keep), and O(log siblings) on each level
  ///   upwards at which the answer changes.
  public func reset(_ lifetime: UDILifetime? = nil) {
    var keys: [KeyIdentity] = []
    change { node, garbage in
      // A context that is being closed drops each instance itself, after closing the instance.
      if node.treeLocked.state == .closing { return }
      for provider in node.allProviders where lifetime == nil || provider.lifetime == lifetime {
        provider.drop(isReset: true, &garbage)
        garbage.add(provider)
        keys.append(provider.maker.key)
      }
    }
    // Watchers are notified last. If they were notified before the storages are reset, they could still find the old
    // instance in a storage.
    change { node, _ in for key in keys { node.tellFollowersHereAndAbove(of: key) } }
  }

  /// Makes a context in which nothing can be bound or registered.
  ///
  /// In it, and in every context that is made below it, every attempt to bind or register is ignored. Each lookup is a
  /// miss, as long as nothing else is added to the tree.
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

// MARK: - Modules

/// A group of registrations that are installed in a context together.
///
/// ```swift
/// struct NetworkModule: UDIModule {
///   func register(in context: UDIContext) {
///     context.register((any Session).self) { URLSession.shared }
///     context.install(LoggingModule())
///   }
/// }
/// AppContext.install(NetworkModule())
/// ```
///
/// Declare a public module `Sendable`, so that it can be installed from anywhere. For a struct or an enum that is not
/// public, the compiler infers the conformance by itself if everything in it is `Sendable`.
///
/// A context installs equal modules only once: see ``UDIContext/install(_:)``. If a module sets
/// ``UDIContext/defaultLifetime``, the setting applies only to that module.
public protocol UDIModule {
  /// Registers the module's dependencies. ``UDIContext/install(_:)`` calls this method with no lock held.
  ///
  /// - Parameter context: The context to register in.
  func register(in context: UDIContext)
}
