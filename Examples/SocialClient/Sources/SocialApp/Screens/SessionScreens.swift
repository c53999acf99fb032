import UDI

/// The posts.
@MainActor final class FeedModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var timeline: Timeline
  @Required var sync: SyncEngine
  @Required var reactions: Reactions
  @Required var previews: LinkPreviews
  @Linked var translator: Translator?  // There is none if the feature is off.

  var lines: [String] {
    timeline.visible.map { post in
      let preview = previews.preview(of: post.text).map { " [\($0)]" } ?? ""
      return "\(post.author): \(post.text)\(preview)"
    }
  }

  func refresh() async throws { try await sync.sync() }
  func like(at index: Int) async throws { try await reactions.like(timeline.visible[index]) }
  func bookmark(at index: Int) { reactions.bookmark(timeline.visible[index]) }
  func translation(at index: Int) -> String? { translator?.translate(timeline.visible[index].text) }
  func open(at index: Int) throws -> ConversationModel {
    try require(ConversationModel.self, with: timeline.visible[index].id)
  }
  func openAuthor(at index: Int) throws -> ProfileModel {
    try require(ProfileModel.self, with: timeline.visible[index].author)
  }
}

/// A post and its answers.
@MainActor final class ConversationModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var timeline: Timeline
  @Required var publisher: Publisher
  private let post: Int

  init(about post: Int) { self.post = post }

  var lines: [String] { timeline.conversation(about: post).map { "\($0.author): \($0.text)" } }
  func answer(_ text: String) async throws { try await publisher.publish(text, replyTo: post) }
}

/// A person.
@MainActor final class ProfileModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var profiles: Profiles
  @Required var relationships: Relationships
  private let handle: Handle
  private(set) var text = ""

  init(of handle: Handle) { self.handle = handle }

  func load() async throws {
    let profile = try await profiles.profile(of: handle)
    text = "\(handle) has written \(profile.posts) posts and has \(profile.followers) followers"
  }
  func follow() async throws { try await relationships.follow(handle) }
  func block() { relationships.block(handle) }
}

/// What the person is notified of.
@MainActor final class NoticesModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var store: NoticeStore
  @Required var texts: NoticeTexts

  func read() -> [String] {
    store.markRead()
    return store.all.map { texts.text(of: $0) }
  }
}

/// Search and trends.
@MainActor final class SearchModel: @MainActor UDIFinalObject {
  let _attachedContext = UDIAttachment()
  @Required var search: Search
  @Required var trends: Trends

  func results(for word: String) -> [String] { search.posts(with: word).map { "\($0.author): \($0.text)" } }
  func tags() async throws -> [String] { try await trends.tags() }
}

/// Writes a post.
@MainActor final class ComposerModel: @MainActor UDIObject {
  let _attachedContext = UDIAttachment()
  @Required var publisher: Publisher
  @Required var drafts: Drafts
  @Required var outbox: Outbox
  private var files: [[UInt8]] = []
  var text = "" {
    didSet { if text != oldValue { drafts.save(text) } }
  }

  func didAttachContext() { text = drafts.latest ?? "" }

  func add(_ file: [UInt8]) { files.append(file) }

  /// Sends the post, or leaves it in the outbox if the network is down.
  func send() async -> String {
    do {
      try await publisher.publish(text, files: files)
      files = []
      text = ""
      return "sent"
    } catch {
      return "\(outbox.count) waiting: \(error)"
    }
  }
}
