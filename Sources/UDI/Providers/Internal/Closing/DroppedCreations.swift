/// The creations of one context that are under way although their provider has dropped them, because it was reset or
/// replaced. Closing the context waits for them. A creation removes itself when it ends. Guarded by the tree lock.
final class DroppedCreations: @unchecked Sendable {
  // Unchecked: all properties are guarded by the tree lock.
  private(set) var shared: [SharedCreation] = []
  private(set) var asynchronous: [AsyncCreation] = []

  func add(_ creation: SharedCreation) {
    // This makes the gate. A creation without one is reused when it ends, and would not remove itself from this list.
    creation.expectTask()
    creation.dropped = self
    shared.append(creation)
  }

  func add(_ creation: AsyncCreation) {
    creation.dropped = self
    asynchronous.append(creation)
  }

  func remove(_ creation: SharedCreation) { shared.removeAll { $0 === creation } }
  func remove(_ creation: AsyncCreation) { asynchronous.removeAll { $0 === creation } }
}
