extension UDISnapshot: CustomStringConvertible {
  /// The text tree, as ``text(depth:width:)`` returns it.
  public var description: String { text() }

  /// Returns a text tree: contexts, what is bound in them, and what can be made.
  ///
  /// - Parameters:
  ///   - depth: How many levels of contexts to show, including the first. The contexts below are counted.
  ///   - width: How many children, and how many bindings and providers, to show for each context. The others are
  ///     counted.
  /// - Returns: Lines. Below level 32 they are not indented further, but begin with their level.
  public func text(depth: Int = 16, width: Int = 32) -> String {
    let deepestIndent = 32
    return lines(depth: depth, width: width).map { line in
      let indent = String(repeating: "  ", count: min(line.level, deepestIndent))
      let mark =
        switch line.kind {
        case .context: line.level > deepestIndent ? "(\(line.level)) ▸" : "▸"
        case .binding, .deadBinding: "  •"
        case .provider: "  ◦"
        case .moreEntries, .moreContexts: "  …"
        }
      return "\(indent)\(mark) \(line.text)"
    }.joined(separator: "\n")
  }

  /// Returns a diagram in the language Mermaid (https://mermaid.js.org, "Flowcharts"): contexts as boxes, bindings as
  /// rounded boxes on dotted lines, providers as slanted boxes.
  ///
  /// - Parameters:
  ///   - depth: How many levels of contexts to show, including the first. The contexts below are counted.
  ///   - width: How many children, and how many bindings and providers, to show for each context. The others are
  ///     counted.
  /// - Returns: The text of a flowchart.
  public func mermaid(depth: Int = 16, width: Int = 32) -> String {
    var lines = ["flowchart TD"]
    var count = 0
    for line in self.lines(depth: depth, width: width) {
      let text = "\"\(Self.escape(line.text))\""
      if line.kind == .context {
        let parent = line.level == 0 ? "" : "c\(contexts[line.context].parent ?? 0) --> "
        lines.append("  \(parent)c\(line.context)[\(text)]")
        continue
      }
      count += 1
      let (edge, shape) =
        switch line.kind {
        case .binding: ("-.-", "([\(text)])")
        case .deadBinding: ("-.-", "([\(text)]):::dead")
        case .provider: ("---", "[/\(text)/]")
        case .moreEntries: ("---", "[\(text)]:::more")
        case .moreContexts, .context: ("-->", "[\(text)]:::more")
        }
      lines.append("  c\(line.context) \(edge) n\(count)\(shape)")
    }
    lines.append("  classDef dead stroke-dasharray: 3 3, opacity: 0.5")
    lines.append("  classDef more stroke-dasharray: 1 3")
    return lines.joined(separator: "\n")
  }

  /// A text as a quoted label: what Mermaid or HTML would interpret is replaced by entities.
  private static func escape(_ text: String) -> String {
    let entities: [Character: String] =
      ["\"": "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"]
    return oneLine(text).map { entities[$0] ?? String($0) }.joined()
  }
}

// MARK: - What pictures show

extension UDISnapshot {
  private enum LineKind {
    case context, binding, deadBinding, provider
    /// Bindings and providers of a context that do not fit.
    case moreEntries
    /// Children of a context that do not fit.
    case moreContexts
  }

  /// One line of a picture, about a context that is given by its index.
  private typealias Line = (kind: LineKind, text: String, context: Int, level: Int)

  /// What a picture shows, from the top: as much as fits, and how much is left out.
  ///
  /// - Parameters:
  ///   - depth: How many levels of contexts to show, including the first.
  ///   - width: How many children, and how many bindings and providers, to show for each context.
  private func lines(depth: Int, width: Int) -> [Line] {
    let width = max(0, width)
    guard !contexts.isEmpty, depth > 0 else { return [] }
    var children: [[Int]] = Array(repeating: [], count: contexts.count)
    var sizes = Array(repeating: 1, count: contexts.count)
    // A parent always comes before its children, but a snapshot that was decoded from elsewhere might say anything.
    let parents = contexts.indices.map { index in contexts[index].parent.flatMap { 0..<index ~= $0 ? $0 : nil } }
    for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
    for (index, parent) in parents.enumerated().reversed() { if let parent { sizes[parent] += sizes[index] } }

    var lines: [Line] = []
    // What is still to be shown. This is a stack of our own, because a tree may be deeper than the thread's stack
    // allows.
    var pending: [Line] = [(.context, contexts[0].label, 0, 0)]
    while let line = pending.popLast() {
      lines.append(line)
      guard line.kind == .context else { continue }
      let (index, level) = (line.context, line.level)
      let bindings = contexts[index].bindings.prefix(width)
      let providers = contexts[index].providers.prefix(width - bindings.count)
      lines += bindings.map { ($0.className == nil ? .deadBinding : .binding, $0.description, index, level) }
      lines += providers.map { (.provider, $0.description, index, level) }
      let omitted = contexts[index].bindings.count + contexts[index].providers.count - bindings.count - providers.count
      if omitted > 0 { lines.append((.moreEntries, "\(omitted) more bindings and providers", index, level)) }

      let shown = level + 1 < depth ? children[index].prefix(width) : []
      let hidden = children[index].dropFirst(shown.count)
      if !hidden.isEmpty {
        let all = hidden.reduce(0) { $0 + sizes[$1] }
        let what = hidden.count == 1 ? "1 more context" : "\(hidden.count) more contexts"
        let text = all == hidden.count ? what : "\(what), \(all) with all below"
        pending.append((.moreContexts, text, index, level))
      }
      pending += shown.reversed().map { (.context, contexts[$0].label, $0, level + 1) }
    }
    return lines
  }
}
