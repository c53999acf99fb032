import Testing

@testable import UDI

@Suite struct WeakValueDictionaryTests {
  typealias Dictionary = WeakValueDictionary<String, any Service>

  @Test func valuesAreThereAsLongAsSomebodyHoldsThem() {
    var dictionary = Dictionary()
    #expect(dictionary.isEmpty && dictionary["a"] == nil && dictionary.count == 0)
    var held: Plain? = Plain()
    dictionary["a"] = held
    #expect(dictionary["a"] === held && dictionary.count == 1 && !dictionary.isEmpty)
    held = nil
    #expect(dictionary["a"] == nil && dictionary.count == 0 && dictionary.isEmpty)
    #expect(dictionary.keys.isEmpty && dictionary.values.isEmpty)
  }

  @Test func updatingReturnsTheLiveValueThatWasThere() {
    var dictionary = Dictionary()
    let (first, second) = (Plain(), Plain())
    #expect(dictionary.updateValue(first, forKey: "a") == nil)
    #expect(dictionary.updateValue(second, forKey: "a") === first)
    #expect(dictionary["a"] === second)
    do {
      let mortal = Plain()
      dictionary["b"] = mortal
    }
    #expect(dictionary.updateValue(first, forKey: "b") == nil)
    #expect(dictionary.count == 2)
  }

  @Test func itIsDescribedAsADictionaryOfWhatIsAlive() {
    var dictionary = Dictionary()
    #expect("\(dictionary)" == "[:]" && String(reflecting: dictionary) == "[:]")
    let live = Plain("plain")
    dictionary["live"] = live
    do {
      let mortal = Plain()
      dictionary["dead"] = mortal
    }
    #expect(dictionary.entryCount == 2)
    let expected = Swift.Dictionary<String, any Service>(uniqueKeysWithValues: [("live", live)])
    #expect("\(dictionary)" == "\(expected)" && String(reflecting: dictionary) == String(reflecting: expected))
    #expect("\(dictionary)" == #"["live": plain!]"#)
    let other = Plain("plain")
    dictionary["other"] = other
    let pairs = [#""live": plain!"#, #""other": plain!"#]
    #expect(["[\(pairs[0]), \(pairs[1])]", "[\(pairs[1]), \(pairs[0])]"].contains("\(dictionary)"))
  }

  @Test func removing() {
    let (a, b) = (Plain(), Plain())
    var dictionary: Dictionary = ["a": a, "b": b]
    #expect(dictionary.removeValue(forKey: "a") === a)
    #expect(dictionary.removeValue(forKey: "a") == nil)
    dictionary["b"] = nil
    #expect(dictionary.isEmpty && dictionary.entryCount == 0)
    dictionary["b"] = b
    dictionary.removeAll()
    #expect(dictionary.isEmpty)
    dictionary.removeDeadValues()
    #expect(dictionary.entryCount == 0)
  }

  @Test func iterationGivesLivePairs() {
    var values = (0..<20).map { Plain("\($0)") }
    var dictionary = WeakValueDictionary<Int, Plain>()
    for (index, value) in values.enumerated() { dictionary[index] = value }
    values.removeFirst(5)
    #expect(Swift.Dictionary(uniqueKeysWithValues: dictionary.map { ($0.key, $0.value.label) }).count == 15)
    #expect(Swift.Set(dictionary.keys) == Swift.Set(5..<20))
    #expect(Swift.Set(dictionary.values.map(\.label)) == Swift.Set((5..<20).map(String.init)))
  }

  /// A key that needs stricter alignment than allocations have by default.
  @Test func keysOfAnyAlignment() {
    let values = (0..<40).map { Plain("\($0)") }
    var dictionary = WeakValueDictionary<SIMD16<Float>, Plain>()
    for (index, value) in values.enumerated() { dictionary[SIMD16(repeating: Float(index))] = value }
    #expect(values.indices.allSatisfy { dictionary[SIMD16(repeating: Float($0))] === values[$0] })
  }

  @Test func copiesAreIndependent() {
    let (a, b) = (Plain(), Plain())
    let original: Dictionary = ["a": a]
    var copy = original
    copy["b"] = b
    copy["a"] = nil
    #expect(original["a"] === a && original.count == 1)
    #expect(copy["b"] === b && copy["a"] == nil)
  }

  @Test func literalsTakeTheLastOfEqualKeys() {
    let (a, b) = (Plain(), Plain())
    let dictionary: Dictionary = ["a": a, "a": b]
    #expect(dictionary["a"] === b && dictionary.count == 1)
  }

  @Test func deadEntriesGoInTheCourseOfChanges() {
    var dictionary = WeakValueDictionary<Int, Plain>()
    let survivor = Plain()
    do {
      let mortal = (0..<5000).map { _ in Plain() }
      for (index, value) in mortal.enumerated() { dictionary[index] = value }
      #expect(dictionary.count == 5000)
    }
    dictionary[-1] = survivor
    #expect(dictionary.entryCount <= 33, "all were dead: the next change drops them")
    #expect(dictionary[-1] === survivor)
  }

  /// Whatever dies, no dead entry survives more changes than there are entries.
  @Test(arguments: [2, 3, 10]) func everyDeadEntryIsComeAcross(oneIn part: Int) {
    var dictionary = WeakValueDictionary<Int, Plain>()
    var values = (0..<3000).map { Optional(Plain("\($0)")) }
    for (index, value) in values.enumerated() { dictionary[index] = value }
    for index in values.indices where index.isMultiple(of: part) { values[index] = nil }
    let survivor = Plain()
    for _ in 0..<4096 { dictionary[-1] = survivor }
    #expect(dictionary.entryCount == dictionary.count)
    #expect(dictionary.count == values.count(where: { $0 != nil }) + 1)
  }

  @Test func droppingAllAtOnce() {
    var dictionary = Dictionary()
    let kept = Plain()
    do {
      let mortal = (0..<10).map { _ in Plain() }
      for (index, value) in mortal.enumerated() { dictionary["\(index)"] = value }
      dictionary["kept"] = kept
    }
    #expect(dictionary.entryCount == 11)
    dictionary.removeDeadValues()
    #expect(dictionary.entryCount == 1 && dictionary["kept"] === kept)
  }

  @Test func itCrossesIsolationWhereItsContentMay() async {
    let value = Plain("far")
    let dictionary: Dictionary = ["a": value]
    let label = await Task.detached { (dictionary["a"] as? Plain)?.label }.value
    #expect(label == "far")
    withExtendedLifetime(value) {}
  }

  /// Every way to read. If one of them writes, the thread sanitizer fails this test.
  @Test func severalThreadsReadOneDictionary() {
    let values = (0..<100).map { Plain("\($0)") }
    var changing = WeakValueDictionary<Int, Plain>()
    for (index, value) in values.enumerated() { changing[index] = value }
    let dictionary = changing
    let wrong = Tally()
    onThreads(4) { _ in
      for index in 0..<1000 where dictionary[index % 100] !== values[index % 100] { wrong.add() }
      if dictionary.count != 100 || dictionary.isEmpty || dictionary.entryCount != 100 { wrong.add() }
      if dictionary.keys.count != 100 || dictionary.values.count != 100 { wrong.add() }
      // Making a copy of one's own only reads, too.
      var copy = dictionary
      copy[0] = nil
      if copy.count != 99 { wrong.add() }
    }
    #expect(wrong.count == 0)
    #expect(dictionary.count == 100)
  }

  @Test func aValueStopsWithAnExplanation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var dictionary = WeakValueDictionary<String, any Loose>()
      dictionary["a"] = ValueType()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("holds class instances; ValueType is a value"))
  }
}
