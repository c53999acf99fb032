#if DEBUG
  /// What the tree and making tell the layers above, and what they ask them. Unless a requirement's comment names
  /// another file, the file that the mark names implements it.
  ///
  /// The tree does not know these layers. Each of them implements its part in an extension of `Node`, where the
  /// compiler finds it. Everything is called under the tree lock, unless it says otherwise.
  ///
  /// Debug builds check that all requirements are implemented. A release build contains nothing of this.
  protocol NodeListener {
    // MARK: - Making (`Providers/Internal/Node+Providers.swift`)

    /// An element of the table of a context's providers, and the properties of making that only a few nodes need.
    associatedtype Source: CompactTableElement where Source.Key == UInt64
    associatedtype MakingExtras
    static var noMakingExtras: MakingExtras { get }
    /// Whether this thread or task runs a factory (or a completion) that was given this node's context. Also called
    /// under the node's lock.
    var isHandedToFactory: Bool { get }
    /// The entry that a binding under a key hides.
    func source(_ key: UInt64) -> Entry?
    /// The entry that takes the place of all others under a key, in a test (`Hooks/Overrides.swift`, like
    /// `endOverrides`).
    func override(_ key: UInt64) -> InstanceEntry?
    var hasProvidersHeldElsewhere: Bool { get }
    /// Drops the instances of providers that have been taken out of a context.
    func drop(_ providers: inout CompactTable<Source>, _ garbage: inout Garbage)
    /// Passes on to a new child the defaults that children take over.
    func passOnDefaults(to child: Node)
    func endOverrides(_ garbage: inout Garbage)
    /// The context goes away: activities that are still under way no longer delay its end.
    func abandonActivities(_ garbage: inout Garbage)

    // MARK: - Closing (`Closing/Internal/Node+Closing.swift`)

    associatedtype ClosingExtras
    static var noClosingExtras: ClosingExtras { get }
    /// Whether `close()` would have to wait for something.
    var hasOpenEnds: Bool { get }
    /// Wakes those that wait for the end of the context.
    func wakeForEnd()

    // MARK: - Following (`Updates/Internal/Node+Watchers.swift`)

    /// Notes that a look depends on the scope that is nearest to this node.
    func noteScope(_ key: KeyIdentity)
    /// Those who follow something at one node under one key, and one who does so for an object, until the object is
    /// attached elsewhere.
    associatedtype Lookouts: AnyObject
    associatedtype Follower: AnyObject
    /// Something has changed under a key, here or below.
    func tellFollowers(of kind: ChangeKind, to key: UInt64, isBelow: Bool)
    /// An entry has come, gone or moved; for those who follow all dependencies of its type.
    func tellFollowersOfAll(of kind: ChangeKind, _ entry: Unretained<Entry>, isBelow: Bool)
    /// A provider under a key gives something else.
    func tellFollowersHereAndAbove(of key: KeyIdentity)
    /// The node has got another parent, or has lost its parent.
    func tellFollowersOfMove()
    /// The context's search has changed.
    func tellFollowersOfSearch()
    /// The context is closed, being closed or gone.
    func endFollowing(isGone: Bool)
    /// Whether a lookup that a look makes need not be noted again. Do not call this under the tree lock.
    func meetsNeed(_ key: UInt64, _ search: UDISearch?) -> Bool
    /// Notes a lookup, if a factory makes it in a look.
    func noteNeed(_ key: @autoclosure () -> KeyIdentity, _ search: UDISearch?, findsAll: Bool)
    static func stop(_ followers: [Follower])

    // MARK: - Wrappers (`Injection/Needs.swift`). Not under a lock

    /// Whether an object requires something.
    static func hasRequired(_ object: AnyObject) -> Bool
    /// Looks up the dependencies that an object requires, because it has been attached.
    @discardableResult
    static func fillRequired(_ object: AnyObject, _ attachment: UDIAttachment, at site: UDICallSite?) -> Bool

    // MARK: - Rules (`Injection/UDIRules.swift`) and diagnosis (`Diagnostics/Internal`)

    associatedtype Rules
    func noteBind(_ new: Binding, insteadOf replaced: Binding?, _ garbage: inout Garbage)
    func noteRemoval(of: Binding, ifAlive: UDIEntry.Kind?, by: UDICallSite?, _: inout Garbage)
    func noteUse(of found: Entry, by dependent: Dependent, _ garbage: inout Garbage)
    func removeRecords()
    static func description(of entry: Entry, _ garbage: inout Garbage) -> UDIEntry
  }

  extension Node: NodeListener {}
#endif
