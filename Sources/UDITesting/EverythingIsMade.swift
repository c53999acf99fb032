public import Testing
public import UDI

/// Makes an instance with each provider of a context and of the contexts below it, and fails the test for each one that
/// cannot be made. Providers that take arguments are left out.
///
/// ```swift
/// @Test(.ownAppContext { compose($0) }) func everythingIsRegistered() async {
///   await expectEverythingIsMade(in: AppContext)
/// }
/// ```
///
/// Set-up blocks run first. Each dependency is looked up in its own context, as by `obtain`: if something is bound
/// there under the same key, it is found instead. What a context owns stays there afterwards. Each issue names the
/// dependency and its context, and says what was missing.
///
/// - Parameters:
///   - context: Where to begin.
///   - sourceLocation: Where to record the issues.
public func expectEverythingIsMade(
  in context: UDIContext = AppContext, sourceLocation: SourceLocation = #_sourceLocation
) async {
  for failure in await context.failuresToMakeEverything() { Issue.record("\(failure)", sourceLocation: sourceLocation) }
}
