import GRDB
import Logging
import UDI

/// What the page shows of the tree.
struct TreeView: Encodable {
  struct Counts: Encodable {
    let contexts: Int
    let bindings: Int
    let providers: Int
  }

  let counts: Counts
  /// In breadth-first order, so each context comes after its parent.
  let contexts: [UDISnapshot.Context]
  /// How many contexts are left out.
  let omitted: Int
  /// The keys that the page can explain.
  let keys: [String]

  private static var shown: Int { 200 }

  init(_ snapshot: UDISnapshot) {
    counts = Counts(
      contexts: snapshot.contexts.count, bindings: snapshot.contexts.reduce(0) { $0 + $1.bindings.count },
      providers: snapshot.contexts.reduce(0) { $0 + $1.providers.count })
    contexts = Array(snapshot.contexts.prefix(Self.shown))
    omitted = snapshot.contexts.count - contexts.count
    keys = explainableKeys.keys.sorted()
  }
}

/// The service's keys, by the names that the page offers. A lookup needs a type, so the keys cannot be made from text.
let explainableKeys: [String: @Sendable (UDIContext) -> UDIExplanation] = [
  "DatabaseWriter": { $0.explain((any DatabaseWriter).self) },
  "Logger": { $0.explain(Logger.self) },
  "NoteLimits": { $0.explain(NoteLimits.self) },
  "NoteStore": { $0.explain((any NoteStore).self) },
  "NotesConfiguration": { $0.explain(NotesConfiguration.self) },
  "RequestIdentity": { $0.explain(RequestIdentity.self) },
  "UnitOfWork": { $0.explain(UnitOfWork.self) },
  "WallClock": { $0.explain((any WallClock).self) },
]
