import UDI

/// The number at the window's icon: how many notices are unread. It is there before and after a session, too. A view
/// that shows it is told when the session comes or goes, and when a notice does.
@MainActor final class BadgeModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Followed var session: Session?

  var count: Int { session?.notices.unread ?? 0 }
}
