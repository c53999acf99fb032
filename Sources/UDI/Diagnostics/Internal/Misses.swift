/// The errors and reports of failed lookups.
///
/// A lookup with `link` or `linkInLine` causes neither if nothing is registered, or if the factory returns nil.
///
/// These functions are never inlined, because explanations are large values. If they were inlined, each lookup would
/// reserve stack space for an explanation, even while it runs a factory. On a thread with a small stack, factories that
/// run inside one another need this space.
extension UDIContext {
  /// The largest number of contexts that an error looks at. The limit makes sure that making the error takes only a
  /// moment, however large the tree is.
  private static var limit: Int { 1000 }

  /// Returns the error to throw for a failed lookup, and tells the observer of the miss, unless the lookup was
  /// cancelled. Returns any error but a `ProviderFailure` unchanged: for example, one that a factory has thrown.
  @inline(never)
  func explained(_ error: any Error, _ request: LookupRequest) -> any Error {
    if UDIObserver.mayExist, !(error is CancellationError) { request.tellMiss(from: fullPath, isRequired: true) }
    guard let failure = error as? ProviderFailure else { return blamingLifetime(error) }
    return linkError(failure, request)
  }

  /// Returns an error that a factory has passed on. If the factory has missed a dependency that only a scope around
  /// this context has, because it was given a context outside that scope, the error says so.
  @inline(never)
  private func blamingLifetime(_ error: any Error) -> any Error {
    guard var missing = error as? UDILinkError, missing.explanation.isInFactory, missing.chain.last?.fileID == nil
    else { return error }
    change { node, garbage in
      let missed = missing.explanation
      var place: UDIExplanation.Place?
      // The scope is below the context where the lookup began, and has the nearest place.
      for node in node.andAncestors {
        if node.fullPath == missed.fullPath { return }
        let entry = place == nil ? node.allEntries.first { missed.isFor($0.key) && $0.isThere(&garbage) } : nil
        if let entry { place = .init(fullPath: node.fullPath, finding: entry.sighted(&garbage).entry) }
        guard let place, node.treeLocked.isScope else { continue }
        return missing.explanation.cause = .inScope(place, scopePath: node.fullPath)
      }
    }
    return missing
  }

  /// Returns the error that explains a failure.
  @inline(never)
  func linkError(_ failure: ProviderFailure, _ request: LookupRequest) -> UDILinkError {
    var explanation = explanation(of: request, limit: Self.limit, failure: failure.cause)
    // Another thread may have registered the dependency after the lookup, before the explanation was made.
    if case .found(let place) = explanation.cause { explanation.cause = .cameLater(place) }
    return UDILinkError(explanation)
  }

  /// Reports that a non-throwing lookup found a provider but got no instance from it. It is not a misuse if nothing is
  /// registered or a factory returned nil; these cases are not reported.
  ///
  /// - Parameter asker: The object that called the verb, if an object did.
  @inline(never)
  func report(_ error: any Error, from entry: Entry, _ request: LookupRequest, for asker: AnyObject? = nil) {
    let message: String
    switch error {
    case ProviderFailure.nothing, ProviderFailure.returnedNil: return
    // In a look, this is no mistake: the instance may be made later, when what it needs has come, on another actor or
    // by `obtain`; or the scope that would own it has been closed.
    case _ where (error.isOfMissing || error.isOnlyHere || error.isOfClosed) && Watcher.present != nil: return
    // The dependency of a followed property may come later.
    case _ where (error.isOfMissing || error.needsObtain) && request.site.isOfFollowed: return
    case is ProviderFailure, is UDILinkError:
      let brief = (error as? ProviderFailure)?.cause.map { cause in
        // The brief error does not say where the lookup looked.
        let direction = withNode { node in node.lock.withLock { node.direction(of: request.search) } }
        let explanation = UDIExplanation(request.type, named: entry.key.name, search: direction, cause: cause)
        return UDILinkError(explanation, site: entry.site)
      }
      let failure = brief ?? blamingLifetime(error) as? UDILinkError
      guard let missing = failure?.seen(by: asker, at: request.site) else { return }
      // A closure that runs for `obtain` fails instead.
      if error.isOnlyHere, Resolution.current.read({ $0.noteMiss(missing) }) { return }
      message = missing.message
    // Each look may call a failing factory again, so only its first failure is reported.
    case _ where Watcher.present != nil && (entry as? Provider)?.hasFailedAgain == true: return
    default:
      let caller = asker.map { spelled(", called for \(UDILinkError.Step($0, at: request.site).description),") } ?? ""
      message = spelled("The factory of \(entry.key.description)\(caller) threw: \(error)")
    }
    UDIReporter.current.report(.notMade, message, at: entry.site)
  }
}
