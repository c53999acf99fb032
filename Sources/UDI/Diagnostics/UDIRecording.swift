import Synchronization

/// Decides whether the library records removed bindings, so that a ``UDIExplanation`` can say what became of them.
///
/// While recording is on, a binding leaves a short record in three cases: when its object has died, when another
/// instance is bound in its place, and when it is withdrawn because its instance is bound in another context. The
/// record says what was bound, in which context and where in the source; when the binding was removed; and which line
/// replaced or withdrew it. Records keep no object and no context alive. If there are more than ``capacity``, the
/// oldest are dropped.
///
/// Recording is on by default in debug builds of the library, and off in release builds. Lookups cost exactly the same
/// either way, down to the instruction. A `bind` costs a little more while recording is on.
public enum UDIRecording {
  #if DEBUG
    private static let flag = Atomic<Bool>(true)
  #else
    private static let flag = Atomic<Bool>(false)
  #endif

  /// Whether bindings are recorded from now on. Turning this off also deletes all records.
  public static var isOn: Bool {
    get { flag.load(ordering: .relaxed) }
    set {
      flag.store(newValue, ordering: .relaxed)
      if !newValue { Tree.change { _ in removeAllRecords() } }
    }
  }

  /// The maximum number of records, for all contexts together.
  public static var capacity: Int { 512 }

  /// The maximum number of records of one key in one context, however often something is bound there.
  static var capacityOfKey: Int { 8 }
}
