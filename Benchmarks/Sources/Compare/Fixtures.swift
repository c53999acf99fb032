import UDI

/// The class-bound protocol of most scenarios, one that is not bound to classes, and one that nobody binds.
protocol Service: AnyObject, Sendable {}
protocol Open: Sendable {}
protocol Missing: AnyObject, Sendable {}

/// Twenty keys with a type for each, as in real programs.
protocol K0: AnyObject, Sendable {}
protocol K1: AnyObject, Sendable {}
protocol K2: AnyObject, Sendable {}
protocol K3: AnyObject, Sendable {}
protocol K4: AnyObject, Sendable {}
protocol K5: AnyObject, Sendable {}
protocol K6: AnyObject, Sendable {}
protocol K7: AnyObject, Sendable {}
protocol K8: AnyObject, Sendable {}
protocol K9: AnyObject, Sendable {}
protocol K10: AnyObject, Sendable {}
protocol K11: AnyObject, Sendable {}
protocol K12: AnyObject, Sendable {}
protocol K13: AnyObject, Sendable {}
protocol K14: AnyObject, Sendable {}
protocol K15: AnyObject, Sendable {}
protocol K16: AnyObject, Sendable {}
protocol K17: AnyObject, Sendable {}
protocol K18: AnyObject, Sendable {}
protocol K19: AnyObject, Sendable {}

/// Sixteen keys that are bound only briefly.
protocol F0: AnyObject, Sendable {}
protocol F1: AnyObject, Sendable {}
protocol F2: AnyObject, Sendable {}
protocol F3: AnyObject, Sendable {}
protocol F4: AnyObject, Sendable {}
protocol F5: AnyObject, Sendable {}
protocol F6: AnyObject, Sendable {}
protocol F7: AnyObject, Sendable {}
protocol F8: AnyObject, Sendable {}
protocol F9: AnyObject, Sendable {}
protocol F10: AnyObject, Sendable {}
protocol F11: AnyObject, Sendable {}
protocol F12: AnyObject, Sendable {}
protocol F13: AnyObject, Sendable {}
protocol F14: AnyObject, Sendable {}
protocol F15: AnyObject, Sendable {}

final class Plain: Service, Open, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, K0, K1, K2, K3,
  K4, K5, K6, K7, K8, K9, K10, K11, K12, K13, K14, K15, K16, K17, K18, K19
{}

final class Member: Service, Open, UDIObject {
  let _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

/// What a scenario does with one of the twenty keys, compiled for that key's type.
struct KeyVerbs: Sendable {
  /// The key of the tables that are written by hand.
  let id: ObjectIdentifier
  let bind: @Sendable (Plain, UDIContext) -> Void
  let multiBind: @Sendable (Plain, UDIContext) -> Void
  let unbind: @Sendable (UDIContext) -> Void
  let link: @Sendable (UDIContext) -> Void
}

let keys: [KeyVerbs] = [
  verbs((any K0).self) { $0 },
  verbs((any K1).self) { $0 },
  verbs((any K2).self) { $0 },
  verbs((any K3).self) { $0 },
  verbs((any K4).self) { $0 },
  verbs((any K5).self) { $0 },
  verbs((any K6).self) { $0 },
  verbs((any K7).self) { $0 },
  verbs((any K8).self) { $0 },
  verbs((any K9).self) { $0 },
  verbs((any K10).self) { $0 },
  verbs((any K11).self) { $0 },
  verbs((any K12).self) { $0 },
  verbs((any K13).self) { $0 },
  verbs((any K14).self) { $0 },
  verbs((any K15).self) { $0 },
  verbs((any K16).self) { $0 },
  verbs((any K17).self) { $0 },
  verbs((any K18).self) { $0 },
  verbs((any K19).self) { $0 },
]

let freshKeys: [KeyVerbs] = [
  verbs((any F0).self) { $0 },
  verbs((any F1).self) { $0 },
  verbs((any F2).self) { $0 },
  verbs((any F3).self) { $0 },
  verbs((any F4).self) { $0 },
  verbs((any F5).self) { $0 },
  verbs((any F6).self) { $0 },
  verbs((any F7).self) { $0 },
  verbs((any F8).self) { $0 },
  verbs((any F9).self) { $0 },
  verbs((any F10).self) { $0 },
  verbs((any F11).self) { $0 },
  verbs((any F12).self) { $0 },
  verbs((any F13).self) { $0 },
  verbs((any F14).self) { $0 },
  verbs((any F15).self) { $0 },
]

@inline(__always)
private func verbs<Dependency: Sendable>(_ type: Dependency.Type, _ cast: @escaping @Sendable (Plain) -> Dependency)
  -> KeyVerbs
{
  KeyVerbs(
    id: ObjectIdentifier(type), bind: { $1.bind(cast($0), as: type) }, multiBind: { $1.multiBind(cast($0), as: type) },
    unbind: { $0.unbind(type) }, link: { opaque($0.link(type)) })
}
