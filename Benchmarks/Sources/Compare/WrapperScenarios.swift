import UDI

/// Reads of properties that link.
func wrapperScenarios(_ plain: Plain) -> [Scenario] {
  let context = UDIContext(tag: "wrappers")
  context.multiBind(plain, as: (any Service).self)
  AppContext.multiBind(plain, as: (any K0).self)
  let consumer = Consumer().attached(to: context)
  keepAlive(consumer)
  consumer.stored = plain
  expect("what is linked by the wrappers") {
    [consumer.stored, consumer.linked, consumer.inLine, consumer.weakly, consumer.app as? any Service]
      .allSatisfy { $0 === plain }
  }
  return [
    .loop("a stored property, no wrapper", .printed, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(consumer.stored) }
    },
    .loop("@Linked, after the first read", .againstFloor(1.5), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(consumer.linked) }
    },
    .loop("@Linked(keeps: .never)", .againstFloor(2), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(consumer.inLine) }
    },
    .loop("@Linked(keeps: .weakly), after the first read", .printed, allocatesNothing: true) { count in
      for _ in 0..<count { opaque(consumer.weakly) }
    },
    .loop("@AppLinked", .againstFloor(2.4), allocatesNothing: true) { count in
      for _ in 0..<count { opaque(consumer.app) }
    },
  ]
}

private final class Consumer: UDIObject {
  let _attachedContext = UDIAttachment()
  var stored: (any Service)?
  @Linked var linked: (any Service)?
  @Linked(keeps: .never) var inLine: (any Service)?
  @Linked(keeps: .weakly) var weakly: (any Service)?
  @AppLinked var app: (any K0)?
  func didAttachContext() {}
}
