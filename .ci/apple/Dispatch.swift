// A stand-in for the declarations of Apple's module Dispatch that the library uses.

public class DispatchGroup: @unchecked Sendable {
  public init() {}
  public func enter() {}
  public func leave() {}
  public func wait() {}
}

public final class DispatchSpecificKey<T> {
  public init() {}
}
extension DispatchSpecificKey: Sendable where T: Sendable {}

public class DispatchQueue: @unchecked Sendable {
  public class var main: DispatchQueue { fatalError() }
  public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
  public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
}
