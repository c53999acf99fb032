import Synchronization

/// The switch for recording.
///
/// The library can record removed bindings, the lookups of objects and factories, and the time that factories take.
///
/// A ``UDIExplanation`` uses the records of removed bindings to say why a binding is no longer there. While recording
/// is on, the library makes a short record of a binding in four cases:
///
/// - Its object has been released.
/// - Another instance is bound in its place.
/// - It is withdrawn because its instance is bound in another context.
/// - It is withdrawn because the object that had bound it with `multiBind` was attached to a context that has ended.
///
/// The record contains the binding's type and name, its context, the line that made it, and the time of its removal. If
/// a line replaced or withdrew the binding, the record contains that line, too. The record is dropped when something is
/// bound there again under the same type and name. There are at most 512 records of removed bindings; the oldest are
/// dropped.
///
/// The records of lookups are for `UDISnapshot.uses`, in `UDIInspector`, and ``UDIExplanation/dependents``. They say
/// which objects and factories need which dependencies. While recording is on, the library records
///
/// - the dependencies that a ``UDIObject`` finds with its verbs and properties, and
/// - the dependencies that a factory finds in the context that it is given, and those that the `onCreate` of its
///   registration finds there.
///
/// Results of `linkAll` are not recorded, nor are those of an object's `updates(of:)`, `linkWhenAvailable`,
/// `whileAvailable` and `obtain`. An object that was attached before recording was switched on is left out until
/// something else is attached to its context or made for that context. The records of an object go with the object. If
/// there are more than 4,096 records of lookups, the oldest are dropped.
///
/// While recording is on, the library also measures the time that factories take, for ``UDIEntry/lastDuration``.
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

  /// The largest number of records of lookups, for all contexts together.
  package static var capacityOfUses: Int { 4096 }
}
