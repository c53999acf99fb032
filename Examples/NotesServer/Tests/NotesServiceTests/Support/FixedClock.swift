import Foundation
import Synchronization

@testable import NotesService

/// A clock that stands still until a test advances it.
final class FixedClock: WallClock {
  private let date = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

  var now: Date { date.withLock { $0 } }

  func advance(seconds: Double) { date.withLock { $0 += seconds } }
}
