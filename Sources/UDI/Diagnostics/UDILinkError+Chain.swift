/// How the chain grows, from what is missing outwards.
extension UDILinkError {
  /// - Parameter site: Where the dependency that could not be made is registered. If nil, this is looked for in the
  ///   explanation.
  init(explanation: UDIExplanation, site: CallSite? = nil) {
    let provider = explanation.failedProvider
    let missing = Step(
      kind: .missing, typeName: explanation.typeName, name: explanation.name, property: nil, parameter: nil,
      fileID: site?.fileID ?? provider?.fileID, line: site?.line ?? provider?.line)
    self.init(explanation: explanation, chain: [missing])
  }

  /// The same error, seen from one step further out.
  func seen(from step: Step) -> UDILinkError { UDILinkError(explanation: explanation, chain: [step] + chain) }

  /// The same error, seen by the object that asked, if there was one.
  func seen(by asker: Asker?) -> UDILinkError { asker.map { seen(from: Step($0)) } ?? self }

  /// The same error for a dependency that was requested as a parameter of an initialiser.
  ///
  /// - Parameter position: The dependency's position among the parameters, from 1.
  func asked(asParameter position: Int) -> UDILinkError {
    UDILinkError(explanation: explanation, chain: chain, parameter: position)
  }

  /// The same error, if the object asked by one of its properties.
  ///
  /// - Parameter property: The key path of the property's storage, whose name begins with an underscore.
  func asked(by property: AnyKeyPath?) -> UDILinkError {
    guard let first = chain.first, first.kind == .object, let name = property.flatMap(Self.name) else { return self }
    let step = Step(
      kind: .object, typeName: first.typeName, name: nil, property: name, parameter: nil, fileID: first.fileID,
      line: first.line)
    return UDILinkError(explanation: explanation, chain: [step] + chain.dropFirst())
  }

  /// The name of the property in the description of a key path such as `\Screen._store`; nil if the program does not
  /// contain the names of its properties.
  private static func name(of property: AnyKeyPath) -> String? {
    let text = "\(property)"
    guard let underscore = text.lastIndex(of: "."), text[underscore...].hasPrefix("._") else { return nil }
    let name = text[underscore...].dropFirst(2)
    return name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) ? String(name) : nil
  }
}

extension UDILinkError.Step {
  init(_ asker: Asker) {
    self.init(
      kind: .object, typeName: TypeIdentity.of(type(of: asker.object)).text, name: nil, property: nil, parameter: nil,
      fileID: asker.site.fileID, line: asker.site.line)
  }

  init(_ provider: Provider, parameter: Int?) {
    self.init(
      kind: .provider, typeName: provider.key.type.text, name: provider.key.name?.description, property: nil,
      parameter: parameter, fileID: provider.site.fileID, line: provider.site.line)
  }
}

extension UDIExplanation {
  /// The provider that a lookup found and that made nothing.
  fileprivate var failedProvider: Finding? {
    switch cause {
    case .otherArguments, .argumentsNotHashable, .isolatedElsewhere, .factoryReturnedNil, .failed, .cycle,
      .notConvertible, .notSendable, .argumentNotSendable:
      contexts.lazy.flatMap(\.findings).first { finding in
        (finding.kind == .provider || finding.kind == .kept) && finding.typeName == typeName && finding.name == name
      }
    default: nil
    }
  }
}

extension Provider {
  /// What to throw when the factory threw an error: if the error says that something is missing, this step is added to
  /// its chain.
  @inline(never)
  final func passOn(_ error: any Error) -> any Error {
    guard let missing = error as? UDILinkError else { return error }
    return missing.seen(from: .init(self, parameter: missing.parameter))
  }
}
