import UDI

/// An input. It reads itself, and what that takes belongs to a context of its own.
@MainActor
final class Input: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  /// Provided in the context above, for all inputs.
  @Required private var console: any Console
  private let source: Source
  private(set) var isLatin1 = false

  init(_ source: Source) {
    self.source = source
  }

  /// Called when the input has been attached to its context. A context does not hold what is bound in it: the input can
  /// be found as long as somebody else holds it.
  func didAttachContext() {
    bind(self, as: Input.self)
  }

  var name: String { source.name }

  /// What was counted, once the input has been read. The context makes the counter and owns it.
  var digest: Digest? { linkInLine(Counter.self)?.digest }

  /// Reads the input and counts what is in its lines.
  ///
  /// - Returns: Whether the input could be read. If not, the console has been told why.
  func read() -> Bool {
    guard let context = attachedContext else { return false }
    do throws(Unreadable) {
      var reader = try source.open()
      var lines = try reader.next() ?? []
      context.provide(format(of: lines), as: (any LogFormat).self)
      context.register(Counter.self, using: Counter.init(format:))
      guard let counter = linkInLine(Counter.self) else { return false }
      repeat {
        counter.count(lines)
        console.showProgress(of: name, reader.position, source.size)
        lines = try reader.next() ?? []
      } while !lines.isEmpty
      isLatin1 = reader.isLatin1
      return true
    } catch {
      console.complain("\(name): \(error.reason)")
      return false
    }
  }
}

/// Counts what is in the lines of an input. It is made with the format that its context provides.
@MainActor
final class Counter {
  private(set) var digest: Digest

  init(format: any LogFormat) {
    digest = Digest(of: format)
  }

  func count(_ lines: [Bytes]) {
    digest.count(lines)
  }
}
