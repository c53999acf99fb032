/// The style, for light and dark mode. Colours only repeat information that shapes and words also give.
let pageStyle = #"""
  :root {
    color-scheme: light dark;
    --ground: #f6f5f2; --paper: #fffefb; --ink: #23211d; --soft: #615c53; --faint: #6e685e; --rule: #e4e0d8;
    --hover: #f3f0ea; --chosen: #e7edf8; --accent: #2b5bb5; --live: #2c7a4b; --dead: #b4372b;
    --test: #8a4fb0; --needs: #b0600a; --mark: #ffe9a8; --shadow: 0 1px 2px rgb(40 34 20 / 6%);
    --text: "Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
    --code: "JetBrains Mono", ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ground: #16171a; --paper: #1d1f23; --ink: #e6e3dc; --soft: #b0aba1; --faint: #99948a; --rule: #303237;
      --hover: #25272c; --chosen: #27344e; --accent: #8fb4ff; --live: #6cc892; --dead: #ff8a7d;
      --test: #d3a4f2; --needs: #f0ae5e; --mark: #6b5514; --shadow: none;
    }
  }
  *, ::before, ::after { box-sizing: border-box; }
  html { height: 100%; }
  body {
    margin: 0; height: 100%; display: flex; flex-direction: column; background: var(--ground); color: var(--ink);
    font: 14px/1.5 var(--text); font-feature-settings: "cv05", "ss03"; text-rendering: optimizeLegibility;
  }
  h1, h2, p, dl, dd, ul, ol { margin: 0; padding: 0; }
  button, input, select { font: inherit; color: inherit; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .faint, .gone, .class, .state, dt, form label, form .label, .entry.provider .type, .sign.replaced, .sign.withdrawn {
    color: var(--soft);
  }
  .row .tag, .row .type, .row .class, .row .faint, .relation .key, .relation .faint {
    overflow: hidden; text-overflow: ellipsis;
  }
  mark { background: var(--mark); color: inherit; border-radius: 2px; }

  header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 18px; padding: 14px 24px 12px; flex: none; }
  h1 { font-size: 19px; font-weight: 650; letter-spacing: -.015em; overflow-wrap: anywhere; }
  #counts, #found { color: var(--soft); font-variant-numeric: tabular-nums; }
  #found:empty, #steps:empty { display: none; }
  .search { margin-left: auto; flex: 0 1 300px; min-width: 180px; }
  .search input { width: 100%; }
  #live { display: flex; align-items: center; gap: 8px; color: var(--soft); }
  #pulse { width: 8px; height: 8px; border-radius: 50%; border: 1.5px solid var(--faint); flex: none; }
  .on #pulse { background: var(--live); border-color: var(--live); }
  .off #pulse { border-color: var(--dead); border-radius: 0; }
  .off { color: var(--dead) !important; }

  input, select, button {
    background: var(--paper); border: 1px solid var(--rule); border-radius: 7px; padding: 5px 10px; min-width: 0;
  }
  input::placeholder { color: var(--faint); opacity: 1; }
  input::-webkit-search-cancel-button { display: none; }
  button { cursor: pointer; }
  button:hover { border-color: var(--accent); }
  button[type=submit] { background: var(--ink); border-color: var(--ink); color: var(--paper); font-weight: 550; }
  button.link {
    border: 0; padding: 0; background: none; text-align: left; border-radius: 3px; overflow-wrap: anywhere;
    text-decoration: underline; text-decoration-color: var(--rule); text-underline-offset: 3px;
  }
  button.link:hover { text-decoration-color: var(--accent); color: var(--accent); }

  main {
    flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 1fr) minmax(320px, 400px); gap: 16px;
    padding: 0 24px 20px;
  }
  main section {
    background: var(--paper); border: 1px solid var(--rule); border-radius: 12px; box-shadow: var(--shadow);
  }
  #trees { display: flex; flex-direction: column; min-height: 0; overflow: hidden; }
  aside { display: flex; flex-direction: column; gap: 16px; min-height: 0; overflow-y: auto; }
  aside section { padding: 16px 20px 18px; flex: none; }
  h2 { font-size: 14.5px; font-weight: 620; margin-bottom: 10px; overflow-wrap: anywhere; }

  #tree { position: relative; flex: 1; min-height: 0; overflow-y: auto; overflow-x: hidden; padding: 0; }
  #tree:focus-visible { outline-offset: -3px; border-radius: 12px 12px 0 0; }
  #rows { position: relative; margin: 8px 0; }
  .row {
    position: absolute; left: 8px; right: 8px; height: 30px; display: flex; align-items: center; gap: 8px;
    padding: 0 10px 0 6px; border-radius: 6px; white-space: nowrap; cursor: default; overflow: hidden;
  }
  .has-lines .row { right: 56px; }
  .row > * { flex: none; }
  .row:hover, .row.lit { background: var(--hover); }
  .row.selected { background: var(--chosen); }
  #tree:focus-visible .row.selected { box-shadow: inset 0 0 0 2px var(--accent); }
  .twist { width: 14px; text-align: center; color: var(--soft); cursor: pointer; }
  .tag { font-weight: 590; letter-spacing: -.005em; }
  .row .tag, .row .type, .row .class { flex: 0 1 auto; }
  .row .lifetime { font-size: 12px; color: var(--faint); }
  .row .faint { font-size: 12.5px; flex: 0 10 auto; }
  .badge, .role, #steps li::before {
    display: inline-block; font-size: 11.5px; line-height: 18px; padding: 0 8px; border-radius: 9px;
    font-variant-numeric: tabular-nums; color: var(--soft); box-shadow: inset 0 0 0 1px var(--faint);
  }
  .sign { width: 14px; height: 14px; flex: none; vertical-align: -2px; }
  .sign .fill { fill: currentcolor; }
  .sign .line { fill: none; stroke: currentcolor; stroke-width: 1.5; }
  .sign.dead .line { stroke-width: 2; stroke-linecap: round; }
  .sign.provider .line { stroke-dasharray: 2.4 1.75; }
  .sign.provider, .sign.object { color: var(--faint); }
  .sign.live, .sign.kept { color: var(--live); }
  .sign.dead, .entry.dead .state, .badge.warning { color: var(--dead); }
  .sign.override { color: var(--test); }
  .state { font-size: 12px; }
  .entry .state { width: 4.6em; }
  .type, .name, .class, code { font-family: var(--code); font-size: 12.5px; font-variant-ligatures: none; }
  .type { font-weight: 500; }
  .module { color: var(--faint); font-weight: 400; }
  .name { color: var(--accent); }
  .row .class::before { content: "→ "; color: var(--faint); }
  .entry.past .type { text-decoration: line-through; text-decoration-color: var(--faint); }
  .tail { margin-left: auto; padding-left: 4px; }
  .role { font-weight: 560; }
  .needed { color: var(--accent); }
  .needs { color: var(--needs); }
  .role.step, #steps li::before { min-width: 20px; padding: 0; text-align: center; }
  .role.answer, #steps li.found::before { color: var(--paper); background: var(--live); box-shadow: none; }

  #lines { position: absolute; right: 6px; width: 52px; pointer-events: none; overflow: hidden; display: none; }
  .has-lines #lines { display: block; }
  .curve { fill: none; stroke: currentcolor; stroke-width: 1.6; }
  .head { fill: currentcolor; }
  .needs .curve { stroke-dasharray: 5 3; }
  g.step { color: var(--faint); }
  .step .curve { stroke-dasharray: 1 3.5; stroke-linecap: round; }

  #legend {
    display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 8px 18px; border-top: 1px solid var(--rule);
    color: var(--soft); font-size: 12px; flex: none;
  }
  #legend .entry { display: inline-flex; align-items: center; gap: 6px; }

  dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 5px 16px; }
  dd { overflow-wrap: anywhere; }
  dd ul { list-style: none; display: grid; grid-template-columns: minmax(0, 1fr); gap: 3px; }
  .relation > * { display: flex; align-items: baseline; max-width: 100%; }
  .relation .state { flex: none; }
  .relation .sign { align-self: center; }
  .relation .key, .relation .faint { white-space: nowrap; }
  .relation .faint { flex: 1 1 3em; min-width: 3em; }
  button.link .sign, dd .sign, dd .state { margin-right: 6px; }
  dd .faint { margin-left: 8px; font-size: 12.5px; }
  .key .name::before { content: " named "; color: var(--soft); font-family: var(--text); white-space: pre; }
  #details-title .type { font-size: 13.5px; font-weight: 600; }

  form { display: grid; gap: 8px; }
  form p { display: grid; grid-template-columns: 96px minmax(0, 1fr); align-items: center; }
  form .buttons { display: flex; gap: 8px; padding-left: 96px; }
  #key { font-family: var(--code); font-size: 12.5px; line-height: 21px; }
  output { overflow-wrap: anywhere; font-weight: 550; }
  #answer:not(:empty) { margin-top: 14px; padding: 10px 12px; border-radius: 8px; border: 1px solid var(--rule); }
  #answer p + p { margin-top: 6px; color: var(--soft); }
  #answer p { overflow-wrap: anywhere; }
  #answer .summary { padding-left: 22px; text-indent: -22px; font-weight: 520; }
  #answer .summary .sign { margin-right: 8px; }
  #answer.hit { border-color: var(--live); }
  #answer.miss { border-color: var(--dead); }
  #steps { list-style: none; counter-reset: step; margin-top: 12px; display: grid; gap: 4px; }
  #steps li {
    counter-increment: step; display: flex; flex-wrap: wrap; gap: 0 10px; align-items: baseline; padding-left: 30px;
    position: relative;
  }
  #steps li::before { content: counter(step); position: absolute; left: 0; top: 1px; }
  #steps li.more::before { content: "…"; box-shadow: none; }
  #steps li.nothing .finding { color: var(--faint); }
  #steps .finding { color: var(--soft); font-size: 13px; }
  noscript { padding: 24px; }

  @media (max-width: 900px) {
    html, body { height: auto; }
    main { grid-template-columns: minmax(0, 1fr); padding: 0 12px 16px; gap: 12px; }
    header { padding: 12px 16px 10px; }
    #trees { height: 62vh; min-height: 260px; }
    aside { overflow: visible; gap: 12px; }
    .search { margin-left: 0; flex: 1 1 100%; order: 9; }
    .row .module, .row .faint { display: none; }
  }
  @media (forced-colors: active) {
    .row.selected { outline: 2px solid Highlight; outline-offset: -2px; }
  }

  """#
