public import Testing
public import UDI
import UDIInspector

/// Checks that each provider of a context and of the contexts below it can make its instance.
///
/// The function makes an instance with each provider. It fails the test for each instance that cannot be made, or that
/// is not of a type under which `implements` registers it. It also fails the test for each property of an instance that
/// has the wrapper `@Required` and for which nothing is found. Providers that take arguments are left out.
///
/// A dependency that is registered as `.scope` is made for each scope below. Where there is no scope of its kind, one
/// is opened to make the dependency, and closed. A dependency that is made for each lookup (`.unique`, `.graph`) may
/// need something that only a scope has. The failures that `unmetNeeds()` finds fail the test, too.
///
/// ```swift
/// @Test(.ownAppContext { compose($0) }) func everythingIsRegistered() async {
///   await expectEverythingIsMade(in: AppContext)
/// }
/// ```
///
/// Each dependency is looked up in its own context, as by `obtain`. If something is bound there under the same key, the
/// lookup finds that instead. Instances that a context owns stay there afterwards. If one of them has an `onClose`, and
/// the context is not that of a test with `.ownAppContext`, close the context in the end. Each issue names the
/// dependency and its context, and says what was missing. If the context is closed, that is an issue, too, because
/// nothing can be made there.
///
/// - Parameters:
///   - context: The context to begin at.
///   - sourceLocation: The place at which the issues are recorded.
public func expectEverythingIsMade(
  in context: UDIContext = AppContext, sourceLocation: SourceLocation = #_sourceLocation
) async {
  let outer = UDIReporter.current
  let reporter = UDIReporter { misuse in
    if misuse.kind == .needNotMet { recordAsIssue(misuse) } else { outer.forward(misuse) }
  }
  await withReporter(reporter) {
    var failures = await context.failures()
    for (context, kinds) in context.missingScopes {
      for kind in kinds { failures += await context.failures(inScopes: kinds.filter { $0 != kind } + [kind]) }
    }
    // What has been tried above has been reported, with the factories' own errors.
    let known = Set(failures.map(\.keyText))
    failures += context.unmetNeeds().failures.filter { !known.contains($0.keyText) }
    for failure in failures { Issue.record("\(failure)", sourceLocation: sourceLocation) }
  }
}

extension UDIContext {
  /// This context and the contexts below, each with the kinds of scopes for which something is registered there,
  /// although neither the context nor any below is such a scope. Often there are none.
  fileprivate var missingScopes: [(context: UDIContext, kinds: [String])] {
    ([self] + descendants).map { context in
      let branch = [context] + context.descendants
      let withoutScope = context.providers.filter { provider in
        provider.sharing == .scope && !branch.contains { provider.owner(asking: $0) === $0 }
      }
      return (context, unique(withoutScope.map { $0.scopeKind ?? "expectEverythingIsMade" }))
    }
  }

  /// What cannot be made in a scope of the last kind, inside scopes of the others.
  fileprivate func failures(inScopes kinds: [String]) async -> [UDIFailure] {
    guard let kind = kinds.first else { return await failures() }
    var failures: [UDIFailure] = []
    do {
      try await withScope(tag: kind) { failures = await $0.failures(inScopes: Array(kinds.dropFirst())) }
    } catch { failures += (error as? UDICloseError)?.failures ?? [] }
    return failures
  }

  fileprivate func failures() async -> [UDIFailure] {
    // What is made for each lookup may be meant for lookups from the scope that has, or makes, what it needs.
    var meantForScopes: Set<[String]> = []
    for context in [self] + descendants {
      for provider in context.providers where provider.sharing == .unique || provider.sharing == .graph {
        meantForScopes.insert([provider.key.typeName, provider.key.name?.description ?? ""] + context.fullPath)
      }
    }
    let failed = await failuresToMake(areAliases: false).filter {
      switch ($0.error as? UDILinkError)?.cause {
      case .inScope, .noScope: !meantForScopes.contains([$0.typeName, $0.name ?? ""] + $0.fullPath)
      default: true
      }
    }
    // Only an instance that is made under the type that `implements` serves it as shows whether it is of that type. If
    // it fails for any other reason, so does its provider, whose failure is reported already.
    let notServed = await failuresToMake(areAliases: true).filter {
      if case .notConvertible = ($0.error as? UDILinkError)?.cause { true } else { false }
    }
    return failed + notServed
  }
}

extension UDIFailure {
  fileprivate var keyText: String { "\(typeName) \(name ?? "")" }
}
