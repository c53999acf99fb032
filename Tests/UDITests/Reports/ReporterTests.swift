import Testing
import UDI

@Suite struct ReporterTests {
  final class Log: Sendable {
    private let entries = Locked<[UDIMisuse]>([])
    var all: [UDIMisuse] { entries.withLock { $0 } }
    func reporter(unattached: Bool) -> UDIReporter {
      UDIReporter(reportsUnattachedUse: unattached) { misuse in self.entries.withLock { $0.append(misuse) } }
    }
  }

  @Test func unattachedUseIsReportedWhereItIsSwitchedOn() {
    let log = Log()
    withAppContext(UDIContext(tag: "test")) {
      withReporter(log.reporter(unattached: true)) {
        let member = Member()
        let line = #line + 1
        member.bind(member, as: (any Service).self)
        _ = member.linkInLine((any Service).self)
        _ = member.linkInLine((any Service).self, named: "x")
        _ = member.linkAll((any Service).self)
        _ = member.find("nowhere")
        member.attachedContext = AppContext
        _ = member.linkInLine((any Service).self)
        member.bind(member, as: (any Other).self)
        #expect(log.all.map(\.line) == [line, line + 1, line + 2, line + 3, line + 4])
      }
    }
    #expect(log.all.allSatisfy { $0.kind == .unattached && $0.fileID == #fileID })
    #expect(
      log.all.first?.description
        == """
        \(#fileID):\(log.all[0].line): The Member used bind for UDITests.Service, but is attached to no \
        context, so AppContext served it. Attach it first: `attached(to:)`.
        """)
    #expect(log.all[2].message.contains(#"used link for UDITests.Service named "x""#))
    #expect(log.all[3].message.contains("used linkAll for UDITests.Service"))
    #expect(log.all[4].message.contains(#"used find for the context "nowhere""#))
  }

  @Test func misusesCompare() throws {
    let log = Log()
    withAppContext(UDIContext(tag: "test")) {
      withReporter(log.reporter(unattached: true)) {
        let member = Member()
        for name in ["same", "same", "other"] as [UDIName] { _ = member.linkInLine((any Service).self, named: name) }
      }
    }
    try #require(log.all.count == 3)
    #expect(log.all[0] == log.all[1] && Set(log.all).count == 2)
  }

  @Test func itIsQuietByDefault() {
    let log = Log()
    withAppContext(UDIContext(tag: "test")) {
      withReporter(log.reporter(unattached: false)) {
        let member = Member()
        member.bind(member, as: (any Service).self)
        #expect(member.linkInLine((any Service).self) === member)
      }
    }
    #expect(log.all.isEmpty)
  }

  @Test func whatAReporterDoesItselfIsNotReported() {
    let context = UDIContext(tag: "context")
    context.register((any Service).self) { () throws -> Plain in throw OutOfOrder() }
    let (reports, misses) = (Tally(), Tally())
    let reporter = UDIReporter { _ in
      reports.add()
      // A logger, for example, might need what has just failed. The limit ends the test if it is reported again.
      if reports.count < 50 { #expect(context.link((any Service).self) == nil) }
    }
    withReporter(reporter) {
      withObserver(UDIObserver { if case .missed = $0 { misses.add() } }) { _ = context.link((any Service).self) }
      #expect(reports.count == 1)
      // The reporter is not an observer, so what it misses is observed.
      #expect(misses.count == 2)
      _ = context.link((any Service).self)
      #expect(reports.count == 2)
    }
  }

  @Test func whatAnObserverDoesIsReported() {
    let context = UDIContext(tag: "context")
    context.register((any Service).self) { () throws -> Plain in throw OutOfOrder() }
    let (_, misuses) = MisuseLog.during {
      withObserver(UDIObserver { _ in _ = context.link((any Service).self) }) { _ = context.link((any Other).self) }
    }
    #expect(misuses.map(\.kind) == [.notMade])
  }

  @Test func aReportersErrorPassesThrough() {
    struct Stop: Error {}
    #expect(throws: Stop.self) { try withReporter(.silent) { () throws(Stop) in throw Stop() } }
  }

  /// In a process of its own, because all tests share the process's reporter.
  @Test func theProcessesReporterCanBeReplaced() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      UDIReporter.process = UDIReporter(reportsUnattachedUse: true) { UDIReporter.standardError.forward($0) }
      _ = Member("a").linkInLine((any Service).self)
      UDIReporter.process = .silent
      _ = Member("b").linkInLine((any Service).self)
    }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    #expect(lines.filter { $0.contains("attached to no context") }.count == 1)
  }
}
