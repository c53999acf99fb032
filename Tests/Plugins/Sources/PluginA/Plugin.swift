import Foundation
import UDI

/// Called by the program when it has loaded this plug-in. If the plug-in has a copy of the library for itself, waits until
/// that is reported.
@_cdecl("begin") public func begin() {
  let isReported = DispatchSemaphore(value: 0)
  UDIReporter.process = UDIReporter { misuse in
    print(misuse)
    isReported.signal()
  }
  if AppContext.link(String.self) != nil { AppContext.provide(1, named: "A") } else { isReported.wait() }
}
