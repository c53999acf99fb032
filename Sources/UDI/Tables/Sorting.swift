// Whatever is sorted by a number is sorted by means of these functions, because each call of `sort` with another type
// or closure is 2 KiB of code.

/// The positions of the given ranks, in the order of the ranks.
@inline(never)
func positions(inOrderOf ranks: [UInt64]) -> [Int] { ranks.indices.sorted { ranks[$0] < ranks[$1] } }

extension Array {
  /// The elements in the order of their ranks. Often they are in order already.
  func inOrder(of rank: (Element) -> UInt64) -> [Element] {
    if indices.dropFirst().allSatisfy({ rank(self[$0 - 1]) <= rank(self[$0]) }) { return self }
    return positions(inOrderOf: map(rank)).map { self[$0] }
  }
}
