/// Installing modules. The verb has two forms: see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Installs modules, one after the other: each registers what it offers.
  ///
  /// The same module is installed only once in a context. If the module is already installed, nothing happens; if
  /// another thread is installing it, this thread waits until the installation is done. Two modules of the same type
  /// are the same if
  ///
  /// - the type is a class, and they are one instance,
  /// - the type is a `Hashable` value type, and they are equal (to compare them, the context keeps the module and
  ///   everything that the module refers to), or
  /// - the type has no stored properties.
  ///
  /// All other modules count as different each time, and are installed again.
  ///
  /// What a module registers without a lifetime gets the ``defaultLifetime`` that the context had when the outermost
  /// `install` began. A module may set another default lifetime. That setting holds for that module only: not for
  /// modules that it installs or that come after it, and not for what other threads register in the meantime.
  ///
  /// - Parameter modules: The modules. What a later one registers replaces what an earlier one registered under the
  ///   same key.
  public func install(_ modules: any UDIModule & Sendable...) {
    for module in modules { install(module, isSendable: true) }
  }

  /// Installs modules that are not `Sendable`, on the main actor. In all other respects but one, this is the same as
  /// the form for `Sendable` modules.
  ///
  /// The exception: a module that is a `Hashable` value with stored properties is installed each time. The context does
  /// not keep such a module for comparison, because it might then be released off the main actor.
  ///
  /// - Parameter modules: The modules. What a later one registers replaces what an earlier one registered under the
  ///   same key.
  @preconcurrency @MainActor
  public func install(_ modules: any UDIModule...) {
    for module in modules { install(module, isSendable: false) }
  }
}
