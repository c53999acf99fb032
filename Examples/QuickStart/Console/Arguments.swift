/// What the command line asks for.
struct Arguments {
  static let usage = """
    usage: QuickStart [--page FILE] [--] [FILE ...]

    Digests text logs: syslog, dpkg.log and web-server access logs (common or combined). The format is told from the
    lines; of any other text only the lines are counted. The FILE - is standard input. Without a FILE the logs that
    ship with QuickStart are digested.

      -h, --help   show this text
      --page FILE  write a page to FILE that shows the tree while the inputs are there
      --           take everything that follows as a FILE
    """

  /// What is wrong with the command line.
  struct Mistake: Error {
    let reason: String
  }

  /// The inputs to digest; nil if no file was named.
  let sources: [Source]?
  /// The file to write the page to; nil if none was asked for.
  let page: String?
  let asksForHelp: Bool

  init(_ words: some Sequence<String>) throws(Mistake) {
    var sources: [Source] = []
    var page: String?
    var areOptionsOver = false
    var words = words.makeIterator()
    while let word = words.next() {
      switch word {
      case _ where areOptionsOver && word != "-": sources.append(.file(word))
      case "-": sources.append(.standardInput)
      case "--": areOptionsOver = true
      case "--page":
        guard let file = words.next() else { throw Mistake(reason: "--page needs a FILE") }
        page = file
      case "-h", "--help":
        self.sources = nil
        self.page = nil
        asksForHelp = true
        return
      case _ where word.hasPrefix("-"): throw Mistake(reason: "unknown option \(word)")
      default: sources.append(.file(word))
      }
    }
    self.sources = sources.isEmpty ? nil : sources
    self.page = page
    asksForHelp = false
  }
}
