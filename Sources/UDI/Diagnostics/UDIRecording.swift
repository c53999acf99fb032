import Synchronization

/// Switches recording on and off. The library records removed bindings, who needs what, and how long factories take.
///
/// A ``UDIExplanation`` uses the records of removed bindings to tell why a binding is no longer there. While recording
/// is on, a short record is made of a binding in four cases: when its object has been released, when another instance
/// is bound in its place, when it is withdrawn because its instance is bound in another context, and when it is
/// withdrawn because the object that had bound it with `multiBind` was attached to a context that has ended. The record
/// contains the binding's type and name, its context, the line that made it, the time of its removal, and the line that
/// replaced or withdrew it, if there is one. It is dropped when something is bound there again under the same type and
/// name. There are at most 512 records; the oldest are dropped.
///
/// The records of who needs what are for `UDISnapshot.uses`, in `UDIInspector`, and ``UDIExplanation/dependents``.
/// While recording is on, the library records
///
/// - what a ``UDIObject`` finds with its verbs and properties, and
/// - what a factory finds in the context that it is given, and what the `onCreate` of its registration finds there.
///
/// Results of `linkAll` are not recorded, nor are those of an object's `updates(of:)`, `linkWhenAvailable`,
/// `whileAvailable` and `obtain`. An object that was attached before recording was switched on is left out until
/// something else is attached to its context or made for that context. The records of an object go with the object. If
/// there are more than 4,096 records, the oldest are dropped.
///
/// While recording is on, the library also measures how long factories take, for ``UDIEntry/lastDuration``.
///
/// Records keep no object and no context alive.
///
/// Recording is on by default in debug builds of the library, and off in release builds. While it is off, lookups are
/// no slower. While it is on, a `bind` takes a little longer. Making an instance and looking something up take up to
/// three times as long. A lookup takes no longer than before if no object was attached to its context, and nothing was
/// made for that context.
public enum UDIRecording {
  /// Whether recording is on. Setting this to false also deletes all records.
  public static var isOn: Bool {
    get { isRecording }
    set {
      recordingFlag.store(newValue, ordering: .relaxed)
      if newValue { return }
      Tree.change { _ in
        unsafe records = []
        removeAllUses()
      }
    }
  }

  /// The largest number of records of removed bindings, for all contexts together.
  package static var capacity: Int { 512 }

  /// The largest number of records of who needs what, for all contexts together.
  package static var capacityOfUses: Int { 4096 }
}
