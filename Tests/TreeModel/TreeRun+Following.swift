import Dispatch
import UDI

/// Follows one lookup: `updates(of:)`, read when something must have changed.
struct Follower {
  let context: Int
  let key: Int
  let search: UDISearch
  let elements: Elements
  /// What it was told last.
  var last: Int?
}

/// The elements of a stream of updates, as numbers.
// Unchecked: one task at a time takes the next element.
final class Elements: @unchecked Sendable {
  /// Waits for the next element; nil at the stream's end.
  private let takeNext: () async -> Int??

  init<Element: Sendable>(_ updates: UDIResults<Element>, _ number: @escaping (Element) -> Int?) {
    var iterator = updates.makeAsyncIterator()
    takeNext = {
      guard let element = await iterator.next(isolation: nil) else { return .none }
      return .some(number(element))
    }
  }

  /// Blocks until there is an element. Do not call this on a thread that tasks need.
  ///
  /// - Returns: The element; nil if the stream has ended.
  /// - Throws: `NotTold` if none comes.
  func next() throws -> Int?? {
    let (found, isDone) = (Notes<Int??>(), DispatchSemaphore(value: 0))
    Task {
      found.note(await takeNext())
      isDone.signal()
    }
    // Long, because under a sanitizer, on a busy machine, a task may wait for its turn for many seconds.
    if isDone.wait(timeout: .now() + 300) == .timedOut { throw NotTold() }
    return found.last ?? .none
  }

  struct NotTold: Error {}
}

extension TreeRun {
  /// Makes a follower from time to time, or compares what one has been told with what a lookup finds.
  ///
  /// - Returns: What differs, or nil.
  mutating func follow(_ context: Int, _ key: Int, _ search: UDISearch) -> String? {
    followers = followers.filter { contexts[$0.context] != nil && !isClosed($0.context) }
    if followers.count < 4, !isClosed(context) {
      let elements = contexts[context]!.elements(key, search)
      followers.append(Follower(context: context, key: key, search: search, elements: elements))
      return told(followers.count - 1)
    }
    guard let index = followers.indices.randomElement(using: &random) else { return nil }
    let follower = followers[index]
    // Notices what has died: nothing else might.
    _ = contexts[follower.context]!.link(follower.key, follower.search)
    let expected = oracle.link(follower.key, from: follower.context, follower.search)
    return follower.last == expected ? nil : told(index)
  }

  private mutating func told(_ index: Int) -> String? {
    let follower = followers[index]
    let expected = oracle.link(follower.key, from: follower.context, follower.search)
    let text = "who follows \(follower.key) from \(follower.context), \(follower.search),"
    do {
      let told = try follower.elements.next()
      followers[index].last = told ?? nil
      return told == .some(expected) ? nil : "\(text) is told \(told as Any), not \(expected as Any)"
    } catch { return "\(text) is not told of \(expected as Any), after \(follower.last as Any)" }
  }
}
