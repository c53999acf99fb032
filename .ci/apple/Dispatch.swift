// A stand-in for the declarations of Apple's module Dispatch that the library uses.

public class DispatchGroup: @unchecked Sendable {
  public init() {}
  public func enter() {}
  public func leave() {}
  public func wait() {}
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}

public enum DispatchTimeoutResult {
  case success
  case timedOut
}

public struct DispatchTime {
  public static func now() -> DispatchTime { DispatchTime() }
}
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { time }

public struct DispatchQoS: Sendable {
  public static let unspecified = DispatchQoS()
  public static let userInitiated = DispatchQoS()
}

public final class DispatchSpecificKey<T> {
  public init() {}
}
extension DispatchSpecificKey: Sendable where T: Sendable {}

public class DispatchQueue: @unchecked Sendable {
  public init(label: String, qos: DispatchQoS = .unspecified) {}
  public class var main: DispatchQueue { fatalError() }
  public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {}
  public func asyncAfter(deadline: DispatchTime, execute work: @escaping @Sendable @convention(block) () -> Void) {}
  public class func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {}
  public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
  public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
}
