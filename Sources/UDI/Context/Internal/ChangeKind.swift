/// The kinds of changes that a watcher (which waits for updates on behalf of a consumer) is notified of.
///
/// A watcher's own lookup can change the tree. For example, a provider makes an instance, the instance binds itself,
/// and the binding is withdrawn when the consumer releases the instance. If each of these changes led to another full
/// lookup, the consumer would repeat its lookup for ever, although nothing else changes. Therefore an entry that is
/// added during a watcher's lookup is marked (`Entry.comesFromLook`). When a marked entry is added or removed, for
/// whatever reason, watchers are notified only of `.keptOnly` or `.ofLook`. Entries that are added while an instance is
/// made are not marked if that is made only once (`Resolution.running`), because they are added only once, too.
///
/// Of several changes that a consumer has not seen, the greatest counts.
enum ChangeKind: Comparable {
  /// A provider with a synchronous factory has released the instance that it kept. Lookouts only forget their findings,
  /// because the provider makes another instance as soon as a lookup asks for one, but not before. A watcher that has
  /// noted no other change compares only the findings of its needs.
  case ignored
  /// An instance that a provider kept weakly, and that a look had made, has been released. That is news only for those
  /// who miss it: a look that makes one, and lets go of it, would be repeated for ever.
  case diedOfLook
  /// The same for an instance that users had made or bound. That is news even if a look has noticed it.
  case died
  /// A marked entry has been added or removed. For whoever follows the entry, this counts as `keptOnly`. For needs, it
  /// is no news.
  case ofLook
  /// A provider might keep a different instance than before. The consumer then looks only at existing instances, and
  /// lets no provider make one, except for a provider that is new to it.
  case keptOnly
  /// A lookup might give a different answer.
  case answer
  /// A lookup gives a different answer, although it finds the same provider: after a reset, for example.
  case renewed
  /// The context is gone, being closed or closed, so there are no more changes.
  case end
}
