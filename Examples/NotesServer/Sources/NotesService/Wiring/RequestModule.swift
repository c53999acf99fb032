import Logging
import UDI

/// What belongs to one request. The request's context owns it, and takes it along when it goes.
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
