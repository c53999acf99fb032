import Synchronization
import UDI

/// Collects reports of misuse, from any thread.
final class MisuseLog: Sendable {
  private let entries = Mutex<[UDIMisuse]>([])
  var all: [UDIMisuse] { entries.withLock { $0 } }
  func add(_ misuse: UDIMisuse) { entries.withLock { $0.append(misuse) } }
}
