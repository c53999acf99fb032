/// A request for an instance that only `obtain` can fulfil, because the factory is asynchronous.
struct Unmade: Sendable {
  let provider: AsyncFactory
  let context: UDIContext
  let arguments: KeptArguments?
  /// The calls of synchronous factories that need the instance, the outermost first. Empty if the request was not made
  /// during an `obtain`.
  let askers: [RunningCall]

  /// A lookup that finds the provider.
  var request: LookupRequest { LookupRequest(provider.madeType, provider.reach, named: provider.key.name) }

  /// Returns the instance, after making it if there is none.
  ///
  /// - Returns: Nil if the provider has left its context in the meantime.
  /// - Throws: `ProviderFailure`, `CancellationError` if the current task is cancelled, or what the factory throws.
  nonisolated(nonsending) func obtain() async throws -> OwnedInstance? {
    let instance = try await provider.instance(for: context, with: arguments, through: askers.map(\.provider.key))
    return instance.map { OwnedInstance($0, provider.reach) }
  }

  /// Whether both requests ask the same provider for the same instance.
  @inline(never) func isSame(as other: Unmade) -> Bool {
    provider === other.provider
      && arguments?.arguments.key(for: provider) == other.arguments?.arguments.key(for: provider)
  }
}
