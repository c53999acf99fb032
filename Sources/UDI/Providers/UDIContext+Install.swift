/// Installing modules. The verb stands here twice, see `UDIContext+Bind.swift`.
extension UDIContext {
  /// Has modules register what they offer, one after the other.
  ///
  /// The same module is installed once in a context: where it is there already nothing happens, and where another thread is in the
  /// middle of installing it, this one waits for that. Two modules are the same if they are of one type, and
  ///
  /// - one instance, where it is a class,
  /// - equal, where it is a `Hashable` value, which the context then keeps, with all that it refers to,
  /// - in any case, where it has no stored properties.
  ///
  /// All others are different ones each time, and are installed again.
  ///
  /// What a module registers without a lifetime gets ``defaultLifetime`` as it was when the outermost `install` began. A module may set
  /// another one: that is for the module alone, not for those that it installs, nor for those that come after it, and not for what other
  /// threads register meanwhile.
  ///
  /// - Parameter modules: The modules; what a later one registers replaces what an earlier one did under the same key.
  public func install(_ modules: any UDIModule & Sendable...) {
    for module in modules { install(module, .of(module, isSendable: true)) }
  }

  /// Has modules register what they offer that are not `Sendable`, on the main actor; otherwise the same.
  ///
  /// Of these a `Hashable` value that has stored properties is installed each time: the context does not keep it to compare it with others,
  /// because it might be let go of elsewhere than on the main actor.
  ///
  /// - Parameter modules: The modules; what a later one registers replaces what an earlier one did under the same key.
  @preconcurrency @MainActor
  public func install(_ modules: any UDIModule...) {
    for module in modules { install(module, .of(module, isSendable: false)) }
  }
}
