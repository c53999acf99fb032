/// Installing modules. The verb has two forms: see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Has modules register what they offer, one after the other.
  ///
  /// The same module is installed only once in a context. If it is already there, nothing happens; if another thread is
  /// installing it, this thread waits until that is done. Two modules of the same type are the same if
  ///
  /// - the type is a class, and they are one instance,
  /// - the type is a `Hashable` value type, and they are equal (the context keeps the module to compare it, with
  ///   everything that it refers to), or
  /// - the type has no stored properties.
  ///
  /// All other modules count as different each time, and are installed again.
  ///
  /// What a module registers without a lifetime gets the ``defaultLifetime`` that the context had when the outermost
  /// `install` began. A module may set another default lifetime. It holds for that module only: not for modules that it
  /// installs or that come after it, and not for what other threads register in the meantime.
  ///
  /// - Parameter modules: The modules. What a later one registers replaces what an earlier one registered under the
  ///   same key.
  public func install(_ modules: any UDIModule & Sendable...) {
    for module in modules { install(module, isSendable: true) }
  }

  /// Has modules that are not `Sendable` register what they offer, on the main actor; otherwise the same.
  ///
  /// A `Hashable` value with stored properties is installed each time: the context does not keep it to compare it with
  /// others, because it might then be released off the main actor.
  ///
  /// - Parameter modules: The modules. What a later one registers replaces what an earlier one registered under the
  ///   same key.
  @preconcurrency @MainActor
  public func install(_ modules: any UDIModule...) {
    for module in modules { install(module, isSendable: false) }
  }
}
