/// A call of user code that was found to be necessary under the tree lock, such as a report. It is added to the
/// change's garbage, and is made when the garbage is released. By then no lock is held.
package final class LateCall {
  private let body: () -> Void

  package init(_ body: @escaping () -> Void) { self.body = body }

  deinit { body() }

  /// The report of a misuse.
  ///
  /// - Parameter message: Makes the message, when the report is made.
  static func report(_ kind: UDIMisuse.Kind, at site: UDICallSite, _ message: @escaping () -> String) -> LateCall {
    LateCall { UDIReporter.current.report(kind, message(), at: site) }
  }
}
