// The code in "Seeing what happens" that only another package can contain: in the library's own package, `@retroactive`
// is an error. `.ci/refused` compiles it.
import Foundation
import UDI

extension UDILinkError: @retroactive LocalizedError {
  /// The whole description.
  public var errorDescription: String? { description }
}
