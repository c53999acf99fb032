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
    var levels: [Int: Int] = [:]
    return Outline(self, depth: depth, width: width).lines.map { line in
      switch line {
      case .context(let index, let level):
        levels[index] = level
        let mark = level > Self.deepestIndent ? "(\(level)) " : ""
        return "\(Self.indent(level))\(mark)▸ \(label(of: contexts[index]))"
      case .binding(let binding, let index): return "\(Self.indent(levels[index]))  • \(binding)"
      case .provider(let provider, let index): return "\(Self.indent(levels[index]))  ◦ \(provider)"
      case .moreEntries(let count, let index):
        return "\(Self.indent(levels[index]))  … \(count) more bindings and providers"
      case .moreContexts(let children, let all, let index):
        return "\(Self.indent(levels[index]))  … \(Self.describe(children, all))"
      }
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
    func add(_ shape: (String) -> String, _ text: String, _ edge: String, to parent: Int) {
      count += 1
      lines.append("  c\(parent) \(edge) n\(count)\(shape(Self.escape(text)))")
    }
    for line in Outline(self, depth: depth, width: width).lines {
      switch line {
      case .context(let index, let level):
        let box = "c\(index)[\"\(Self.escape(label(of: contexts[index])))\"]"
        lines.append(level == 0 ? "  \(box)" : "  c\(contexts[index].parent ?? 0) --> \(box)")
      case .binding(let binding, let index):
        add({ "([\"\($0)\"])\(binding.className == nil ? ":::dead" : "")" }, "\(binding)", "-.-", to: index)
      case .provider(let provider, let index): add({ "[/\"\($0)\"/]" }, "\(provider)", "---", to: index)
      case .moreEntries(let count, let index):
        add({ "[\"\($0)\"]:::more" }, "\(count) more bindings and providers", "---", to: index)
      case .moreContexts(let children, let all, let index):
        add({ "[\"\($0)\"]:::more" }, Self.describe(children, all), "-->", to: index)
      }
    }
    lines.append("  classDef dead stroke-dasharray: 3 3, opacity: 0.5")
    lines.append("  classDef more stroke-dasharray: 1 3")
    return lines.joined(separator: "\n")
  }

  private func label(of context: Context) -> String { oneLine(context.tag) + (context.isScope ? " (scope)" : "") }

  private static var deepestIndent: Int { 32 }

  private static func indent(_ level: Int?) -> String {
    String(repeating: "  ", count: min(level ?? 0, deepestIndent))
  }

  private static func describe(_ children: Int, _ all: Int) -> String {
    let what = children == 1 ? "1 more context" : "\(children) more contexts"
    return all == children ? what : "\(what), \(all) with all below"
  }

  /// A text as a quoted label: what Mermaid or HTML would interpret is replaced by entities.
  private static func escape(_ text: String) -> String {
    var escaped = ""
    for character in oneLine(text) {
      switch character {
      case "\"": escaped += "#quot;"
      case "#": escaped += "#35;"
      case "<": escaped += "#lt;"
      case ">": escaped += "#gt;"
      case "&": escaped += "#amp;"
      case "`": escaped += "#96;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
