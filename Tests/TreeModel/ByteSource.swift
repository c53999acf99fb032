/// Decisions made by a fuzzer's bytes, one byte for each decision.
package struct ByteSource: RandomNumberGenerator {
  private var bytes: ArraySlice<UInt8>
  private var afterwards = SplitMix(seed: 0)

  package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  /// Whether the bytes are used up. After that, the numbers are the same for every input.
  package var isExhausted: Bool { bytes.isEmpty }

  package mutating func next() -> UInt64 {
    guard let byte = bytes.popFirst() else { return afterwards.next() }
    // `random(in:)` uses the high bits; with something in the low bits, no value is rejected as unfair.
    return UInt64(byte) << 56 | 0x0080_0000_0000_0000
  }
}

/// Performs the operations that the bytes describe on trees of real contexts, and compares each answer with the
/// oracle's. Do not call this on a thread that tasks need.
///
/// - Returns: What differed, or nil.
package func replay(_ bytes: [UInt8]) -> String? {
  guard let size = bytes.first else { return nil }
  var run = TreeRun(ByteSource(Array(bytes.dropFirst())), maximumSize: 2 + Int(size) % 64)
  var step = 0
  while !run.random.isExhausted {
    let operation = run.step()
    if let difference = run.difference(afterStep: step) { return "step \(step), \(operation): \(difference)" }
    step += 1
  }
  return run.completeDifference() ?? run.end()
}
