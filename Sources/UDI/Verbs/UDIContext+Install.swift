/// Installing modules. The verb has two forms: see `UDILinking+Bind.swift`.
extension UDIContext {
  /// Installs modules, one after the other: calls each module's `register`.
  ///
  /// A context installs equal modules only once. A class instance equals only itself. `Hashable` values are compared
  /// with `==`. Any other value without stored properties equals every other one of its type. All other modules are
  /// installed each time, so they must not install one another in a circle. The context holds the `Hashable` values. If
  /// a module is already installed, nothing happens. If another thread is installing it, this thread waits until the
  /// installation is done, unless that thread is itself waiting for this one.
  ///
  /// If a module registers a factory without a lifetime, the factory gets the context's ``defaultLifetime``. A module
  /// may set a different default lifetime. This applies only to that module: not to modules that it installs, not to
  /// modules after it, and not to registrations by other threads in the meantime.
  ///
  /// - Parameter modules: The modules. If two of them register under the same key, the later registration replaces the
  ///   earlier one.
  public func install(_ modules: any UDIModule & Sendable...) { for module in modules { install(module, .anywhere) } }

  /// Installs modules that are not `Sendable`, on the main actor.
  ///
  /// In all other respects, this form does the same as the one for `Sendable` modules.
  ///
  /// - Parameter modules: The modules. If two of them register under the same key, the later registration replaces the
  ///   earlier one.
  @preconcurrency @MainActor
  public func install(_ modules: any UDIModule...) { for module in modules { install(module, .mainActor) } }
}
