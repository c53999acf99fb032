import Logging
import UDI

/// What belongs to one request: the request's context owns it, and it is gone with that.
struct RequestModule: UDIModule {
  let request: RequestIdentity
  let logger: Logger

  func register(in context: UDIContext) {
    context.provide(request)
    context.provide(logger)
    context.register(UnitOfWork.self, lifetime: .context) { context in
      try UnitOfWork(request: context.require(), store: context.require(), logger: context.require())
    }
  }
}
