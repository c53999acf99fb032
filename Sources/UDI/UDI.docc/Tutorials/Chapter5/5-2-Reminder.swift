protocol Mailer: Sendable { func send(_ text: String) }

/// Reminds a person of what is waiting.
struct Reminder: Sendable {
  let library: Library
  let mailer: any Mailer

  func remind() {
    for line in library.lines { mailer.send("Still to read: \(line)") }
  }
}
