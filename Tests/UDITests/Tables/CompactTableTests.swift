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

  /// Not every platform has 64-bit words; the hashes are made in the same way on all platforms.
  @Test func hashesSpreadOnWordsOfBothWidths() {
    func expectSpread<Word: FixedWidthInteger & UnsignedInteger>(_: Word.Type, _ what: Comment, _ hash: (Int) -> Word) {
      for capacity in [16, 64, 1024, 1 << 16] {
        var loads = [Int](repeating: 0, count: capacity)
        for index in 0..<capacity / 2 {
          let home = CompactTable<Item>.home(hash(index), capacity)
          #expect(loads.indices.contains(home), what)
          loads[home] += 1
        }
        #expect(loads.max()! <= 4, what)
      }
    }
    expectSpread(UInt64.self, "counters, 64 bits") { scrambled(UInt64($0)) }
    expectSpread(UInt32.self, "counters, 32 bits") { scrambled(UInt32($0)) }
    expectSpread(UInt64.self, "addresses, 64 bits") { scrambled(0x7F00_0000_0000 + UInt64($0) * 16) }
    expectSpread(UInt32.self, "addresses, 32 bits") { scrambled(0x1000_0000 + UInt32($0) * 16) }
    expectSpread(UInt64.self, "ids, 64 bits") { scrambledID(UInt64($0)) }
    expectSpread(UInt32.self, "ids, 32 bits") { scrambledID(UInt64($0)) }
    expectSpread(UInt32.self, "ids of names, 32 bits") { scrambledID(KeyIdentity.namedBit | UInt64($0)) }
    // The bits of the golden ratio, as Knuth uses them, for both sizes.
    #expect(scrambled(1 as UInt64) == 0x9E37_79B9_7F4A_7C15 && scrambled(1 as UInt32) == 0x9E37_79B9)
    #expect(scrambledID(1) as UInt64 == 0x9E37_79B9_7F4A_7C15 && scrambledID(1) as UInt32 == 0x9E37_79B9)
  }
}
