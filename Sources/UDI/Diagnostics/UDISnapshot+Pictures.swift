extension UDISnapshot: CustomStringConvertible {
  /// The text tree, as ``text(depth:width:)`` returns it.
  public var description: String { text() }

  /// Returns a text tree of the contexts with their bindings and providers.
  ///
  /// - Parameters:
  ///   - depth: The number of levels of contexts to show, including the first. Contexts further below are only counted.
  ///   - width: How many children to show for each context, and how many bindings and providers together. The others
  ///     are only counted.
  /// - Returns: The lines of the tree. Below level 32, lines are not indented further, and those of contexts begin with
  ///   their level.
  public func text(depth: Int = 16, width: Int = 32) -> String {
    let deepestIndent = 32
    return lines(depth: depth, width: width).map { line in
      let indent = String(repeating: "  ", count: min(line.level, deepestIndent))
      let mark =
        switch line.kind {
        case .context: line.level > deepestIndent ? "(\(line.level)) ▸" : "▸"
        case .entry(.override): "  ▪"
        case .entry(.kept), .entry(.provider): "  ◦"
        case .entry: "  •"
        case .moreEntries, .moreContexts: "  …"
        }
      return "\(indent)\(mark) \(line.text)"
    }.joined(separator: "\n")
  }

  /// Returns a diagram in the language Mermaid (https://mermaid.js.org, "Flowcharts"). Contexts are boxes, bindings are
  /// rounded boxes on dotted lines, providers are slanted boxes, and overrides are double boxes. Thick arrows lead from
  /// objects and providers to the dependencies that they need (``uses``), if both are shown.
  ///
  /// - Parameters:
  ///   - depth: The number of levels of contexts to show, including the first. Contexts further below are only counted.
  ///   - width: How many children to show for each context, and how many bindings and providers together. The others
  ///     are only counted.
  /// - Returns: The text of a flowchart.
  public func mermaid(depth: Int = 16, width: Int = 32) -> String {
    var lines = ["flowchart TD"]
    var count = 0
    var shown: [Position: String] = [:]
    var shownContexts: Set<Int> = []
    for line in self.lines(depth: depth, width: width) {
      let text = "\"\(Self.escape(line.text))\""
      if case .context = line.kind {
        shownContexts.insert(line.context)
        let parent = line.level == 0 ? "" : "c\(contexts[line.context].parent ?? 0) --> "
        lines.append("  \(parent)c\(line.context)[\(text)]")
        continue
      }
      count += 1
      let (edge, shape) =
        switch line.kind {
        case .entry(.override): ("---", "[[\(text)]]")
        case .entry(.kept), .entry(.provider): ("---", "[/\(text)/]")
        case .entry(.live): ("-.-", "([\(text)])")
        case .entry: ("-.-", "([\(text)]):::dead")
        case .moreEntries: ("---", "[\(text)]:::more")
        case .moreContexts, .context: ("-->", "[\(text)]:::more")
        }
      lines.append("  c\(line.context) \(edge) n\(count)\(shape)")
      if let position = line.position { shown[position] = "n\(count)" }
    }
    lines += useLines(shown, shownContexts)
    lines.append("  classDef dead stroke-dasharray: 3 3, opacity: 0.5")
    lines.append("  classDef more stroke-dasharray: 1 3")
    return lines.joined(separator: "\n")
  }

  /// Returns the arrows from dependents to dependencies. Before them come boxes for dependents that would otherwise
  /// have none: objects that have looked something up, but that are not shown as a binding or through a provider.
  ///
  /// - Parameters:
  ///   - shown: The name of the box of each binding, provider and override that is shown.
  ///   - contexts: The contexts that are shown.
  private func useLines(_ shown: [Position: String], _ contexts: Set<Int>) -> [String] {
    var boxes: [String] = []
    var arrows: [String] = []
    var known: Set<String> = []
    for use in uses {
      guard let target = use.entry.flatMap({ shown[$0] }), dependents.indices.contains(use.dependent) else { continue }
      let dependent = dependents[use.dependent]
      var source = dependent.entries.lazy.compactMap { shown[$0] }.first
      if source == nil, !dependent.isProvider, let context = dependent.context, contexts.contains(context) {
        let name = "d\(use.dependent)"
        if known.insert(name).inserted {
          boxes.append("  c\(context) -.- \(name)([\"\(Self.escape(dependent.description))\"])")
        }
        source = name
      }
      if let source, source != target, known.insert("\(source) \(target)").inserted {
        arrows.append("  \(source) ==> \(target)")
      }
    }
    return boxes + arrows
  }

  /// Makes a quoted label from a text. The label contains entities in place of characters that Mermaid or HTML would
  /// interpret.
  private static func escape(_ text: String) -> String {
    let entities: [Unicode.Scalar: String] =
      ["\"": "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"]
    // Characters would not do: a quotation mark and an accent after it are one character, but Mermaid sees the mark.
    return oneLine(text).unicodeScalars.map { entities[$0] ?? String($0) }.joined()
  }
}

// MARK: - What pictures show

extension UDISnapshot {
  private enum LineKind {
    case context
    case entry(UDIEntry.Kind)
    /// A line that counts the bindings, providers and overrides of a context that are not shown.
    case moreEntries
    /// A line that counts the children of a context that are not shown.
    case moreContexts
  }

  /// One line of a picture. `context` is the index of the context that the line belongs to.
  private struct Line {
    let kind: LineKind
    let text: String
    let context: Int
    let level: Int
    /// Where the entry is that the line describes; nil for other lines.
    let position: Position?

    init(_ kind: LineKind, _ text: String, _ context: Int, _ level: Int, _ position: Position? = nil) {
      (self.kind, self.text, self.context, self.level, self.position) = (kind, text, context, level, position)
    }
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
    var pending = [Line(.context, contexts[0].label, 0, 0)]
    while let line = pending.popLast() {
      lines.append(line)
      guard case .context = line.kind else { continue }
      let (index, level) = (line.context, line.level)
      let entries = contexts[index].entries
      lines += entries.prefix(width).enumerated().map { number, entry in
        Line(.entry(entry.kind), entry.description, index, level, Position(context: index, index: number))
      }
      let omitted = entries.count - width
      if omitted > 0 { lines.append(Line(.moreEntries, "\(omitted) more bindings and providers", index, level)) }

      let shown = level + 1 < depth ? children[index].prefix(width) : []
      let hidden = children[index].dropFirst(shown.count)
      if !hidden.isEmpty {
        let all = hidden.reduce(0) { $0 + sizes[$1] }
        let what = hidden.count == 1 ? "1 more context" : "\(hidden.count) more contexts"
        let text = all == hidden.count ? what : "\(what), \(all) including all below"
        pending.append(Line(.moreContexts, text, index, level))
      }
      pending += shown.reversed().map { Line(.context, contexts[$0].label, $0, level + 1) }
    }
    return lines
  }
}

extension UDISnapshot.Context {
  /// The tag, and whether the context is a scope.
  fileprivate var label: String { oneLine(tag) + (isScope ? " (scope)" : "") }
}
