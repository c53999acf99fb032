import Foundation
import Testing
import UDI
import UDITesting

/// Keeps an instance as a test says.
private final class Kept: UDIStorage {
  enum Fault { case none, keepsNothing, ignoresReset, keepsTheFirst, hidesOne, releasesUnderLock, resetsTenTimes }

  let fault: Fault
  private let lock = NSLock()
  // Guarded by `lock`.
  private nonisolated(unsafe) var made: UDIMade?
  private nonisolated(unsafe) var hidden: UDIMade?
  private nonisolated(unsafe) var resets = 0

  init(_ fault: Fault) { self.fault = fault }

  func load() -> UDIMade? { lock.withLock { unsafe made } }

  func store(_ new: UDIMade) {
    if fault == .keepsNothing { return }
    let old = lock.withLock { () -> UDIMade? in
      if fault == .keepsTheFirst, unsafe made != nil { return nil }
      if fault == .hidesOne { unsafe hidden = new }
      let old = unsafe made
      unsafe made = new
      return old
    }
    withExtendedLifetime(old) {}
  }

  func reset() {
    if fault == .ignoresReset { return }
    if fault == .releasesUnderLock { return lock.withLock { unsafe made = nil } }
    let old = lock.withLock {
      unsafe resets += 1
      return unsafe fault == .resetsTenTimes && resets > 10 ? nil : made.take()
    }
    withExtendedLifetime(old) {}
  }
}

@Suite struct StorageCheckTests {
  @Test("A storage that keeps its promises passes, whether it keeps instances or not")
  func passes() async {
    await expectStorageWorks { Kept(.none) }
    await expectStorageWorks { Kept(.keepsNothing) }
  }

  @Test("Each broken promise is named")
  func failures() async throws {
    func texts(_ fault: Kept.Fault) async throws -> Set<String> {
      Set(try await issues { await expectStorageWorks(limit: .milliseconds(300)) { Kept(fault) } }.map(\.text))
    }
    let returned = "After a reset, the storage returns an instance."
    let held = "After a reset, something still holds the instance that was stored last."
    #expect(try await texts(.ignoresReset).isSuperset(of: [returned, held]))
    let other = "The storage returns an instance other than the one that was stored last."
    #expect(try await texts(.keepsTheFirst) == [other])
    #expect(try await texts(.hidesOne).contains(held))
    #expect(try await texts(.releasesUnderLock) == ["The storage has not returned within 0.3 seconds."])
    let shared = Kept(.ignoresReset)
    let byThreads = try await texts(.resetsTenTimes)
    #expect(byThreads.count == 2 && byThreads.allSatisfy { $0.contains("several threads") })
    // All who ask get the same storage, which the first check leaves with an instance.
    let found = try await issues {
      for _ in 1...2 { await expectStorageWorks { shared } }
    }
    #expect(found.map(\.text).contains("A new storage returns an instance."))
  }
}
