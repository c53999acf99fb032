import Foundation
import Synchronization
import UDI

extension Edges {
  /// Factories that need themselves endlessly, each time under another key or for another context, end with an error
  /// that says so, even on stacks as small as those that platforms give to threads.
  static func checkStack(kibibytes: Int) {
    onStack(kibibytes, "other names") {
      let context = UDIContext(tag: "context")
      @Sendable func register(_ number: Int) {
        context.register(Product.self, named: UDIName(number), lifetime: .context) { context in
          register(number + 1)
          return try context.require(Product.self, named: UDIName(number + 1))
        }
      }
      register(0)
      return try context.require(Product.self, named: 0)
    }
    onStack(kibibytes, "other arguments") {
      let context = UDIContext(tag: "context")
      context.register(Product.self) { (context, number: Int) in try context.require(Product.self, with: number + 1) }
      return try context.require(Product.self, with: 0)
    }
    onStack(kibibytes, "child contexts") {
      let context = UDIContext(tag: "context", search: .ancestors)
      context.register(Product.self, lifetime: .unique) { context in
        try context.withScope(tag: "child") { try $0.require(Product.self) }
      }
      return try context.require(Product.self)
    }
    // Each factory fills so much of the stack that less than ten are already too many.
    onStack(kibibytes, "few factories") {
      let context = UDIContext(tag: "context")
      let reserve = min(max(kibibytes << 8, 56 << 10), 128 << 10)
      for number in 0..<20 {
        context.register(Product.self, named: UDIName(number), lifetime: .unique) { context in
          var mark: UInt8 = 0
          let here = unsafe withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
          return try fillStack(downTo: here - UInt(kibibytes << 10 - reserve) / 8) {
            try context.require(Product.self, named: UDIName(number + 1))
          }
        }
      }
      context.register(Product.self, named: 20, lifetime: .unique) { Product() }
      return try context.require(Product.self, named: 0)
    }
  }

  /// Fills the stack down to an address, and then calls a body.
  @inline(never)
  private static func fillStack(downTo address: UInt, _ body: () throws -> Product) throws -> Product {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
      UInt(bitPattern: buffer.baseAddress) < address ? try body() : try fillStack(downTo: address, body)
    }
  }

  /// Checks that a body throws the error that it is too deep, on a stack of a given size.
  private static func onStack(_ kibibytes: Int, _ what: String, _ body: @escaping @Sendable () throws -> Product) {
    let done = DispatchSemaphore(value: 0)
    let depth = Mutex<Int?>(nil)
    let thread = Thread {
      do { _ = try body() } catch let error as UDILinkError {
        if case .tooDeep(let found, _) = error.cause { depth.withLock { $0 = found } }
      } catch {}
      done.signal()
    }
    thread.stackSize = kibibytes << 10
    thread.start()
    done.wait()
    let found = depth.withLock { $0 }
    check(found != nil, "\(what), \(kibibytes) KiB: no error that it is too deep")
    print("\(what), \(kibibytes) KiB: an error at the depth \(found ?? 0)")
  }

  private final class Product: Sendable {}
}
