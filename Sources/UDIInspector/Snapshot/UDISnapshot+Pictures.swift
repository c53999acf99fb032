import UDI

extension UDISnapshot: CustomStringConvertible {
  /// The text tree, as ``text(depth:width:)`` returns it.
  public var description: String { text() }

  /// Returns a text tree of the contexts with their bindings and providers.
  ///
  /// - Parameters:
  ///   - depth: The number of levels of contexts to show, including the first. Contexts further below are only counted.
  ///   - width: The number of children to show for each context, and of bindings and providers together. The others are
  ///     only counted.
  /// - Returns: The lines of the tree. Below level 32, lines are not indented further, and those of contexts begin with
  ///   their level.
  public func text(depth: Int = 16, width: Int = 32) -> String {
    let deepestIndent = 32
    return lines(depth: depth, width: width).map { line in
      let mark =
        switch line.entry?.kind {
        case _ where line.isMore: "  …"
        case nil: line.level > deepestIndent ? "(\(line.level)) ▸" : "▸"
        case .override: "  ▪"
        case .kept, .provider: "  ◦"
        case .live, .dead, .replaced, .withdrawn: "  •"
        }
      return "\(String(repeating: "  ", count: min(line.level, deepestIndent)))\(mark) \(line.text)"
    }.joined(separator: "\n")
  }

  /// Returns a diagram in the language Mermaid (https://mermaid.js.org, "Flowcharts").
  ///
  /// Contexts are boxes, bindings are rounded boxes on dotted lines, providers are slanted boxes, and overrides are
  /// double boxes. Thick arrows lead from objects and providers to the dependencies that they need (``uses``), if both
  /// are shown.
  ///
  /// - Parameters:
  ///   - depth: The number of levels of contexts to show, including the first. Contexts further below are only counted.
  ///   - width: The number of children to show for each context, and of bindings and providers together. The others are
  ///     only counted.
  /// - Returns: The text of a flowchart.
  public func mermaid(depth: Int = 16, width: Int = 32) -> String {
    var lines = ["flowchart TD"]
    var count = 0
    // The names of the boxes of the entries that are shown.
    var shown: [Position: String] = [:]
    var shownContexts: Set<Int> = []
    for line in self.lines(depth: depth, width: width) {
      let text = "\"\(Self.escape(line.text))\""
      if line.entry == nil, !line.isMore {
        shownContexts.insert(line.context)
        let parent = line.level == 0 ? "" : "c\(contexts[line.context].parent ?? 0) --> "
        lines.append("  \(parent)c\(line.context)[\(text)]")
        continue
      }
      count += 1
      let (edge, shape) =
        switch line.entry?.kind {
        case nil: ("---", "[\(text)]:::more")
        case .override: ("---", "[[\(text)]]")
        case .kept, .provider: ("---", "[/\(text)/]")
        case .live: ("-.-", "([\(text)])")
        case .dead, .replaced, .withdrawn: ("-.-", "([\(text)]):::dead")
        }
      lines.append("  c\(line.context) \(edge) n\(count)\(shape)")
      if let entry = line.entry { shown[entry.position] = "n\(count)" }
    }
    // Objects that have looked something up, but are not shown as a binding or through a provider, get boxes.
    var known: Set<String> = []
    var arrows: [String] = []
    for use in uses {
      guard let target = use.entry.flatMap({ shown[$0] }), dependents.indices.contains(use.dependent) else { continue }
      let dependent = dependents[use.dependent]
      var source = dependent.entries.lazy.compactMap { shown[$0] }.first
      if source == nil, !dependent.isProvider, let context = dependent.context, shownContexts.contains(context) {
        let box = "d\(use.dependent)"
        source = box
        if known.insert(box).inserted {
          lines.append("  c\(context) -.- \(box)([\"\(Self.escape(dependent.description))\"])")
        }
      }
      guard let source, source != target else { continue }
      let arrow = "  \(source) ==> \(target)"
      if known.insert(arrow).inserted { arrows.append(arrow) }
    }
    let styles = ["dead stroke-dasharray: 3 3, opacity: 0.5", "more stroke-dasharray: 1 3"].map { "  classDef \($0)" }
    return (lines + arrows + styles).joined(separator: "\n")
  }

  /// Makes a quoted label from a text. The label contains entities in place of characters that Mermaid or HTML would
  /// interpret.
  private static func escape(_ text: String) -> String {
    let entities: [Unicode.Scalar: String] =
      ["\"": "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"]
    // Characters would not do: a quotation mark and an accent after it are one character, but Mermaid sees the mark.
    return oneLine(text).unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }

  // MARK: - What pictures show

  /// One line of a picture: a context, an entry, or what is not shown.
  private struct Line {
    /// The index of the context that the line belongs to.
    let context: Int
    let level: Int
    let text: String
    /// The entry that the line describes; nil for other lines.
    var entry: (position: Position, kind: UDIEntry.Kind)?
    /// Whether the line counts what is not shown.
    var isMore = false
  }

  /// Returns the lines of a picture from the top, including lines that count what is left out.
  ///
  /// - Parameters:
  ///   - depth: The number of levels of contexts to show, including the first.
  ///   - width: How many children to show for each context, and how many bindings and providers together.
  private func lines(depth: Int, width: Int) -> [Line] {
    let width = max(0, width)
    guard !contexts.isEmpty, depth > 0 else { return [] }
    var children: [[Int]] = Array(repeating: [], count: contexts.count)
    var sizes = Array(repeating: 1, count: contexts.count)
    // In a snapshot that this library has taken, a parent always comes before its children. In a decoded snapshot, a
    // parent might come after its children; such a parent is ignored.
    let parents = contexts.indices.map { index in contexts[index].parent.flatMap { 0..<index ~= $0 ? $0 : nil } }
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
    for (index, parent) in parents.enumerated().reversed() { if let parent { sizes[parent] += sizes[index] } }

    var lines: [Line] = []
    // The lines that have yet to be added. This stack replaces recursion, because a tree can be too deep for the
    // thread's stack.
    var pending = [Line(context: 0, level: 0, text: contexts[0].label)]
    while let line = pending.popLast() {
      lines.append(line)
      if line.isMore { continue }
      let (index, level) = (line.context, line.level)
      func more(_ text: String) -> Line { Line(context: index, level: level, text: text, isMore: true) }
      let entries = contexts[index].entries
      for (number, entry) in entries.prefix(width).enumerated() {
        let place = (Position(context: index, index: number), entry.kind)
        lines.append(Line(context: index, level: level, text: entry.description, entry: place))
      }
      if entries.count > width { lines.append(more("\(entries.count - width) more bindings and providers")) }

      let shown = level + 1 < depth ? children[index].prefix(width) : []
      let hidden = children[index].dropFirst(shown.count)
      if !hidden.isEmpty {
        let all = hidden.reduce(0) { $0 + sizes[$1] }
        let what = hidden.count == 1 ? "1 more context" : "\(hidden.count) more contexts"
        pending.append(more(all == hidden.count ? what : "\(what), \(all) including all below"))
      }
      pending += shown.reversed().map { Line(context: $0, level: level + 1, text: contexts[$0].label) }
    }
    return lines
  }
}

extension UDISnapshot.Context {
  /// The tag, and whether the context is a scope; its kind, if that is not the tag.
  fileprivate var label: String {
    oneLine(tag) + (scopeKind.map { $0 == tag ? " (scope)" : " (scope \(quoted([$0])))" } ?? "")
  }
}
