/// Summarises text logs, and shows what UDI is for.
///
/// `AppContext` is the root of the tree. Each input gets a context of its own below it, with the format of its lines and
/// a counter. The report, at the top, collects the results of all inputs without knowing any of them.
import Foundation
import UDI
import UDIInspector

let arguments: Arguments
let terminal = Terminal()
// The root owns the console. All contexts below find it by its protocol.
AppContext.provide(terminal, as: (any Console).self)

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
  if input.read() {
    inputs.append(input)
  } else {
    context.removeFromParent()
  }
}

// Only this array holds the inputs. Without `withExtendedLifetime`, they might already be gone while the report looks
// for them.
withExtendedLifetime(inputs) {
  Report().attached(to: AppContext).show()
  terminal.show("\nThe tree while the inputs are there:\n\(AppContext.snapshot())")
  if let page = arguments.page { write(page: page) }
}

// The inputs can be found no longer than somebody holds them. What their contexts own goes with the contexts.
inputs.removeAll()
terminal.show("\nThe tree without the inputs:\n\(AppContext.snapshot())")
for context in AppContext.children { context.removeFromParent() }
terminal.show("\nThe tree without their contexts:\n\(AppContext.snapshot())")

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
