import UDI

/// Something that plays at the moment.
@MainActor protocol Playback: AnyObject { var title: String { get } }

/// A player that fills the screen. While somebody holds it, others find it.
@MainActor final class PlayerModel: @MainActor UDIObject, Playback {
  let _attachedContext = UDIAttachment()
  let title: String

  init(_ title: String) { self.title = title }
  func didAttachContext() { bind(self, as: (any Playback).self) }
}

/// A bar that says what plays. It follows whatever player there is.
@MainActor final class MiniPlayerModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var texts: Texts
  private(set) var title = ""

  func follow() async {
    for await playback in updates(of: (any Playback).self) { title = playback?.title ?? texts["Nothing plays"] }
  }
}
