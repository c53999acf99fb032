import UDI

/// What was counted in one input.
@MainActor
protocol Counters: AnyObject {
  func digest() -> Digest
}

/// The result for one input. It is a value, so it may outlive the objects that made it.
struct Digest {
  /// How often an item was mentioned.
  struct Tally {
    let key: String
    var count = 0
    /// The total number of bytes, for items that have any.
    var bytes: Int?
  }

  /// The name of the input.
  let name: String
  let format: String
  var lineCount = 0
  var unparsedCount = 0
  var firstTimestamp: String?
  var lastTimestamp: String?
  /// The most frequent items under each heading, the most frequent first.
  var top: [(heading: String, tallies: [Tally])] = []
}

/// Counts the lines of one input, as the parser in the same context understands them.
@MainActor
final class LineCounters: @MainActor UDIObject, Counters {
  let _attachedContext = UDIAttachment()
  private var parser: (any LineParser)?
  private var lineCount = 0
  private var unparsedCount = 0
  private var firstTimestamp: String?
  private var lastTimestamp: String?
  private var tallies: [String: [String: Digest.Tally]] = [:]

  func didAttachContext() {
    bind(self, as: (any Counters).self)
    // Kept, because every line needs the parser. The counters need not know which parser it is.
    link(\.parser)
  }

  func count(_ line: Substring) {
    lineCount += 1
    guard let entry = parser?.parse(line) else {
      unparsedCount += 1
      return
    }
    if let timestamp = entry.timestamp {
      lastTimestamp = String(timestamp)
      firstTimestamp = firstTimestamp ?? lastTimestamp
    }
    for mention in entry.mentions { count(mention) }
  }

  private func count(_ mention: LogEntry.Mention) {
    // A `String` of its own, because a part of the line would keep the whole text in memory.
    let key = String(mention.key)
    var tally = tallies[mention.heading]?[key] ?? Digest.Tally(key: key)
    tally.count += 1
    if let bytes = mention.bytes {
      let (sum, isTooLarge) = (tally.bytes ?? 0).addingReportingOverflow(bytes)
      // A log may claim any number of bytes, so an overflow must not stop the program.
      tally.bytes = isTooLarge ? .max : sum
    }
    tallies[mention.heading, default: [:]][key] = tally
  }

  func digest() -> Digest {
    var digest = Digest(name: attachedContext?.tag ?? "", format: parser?.format ?? "unknown")
    digest.lineCount = lineCount
    digest.unparsedCount = unparsedCount
    digest.firstTimestamp = firstTimestamp
    digest.lastTimestamp = lastTimestamp
    digest.top = (parser?.headings ?? []).map { heading in
      // Equally frequent items are sorted by name, so that the same log always gives the same digest.
      let sorted = (tallies[heading] ?? [:]).values.sorted { ($1.count, $0.key) < ($0.count, $1.key) }
      return (heading, Array(sorted.prefix(5)))
    }
    return digest
  }
}
