import UDI

/// What each request has for itself. The application registers it once. The scope of a request makes it when it is first
/// asked for, owns it, and takes it along when it goes.
struct RequestModule: UDIModule {
  func register(in context: UDIContext) {
    // The request and its logger are what the scope is given.
    context.register(lifetime: .scope, using: UnitOfWork.init(request:store:logger:))
  }
}
