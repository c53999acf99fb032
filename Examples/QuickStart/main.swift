/// Digests text logs, and shows what UDI is for.
///
/// `AppContext` is the root of the tree. Each input gets a context of its own below it, with a parser and counters that
/// are found by protocol. The report, at the top, collects the results of all inputs without knowing any of them.
import Foundation
import UDI

let arguments: Arguments
// This constant holds the terminal; the context in which it is bound does not. The constant is used until the end of
// the program.
let terminal = Terminal().attached(to: AppContext)

do throws(Arguments.Mistake) {
  arguments = try Arguments(CommandLine.arguments.dropFirst())
} catch {
  terminal.complain("\(error.reason)\n\(Arguments.usage)")
  exit(2)
}
if arguments.asksForHelp {
  terminal.show(Arguments.usage)
  exit(terminal.hasFailed ? 1 : 0)
}

var inputs: [Input] = []
for source in arguments.sources ?? Source.shippedLogs() {
  let context = try AppContext.makeChild(tag: freeTag(for: source.name))
  let input = Input(source).attached(to: context)
  if input.digest() {
    inputs.append(input)
  } else {
    context.removeFromParent()
  }
}

// Only the inputs hold their parsers and counters. Without `withExtendedLifetime`, the inputs might already be gone
// while the report looks for what they hold.
withExtendedLifetime(inputs) {
  Report().attached(to: AppContext).show()
  terminal.show("\nThe tree while the inputs are there:\n\(AppContext.snapshot())")
  if let page = arguments.page { write(page: page) }
}

// The parsers and counters go with the inputs, and so do their bindings.
inputs.removeAll()
for context in AppContext.children { context.removeFromParent() }
terminal.show("\nThe tree without them:\n\(AppContext.snapshot())")

exit(terminal.hasFailed ? 1 : 0)

/// Returns a tag that no input has yet. Siblings cannot share a tag, but the same file may be given twice.
@MainActor
func freeTag(for name: String) -> String {
  var tag = name
  var copies = 1
  while AppContext.child(tag: tag) != nil {
    copies += 1
    tag = "\(name) (\(copies))"
  }
  return tag
}
