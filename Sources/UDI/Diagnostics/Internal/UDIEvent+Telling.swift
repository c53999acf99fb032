/// How the observer is notified of misses. Do not do this under a lock.
extension LookupRequest {
  /// Notifies the observer that a lookup has found nothing.
  ///
  /// - Parameter path: The path of the context where the lookup began.
  func tellMiss(from path: @autoclosure () -> [String], isRequired: Bool) {
    UDIObserver.tell {
      .missed(.init(typeName: key.typeName, name: name?.description, fullPath: path(), isRequired: isRequired))
    }
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
