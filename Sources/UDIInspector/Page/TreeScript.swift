/// The script that shows the tree as rows. Elements exist only for the rows in view, so a tree of any size needs only
/// a few.
let treeScript = #"""
  // MARK: - The tree

  const rowHeight = 30, overscan = 12
  const treeBox = byID('tree')
  const rowsBox = byID('rows')

  let tree = null
  // The rows of the tree as it is shown now, including those out of view; and the index of each row, by its id.
  let rows = [], placeByID = new Map()
  // The contexts that are unfolded. While only the matches of a search are shown, all contexts are.
  const open = new Set()
  let selectedID = null, words = []
  // The elements of the rows that are drawn, by id.
  const shown = new Map()

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties)
    made.append(...children.filter(child => child !== undefined && child !== ''))
    return made
  }

  // A span for a text, or for other elements; nothing if there is no text.
  const span = (className, ...children) =>
    children[0] === undefined ? undefined : element('span', { className }, ...children)

  function drawing(name, attributes, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name)
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
    made.append(...children)
    return made
  }

  const sign = kind => drawing('svg', { viewBox: '0 0 14 14', class: `sign ${kind}`, 'aria-hidden': 'true' },
    ...['fill', 'line'].map(part => drawing('path', { class: part, d: kinds[kind][part] ?? '' })))

  // A type's name, with its module in a less prominent style, because `Shop.` matters less than `Clock`. The address
  // in the name of a private or local type is left out.
  function typeName(reflected) {
    const type = reflected.replace(/(\(unknown context at \$[0-9a-f]+\)\.)+/g, '(private).')
    const [module] = /^[\p{L}_][\p{L}\p{N}_]*\.(?=.)|/u.exec(type)
    return span('type', span('module', module), ...marked(type.slice(module.length)))
  }

  const escaped = text => text.replace(/[\\^$.*+?()[\]{}|\/]/g, '\\$&')

  // The text, in which all matches of the search are marked.
  function marked(text) {
    if (text === undefined || words.length === 0) return [text]
    const pattern = new RegExp(`(${words.map(escaped).join('|')})`, 'giu')
    // Every second part is a match.
    return text.split(pattern).map((part, index) => index % 2 === 0 ? part : element('mark', { textContent: part }))
  }

  // MARK: Rows

  function isMatch(one) {
    const text = (one.isContext ? one.title : [one.type, one.name, one.className].join(' ')).toLowerCase()
    return words.every(word => text.includes(word))
  }

  function listRows() {
    rows = []
    const all = words.length === 0 ? [] : tree.contexts.flatMap(context => [context, ...context.entries])
    const found = all.filter(isMatch)
    const wanted = new Set(found)
    for (const one of found) {
      for (let above = outer(one); above !== null && !wanted.has(above); above = above.parent) wanted.add(above)
    }
    const isShown = one => words.length === 0 || wanted.has(one)
    // The function uses a stack instead of recursion, because a tree can be too deep for JavaScript's call stack.
    const pending = [tree.contexts[0]].filter(isShown).map(of => ({ of, level: 1, position: 1, size: 1 }))
    while (pending.length > 0) {
      const row = pending.pop()
      rows.push(row)
      if (!row.of.isContext) continue
      const inside = [...row.of.entries, ...row.of.children].filter(isShown)
      row.hasInside = inside.length > 0
      row.isOpen = row.hasInside && (words.length > 0 || open.has(row.of.id))
      if (!row.isOpen) continue
      for (let index = inside.length - 1; index >= 0; index -= 1) {
        pending.push({ of: inside[index], level: row.level + 1, position: index + 1, size: inside.length })
      }
    }
    placeByID = new Map(rows.map((row, place) => [row.of.id, place]))
    byID('found').textContent = words.length === 0 ? ''
      : found.length === 0 ? 'Nothing found' : plural(found.length, 'match', 'matches')
  }

  // The index of the row of a context or entry. If it has no row, the index of the nearest context above it that has
  // one.
  function placeOf(one) {
    let next = one
    while (next !== null && !placeByID.has(next.id)) next = outer(next)
    return placeByID.get(next?.id)
  }

  // Joins the parts of a text that are there.
  const joined = (separator, ...parts) => parts.filter(part => part).join(separator)

  function contents(context, separator) {
    const gone = context.entries.filter(entry => kinds[entry.kind].isGone).length
    const there = context.entries.length - gone
    return joined(separator, there > 0 && plural(there, 'entry', 'entries'), gone > 0 && `${gone} gone`,
      context.below > 0 && `${plural(context.below, 'context')} below`)
  }

  // The text that a screen reader says for a row.
  const label = (one, role) => one.isContext
    ? joined(', ', one.title, scopeOf(one) ?? 'context', contents(one, ', '), role?.words)
    : joined(', ', spell(one.type, one.name), kinds[one.kind].state, one.className,
      one.lifetime && `lifetime ${one.lifetime}`, one.failure !== undefined && `failed: ${one.failure}`, role?.words)

  function fill(box, row, role) {
    const one = row.of
    replace(box, ...one.isContext ? [
      span('twist', row.hasInside ? row.isOpen ? '▾' : '▸' : ''),
      span('tag', ...marked(one.title)), row.level > 24 ? span('badge', `level ${row.level}`) : '',
      scopeOf(one) ? span('badge', scopeOf(one)) : '', row.isOpen ? '' : span('faint', contents(one, ' · ')),
    ] : [
      sign(one.kind), span('state', kinds[one.kind].state), typeName(one.type), span('name', ...marked(one.name)),
      span('class', ...marked(one.className)), span('lifetime', one.lifetime),
      one.failure === undefined ? '' : span('badge warning', 'failed'),
    ], element('span', { className: 'tail' }, span(`role ${role?.name}`, role?.text)))
  }

  // Makes the rows in view, and removes all others. A row that has not changed keeps its element, so that a screen
  // reader does not read it again.
  function drawRows() {
    const first = Math.max(0, Math.floor(treeBox.scrollTop / rowHeight) - overscan)
    const last = Math.min(rows.length, Math.ceil((treeBox.scrollTop + treeBox.clientHeight) / rowHeight) + overscan)
    const drawn = new Set(rows.slice(first, last))
    const selected = rows[placeByID.get(selectedID)]
    if (selected !== undefined) drawn.add(selected)
    rowsBox.style.height = `${rows.length * rowHeight}px`
    for (const row of drawn) {
      const one = row.of
      const role = roles.get(one.id)
      const box = shown.get(one.id) ?? element('div', { id: `row-${nextRow += 1}`, role: 'treeitem' })
      fill(box, row, role)
      const kind = one.isContext ? 'context' : `entry ${one.kind}${kinds[one.kind].isGone ? ' past' : ''}`
      Object.assign(box, {
        rowID: one.id, className: joined(' ', 'row', kind, row === selected && 'selected', role && 'lit'),
        ariaLevel: row.level, ariaPosInSet: row.position, ariaSetSize: row.size, ariaSelected: row === selected,
        ariaLabel: label(one, role), ariaExpanded: row.hasInside ? row.isOpen : null,
      })
      box.style.top = `${placeByID.get(one.id) * rowHeight}px`
      box.style.paddingLeft = `${6 + (Math.min(row.level, 24) - 1) * 18}px`
      if (box.parentNode === null) rowsBox.append(box)
      shown.set(one.id, box)
    }
    for (const [id, box] of shown) {
      if (drawn.has(rows[placeByID.get(id)])) continue
      box.remove()
      shown.delete(id)
    }
    if (selected === undefined) treeBox.removeAttribute('aria-activedescendant')
    else treeBox.setAttribute('aria-activedescendant', shown.get(selectedID).id)
    drawLines()
  }
  let nextRow = 0

  function relist() {
    listRows()
    drawRows()
  }

  """#
