public import UDI

/// Replaces a dependency during an operation: lookups in a context get another value under a key. The override takes
/// precedence over everything that the context has under the key: bindings, providers, and instances, including those
/// that were made with arguments.
///
/// During the operation, you can bind, register and make things under the key as usual. Lookups find them when the
/// operation is over.
///
/// ```swift
/// withOverride(of: (any Clock).self, with: StoppedClock()) {
///   #expect(AppContext.link((any Clock).self) is StoppedClock)
/// }
/// ```
///
/// The override holds the value and returns it unchanged: if the value is an object that takes part in the tree, it is
/// not attached. Everybody who looks up in the context gets the override, so tests that run in parallel need an
/// `AppContext` of their own.
///
/// A property that keeps what it found is not affected. If it found something before the override, it keeps that during
/// the override. If it first looks up during the override, it keeps the override's value afterwards.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: The value to give instead.
///   - context: The context in which to override; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
nonisolated(nonsending) public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: true, in: context, fileID, line)
  defer { override.end() }
  return try await operation()
}

/// Replaces a dependency during a synchronous operation; see ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: The value to give instead.
///   - context: The context in which to override; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: true, in: context, fileID, line)
  defer { override.end() }
  return try operation()
}

/// Replaces a dependency that is not `Sendable` during an operation, on the main actor; see
/// ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: The value to give instead.
///   - context: The context in which to override; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: false, in: context, fileID, line)
  defer { override.end() }
  return try await operation()
}

/// Replaces a dependency that is not `Sendable` during a synchronous operation, on the main actor; see
/// ``withOverride(of:named:with:in:fileID:line:operation:)``.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: The value to give instead.
///   - context: The context in which to override; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: The result of `operation`.
/// - Throws: The error that `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: false, in: context, fileID, line)
  defer { override.end() }
  return try operation()
}
