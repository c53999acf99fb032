/// Requests, as a server makes them: a scope for each, with what comes and goes with it. By hand, by hand with a task
/// for each step that may wait, and with a scope.
import Dispatch
import UDI

private final class User: Sendable {}
private final class Session: Sendable {
  let user: User
  init(_ user: User) { self.user = user }
}
private final class Upload: Sendable {
  let user: User
  init(_ user: User) async { self.user = user }
}
private final class Transaction: Sendable {
  func commit() async {}
}

/// Makes and closes what requests have, as often as it is told.
///
/// - Parameter kind: What a request has.
/// - Returns: Whether there is such a kind.
func makeRequests(_ count: Int, in root: UDIContext, _ kind: Substring) -> Bool {
  let hasAll = kind == "all"
  let kinds = ["provide", "once", "later", "close", "all", "by-hand", "tasks"]
  guard kinds.contains(String(kind)) else { return false }
  root.register(Session.self, lifetime: .scope) { Session(try $0.require(User.self)) }
  root.register(Upload.self, lifetime: .scope) { await Upload(try $0.require(User.self)) }
  root.register(Transaction.self, lifetime: .scope) { Transaction() }.onClose { await $0.commit() }
  let (kind, done) = (String(kind), DispatchSemaphore(value: 0))
  // A synchronous program, because valgrind cannot follow an asynchronous `main`.
  Task.detached {
    for _ in 0..<count {
      switch kind {
      case "by-hand": await request()
      case "tasks": await requestWithTasks()
      default:
        try await root.withScope(tag: "request") { scope in
          scope.provide(User())
          if hasAll || kind == "once" { _ = try scope.require(Session.self) }
          if hasAll || kind == "later" { _ = try await scope.obtain(Upload.self) }
          if hasAll || kind == "close" { _ = try scope.require(Transaction.self) }
        }
      }
    }
    done.signal()
  }
  done.wait()
  return true
}

/// All of a request, by hand.
@inline(never)
private func request() async {
  let user = User()
  let (session, upload, transaction) = (Session(user), await Upload(user), Transaction())
  withExtendedLifetime((session, upload)) {}
  await transaction.commit()
}

/// The same with a task for what is asynchronous, for the closing, and for what is closed.
@inline(never)
private func requestWithTasks() async {
  let user = User()
  let (session, transaction) = (Session(user), Transaction())
  let upload = await Task { await Upload(user) }.value
  withExtendedLifetime((session, upload)) {}
  await Task { await Task { await transaction.commit() }.value }.value
}
