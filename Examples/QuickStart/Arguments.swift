/// What the command line asks for.
struct Arguments {
  static let usage = """
    usage: QuickStart [--] [FILE ...]

    Digests text logs: syslog, dpkg.log and web-server access logs (common or combined). The format is told from the
    lines; of any other text only the lines are counted. The FILE - is standard input. Without a FILE the logs that
    ship with QuickStart are digested.

      -h, --help  show this text
      --          take everything that follows as a FILE
    """

  /// An option that does not exist.
  struct Unknown: Error {
    let option: String
  }

  /// The inputs to digest; nil if no file was named.
  let sources: [Source]?
  let asksForHelp: Bool

  init(_ words: some Sequence<String>) throws(Unknown) {
    var sources: [Source] = []
    var areOptionsOver = false
    for word in words {
      switch word {
      case _ where areOptionsOver && word != "-": sources.append(.file(word))
      case "-": sources.append(.standardInput)
      case "--": areOptionsOver = true
      case "-h", "--help":
        self.sources = nil
        asksForHelp = true
        return
      case _ where word.hasPrefix("-"): throw Unknown(option: word)
      default: sources.append(.file(word))
      }
    }
    self.sources = sources.isEmpty ? nil : sources
    asksForHelp = false
  }
}
