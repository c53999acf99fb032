extension Page {
  /// The script that shows the tree as rows. Elements exist only for the rows in view, so a tree of any size needs only
  /// a few.
  static let treeScript = #"""
    // MARK: - The tree

    const rowHeight = 30, overscan = 12
    const treeBox = document.getElementById('tree')
    const rowsBox = document.getElementById('rows')

    let tree = null
    // The rows of the tree as it is shown now, including those out of view; and the index of each row, by its id.
    let rows = [], placeByID = new Map()
    // The contexts that are unfolded in normal use (`open`), and those that are unfolded while only the matches of a
    // search are shown (`openInSearch`).
    const open = new Set(), openInSearch = new Set()
    let selectedID = null, words = []
    const shown = new Map()

    function element(name, properties = {}, ...children) {
      const made = Object.assign(document.createElement(name), properties)
      made.append(...children.filter(child => child !== null && child !== ''))
      return made
    }

    function drawing(name, attributes, ...children) {
      const made = document.createElementNS('http://www.w3.org/2000/svg', name)
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
      made.append(...children)
      return made
    }

    // A sign that can be recognised by its shape alone.
    function sign(shape) {
      const parts = {
        full: [['circle', { cx: 7, cy: 7, r: 4.5, class: 'fill' }]],
        ring: [['circle', { cx: 7, cy: 7, r: 4, class: 'line dashed' }]],
        ringed: [['circle', { cx: 7, cy: 7, r: 5.5, class: 'line' }],
          ['circle', { cx: 7, cy: 7, r: 2.75, class: 'fill' }]],
        cross: [['path', { d: 'M3.5 3.5 10.5 10.5M10.5 3.5 3.5 10.5', class: 'line thick' }]],
        triangle: [['path', { d: 'M7 3 11.5 11h-9Z', class: 'line' }]],
        over: [['circle', { cx: 7, cy: 7, r: 5, class: 'line' }], ['path', { d: 'M4 7h6', class: 'line' }]],
        out: [['path', { d: 'M2.5 7h8M7.5 3.5 11 7l-3.5 3.5', class: 'line' }]],
        square: [['rect', { x: 2.5, y: 2.5, width: 9, height: 9, rx: 1.5, class: 'fill' }]],
      }[shape]
      return drawing('svg', { viewBox: '0 0 14 14', class: `sign ${shape}`, 'aria-hidden': 'true' },
        ...parts.map(([name, attributes]) => drawing(name, attributes)))
    }

    // A type's name, with its module in a less prominent style, because `Shop.` matters less than `Clock`. The address
    // in the name of a private or local type is left out.
    function typeName(reflected) {
      const type = reflected.replace(/(\(unknown context at \$[0-9a-f]+\)\.)+/g, '(private).')
      const module = /^[\p{L}_][\p{L}\p{N}_]*\.(?=.)/u.exec(type)?.[0] ?? ''
      return element('span', { className: 'type' },
        module === '' ? null : element('span', { className: 'module', textContent: module }),
        ...marked(type.slice(module.length)))
    }

    // The text, in which all matches of the search are marked.
    function marked(text) {
      if (words.length === 0) return [text]
      const pattern = new RegExp(`(${words.map(RegExp.escape ?? escaped).join('|')})`, 'giu')
      // Every second part is a match.
      return text.split(pattern).map((part, index) => index % 2 === 0 ? part : element('mark', { textContent: part }))
    }

    const escaped = text => text.replace(/[\\^$.*+?()[\]{}|\/]/g, '\\$&')

    // MARK: Rows

    const matches = (...texts) => {
      const text = texts.filter(one => one !== null).join(' ').toLowerCase()
      return words.every(word => text.includes(word))
    }
    const isMatch = one => one.isContext ? matches(one.title) : matches(one.type, one.name, one.className)

    function listRows() {
      rows = []
      let found = 0
      const wanted = new Set()
      if (words.length > 0) {
        for (const context of tree.contexts) {
          for (const one of [context, ...context.entries]) {
            if (!isMatch(one)) continue
            found += 1
            wanted.add(one)
            for (let above = outer(one); above !== null && !wanted.has(above); above = above.parent) wanted.add(above)
          }
        }
      }
      const isShown = one => words.length === 0 || wanted.has(one)
      // The function uses a stack instead of recursion, because a tree can be too deep for JavaScript's call stack.
      const pending = tree.contexts.length === 0 || !isShown(tree.contexts[0]) ? []
        : [{ of: tree.contexts[0], level: 1, position: 1, size: 1 }]
      while (pending.length > 0) {
        const row = pending.pop()
        rows.push(row)
        if (!row.of.isContext) continue
        let inside = [...row.of.entries, ...row.of.children].filter(isShown)
        if (inside.length === 0 && openInSearch.has(row.of.id)) inside = [...row.of.entries, ...row.of.children]
        row.isOpen = words.length > 0 ? inside.length > 0 : open.has(row.of.id)
        row.hasInside = row.of.entries.length + row.of.children.length > 0
        if (!row.isOpen) continue
        for (let index = inside.length - 1; index >= 0; index -= 1) {
          pending.push({ of: inside[index], level: row.level + 1, position: index + 1, size: inside.length })
        }
      }
      placeByID = new Map(rows.map((row, place) => [row.of.id, place]))
      document.getElementById('found').textContent = words.length === 0 ? ''
        : found === 0 ? 'Nothing found' : `${plural(found, 'match', 'matches')}`
    }

    // The index of the row of a context or entry. If it has no row, the index of the nearest context above it that has
    // one.
    function placeOf(one) {
      for (let next = one; next !== null; next = outer(next)) {
        const place = placeByID.get(next.id)
        if (place !== undefined) return place
      }
      return undefined
    }

    function contents(context) {
      const gone = context.entries.filter(entry => kinds[entry.kind].isGone).length
      const there = context.entries.length - gone
      return [there > 0 ? plural(there, 'entry', 'entries') : '', gone > 0 ? `${gone} gone` : '',
        context.below > 0 ? `${plural(context.below, 'context')} below` : ''].filter(text => text !== '')
    }

    // The text that a screen reader says for a row.
    function label(row, role) {
      const one = row.of
      const parts = one.isContext
        ? [one.title, one.isScope ? 'scope' : 'context', ...contents(one)]
        : [spell(one.type, one.name), kinds[one.kind].state, one.className ?? '',
          one.lifetime === null ? '' : `lifetime ${one.lifetime}`, one.failure === null ? '' : `failed: ${one.failure}`]
      return [...parts, role?.words ?? ''].filter(text => text !== '').join(', ')
    }

    function fill(box, row, role) {
      const one = row.of
      const indent = element('span', { className: 'indent' })
      indent.style.width = `${(Math.min(row.level, 24) - 1) * 18}px`
      const tail = element('span', { className: 'tail' },
        role === undefined ? null : element('span', { className: `role ${role.name}`, textContent: role.text }))
      if (one.isContext) {
        const twist = element('span', { className: `twist ${row.hasInside ? row.isOpen ? 'down' : 'right' : 'none'}` })
        box.replaceChildren(indent, twist,
          element('span', { className: 'tag' }, ...marked(one.title)),
          row.level > 24 ? element('span', { className: 'badge', textContent: `level ${row.level}` }) : '',
          one.isScope ? element('span', { className: 'badge', textContent: 'scope' }) : '',
          row.isOpen ? '' : element('span', { className: 'faint', textContent: contents(one).join(' · ') }), tail)
      } else {
        box.replaceChildren(indent, sign(kinds[one.kind].shape),
          element('span', { className: 'state', textContent: kinds[one.kind].state }), typeName(one.type),
          one.name === null ? '' : element('span', { className: 'name' }, ...marked(one.name)),
          one.className === null ? '' : element('span', { className: 'class' }, ...marked(one.className)),
          one.lifetime === null ? '' : element('span', { className: 'lifetime', textContent: one.lifetime }),
          one.failure === null ? '' : element('span', { className: 'badge warning', textContent: 'failed' }), tail)
      }
    }

    // Makes the rows in view, and removes all others. A row that has not changed keeps its element, so that a screen
    // reader does not read it again.
    function drawRows() {
      const first = Math.max(0, Math.floor(treeBox.scrollTop / rowHeight) - overscan)
      const last = Math.min(rows.length, Math.ceil((treeBox.scrollTop + treeBox.clientHeight) / rowHeight) + overscan)
      const places = new Set()
      for (let place = first; place < last; place += 1) places.add(place)
      const selected = placeByID.get(selectedID)
      if (selected !== undefined) places.add(selected)
      rowsBox.style.height = `${rows.length * rowHeight}px`
      const drawn = new Set()
      for (const place of [...places].sort((left, right) => left - right)) {
        const row = rows[place]
        const isSelected = row.of.id === selectedID
        const role = roles.get(row.of.id)
        const text = label(row, role)
        const signature = [text, row.level, row.isOpen, row.of.kind, words.join(' '), role?.text].join('|')
        let known = shown.get(row.of.id)
        if (known === undefined) {
          known = { box: element('div', { id: `row-${nextRow += 1}` }), signature: null }
          known.box.setAttribute('role', 'treeitem')
          shown.set(row.of.id, known)
        }
        const { box } = known
        if (known.signature !== signature) {
          known.signature = signature
          fill(box, row, role)
          box.setAttribute('aria-label', text)
        }
        box.rowID = row.of.id
        const kind = row.of.isContext ? 'context' : `entry ${row.of.kind} ${kinds[row.of.kind].isGone ? 'past' : ''}`
        box.className = ['row', kind, isSelected ? 'selected' : '',
          role === undefined ? roles.size > 0 && !isSelected ? 'other' : '' : `lit ${role.name}`].join(' ')
        box.style.top = `${place * rowHeight}px`
        box.setAttribute('aria-level', row.level)
        box.setAttribute('aria-posinset', row.position)
        box.setAttribute('aria-setsize', row.size)
        box.setAttribute('aria-selected', isSelected)
        if (row.of.isContext && row.hasInside) box.setAttribute('aria-expanded', row.isOpen)
        else box.removeAttribute('aria-expanded')
        if (box.parentNode === null) rowsBox.append(box)
        if (isSelected) treeBox.setAttribute('aria-activedescendant', box.id)
        drawn.add(row.of.id)
      }
      for (const [id, { box }] of shown) {
        if (drawn.has(id)) continue
        box.remove()
        shown.delete(id)
      }
      if (selected === undefined) treeBox.removeAttribute('aria-activedescendant')
      drawLines()
    }
    let nextRow = 0

    function relist() {
      listRows()
      drawRows()
    }

    """#
}
