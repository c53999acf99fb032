import Synchronization

/// Turns the recording of removed bindings on and off. From the records, a ``UDIExplanation`` can tell why a binding is
/// no longer there.
///
/// While recording is on, a short record is made of a binding in three cases: when its object has been released, when
/// another instance is bound in its place, and when it is withdrawn because its instance is bound in another context.
/// The record says what was bound, in which context and by which line; when the binding was removed; and which line
/// replaced or withdrew it. Records keep no object and no context alive. If there are more than ``capacity``, the
/// oldest are dropped.
///
/// Recording is on by default in debug builds of the library, and off in release builds. A lookup runs exactly the same
/// instructions either way. A `bind` takes a little longer while recording is on.
public enum UDIRecording {
  #if DEBUG
    private static let flag = Atomic<Bool>(true)
  #else
    private static let flag = Atomic<Bool>(false)
  #endif

  /// Whether removed bindings are recorded. Setting this to false also deletes all records.
  public static var isOn: Bool {
    get { flag.load(ordering: .relaxed) }
    set {
      flag.store(newValue, ordering: .relaxed)
      if !newValue { Tree.change { _ in removeAllRecords() } }
    }
  }

  /// The largest number of records, for all contexts together.
  public static var capacity: Int { 512 }

  /// The largest number of records for one key in one context.
  static var capacityOfKey: Int { 8 }
}
