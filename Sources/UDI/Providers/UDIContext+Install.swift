/// Installing modules. The verb has two forms: see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Installs modules, one after the other: calls each module's `register`.
  ///
  /// The same module is installed only once in a context. If it is already installed, nothing happens. If another
  /// thread is installing it, this thread waits until the installation is done. Two modules of the same type are the
  /// same if
  ///
  /// - the type is a class, and they are one instance,
  /// - the type is a `Hashable` value type, and they are equal (to compare them, the context keeps the module and
  ///   everything that the module refers to), or
  /// - the type has no stored properties.
  ///
  /// Any other module counts as a new one each time, and is installed again.
  ///
  /// If a module registers a factory without a lifetime, the factory gets the ``defaultLifetime`` that the context had
  /// when the outermost `install` began. A module may set a different default lifetime, which applies only to that
  /// module: not to modules that it installs, not to modules after it, and not to registrations by other threads in the
  /// meantime.
  ///
  /// - Parameter modules: The modules. If two of them register under the same key, the later registration replaces the
  ///   earlier one.
  public func install(_ modules: any UDIModule & Sendable...) {
    for module in modules { install(module, isSendable: true) }
  }

  /// Installs modules that are not `Sendable`, on the main actor. With one exception, this form does the same as the
  /// one for `Sendable` modules.
  ///
  /// The exception: a module that is a `Hashable` value with stored properties is installed each time. The context does
  /// not keep such a module for comparison, because the module might then be released off the main actor.
  ///
  /// - Parameter modules: The modules. If two of them register under the same key, the later registration replaces the
  ///   earlier one.
  @preconcurrency @MainActor
  public func install(_ modules: any UDIModule...) {
    for module in modules { install(module, isSendable: false) }
  }
}
