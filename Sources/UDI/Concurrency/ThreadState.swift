/// The state of a thread, for as long as the thread lives. The layer that makes instances adds its own part in a
/// subclass (`Resolution`).
class ThreadState: ThreadStateMaking {
  /// Whether the thread is the process's first one.
  final let isOfFirstThread = isFirstThread

  /// The addresses of the thread's stack; nil before `isStackLow` first asks for them.
  @exclusivity(unchecked) private(set) final var stack: Range<UInt>?

  /// The children of dismantled contexts that this thread has yet to release; nil if it is dismantling none. See
  /// `Node.dismantle`. Used only by this thread.
  @safe @exclusivity(unchecked) final var orphans: [AnyObject]?

  /// Whether what this thread does now is part of a look (a lookup for a watcher). If so, entries that it adds to the
  /// tree are marked: see `ChangeKind`. Used only by this thread.
  @exclusivity(unchecked) final var isLooking = false

  /// The user's closures that are told what happens.
  enum Listener: UInt8 { case reporter = 1, observer }
  /// The listeners that this thread is calling: a bit for each. Used only by this thread.
  @exclusivity(unchecked) private final var uncheckedListeners: UInt8 = 0
  final var isTelling: Bool { unsafe uncheckedListeners != 0 }

  /// Calls a listener, unless this thread is calling it already: a listener is not told what it does itself.
  final func tell(_ listener: Listener, _ call: () -> Void) {
    guard unsafe uncheckedListeners & listener.rawValue == 0 else { return }
    unsafe uncheckedListeners |= listener.rawValue
    call()
    unsafe uncheckedListeners &= ~listener.rawValue
  }

  /// Whether too little stack is left for one more factory.
  final func isStackLow() -> Bool {
    if unsafe stack == nil { unsafe stack = currentStack() }
    var mark: UInt8 = 0
    let here = unsafe withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
    // Some code runs on its own stack, and there is no way to tell how much of it is left.
    guard let stack = unsafe stack, stack.contains(here) else { return false }
    // This reserve is enough to throw the error, with its explanation, and for everything that factories do between two
    // checks.
    return here - stack.lowerBound < min(max(UInt(stack.count) / 4, 56 << 10), 128 << 10)
  }
}

/// Makes the state of a thread. The layer that adds to it implements this.
protocol ThreadStateMaking { static func make() -> ThreadState }
