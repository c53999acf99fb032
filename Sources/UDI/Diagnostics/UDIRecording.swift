import Synchronization

/// Whether the library remembers bindings whose objects have died, for ``UDIExplanation`` to tell of them.
///
/// A lookup that finds a dead object forgets its binding. While recording is on it leaves a short record: what was bound, in which
/// context, where in the source, and when that was found dead. Records keep no object and no context alive, and the oldest go when there are
/// more than ``capacity``.
///
/// Recording is on by default in debug builds of the library, and off in release builds. Lookups cost the same either way, down to
/// the instruction; a `bind` costs a little more while it is on.
public enum UDIRecording {
  #if DEBUG
    private static let flag = Atomic<Bool>(true)
  #else
    private static let flag = Atomic<Bool>(false)
  #endif

  /// Whether bindings are recorded from now on. Turning it off also forgets all records.
  public static var isOn: Bool {
    get { flag.load(ordering: .relaxed) }
    set {
      flag.store(newValue, ordering: .relaxed)
      if !newValue { Tree.change { _ in Deaths.removeAll() } }
    }
  }

  /// How many records are kept in all, whatever the number of contexts.
  public static var capacity: Int { 512 }
}
