// The code of "Seeing what happens" that only another package can have: in the library's own `@retroactive` is an error. `.ci/refused` compiles it.
import Foundation
import UDI

extension UDILinkError: @retroactive LocalizedError {
  /// The whole description.
  public var errorDescription: String? { description }
}
