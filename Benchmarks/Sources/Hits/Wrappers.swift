import UDI

private final class Reader: UDIObject {
  let _attachedContext = UDIAttachment()
  @Linked(keeps: .never) var inLine: (any Service)?
  @Followed var followed: (any Service)?
  func didAttachContext() {}
}

/// Reads a property that looks its dependency up at each read.
@inline(never)
func readInLine(_ count: Int, in context: UDIContext, _ host: Host) {
  let reader = Reader().attached(to: context)
  for _ in 0..<count where reader.inLine !== host { fatalError("it is there") }
}

/// Reads a property that is followed, while nobody observes it.
@inline(never)
func readFollowed(_ count: Int, in context: UDIContext, _ host: Host) {
  let reader = Reader().attached(to: context)
  for _ in 0..<count where reader.followed !== host { fatalError("it is there") }
}
