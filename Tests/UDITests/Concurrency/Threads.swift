import Dispatch
import Foundation

/// Runs some bodies, each on a thread of its own, and waits for all of them.
///
/// Not tasks: those share as many threads as there are cores, and bodies that wait for one another need one each.
func onThreads(_ bodies: [@Sendable () -> Void]) {
  let group = DispatchGroup()
  for body in bodies {
    group.enter()
    Thread.detachNewThread {
      body()
      group.leave()
    }
  }
  group.wait()
}

/// Runs one body on some threads at once; it is given the thread's number.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  onThreads((0..<count).map { index in { body(index) } })
}
