import Testing
import TreeModel

@testable import UDI

@Suite struct CompactTableTests {
  struct Item: CompactTableElement {
    let key: Int
    var value: Plain
    /// Few distinct hashes, so that runs are long and wrap around.
    static func hash(_ key: Int) -> UInt { scrambled(UInt(bitPattern: key % 7)) }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func equalsADictionary(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = CompactTable<Item>()
    var expected: [Int: Plain] = [:]
    let span = [6, 30, 200][Int(seed % 3)]
    for step in 0..<3000 {
      let key = Int.random(in: 0..<span, using: &random)
      // Grows for a while, then shrinks, several times.
      let grows = (step / 300).isMultiple(of: 2)
      if Int.random(in: 0..<10, using: &random) < (grows ? 7 : 2) {
        let value = Plain("\(step)")
        if let place = table.find(key) {
          place.element.value = value
        } else {
          table.insert(Item(key: key, value: value))
        }
        expected[key] = value
      } else {
        #expect(table.remove(key)?.value === expected.removeValue(forKey: key))
      }
      #expect(table.count == expected.count)
      #expect(table.isEmpty == expected.isEmpty)
      #expect(table.capacity <= max(16, 8 * expected.count), "it shrinks as it empties")
    }
    var seen: Swift.Set<Int> = []
    table.forEach { seen.insert($0.key) }
    #expect(seen == Swift.Set(expected.keys))
    let copy = table.copy()
    for key in 0..<span {
      #expect(table.find(key)?.element.value === expected[key])
      #expect(copy.find(key)?.element.value === expected[key])
    }
  }

  @Test func elementsAreReleased() {
    weak var first: Plain?
    weak var second: Plain?
    do {
      var table = CompactTable<Item>()
      let (a, b) = (Plain(), Plain())
      (first, second) = (a, b)
      table.insert(Item(key: 1, value: a))
      table.insert(Item(key: 2, value: b))
      table.remove(1)
    }
    #expect(first == nil && second == nil)
  }
}
