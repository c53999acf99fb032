import Foundation
import Testing
import UDI
import UDIInspector

protocol Clock: AnyObject, Sendable {}
protocol Store: AnyObject, Sendable {}
final class SystemClock: Clock {}
final class Database: Store {}

@Suite struct UDITreePageTests {
  private let root = UDIContext(tag: "App")
  private var page: UDITreePage { UDITreePage(root) }

  /// The answer to a request, as JSON.
  private func json(_ target: String) throws -> [String: Any] {
    let response = try #require(page.response(to: target))
    #expect(response.contentType == "application/json; charset=utf-8")
    return try #require(JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
  }

  private func tree(_ target: String) throws -> [String: Any] {
    try #require(try json(target)["tree"] as? [String: Any])
  }

  private func text(_ target: String) throws -> String {
    String(decoding: try #require(page.response(to: target)).body, as: UTF8.self)
  }

  // MARK: Requests

  @Test(arguments: [
    ("", "text/html"), ("/debug/contexts", "text/html"), ("/debug/contexts/", "text/html"), ("/?", "text/html"),
    ("/a/b?style.css", "text/css"), ("?script.js", "text/javascript"), ("/a?data.json&version=1", "application/json"),
    ("/a?data.json#x", "application/json"), ("/a?way.json&type=A", "application/json"),
  ])
  func servesItsFiles(target: String, type: String) throws {
    let response = try #require(page.response(to: target))
    #expect(response.contentType == "\(type); charset=utf-8")
    #expect(!response.body.isEmpty)
  }

  @Test(arguments: [
    "/?nothing", "/?style", "/?../secrets", "/data.json?x=1", "?way.json", "?way.json&type=%", "?way.json&type=%F",
    "?way.json&type=%FF", "?way.json&type=A&search=sideways", "?way.json&type=A&tag=%zz",
    "?way.json&type=%+5", "?way.json&type=%-0",
  ])
  func answersNothingElse(target: String) { #expect(page.response(to: target) == nil) }

  @Test func thePageLoadsOnlyItsOwnFiles() throws {
    let html = try text("/")
    #expect(html.contains("<link rel=\"stylesheet\" href=\"?style.css\">"))
    #expect(html.contains("<script src=\"?script.js\" defer></script>"))
    #expect(html.contains("content=\"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"))
    #expect(!html.contains("{"))
    for file in [html, try text("?style.css"), try text("?script.js"), page.html()] {
      #expect(!file.replacing("http://www.w3.org/2000/svg", with: "").contains("://"))
      #expect(!file.contains("innerHTML"))
    }
  }

  // MARK: The data

  @Test func theDataSaysWhatTheTreeHas() throws {
    let (clock, other) = (SystemClock(), SystemClock())
    root.bind(clock, as: (any Clock).self)
    root.bind(other, as: (any Clock).self, named: "other")
    do { root.bind(SystemClock(), as: SystemClock.self) }
    root.register((any Store).self, lifetime: .context) { Database() }
    root.register(Database.self) { (_, path: String) in Database() }
    _ = root.link((any Store).self)
    try root.makeScope(tag: "request", search: .local)
    let data = try tree("?data.json")
    let texts = try #require(data["texts"] as? [String])
    let contexts = try #require(data["contexts"] as? [[String: Any]])
    let entries = try #require(contexts[0]["entries"] as? [[String: Any]])
    func values(_ key: String) -> [String?] { entries.map { ($0[key] as? Int).map { texts[$0] } } }
    #expect(contexts.map { $0["tag"] as? String } == ["App", "request"])
    #expect(contexts.map { $0["parent"] as? Int } == [nil, 0])
    #expect(contexts.map { $0["scope"] as? String } == [nil, "request"])
    #expect(contexts.map { $0["search"] as? String } == [nil, "local"])
    #expect(values("kind") == ["live", "live", "dead", "kept", "provider"])
    #expect(
      values("type") == [
        "UDIInspectorTests.Clock", "UDIInspectorTests.Clock", "UDIInspectorTests.SystemClock",
        "UDIInspectorTests.Store", "UDIInspectorTests.Database",
      ])
    #expect(values("name") == [nil, "other", nil, nil, nil])
    #expect(values("className") == ["SystemClock", "SystemClock", "SystemClock", "Database", nil])
    #expect(values("lifetime") == [nil, nil, nil, "context", "unique"])
    #expect(values("wants") == [nil, nil, nil, nil, "Swift.String"])
    #expect(values("site").allSatisfy { $0?.hasPrefix("UDIInspectorTests/UDITreePageTests.swift:") == true })
    #expect(data["path"] as? [String] == ["App"])
    withExtendedLifetime((clock, other)) {}
  }

  @Test func theDataBeginsAtThePagesContext() throws {
    let child = try root.makeChild(tag: "child")
    try child.makeChild(tag: "grandchild")
    let response = try #require(UDITreePage(child).response(to: "?data.json"))
    let answer = try #require(JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
    let data = try #require(answer["tree"] as? [String: Any])
    #expect(data["path"] as? [String] == ["App", "child"])
    #expect((data["contexts"] as? [Any])?.count == 2)
  }

  @Test func whatHasNotChangedIsNotSentAgain() throws {
    let version = try #require(try json("?data.json")["version"] as? String)
    #expect(try json("?data.json&version=\(version)").keys.sorted() == ["version"])
    try root.makeChild(tag: "child")
    #expect(try json("?data.json&version=\(version)")["version"] as? String != version)
    #expect((try tree("?data.json&version=\(version)")["contexts"] as? [Any])?.count == 2)
  }

  // MARK: One file

  @Test func aFileHasEverything() throws {
    let html = page.html()
    #expect(html.contains("<style>") && html.contains("readTree"))
    #expect(!html.contains("?style.css\"") && !html.contains("?script.js\""))
    #expect(html.contains("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"))
    #expect(html.contains("\"contexts\":[{\"tag\":\"App\"}]"))
  }

  private static let oddTexts = [
    "</script>", "<!--", "]]>", "&lt;", "\u{2028}\u{2029}", "\u{0}\u{1F}\u{7F}", "\"\\", "{data}", "é👩‍👩‍👧‍👦", "",
  ]

  // The argument is an index, because the test runner prints it: some of the texts cannot be seen.
  @Test(arguments: oddTexts.indices) func anyTextIsJustText(_ index: Int) throws {
    let tag = Self.oddTexts[index]
    let root = UDIContext(tag: tag)
    let clock = SystemClock()
    root.bind(clock, as: (any Clock).self, named: UDIName(tag))
    let html = UDITreePage(root).html()
    let begin = "<script type=\"application/json\" id=\"data\">"
    let data = try #require(html.firstRange(of: begin).map { html[$0.upperBound...].prefix { $0 != "<" } })
    let object = try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any])
    let contexts = (object["tree"] as? [String: Any])?["contexts"] as? [[String: Any]]
    #expect(contexts?.first?["tag"] as? String == tag)
    #expect(data.unicodeScalars.allSatisfy { !["<", ">", "&", "\u{2028}", "\u{2029}"].contains($0) && $0 >= " " })
    // The page's own two scripts, and no more.
    #expect(html.ranges(of: "</script>").count == 2)
    withExtendedLifetime(clock) {}
  }

  @Test func writesAFile() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).html")
    defer { try? FileManager.default.removeItem(at: file) }
    for tag in ["first", "second"] {
      let page = UDITreePage(UDIContext(tag: tag))
      try page.write(to: file.path)
      #expect(try String(contentsOf: file, encoding: .utf8) == page.html())
    }
  }

  @Test func saysWhyAFileCannotBeWritten() {
    let error = #expect(throws: UDITreePage.WriteError.self) { try page.write(to: "/no such folder/page.html") }
    #expect(error?.code == ENOENT)
    #expect(error?.description == "/no such folder/page.html cannot be written: No such file or directory")
  }

  #if os(Linux)
    @Test func aFullDiskIsAnError() {
      let error = #expect(throws: UDITreePage.WriteError.self) { try page.write(to: "/dev/full") }
      #expect(error?.code == ENOSPC)
    }
  #endif

  // MARK: The way of a lookup

  @Test func theWayIsTheOneOfExplain() throws {
    let child = try root.makeChild(tag: "a/b %")
    let scope = try child.makeScope(tag: "")
    let (clock, other, database) = (SystemClock(), SystemClock(), Database())
    root.bind(clock, as: (any Clock).self)
    child.bind(other, as: (any Clock).self, named: "x y&z")
    scope.bind(database, as: (any Store).self)
    let lookups: [(String, UDIName?, (UDIContext, UDISearch?) -> UDIExplanation)] = [
      ("UDIInspectorTests.Clock", nil, { $0.explain((any Clock).self, search: $1) }),
      ("UDIInspectorTests.Clock", "x y&z", { $0.explain((any Clock).self, named: "x y&z", search: $1) }),
      ("UDIInspectorTests.Store", nil, { $0.explain((any Store).self, search: $1) }),
    ]
    for (context, path) in [(root, ""), (child, "&tag=a%2Fb%20%25"), (scope, "&tag=a%2Fb%20%25&tag=")] {
      for (type, name, explain) in lookups {
        for search in [nil] + UDISearch.allCases {
          let explanation = explain(context, search)
          let name = name == nil ? "" : "&name=x%20y%26z"
          let query = "\(path)&type=\(type)\(name)\(search.map { "&search=\($0.rawValue)" } ?? "")"
          let way = try json("?way.json\(query)")
          #expect(way["summary"] as? String == explanation.summary)
          #expect(way["advice"] as? String == explanation.advice)
          let steps = try #require(way["steps"] as? [[String: Any]])
          #expect(steps.map { $0["path"] as? [String] } == explanation.contexts.map(\.fullPath))
          #expect(
            steps.map { ($0["findings"] as? [[String: Any]])?.map { $0["kind"] as? String } }
              == explanation.contexts.map { $0.findings.map(\.kind.rawValue) })
          var found: [String]?
          if case .found(let place) = explanation.cause { found = place.fullPath }
          #expect(steps.first { $0["isAnswer"] as? Bool == true }?["path"] as? [String] == found)
          #expect(way["outside"] as? [String] == explanation.nearestOutside?.fullPath)
        }
      }
    }
    withExtendedLifetime((clock, other, database)) {}
  }

  @MainActor @Test func theWayIsThatOfALookupOnTheMainActorWhereverThePageIsServed() async throws {
    root.register((any Store).self) { @MainActor in Database() }
    let served = page
    let response = await Task.detached { served.response(to: "?way.json&type=UDIInspectorTests.Store") }.value
    let body = Data(try #require(response).body)
    let way = try #require(JSONSerialization.jsonObject(with: body) as? [String: Any])
    #expect(way["summary"] as? String == root.explain((any Store).self).summary)
  }

  @Test func whatNobodyRegisteredHasNoWay() throws {
    let way = try json("?way.json&type=Nothing&name=%22")
    #expect(way["summary"] as? String == "No Nothing named \"\"\" is registered in this tree.")
    #expect((way["steps"] as? [Any])?.isEmpty == true)
    #expect(try json("?way.json&type=Nothing&tag=gone")["summary"] as? String == "The context is gone.")
  }

  @Test func nothingChangesTheTree() throws {
    root.register((any Store).self, lifetime: .context) { () -> any Store in
      Issue.record("made")
      return Database()
    }
    let before = root.snapshot()
    _ = (page.html(), try json("?data.json"), try json("?way.json&type=UDIInspectorTests.Store"))
    #expect(root.snapshot() == before)
  }
}
