/// A report of a misuse that was noticed under the tree lock. It belongs to the change's garbage, and is made when the
/// garbage is released. By then, no lock is held, which is necessary because a report runs user code.
final class LateReport {
  private let kind: UDIMisuse.Kind
  private let site: CallSite
  private let message: () -> String

  /// - Parameter message: Called when the report is made. It may describe names, which is user code.
  init(_ kind: UDIMisuse.Kind, at site: CallSite, _ message: @escaping () -> String) {
    self.kind = kind
    self.site = site
    self.message = message
  }

  deinit { UDIReporter.current.report(kind, message(), at: site) }
}
