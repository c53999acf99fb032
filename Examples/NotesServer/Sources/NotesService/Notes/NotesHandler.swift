import UDI

/// Handles `/notes` for one request, and finds what it needs from the context that it is attached to: the unit of work in that of the
/// request, the limits in the application's.
///
/// There is one for each request. So it may be a plain class, which property wrappers need, although requests run on many threads.
final class NotesHandler: UDIObject, NotesHandling {
  let _attachedContext = UDIAttachment()
  @Required var work: UnitOfWork
  @Required var limits: NoteLimits

  func didAttachContext() {}
}
