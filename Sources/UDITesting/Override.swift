public import UDI

/// Runs an operation during which a context gives something else under a key, of any type, whatever else it has: bound, made, or with arguments.
///
/// What is bound, registered and made under the key meanwhile goes on as ever, and shows when the operation is over.
///
/// ```swift
/// withOverride(of: (any Clock).self, with: StoppedClock()) {
///   #expect(AppContext.link((any Clock).self) is StoppedClock)
/// }
/// ```
///
/// The value is held meanwhile, and taken as it is: an object that takes part in the tree is not attached. The override holds for everybody
/// who looks up in the context: tests that run in parallel need an `AppContext` of their own. A property that keeps what it found
/// keeps it, before and afterwards.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: What to give instead.
///   - context: The context that has it; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
nonisolated(nonsending) public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line,
  operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: true, in: context, fileID, line)
  defer { override.end() }
  return try await operation()
}

/// Runs an operation that is not asynchronous during which a context has something else under a key.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: What to give instead.
///   - context: The context that has it; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
public func withOverride<Dependency: Sendable, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: true, in: context, fileID, line)
  defer { override.end() }
  return try operation()
}

/// Runs an operation during which a context has something else that is not `Sendable` under a key, on the main actor.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: What to give instead.
///   - context: The context that has it; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: false, in: context, fileID, line)
  defer { override.end() }
  return try await operation()
}

/// Runs an operation during which a context has something else that is not `Sendable` under a key, on the main actor, and that is
/// not asynchronous.
///
/// - Parameters:
///   - type: The type to override.
///   - name: The name, if any.
///   - value: What to give instead.
///   - context: The context that has it; `AppContext` by default.
///   - fileID: The caller's file, for diagnosis.
///   - line: The caller's line, for diagnosis.
///   - operation: What to run.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
@preconcurrency @MainActor
public func withOverride<Dependency, Result>(
  of type: Dependency.Type, named name: UDIName? = nil, with value: Dependency, in context: UDIContext = AppContext,
  fileID: StaticString = #fileID, line: UInt = #line, operation: () throws -> Result
) rethrows -> Result {
  let override = Override(type, named: name, with: value, isSendable: false, in: context, fileID, line)
  defer { override.end() }
  return try operation()
}
