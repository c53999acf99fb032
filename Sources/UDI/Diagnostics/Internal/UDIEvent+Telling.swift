/// How the observer is notified of misses. Do not do this under a lock.
extension UDIContext {
  /// Notifies the observer that a lookup that began here has found nothing.
  ///
  /// - Parameter error: The error with which the lookup ended.
  @inline(never)
  func tellMiss(of request: LookupRequest, isRequired: Bool, _ error: any Error) {
    UDIObserver.tell { .missed(UDIEvent.Missed(request, path: fullPath, isRequired: isRequired)) }
  }
}

extension UDIEvent.Missed {
  /// - Parameter path: The path of the context where the lookup began.
  init(_ request: LookupRequest, path: [String], isRequired: Bool) {
    self.init(
      typeName: TypeIdentity.of(request.type).text, name: request.name?.description, fullPath: path,
      isRequired: isRequired)
  }
}

extension UDIEvent.Made {
  init(_ provider: Provider, path: [String], duration: Duration, askers: [KeyIdentity]) {
    self.init(
      typeName: provider.key.type.text, name: provider.key.name?.description, lifetime: provider.lifetime.name,
      fullPath: path, duration: duration, askers: askers.map(\.description), fileID: provider.site.fileID,
      line: provider.site.line)
  }
}

extension UDIEvent.Closed {
  /// - Parameter provider: The provider whose instance has been closed; nil if a context has been.
  init(_ provider: Provider?, path: [String], duration: Duration, failure error: (any Error)? = nil) {
    self.init(
      typeName: provider?.key.typeName, name: provider?.key.name?.description, fullPath: path, duration: duration,
      failure: error.map { "\($0)" })
  }
}
