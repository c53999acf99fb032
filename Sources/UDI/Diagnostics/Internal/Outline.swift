/// What a picture of a snapshot shows, line by line, from the top: as much as fits, and how much is left out.
struct Outline {
  enum Line {
    /// A context, and its level.
    case context(Int, level: Int)
    case binding(UDISnapshot.Binding, of: Int)
    case provider(UDISnapshot.Provider, of: Int)
    /// Bindings and providers of a context that do not fit.
    case moreEntries(Int, of: Int)
    /// Children of a context that do not fit, and how many contexts they are together with all contexts below them.
    case moreContexts(children: Int, all: Int, of: Int)
  }

  private(set) var lines: [Line] = []
  private let width: Int

  /// - Parameters:
  ///   - depth: How many levels of contexts to show, including the first.
  ///   - width: How many children, and how many bindings and providers, to show for each context.
  init(_ snapshot: UDISnapshot, depth: Int, width: Int) {
    self.width = max(0, width)
    let contexts = snapshot.contexts
    guard !contexts.isEmpty, depth > 0 else { return }
    var children: [[Int]] = Array(repeating: [], count: contexts.count)
    var sizes = Array(repeating: 1, count: contexts.count)
    // A parent always comes before its children, but a snapshot that was decoded from elsewhere might say anything.
    let parents = contexts.indices.map { index in contexts[index].parent.flatMap { 0..<index ~= $0 ? $0 : nil } }
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
    for (index, parent) in parents.enumerated().reversed() { if let parent { sizes[parent] += sizes[index] } }

    /// What is still to be shown. This is a stack of our own, because a tree may be deeper than the thread's stack
    /// allows.
    enum Step {
      case visit(Int, level: Int)
      case omit(Line)
    }
    var pending = [Step.visit(0, level: 0)]
    while let step = pending.popLast() {
      switch step {
      case .omit(let line): lines.append(line)
      case .visit(let index, let level):
        lines.append(.context(index, level: level))
        addEntries(of: contexts[index], index)
        let shown = level + 1 < depth ? children[index].prefix(self.width) : []
        let hidden = children[index].dropFirst(shown.count)
        if !hidden.isEmpty {
          let all = hidden.reduce(0) { $0 + sizes[$1] }
          pending.append(.omit(.moreContexts(children: hidden.count, all: all, of: index)))
        }
        for child in shown.reversed() { pending.append(.visit(child, level: level + 1)) }
      }
    }
  }

  private mutating func addEntries(of context: UDISnapshot.Context, _ index: Int) {
    let entries =
      context.bindings.map { Line.binding($0, of: index) } + context.providers.map { Line.provider($0, of: index) }
    lines += entries.prefix(width)
    if entries.count > width { lines.append(.moreEntries(entries.count - width, of: index)) }
  }
}
