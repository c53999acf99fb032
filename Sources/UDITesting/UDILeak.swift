import UDI

/// An object that has outlived the contexts it was registered in.
public struct UDILeak: Sendable, Hashable, CustomStringConvertible {
  /// One registration of it.
  public struct Registration: Sendable, Hashable {
    /// The type it was registered under, as `String(reflecting:)` spells it.
    public let typeName: String
    /// The name it was registered under, if any, as its description.
    public let name: String?
    /// The tags from the root to the context, the root's included.
    public let path: [String]
    /// Whether that context is alive, too: then somebody holds it, and with it perhaps the object.
    public let isContextAlive: Bool
    /// The file of the call that registered it, as `#fileID` gives it.
    public let fileID: String
    /// The line of that call, from 1.
    public let line: Int
  }

  /// The object's class.
  public let className: String
  /// What it was registered as, in order: at least one.
  public let registrations: [Registration]

  /// What leaked, and where it was bound.
  public var description: String {
    let places = registrations.map { registration in
      let key = registration.name.map { "\(registration.typeName) named \($0)" } ?? registration.typeName
      return
        "\(key) in \"\(registration.path.joined(separator: " / "))\", at \(registration.fileID):\(registration.line)"
    }
    let isHeldByContext = registrations.contains(where: \.isContextAlive)
    return """
      A \(className) is still alive that was registered as \(places.joined(separator: "; as ")). \
      \(isHeldByContext ? "So is that context. Who holds one of them?" : "Who holds it?") \
      Look for a closure or a property that leads back to it.
      """
  }
}

extension UDILeak {
  init(_ survivor: BindingAudit.Survivor) {
    className = "\(survivor.objectType)"
    var seen: Set<Registration> = []
    registrations = survivor.registrations.map {
      Registration(
        typeName: $0.typeName, name: $0.name, path: $0.path, isContextAlive: $0.isContextAlive, fileID: $0.fileID,
        line: $0.line)
    }.filter { seen.insert($0).inserted }
  }
}
