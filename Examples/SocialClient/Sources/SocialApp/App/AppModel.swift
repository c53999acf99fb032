import Observation
import UDI

/// The app, from its start. The first window is there at once. What takes time is made while it is shown.
@MainActor @Observable final class AppModel {
  let window: WindowModel
  private(set) var isReady = false
  private(set) var failure: String?
  private(set) var starting: Task<Void, Never>?
  private let root: UDIContext

  /// What there is to say about the start; nil when everything is there.
  var status: String? { failure ?? (isReady ? nil : "loading") }

  /// Opens the first window, and begins to make everything else.
  ///
  /// - Parameter root: The root, in which `AppModule` is installed.
  init(root: UDIContext) throws {
    self.root = root
    window = try WindowModel.open(in: root)
    start()
  }

  /// Makes what has not been made yet: at the start and, after a failure, once more.
  func start() {
    failure = nil
    starting = Task {
      do {
        try await root.warmUp()
        isReady = true
      } catch { failure = "\(error)" }
    }
  }
}
