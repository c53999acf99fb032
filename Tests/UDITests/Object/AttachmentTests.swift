import Testing
import UDI

private final class Computed: UDIObject {
  var _attachedContext: UDIAttachment { UDIAttachment() }
  func didAttachContext() {}
}
private let common = UDIAttachment()
private final class Sharing: UDIObject {
  let _attachedContext = common
  func didAttachContext() {}
}
/// Makes its attachment when somebody first asks for it, which is allowed.
private final class Lazy: UDIObject {
  lazy var _attachedContext = UDIAttachment()
  func didAttachContext() {}
}

/// What an attachment must be, and the message if it is not.
@Suite struct AttachmentTests {
  @Test func oneThatIsComputedIsRefused() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Computed().attached(to: UDIContext(tag: "x"))
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Computed returns another attachment each time"))
    #expect(output.contains("let _attachedContext = UDIAttachment()"))
  }

  @Test func oneOfTwoObjectsIsRefused() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = UDIContext(tag: "x")
      let first = Sharing().attached(to: context)
      withExtendedLifetime(first) { _ = Sharing().attached(to: context) }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("two objects share one UDIAttachment"))
  }

  @Test func oneThatIsMadeLateIsFine() {
    let context = UDIContext(tag: "x")
    let object = Lazy().attached(to: context)
    #expect(object.attachedContext === context)
    object.attachedContext = nil
    #expect(object.attachedContext == nil)
  }
}
