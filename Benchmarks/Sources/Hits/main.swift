/// Looks up an object that is bound, as often as it is told: for `instructions`, which counts what one lookup takes.
///
///     Hits COUNT on|off    with recording on or off
import UDI

protocol Service: AnyObject, Sendable {}
final class Host: Service {}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[1]), ["on", "off"].contains(arguments[2]) else {
  fatalError("usage: Hits COUNT on|off")
}
UDIRecording.isOn = arguments[2] == "on"
let context = UDIContext(tag: "context")
let host = Host()
context.bind(host, as: (any Service).self)
for _ in 0..<count {
  guard context.link((any Service).self) === host else { fatalError("it was bound") }
}
