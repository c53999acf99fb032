extension Page {
  /// The whole script, made of its parts.
  static let script = """
    'use strict'
    // The page of UDITreePage: shows a tree of contexts, and updates it while the program runs. All data from the
    // program is inserted as text and never parsed as HTML.

    \(parts.joined())
    """

  private static var parts: [String] {
    [dataScript, wayScript, treeScript, selectionScript, linesScript, detailsScript, lookupScript, liveScript]
  }

  /// The page as a server sends it. Its content security policy lets it load only resources of its own server.
  static var served: String {
    html.replacing(
      "{policy}", with: "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \(common)"
    )
    .replacing("{style}", with: "<link rel=\"stylesheet\" href=\"?style.css\">")
    .replacing("{script}", with: "<script src=\"?script.js\" defer></script>")
    .replacing("{data}\n", with: "")
  }

  /// The page as one file. Its content security policy lets it load nothing.
  ///
  /// - Parameter data: The data, as JSON without the character `<`.
  static func written(_ data: String) -> String {
    html.replacing(
      "{policy}", with: "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \(common)"
    )
    .replacing("{style}", with: "<style>\n\(style)</style>")
    .replacing("{script}", with: "")
    .replacing(
      "{data}", with: "<script type=\"application/json\" id=\"data\">\(data)</script>\n<script>\n\(script)</script>")
  }

  private static var common: String { "img-src data:; base-uri 'none'; form-action 'none'" }
}
