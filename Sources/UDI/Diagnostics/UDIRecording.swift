import Synchronization

/// Turns recording on and off: the recording of removed bindings, and of who needs what.
///
/// From the records of removed bindings, a ``UDIExplanation`` can tell why a binding is no longer there. While recording
/// is on, a short record is made of a binding in three cases: when its object has been released, when another instance
/// is bound in its place, and when it is withdrawn because its instance is bound in another context. The record says
/// what was bound, in which context and by which line; when the binding was removed; and which line replaced or withdrew
/// it. If there are more than ``capacity``, the oldest are dropped.
///
/// While recording is on, it is also recorded who needs what, for ``UDISnapshot/uses`` and
/// ``UDIExplanation/dependents``:
///
/// - what a ``UDIObject`` finds with its verbs and properties, and
/// - what a factory finds in the context that it is given, and what the `onCreate` of its registration finds there.
///
/// This leaves out `linkAll`, `updates(of:)` and `linkWhenAvailable`, and an object's `obtain`. An object that was
/// attached before recording was switched on is left out as long as nothing else is attached to its context or made for
/// it. If there are more than ``capacityOfUses`` of these records, those of dependents and dependencies that are gone
/// are dropped first, and then the oldest.
///
/// Finally, it is measured while recording is on how long factories take: ``UDISnapshot/Provider/lastDuration``.
///
/// Records keep no object and no context alive.
///
/// Recording is on by default in debug builds of the library, and off in release builds. Where it is off, a lookup does
/// not take a single instruction more. Where it is on, a `bind` takes a little longer. Making an instance and looking
/// something up takes up to twice as long, but lookups from contexts to which no object was attached, and for which
/// nothing was made, take as long as before.
public enum UDIRecording {
  #if DEBUG
    private static let flag = Atomic<Bool>(true)
  #else
    private static let flag = Atomic<Bool>(false)
  #endif

  /// Whether recording is on. Setting this to false also deletes all records.
  public static var isOn: Bool {
    get { flag.load(ordering: .relaxed) }
    set {
      flag.store(newValue, ordering: .relaxed)
      if newValue { return UDIReporter.unattachedUseMatters.store(true, ordering: .relaxed) }
      Tree.change { _ in
        removeAllRecords()
        removeAllUses()
      }
    }
  }

  /// The largest number of records of removed bindings, for all contexts together.
  public static var capacity: Int { 512 }

  /// The largest number of records of who needs what, for all contexts together.
  public static var capacityOfUses: Int { 4096 }

  /// The largest number of records of removed bindings for one key in one context.
  static var capacityOfKey: Int { 8 }
}
