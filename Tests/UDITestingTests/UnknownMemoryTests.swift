import Testing

@testable import UDITesting

/// What memory of unknown layout is taken to contain.
struct UnknownMemoryTests {
  /// Looks at itself when it dies.
  private final class Mortal {
    let lookedAt: (HeapKind?) -> Void
    init(_ lookedAt: @escaping (HeapKind?) -> Void) { self.lookedAt = lookedAt }
    deinit { lookedAt(UnknownMemoryTests.kind(of: self)) }
  }

  private static func kind(of object: AnyObject) -> HeapKind? {
    unsafe UnknownMemory.heapKind(at: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  @Test("An object counts while it is alive, and no longer when it dies", arguments: [false, true])
  func onlyLivingObjects(hasWeakReferences: Bool) {
    var last: HeapKind?? = nil
    weak var weakly: Mortal?
    do {
      let mortal = Mortal { last = .some($0) }
      if hasWeakReferences { weakly = mortal }
      #expect(Self.kind(of: mortal) == .object)
      withExtendedLifetime(mortal) {}
    }
    #expect(last == .some(nil) && weakly == nil)
  }

  @Test("An object that is never released counts")
  func immortal() {
    let empty: [Int] = []
    let storage = unsafe unsafeBitCast(empty, to: AnyObject.self)
    #expect(Self.kind(of: storage) == .object)
  }

  @Test("Other words do not count")
  func others() {
    for word: UInt in [0, 1, 8, 4096, 1 << 40, 1 << 55, .max] { #expect(UnknownMemory.heapKind(at: word) == nil) }
  }
}
