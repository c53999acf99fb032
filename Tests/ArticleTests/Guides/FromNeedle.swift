import Testing
import UDI

// The code in the guide for users of Needle. Each row of its table has a test of its own: see `.ci/articles`.

struct FromNeedle {
  nonisolated protocol ImageCache: AnyObject, Sendable {}
  nonisolated final class DiskCache: ImageCache {}
  nonisolated struct User: Sendable { let name: String }
  nonisolated struct Game: Sendable { let id: Int }
  nonisolated final class Report: Sendable {
    let images: any ImageCache
    init(images: any ImageCache) { self.images = images }
  }

  nonisolated final class Preview: ImageCache {
    let images: (any ImageCache)?
    init(of images: (any ImageCache)?) { self.images = images }
  }

  final class Page: UDIFinalObject {
    let _attachedContext = UDIAttachment()
    @Required var images: any ImageCache
  }

  let root: UDIContext
  let loggedIn: UDIContext

  init() throws {
    root = UDIContext(tag: "Root", search: .ancestors)
    loggedIn = try root.makeChild(tag: "LoggedIn")
  }

  @Test func search() {
    let root = UDIContext(tag: "Root", search: .ancestors)
    loggedIn.provide(DiskCache(), as: (any ImageCache).self)
    #expect(root.link((any ImageCache).self) == nil && self.root.link((any ImageCache).self) == nil)
    #expect(self.root.link((any ImageCache).self, search: .lineage) != nil)
    #expect(loggedIn.search == .ancestors)
  }

  @Test func aParentHoldsItsChildren() throws {
    weak let child = try root.makeChild(tag: "Child")
    #expect(child != nil)
    root.removeChild(tag: "Child")
    #expect(child == nil)
  }

  @Test func aContextDoesNotHoldItsParent() throws {
    var parent: UDIContext? = UDIContext(tag: "Parent")
    weak let gone = parent
    let child = try parent?.makeChild(tag: "Child")
    parent = nil
    #expect(gone == nil && child != nil && child?.parent == nil)
  }

  @Test func plugins() throws {
    for tag in ["one", "two"] { try root.makeChild(tag: tag).provide(DiskCache(), as: (any ImageCache).self) }
    #expect(root.linkAll((any ImageCache).self).isEmpty, "lookups go up")
    #expect(root.linkAll((any ImageCache).self, search: .lineage).count == 2)
  }

  @Test func wrapper() {
    root.provide(DiskCache(), as: (any ImageCache).self)
    #expect(Page().attached(to: loggedIn).images is DiskCache)
  }

  @Test func bootstrap() {
    let root = UDIContext(tag: "Root", search: .ancestors)
    #expect(root.parent == nil && root.path == [])
  }

  @Test func child() throws {
    let root = UDIContext(tag: "Root")
    let loggedIn = try root.makeChild(tag: "LoggedIn")
    #expect(root.children == [loggedIn])
  }

  @Test func shared() throws {
    root.register((any ImageCache).self) { DiskCache() }
    #expect(try root.require((any ImageCache).self) === loggedIn.require((any ImageCache).self))
  }

  @Test func computed() throws {
    let cache = DiskCache()
    root.provide(cache, as: (any ImageCache).self)
    loggedIn.register(lifetime: .unique) { context in try Report(images: context.require()) }
    let report = try loggedIn.require(Report.self)
    #expect(try report.images === cache && loggedIn.require(Report.self) !== report)
  }

  @Test func dependencyProtocol() {
    final class Page: UDIFinalObject {
      let _attachedContext = UDIAttachment()
      @Required var images: any ImageCache
    }
    let (near, far) = (DiskCache(), DiskCache())
    root.provide(far, as: (any ImageCache).self)
    #expect(Page().attached(to: loggedIn).images === far)
    loggedIn.provide(near, as: (any ImageCache).self)
    #expect(Page().attached(to: loggedIn).images === near)
  }

  @Test func dependency() throws {
    #expect(throws: UDILinkError.self) { try loggedIn.require((any ImageCache).self) }
    root.provide(DiskCache(), as: (any ImageCache).self)
    #expect(try loggedIn.require((any ImageCache).self) is DiskCache)
  }

  @Test func dependencyOfTheSameType() {
    let cache = DiskCache()
    root.provide(cache, as: (any ImageCache).self)
    loggedIn.register((any ImageCache).self) { context in
      Preview(of: context.parent?.link((any ImageCache).self))
    }
    #expect((loggedIn.link((any ImageCache).self) as? Preview)?.images === cache)
  }

  @Test func dynamicDependency() {
    loggedIn.provide(User(name: "Ann"))
    #expect(loggedIn.link(User.self)?.name == "Ann" && root.link(User.self) == nil)
  }

  @Test func methodWithAParameter() {
    loggedIn.register { (_, id: Int) in Game(id: id) }
    #expect(loggedIn.link(Game.self, with: 5)?.id == 5)
  }

  @Test func callWithAParameter() throws {
    loggedIn.register { (_, id: Int) in Game(id: id) }
    #expect(try loggedIn.require(Game.self, with: 5).id == 5)
  }

  @Test func parent() {
    #expect(loggedIn.parent === root)
  }

  @Test func path() {
    #expect(loggedIn.fullPath == ["Root", "LoggedIn"])
  }

  @Test func release() {
    root.provide(DiskCache(), as: (any ImageCache).self)
    loggedIn.removeFromParent()
    #expect(root.children.isEmpty && loggedIn.link((any ImageCache).self) == nil)
  }
}
