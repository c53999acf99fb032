import Observation
import UDI

/// The app, from its start. The first window is there at once. What takes time is made while it is shown.
@MainActor @Observable final class AppModel: @MainActor UDIFinalObject {
  @ObservationIgnored let _attachedContext = UDIAttachment()
  @ObservationIgnored @Followed var files: FileCache?  // There is none before it has been opened.
  let window: WindowModel
  private(set) var failure: String?
  private(set) var starting: Task<Void, Never>?

  /// What there is to say about the start; nil when everything is there.
  var status: String? { failure ?? (files == nil ? "loading" : nil) }

  private init(window: WindowModel) { self.window = window }

  /// Opens the first window, and begins to make everything else.
  ///
  /// - Parameter root: The root, in which `AppModule` is installed.
  static func start(in root: UDIContext) throws -> AppModel {
    let app = AppModel(window: try WindowModel.open(in: root)).attached(to: root)
    app.start()
    return app
  }

  /// Makes what has not been made yet: at the start and, after a failure, once more.
  func start() {
    starting = Task {
      do {
        try await attachedContext?.warmUp()
        failure = nil
      } catch { failure = "\(error)" }
    }
  }
}
