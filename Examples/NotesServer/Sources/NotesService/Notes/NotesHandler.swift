import UDI

/// Handles `/notes` for one request. It is attached to the request's context and finds what it needs from there: the
/// unit of work in that context, the limits in the application's.
///
/// Each request has a handler of its own. So the handler can be a plain class, which property wrappers need, although
/// requests run on many threads.
final class NotesHandler: UDIFinalObject, NotesHandling {
  let _attachedContext = UDIAttachment()
  @Required var work: UnitOfWork
  @Required var limits: NoteLimits
}
