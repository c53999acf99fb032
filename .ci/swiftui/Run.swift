// Shows views with the stand-in, and checks what they show as dependencies come and go.
import Observation
import SwiftUI
import UDI

@MainActor private final class Session: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  let user: String
  init(_ user: String) { self.user = user }
}

private struct Toolbar: View {
  @ViewLinked var session: Session?
  @ViewLinked(named: "guest") var guest: Session?
  var body: some View { Text("\(session?.user ?? "nobody"), \(guest?.user ?? "nobody")") }
}

/// What a provider makes of the session.
@MainActor private struct Badge {
  let user: String
  init(session: Session) { user = session.user }
}

@MainActor @Observable private final class Model: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @ObservationIgnored @Followed var badge: Badge?
  var title: String { badge?.user ?? "Log in" }
}

private struct Title: View {
  let model: Model
  @ViewLinked var badge: Badge?
  var body: some View { Text("\(model.title), \(badge?.user ?? "nobody")") }
}

@MainActor private func expect(
  _ host: Host, shows text: String, after evaluations: Int? = nil, _ line: UInt = #line
) async {
  // Whatever has been set off is over after a few turns of the main actor.
  for _ in 0..<100 { await Task.yield() }
  precondition(host.texts == [text], "line \(line): \(host.texts) instead of \(text)")
  precondition(evaluations ?? host.evaluations == host.evaluations, "line \(line): \(host.evaluations) evaluations")
}

@main private enum Program {
  @MainActor static func main() async throws {
    let root = UDIContext(tag: "root")
    let host = Host(Toolbar().environment(\.udiContext, root))
    await expect(host, shows: "nobody, nobody", after: 1)
    var ann: Session? = Session("Ann").attached(to: root)
    root.bind(ann!, as: Session.self)
    await expect(host, shows: "Ann, nobody", after: 2)
    let guest = Session("Guest")
    root.bind(guest, as: Session.self, named: "guest")
    await expect(host, shows: "Ann, Guest", after: 3)
    let bob = Session("Bob")
    root.bind(bob, as: Session.self)
    await expect(host, shows: "Bob, Guest", after: 4)
    root.bind(ann!, as: Session.self)
    await expect(host, shows: "Ann, Guest", after: 5)
    ann = nil
    await expect(host, shows: "nobody, Guest", after: 6)

    // In another context, the view follows what is there.
    let other = UDIContext(tag: "other")
    host.show(Toolbar().environment(\.udiContext, other))
    await expect(host, shows: "nobody, nobody")
    let evaluations = host.evaluations
    root.bind(bob, as: Session.self)
    await expect(host, shows: "nobody, nobody", after: evaluations)
    other.bind(bob, as: Session.self)
    await expect(host, shows: "Bob, nobody", after: evaluations + 1)

    // What is derived comes and goes with what it is made of.
    let app = UDIContext(tag: "app")
    app.register(lifetime: .unique, using: Badge.init(session:))
    let title = Host(Title(model: Model().attached(to: app)).environment(\.udiContext, app))
    await expect(title, shows: "Log in, nobody")
    app.bind(bob, as: Session.self)
    await expect(title, shows: "Bob, Bob")
    app.unbind(Session.self)
    await expect(title, shows: "Log in, nobody")

    // A view with its own scope keeps it as long as it is there, and it goes with the view.
    weak var scope: UDIContext?
    var setUps = 0
    var shop: Host? = Host(
      Toolbar().contextScope("Shop", kind: "window") {
        (scope, setUps) = ($0, setUps + 1)
        $0.provide(Session("Shop"))
      }.environment(\.udiContext, root))
    await expect(shop!, shows: "Shop, Guest", after: 2)
    root.unbind(Session.self, named: "guest")
    await expect(shop!, shows: "Shop, nobody")
    precondition(setUps == 1 && scope?.parent === root && scope?.scopeKind == "window")
    shop = nil
    precondition(scope == nil && root.children.isEmpty)
    print("The views show what comes and goes.")
  }
}
