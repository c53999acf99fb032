public import UDI

/// Replaces a dependency during an operation: lookups in the given context find a different value under a key. The
/// override takes precedence over everything that the context has under the key: bindings, providers and instances,
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
/// The override holds the value and returns it unchanged: even if the value is an object that takes part in the tree,
/// it is not attached. All lookups in the context find the override, so tests that run in parallel need separate
/// `AppContext`s.
///
/// If the context is closed meanwhile, the override ends with it. In a context that is closed already, nothing is
/// overridden, which is reported as a misuse.
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
nonisolated(nonsending) public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let end = context.override(type, named: name, with: value, isSendable: true, fileID: fileID, line: line)
  defer { end() }
  return try await operation()
}

/// Replaces a dependency during a synchronous operation; see ``withOverride(of:named:with:in:fileID:line:operation:)``.
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
  let end = context.override(type, named: name, with: value, isSendable: true, fileID: fileID, line: line)
  defer { end() }
  return try operation()
}

/// Replaces a dependency that is not `Sendable` during an operation, on the main actor; see
/// ``withOverride(of:named:with:in:fileID:line:operation:)``.
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
  let end = context.override(type, named: name, with: value, isSendable: false, fileID: fileID, line: line)
  defer { end() }
  return try await operation()
}

/// Replaces a dependency that is not `Sendable` during a synchronous operation, on the main actor; see
/// ``withOverride(of:named:with:in:fileID:line:operation:)``.
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
  let end = context.override(type, named: name, with: value, isSendable: false, fileID: fileID, line: line)
  defer { end() }
  return try operation()
}
