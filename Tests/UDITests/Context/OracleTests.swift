import Foundation
import Testing
import TreeModel
import UDI

/// Random operations on real trees. Each answer is compared with the oracle's.
///
/// `UDI_SEED` and `UDI_OPERATIONS` set another seed and another length. The stage `long` takes ten times as many.
@Suite struct OracleTests {
  static let environment = ProcessInfo.processInfo.environment
  static let operations = environment["UDI_OPERATIONS"].flatMap { Int($0) } ?? 24_000
  static let seed = environment["UDI_SEED"].flatMap { UInt64($0) } ?? 1

  /// Small trees often meet every special case; large trees have every shape.
  @Test(arguments: [4, 12, 40, 150, 400, 1000])
  func randomOperations(maximumSize: Int) async {
    // On a thread of its own, because a run waits until contexts are closed.
    let failure = await withCheckedContinuation { continuation in
      onThread { continuation.resume(returning: Self.failure(maximumSize: maximumSize)) }
    }
    #expect(failure == nil)
  }

  private static func failure(maximumSize: Int) -> String? {
    let seed = Self.seed + UInt64(maximumSize)
    var run = TreeRun(SplitMix(seed: seed), maximumSize: maximumSize)
    for step in 0..<Self.operations / 6 {
      let operation = run.step()
      if let difference = run.difference(afterStep: step) {
        return "seed \(Self.seed), size \(maximumSize), step \(step), \(operation): \(difference)"
      }
    }
    if let difference = run.end() { return "seed \(Self.seed), size \(maximumSize), at the end: \(difference)" }
    let hasMetAll = run.hits > 100 && run.misses > 100 && run.closings > operations / 12_000
    return hasMetAll ? nil : "only \(run.hits) hits, \(run.misses) misses and \(run.closings) closings"
  }
}
