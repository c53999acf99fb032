import Synchronization
import Testing
import UDI

/// Warns tests that share the process's `AppContext`: if two tests register something under the same key there, each
/// may find what belongs to the other.
///
/// The second of them gets the warning, if what the first one registered is still there, even if the first one has
/// ended: whether the two run at the same time changes from run to run. There is one warning for each file.
enum SharedAppContext {
  /// By key id: the test that was the last to register something in the process's `AppContext`. Guarded by the tree
  /// lock, like `warned`.
  private nonisolated(unsafe) static var owners: [UInt64: (test: Test.ID, name: String)] = [:]
  /// The files in which a test has been warned.
  private nonisolated(unsafe) static var warned: Set<String> = []

  /// Notes what comes into the process's `AppContext`. Called under the tree lock.
  fileprivate static func note(_ entry: Entry, in node: Node, _ garbage: inout Garbage) {
    // What no test registers, such as the app's own set-up, all tests may share.
    guard let test = Test.current, !hasAppContextOfTask else { return }
    let root = AppContext
    garbage.add(root)
    guard root.withNode({ $0 == node }) else { return }
    let (key, site) = (entry.key, entry.site)
    let owner = unsafe owners.updateValue((test.id, test.displayName ?? test.name), forKey: key.id)
    guard let owner, owner.test != test.id, unsafe !warned.contains(site.fileID) else { return }
    // An override, a live binding or a provider.
    let isThere = node.allEntries.contains {
      $0.key.id == key.id && ($0 is InstanceEntry || $0 is Provider || $0.liveObject(&garbage) != nil)
    }
    guard isThere else { return }
    unsafe warned.insert(site.fileID)
    garbage.add(
      LateCall {
        Issue.record(
          """
          This test and the test "\(owner.name)" both register \(key) in the process's AppContext. While both run, \
          each may find what the other one has registered. Give each test its own AppContext, with the trait \
          `.ownAppContext`.
          """,
          severity: .warning, sourceLocation: location(site.fileID, site.line))
      })
  }
}

// The program that has loaded this module calls the function before `main`. No test has to use the module for that, and
// programs without this module do nothing.
#if canImport(Darwin)
  @section("__DATA,__mod_init_func,mod_init_funcs") @used
#else
  @section(".init_array") @used
#endif
private let initializer: @convention(c) () -> Void = {
  unsafe AuditNotice.entered = SharedAppContext.note
  AuditNotice.listeners.add(1, ordering: .sequentiallyConsistent)
}
