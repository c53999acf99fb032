import Synchronization
import UDI

/// Keeps texts under keys. The app has two of them, with different names.
protocol KeyValueStore: Sendable {
  subscript(key: String) -> String? { get nonmutating set }
}

extension UDIKey<any KeyValueStore> {
  static var settings: Self { Self(named: "settings") }
  static var keychain: Self { Self(named: "keychain") }
}

/// Keeps texts in memory.
final class MemoryStore: KeyValueStore, Sendable {
  private let values = Mutex<[String: String]>([:])
  subscript(key: String) -> String? {
    get { values.withLock { $0[key] } }
    set { values.withLock { $0[key] = newValue } }
  }
}

/// Keeps the token of each account.
struct TokenVault: Sendable {
  let keychain: any KeyValueStore

  subscript(handle: Handle) -> Token? {
    get { keychain[handle.name].map { Token(text: $0) } }
    nonmutating set { keychain[handle.name] = newValue?.text }
  }
}
