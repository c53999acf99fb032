struct Library: Sendable {
  let store: any ArticleStore
  let clock: any WallClock

  func add(_ title: String) { store.save(Article(title: title, savedOn: clock.today)) }

  /// The titles, each with the days for which it has been waiting.
  var lines: [String] { store.articles.map { "\($0.title), \(clock.today - $0.savedOn) days" } }
}
