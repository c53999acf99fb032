/// A report of a misuse that was noticed under the tree lock. It is added to the change's garbage, and is made when the
/// garbage is released. By then no lock is held, so the report can run user code.
final class LateReport {
  private let kind: UDIMisuse.Kind
  private let site: UDICallSite
  private let message: () -> String

  /// - Parameter message: Makes the message, when the report is made.
  init(_ kind: UDIMisuse.Kind, at site: UDICallSite, _ message: @escaping () -> String) {
    self.kind = kind
    self.site = site
    self.message = message
  }

  deinit { UDIReporter.current.report(kind, message(), at: site) }
}
