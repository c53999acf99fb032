/// Adds the description of a name to a new record. User code makes this description, so it is added when the change's
/// garbage is released and no lock is held.
final class LateDescription {
  private let name: UDIName
  private let note: (String) -> Void

  /// - Parameter note: Receives the description, under the tree lock.
  init(of name: UDIName, note: @escaping (String) -> Void) {
    self.name = name
    self.note = note
  }

  deinit {
    let text = name.description
    Tree.change { _ in note(text) }
  }
}
