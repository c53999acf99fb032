#if DEBUG
  import Dispatch
  import Testing
  import UDI
  import UDIInspector
  import UDITesting

  /// Under a lock, the library loads weak references only to check what is alive. Such a reference can suddenly be the
  /// last one, if another thread drops all others. The library must not release it before it has given the lock back,
  /// because a `deinit` may use the tree.
  struct ReleaseTests {
    /// Notes how many locks its thread holds when the object dies.
    final class Mortal: Service, Other, Loose {
      let label = "mortal"
      let deaths: Locked<[Int]>
      let haveDied: DispatchSemaphore

      init(_ scene: Scene) { (deaths, haveDied) = (scene.deaths, scene.haveDied) }

      deinit {
        let held = heldLocks
        deaths.withLock { $0.append(held) }
        haveDied.signal()
      }
    }

    /// What a test operates on.
    struct Scene: Sendable {
      let root = UDIContext(tag: "root")
      let member = Member()
      let deaths = Locked<[Int]>([])
      let haveDied = DispatchSemaphore(value: 0)
      /// All references to the objects that will die, except the library's.
      let held = Locked<[Mortal]>([])

      func makeMortal() -> Mortal {
        let mortal = Mortal(self)
        held.withLock { $0.append(mortal) }
        return mortal
      }

      /// Registers a provider that keeps its instance weakly, and serves it under another type, too.
      func registerAlias() {
        root.register((any Service).self, lifetime: .weak) { makeMortal() }.implements((any Other).self)
        _ = root.link((any Service).self)
      }
    }

    /// An operation that loads references only to check them.
    enum Operation: CaseIterable {
      case sweep, unbind, register, registrations, explain, explainOtherName, snapshot, explainMade, snapshotMade,
        fresh
      case sweepArguments, audit, auditWhatIsThere, leave, replace, explainReplaced
      case alias, freshAlias

      /// Prepares a scene.
      ///
      /// - Returns: The operation.
      func prepare(_ scene: Scene) -> () -> Void {
        let root = scene.root
        switch self {
        case .sweep:
          for index in 0..<40 { root.bind(scene.makeMortal(), as: (any Service).self, named: UDIName(index)) }
          return { root.bind(scene.member, as: (any Other).self) }
        case .unbind:
          scene.member.attachedContext = root
          scene.member.bind(scene.makeMortal(), as: (any Service).self)
          return { scene.member.unbind((any Service).self) }
        case .register:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { root.register((any Service).self) { Plain() } }
        case .registrations:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { _ = root.registrations(of: (any Service).self) }
        case .explain:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { _ = root.explain((any Service).self) }
        case .explainOtherName:
          root.bind(scene.makeMortal(), as: (any Service).self, named: "other")
          return { _ = root.explain((any Service).self) }
        case .snapshot:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { _ = root.snapshot() }
        case .explainMade:
          root.register((any Service).self, lifetime: .weak) { scene.makeMortal() }
          _ = root.link((any Service).self)
          return { _ = root.explain((any Service).self) }
        case .snapshotMade:
          root.register((any Service).self, lifetime: .weak) { scene.makeMortal() }
          _ = root.link((any Service).self)
          return { _ = root.snapshot() }
        case .fresh:
          root.register((any Service).self) { Plain() }
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { _ = root.link((any Service).self, fresh: true) }
        case .sweepArguments:
          root.register((any Service).self, lifetime: .weak) { (_, number: Int) in
            number < 32 ? scene.makeMortal() : Plain() as any Service
          }
          for index in 0..<32 { _ = root.link((any Service).self, with: index) }
          return { _ = root.link((any Service).self, with: 32) }
        case .audit:
          return {
            BindingAudit().watch(root, madeWith: root) {
              for index in 0..<70 { root.bind(scene.makeMortal(), as: (any Service).self, named: UDIName(index)) }
            }
          }
        case .auditWhatIsThere:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { BindingAudit().watch(root) {} }
        case .leave:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { root.register((any Service).self, replaces: false) { Plain() } }
        case .replace:
          root.bind(scene.makeMortal(), as: (any Service).self)
          return { root.bind(scene.member, as: (any Service).self) }
        case .explainReplaced:
          root.bind(scene.makeMortal(), as: (any Service).self)
          root.bind(scene.member, as: (any Service).self)
          return { _ = root.explain((any Service).self) }
        case .alias:
          scene.registerAlias()
          return { _ = root.link((any Other).self) }
        case .freshAlias:
          scene.registerAlias()
          return { _ = root.link((any Other).self, fresh: true) }
        }
      }
    }

    @Test("What is loaded only to look is let go of with no lock held", .unlessItHangs, arguments: Operation.allCases)
    func loadedToLook(_ operation: Operation) {
      let points = run(operation, droppingAt: nil)
      #expect(points > 0, "it loads nothing")
      // Tries the points in turn. A snapshot loads what other tests have looked up, too, after the scene's entries and
      // before the scene's own lookups. These are left out, because there may be thousands.
      for point in 0..<points where point < 12 || point >= points - 12 { run(operation, droppingAt: point) }
    }

    /// Runs an operation. When the operation reaches a point, another thread drops all references to what it checks.
    ///
    /// - Returns: How many points the operation reaches.
    @discardableResult
    private func run(_ operation: Operation, droppingAt point: Int?) -> Int {
      let scene = Scene()
      let points = Tally()
      let operate = operation.prepare(scene)
      Schedule.$hook.withValue({ reached in
        guard reached == .loadedToLook else { return }
        if points.count == point { onThreads([{ scene.held.withLock { $0 = [] } }]) }
        points.add()
      }) {
        operate()
      }
      // The snapshot of another test may load what was dropped, too, to see whether it is alive. If other tests have
      // fewer lookups on record by now, the point may not have been reached, and nothing was dropped.
      if let point, points.count > point { scene.haveDied.wait() }
      let deaths = scene.deaths.withLock { $0 }
      #expect(deaths.allSatisfy { $0 == 0 }, "died under a lock, dropped at point \(point ?? -1) of \(points.count)")
      return points.count
    }

    @Test("So are contexts, whose end takes the tree lock")
    func contexts() async {
      // In a process of its own, because releasing a context under the lock would stop the process.
      await #expect(processExitsWith: .success) {
        let root = UDIContext(tag: "root")
        for point in 0..<4 {
          // The owners of an object are checked when the object gets another owner, and when it is attached elsewhere.
          let member = Member()
          let owners = Locked((0..<2).map { UDIContext(tag: "owner \($0)") })
          owners.withLock { $0 }.forEach { $0.provide(member as any Service, as: (any Service).self) }
          drop(owners, at: point) {
            root.provide(member as any Service, as: (any Service).self)
            member.attachedContext = root
          }
          precondition(owners.withLock { $0.isEmpty }, "the point was reached")
        }
      }
    }
  }

  /// Runs an operation. When it reaches a point, another thread drops contexts.
  private func drop(_ contexts: Locked<[UDIContext]>, at point: Int, _ operation: () -> Void) {
    let points = Tally()
    Schedule.$hook.withValue({ reached in
      guard reached == .loadedToLook else { return }
      if points.count == point { onThreads([{ contexts.withLock { $0 = [] } }]) }
      points.add()
    }) {
      operation()
    }
  }
#endif
