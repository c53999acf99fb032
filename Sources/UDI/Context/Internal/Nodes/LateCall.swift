/// A call of user code that was found to be necessary under the tree lock, such as a report. It is added to the
/// change's garbage, and is made when the garbage is released. By then no lock is held.
package final class LateCall {
  private let body: () -> Void

  package init(_ body: @escaping () -> Void) { self.body = body }

  deinit { body() }

  /// The report of a misuse.
  ///
  /// - Parameters:
  ///   - reporter: The reporter to use if the task has none when the report is made.
  ///   - message: Makes the message, when the report is made.
  static func report(
    _ kind: UDIMisuse.Kind, at site: UDICallSite, to reporter: UDIReporter? = nil, _ message: @escaping () -> String
  ) -> LateCall { LateCall { (UDIReporter.ofTask ?? reporter ?? .process).report(kind, message(), at: site) } }
}
