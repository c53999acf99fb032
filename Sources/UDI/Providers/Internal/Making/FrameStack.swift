/// The frames of one thread. An array would check at each change whether its memory is shared.
@safe
struct FrameStack: ~Copyable {
  private var frames: UnsafeMutablePointer<Resolution.Frame>
  private var capacity = 16
  /// The number of frames; the memory after them is unused.
  var count = 0

  init() { unsafe frames = .allocate(capacity: 16) }

  deinit { unsafe frames.deallocate() }

  /// Whether so many factories run inside one another that the depth of the stack has to be checked.
  @inline(__always)
  var isDeep: Bool { count >= 12 }

  /// Whether the given provider's factory is running.
  @inline(__always)
  func contains(_ provider: Provider) -> Bool {
    let reference = Unretained(provider)
    for index in 0..<count where unsafe frames[index].provider == reference { return true }
    return false
  }

  subscript(index: Int) -> Resolution.Frame {
    precondition(0..<count ~= index)
    return unsafe frames[index]
  }

  @inline(__always)
  mutating func append(_ frame: Resolution.Frame) {
    if count == capacity { grow() }
    // A frame consists of plain words, so nothing has to be deinitialised before its memory is reused.
    unsafe (frames + count).initialize(to: frame)
    count += 1
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Resolution.Frame>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: frames, count: count)
    unsafe frames.deallocate()
    unsafe frames = larger
    capacity *= 2
  }
}
