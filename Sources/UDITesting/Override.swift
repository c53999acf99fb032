public import UDI

/// Replaces a dependency during an operation: lookups in the given context find a different value under a key.
///
/// The override takes precedence over everything that the context has under the key: bindings, providers and instances,
/// including instances that were made with arguments.
///
/// During the operation, dependencies can be bound, registered and made under the key as usual. Lookups find them after
/// the operation.
///
/// ```swift
/// withOverride(of: (any Clock).self, with: StoppedClock()) {
///   #expect(AppContext.link((any Clock).self) is StoppedClock)
/// }
/// ```
///
/// The override holds the value, and lookups return it unchanged. Even if the value is an object that takes part in the
/// tree, it is not attached. All lookups in the context find the override, so tests that run in parallel need separate
/// `AppContext`s.
///
/// If the context is closed meanwhile, the override ends with it. In a context that is closed already, nothing is
/// overridden, and this is reported as a misuse.
///
/// When the override ends, the instances that were made of its value are dropped, and the next lookups make them anew.
/// This concerns instances that a context keeps. Such an instance was made of the value if its factory found the value
/// while it ran, or found something else that was made of the value. Only lookups from the context that the factory was
/// given count. (Instances of one registration with different arguments go together.) An instance with an `onClose` or
/// an operation is dropped as well, but is closed only together with its context.
///
/// A property that keeps its dependency is not affected by the override. If it looked the dependency up before the
/// override, it keeps that dependency during the override. If its first lookup is during the override, it keeps the
/// override's value afterwards.
///
/// - Parameters:
///   - type: The type of the dependency.
///   - name: The dependency's name, if it has one.
///   - value: The value to find instead.
///   - context: The context in which to override; by default `AppContext`.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
/// - Complexity: Ending an override takes O(contexts in the tree, their bindings and registrations).
nonisolated(nonsending) public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = context.override(type, named: name, with: value, isSendable: true, fileID: fileID, line: line)
  defer { context.end(override) }
  return try await operation()
}

/// Replaces a dependency during a synchronous operation.
///
/// See ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type of the dependency.
///   - name: The dependency's name, if it has one.
///   - value: The value to find instead.
///   - context: The context in which to override; by default `AppContext`.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = context.override(type, named: name, with: value, isSendable: true, fileID: fileID, line: line)
  defer { context.end(override) }
  return try operation()
}

/// Replaces a dependency that is not `Sendable` during an operation, on the main actor.
///
/// See ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type of the dependency.
///   - name: The dependency's name, if it has one.
///   - value: The value to find instead.
///   - context: The context in which to override; by default `AppContext`.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = context.override(type, named: name, with: value, isSendable: false, fileID: fileID, line: line)
  defer { context.end(override) }
  return try await operation()
}

/// Replaces a dependency that is not `Sendable` during a synchronous operation, on the main actor.
///
/// See ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type of the dependency.
///   - name: The dependency's name, if it has one.
///   - value: The value to find instead.
///   - context: The context in which to override; by default `AppContext`.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: The operation to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = context.override(type, named: name, with: value, isSendable: false, fileID: fileID, line: line)
  defer { context.end(override) }
  return try operation()
}

extension UDIContext {
  /// Ends an override, and drops what was made with its help.
  fileprivate func end(_ override: Provider) {
    change { node, garbage in
      node.end(override, &garbage)
      node.root.drop(madeWith: override, &garbage)
    }
  }
}

extension Node {
  /// Drops what this context and those below it keep, if it was made with the help of the given provider, or of
  /// something else that is dropped here. Nothing is dropped in contexts that are being closed, as by a reset.
  fileprivate func drop(madeWith helper: Provider, _ garbage: inout Garbage) {
    for node in branch where !node.isEnding {
      for case let provider as Provider in node.allEntries where provider.helpers.contains(helper.helpID) {
        // This forgets the helpers, so that a circle of them ends.
        provider.drop(isReset: true, closesLater: true, &garbage)
        node.tellFollowersHereAndAbove(of: provider.maker.key)
        drop(madeWith: provider, &garbage)
        garbage.add(provider)
      }
    }
  }
}
