import UDI

private protocol R0: AnyObject, Sendable {}
private protocol R1: AnyObject, Sendable {}
private protocol R2: AnyObject, Sendable {}
private protocol R3: AnyObject, Sendable {}
private protocol R4: AnyObject, Sendable {}
private protocol R5: AnyObject, Sendable {}
private protocol R6: AnyObject, Sendable {}
private protocol R7: AnyObject, Sendable {}
private protocol R8: AnyObject, Sendable {}
private protocol R9: AnyObject, Sendable {}
private protocol R10: AnyObject, Sendable {}
private protocol R11: AnyObject, Sendable {}
private protocol R12: AnyObject, Sendable {}
private protocol R13: AnyObject, Sendable {}
private protocol R14: AnyObject, Sendable {}
private protocol R15: AnyObject, Sendable {}
extension Host: R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15 {}

/// Registers factories, sixteen in each context.
@inline(never)
func register(_ count: Int) {
  for _ in 0..<count / 16 { registerSixteen() }
}

/// Makes a context, registers sixteen factories there, and releases the context.
private func registerSixteen() {
  let context = UDIContext(tag: "new")
  context.register((any R0).self) { Host() }
  context.register((any R1).self) { Host() }
  context.register((any R2).self) { Host() }
  context.register((any R3).self) { Host() }
  context.register((any R4).self) { Host() }
  context.register((any R5).self) { Host() }
  context.register((any R6).self) { Host() }
  context.register((any R7).self) { Host() }
  context.register((any R8).self) { Host() }
  context.register((any R9).self) { Host() }
  context.register((any R10).self) { Host() }
  context.register((any R11).self) { Host() }
  context.register((any R12).self) { Host() }
  context.register((any R13).self) { Host() }
  context.register((any R14).self) { Host() }
  context.register((any R15).self) { Host() }
}
