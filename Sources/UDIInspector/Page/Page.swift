// The files of the page: plain HTML, CSS and JavaScript. They are in Swift files, because reading resources from a
// bundle would need Foundation.

/// The page as a server sends it. Its content security policy lets it load only resources of its own server.
let servedPage = page(
  policy: "script-src 'self'; style-src 'self'; connect-src 'self'",
  head: """
    <link rel="stylesheet" href="?style.css">
    <script src="?script.js" defer></script>
    """)

/// The page as one file. Its content security policy lets it load nothing.
///
/// - Parameter data: The data, as JSON without the character `<`.
func writtenPage(_ data: String) -> String {
  page(
    policy: "script-src 'unsafe-inline'; style-src 'unsafe-inline'", head: "<style>\n\(pageStyle)</style>",
    end: """
      <script type="application/json" id="data">\(data)</script>
      <script>
      \(pageScript)</script>

      """)
}

/// The whole script, made of its parts.
let pageScript = """
  'use strict'
  // The page of UDITreePage: shows a tree of contexts, and updates it while the program runs. All data from the
  // program is inserted as text and never parsed as HTML.

  \(dataScript)\(treeScript)\(selectionScript)\(linesScript)\(detailsScript)\(lookupScript)\(liveScript)
  """

private func page(policy: String, head: String, end: String = "") -> String {
  """
  <!doctype html>
  <html lang="en">
  <head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="referrer" content="no-referrer">
  <meta http-equiv="Content-Security-Policy"
    content="default-src 'none'; \(policy); img-src data:; base-uri 'none'; form-action 'none'">
  <title>Contexts</title>
  <link rel="icon" href="data:,">
  \(head)
  </head>
  <body>
  <header>
    <h1 id="title">Contexts</h1>
    <p id="counts"></p>
    <div class="search" role="search">
      <input id="search" type="search" placeholder="Search (/)" autocomplete="off" spellcheck="false"
        aria-label="Search contexts, types, names and classes" aria-describedby="found" aria-keyshortcuts="/">
    </div>
    <p id="found" role="status"></p>
    <p id="live"><span id="pulse" aria-hidden="true"></span><span id="status" role="status">Loading</span></p>
    <button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
  </header>
  <main>
    <section id="trees" aria-label="The tree">
      <div id="tree" role="tree" tabindex="0" aria-label="Contexts and what they have">
        <div id="rows" role="presentation"></div>
        <svg id="lines" aria-hidden="true"></svg>
      </div>
      <p id="legend" aria-hidden="true"></p>
    </section>
    <aside>
      <section id="details" aria-labelledby="details-title">
        <h2 id="details-title">Nothing selected</h2>
        <div id="facts"></div>
      </section>
      <section id="way" aria-labelledby="way-title" hidden>
        <h2 id="way-title">Look something up</h2>
        <form id="lookup" autocomplete="off">
          <p><label for="key">Dependency</label>
            <input id="key" list="keys" spellcheck="false" placeholder="Type a protocol or a class" required>
            <datalist id="keys"></datalist></p>
          <p><span class="label" id="from-label">From</span>
            <output id="from" aria-labelledby="from-label"></output></p>
          <p><label for="order">Search</label> <select id="order"></select></p>
          <p class="buttons"><button type="submit">Look it up</button>
            <button id="forget" type="button" hidden>Clear</button></p>
        </form>
        <div id="answer" role="status"></div>
        <ol id="steps"></ol>
      </section>
    </aside>
  </main>
  <noscript><p>This page needs JavaScript.</p></noscript>
  \(end)</body>
  </html>

  """
}
