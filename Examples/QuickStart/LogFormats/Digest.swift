/// What was counted in one input.
struct Digest {
  /// How often an item was mentioned.
  struct Tally {
    var count = 0
    /// The total number of bytes, for items that have any.
    var bytes: Int?
  }

  let format: any LogFormat
  private(set) var lineCount = 0
  private(set) var unparsedCount = 0
  private(set) var firstTimestamp: String?
  private(set) var lastTimestamp: String?
  /// For each heading of the format.
  private var tallies: [[String: Tally]]

  init(of format: any LogFormat) {
    self.format = format
    tallies = format.headings.map { _ in [:] }
  }

  mutating func count(_ lines: [Bytes]) {
    var last: Bytes?
    for line in lines {
      guard let entry = format.parse(line) else {
        unparsedCount += 1
        continue
      }
      if let timestamp = entry.timestamp {
        if firstTimestamp == nil { firstTimestamp = String(decoding: timestamp, as: UTF8.self) }
        last = timestamp
      }
      for mention in entry.mentions {
        tallies[mention.heading][String(decoding: mention.key, as: UTF8.self), default: Tally()].count(mention)
      }
    }
    lineCount += lines.count
    if let last { lastTimestamp = String(decoding: last, as: UTF8.self) }
  }

  /// The most frequent items under a heading, the most frequent first.
  ///
  /// - Parameter heading: The index of one of the format's headings.
  func top(_ heading: Int) -> [(key: String, tally: Tally)] {
    // Equally frequent items are sorted by name, so that the same log always gives the same report.
    let sorted = tallies[heading].sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    return sorted.prefix(5).map { ($0.key, $0.value) }
  }
}

extension Digest.Tally {
  fileprivate mutating func count(_ mention: LogEntry.Mention) {
    count += 1
    guard let more = mention.bytes else { return }
    let (sum, isTooLarge) = (bytes ?? 0).addingReportingOverflow(more)
    // A log may claim any number of bytes, so an overflow must not stop the program.
    bytes = isTooLarge ? .max : sum
  }
}
