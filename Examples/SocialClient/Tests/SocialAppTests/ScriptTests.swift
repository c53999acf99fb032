import Foundation
import Synchronization
import Testing
import UDI
import UDITesting

@testable import SocialApp

@Suite struct ScriptTests {
  @Test(.leakAudit) func scriptPrintsWhatTheReadmeShows() async throws {
    let server = compose(AppContext)
    let lines = Mutex<[String]>([])
    try await Script(root: AppContext, server: server) { line in lines.withLock { $0.append(line) } }.run()

    let readme = URL(filePath: #filePath).appending(path: "../../../README.md").standardized
    let blocks = try String(contentsOf: readme, encoding: .utf8).split(separator: "```")
    let shown = blocks.first { $0.hasPrefix("\n$ swift run SocialClient\n") }
    #expect(shown == Substring("\n$ swift run SocialClient\n" + lines.withLock { $0 }.joined(separator: "\n") + "\n"))
  }
}
