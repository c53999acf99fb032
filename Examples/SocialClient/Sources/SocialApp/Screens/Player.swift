import Observation
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

/// A bar that says what plays. A view that shows the title is told when a player comes or goes.
@MainActor @Observable final class MiniPlayerModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Required var texts: Texts
  @ObservationIgnored @Followed var playback: (any Playback)?

  var title: String { playback?.title ?? texts["Nothing plays"] }
}
