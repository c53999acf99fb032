public import UDI

/// What happens in one evening: two people log in and out, read, write, and lose the network.
@MainActor public struct Script {
  private let root: UDIContext
  private let server: SocialServer
  private let print: (String) -> Void

  /// Makes a script.
  ///
  /// - Parameters:
  ///   - root: The root, in which `AppModule` is installed.
  ///   - server: The server that the app talks to.
  ///   - print: Takes the lines.
  public init(root: UDIContext, server: SocialServer, print: @escaping (String) -> Void) {
    self.root = root
    self.server = server
    self.print = print
  }

  /// Runs the script, and closes the root.
  public func run() async throws {
    print("== Start ==")
    let app = try AppModel(root: root)
    print("window: \(app.window.title), \(app.status ?? "ready")")
    await app.starting?.value
    print("window: \(app.window.title), \(app.status ?? "ready")")
    try await annsSession(in: app.window)
    try await bensSession(in: app.window)
    print("== End ==")
    try await root.close()
    print("the server keeps \(server.openEnds)")
  }

  private func annsSession(in window: WindowModel) async throws {
    await window.logIn.logIn("ann", password: "pear")
    print("wrong password: \(window.logIn.failure ?? "none")")
    let home = await logIn("ann", password: "apple", in: window)
    print("== Session of \(home.account.handle) ==")
    try await home.timeline.refresh()
    show(home.timeline.lines)
    print("translated: \(home.timeline.translation(at: 1) ?? "-")")
    print("search for rain: \(home.search.results(for: "rain").count), tags: \(try await home.search.tags())")
    try await home.timeline.like(at: 1)
    home.timeline.bookmark(at: 1)

    let conversation = try home.timeline.open(at: 1)
    try await conversation.answer("@ben At last! https://example.com/rain")
    show(conversation.lines)
    let profile = try home.timeline.openAuthor(at: 0)
    try await profile.follow()
    try await profile.load()
    print(profile.text)

    home.composer.text = "My garden #garden"
    home.composer.add([10, 20, 30])
    print("composer: \(await home.composer.send())")
    show(home.timeline.lines)
    play(in: home)
    home.logOut()
    await home.loggingOut?.value
  }

  /// A player comes and goes, and a bar follows it.
  private func play(in home: HomeModel) {
    let bar = home.miniPlayer
    var player: PlayerModel? = PlayerModel("Rain on a roof").attached(to: home)
    print("bar: \(bar.title)")
    _ = player
    player = nil
    print("bar: \(bar.title)")
  }

  private func bensSession(in window: WindowModel) async throws {
    print("== Logged out ==\nthe server keeps \(server.openEnds)")
    let home = await logIn("ben", password: "banana", in: window)
    print("== Session of \(home.account.handle) ==")
    try await home.timeline.refresh()
    print("badge: \(window.badge.count)")
    show(home.notices.read())
    print("badge: \(window.badge.count)")
    print(String(root.explain(Timeline.self).description.prefix { $0 != "\n" }))
  }

  private func show(_ lines: [String]) {
    for line in lines { print("  \(line)") }
  }

  /// Logs in, and returns what the window then shows. It shows the session a moment after the session has come.
  private func logIn(_ name: String, password: String, in window: WindowModel) async -> HomeModel {
    await window.logIn.logIn(name, password: password)
    while true {
      if let home = window.home, home.attachedContext == window.session?.attachedContext { return home }
      await Task.yield()
    }
  }
}
