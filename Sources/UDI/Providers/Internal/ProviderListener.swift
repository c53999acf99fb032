#if DEBUG
  /// What making tells the layers above, and what it asks them. As with `NodeListener`, each layer implements its part
  /// in an extension, in the file that the mark names. Debug builds check that; a release build contains nothing of
  /// this.
  protocol ProviderListener {
    // MARK: - Closing (`Provider+Closing.swift`). Under the tree lock, except `closeUnkept` and `beginOperations`

    /// The closer of a provider's instances.
    associatedtype ProviderCloser: AnyObject
    /// Takes over the closer of another provider.
    func copyCloser(of original: Provider)
    /// The provider enters a context, and has a closer or an asynchronous factory.
    func noteCloser(_ node: Node)
    /// An instance is kept that has to be closed.
    func noteUnclosed(_ instance: Instance)
    /// Closes an instance that is not kept. Do not call this under a lock.
    func closeUnkept(_ instance: Instance, _ path: [String]) async
    /// The newest unclosed instances are dropped, and will not be closed.
    func dropUnclosed(_ count: Int, _ garbage: inout Garbage)
    /// Takes the provider out of its context if it was there only for the instances that it kept, and keeps none any
    /// more.
    func leaveIfIdle(_ garbage: inout Garbage)
    func beginOperations(of instance: Instance?, isPutOff: Bool)

    // MARK: - Following (`Updates/Internal/Watcher+Needs.swift`)

    associatedtype Looker: LookNotes
  }

  /// The performer of a look, which is a lookup on behalf of one who follows something.
  protocol LookNotes: AnyObject {
    /// The one whose look this thread performs.
    static var present: Self? { get }
    /// How many lookups of factories have been noted in this look.
    var notedNeeds: Int { get }
    func forgetNeeds(after count: Int)
    /// The ids of the providers that have made something in this look that is kept weakly. Guarded by the tree lock.
    var madeWeakly: [UInt] { get set }
    /// Runs a part of the look.
    func looking<Result>(isForFactory: Bool, isWhole: Bool, _ body: () throws -> Result) rethrows -> Result
  }

  /// How diagnosis explains lookups that fail (`Diagnostics/Internal/Misses.swift`). Do not call these under a lock.
  protocol MissListener {
    func explained(_ error: any Error, _ request: LookupRequest) -> any Error
    func linkError(_ failure: ProviderFailure, _ request: LookupRequest) -> UDILinkError
    func report(_ error: any Error, from entry: Entry, _ request: LookupRequest, for asker: AnyObject?)
  }

  extension Provider: ProviderListener {}
  extension Provider.Looker: LookNotes {}
  extension UDIContext: MissListener {}
#endif
