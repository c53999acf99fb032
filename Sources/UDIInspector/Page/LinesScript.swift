/// The script that highlights the rows that are related to the selection or on the way of a lookup, and draws lines
/// between them.
let linesScript = #"""
  // MARK: - What lights up

  const linesBox = byID('lines')
  // For the id of each row, its relation to the selection or to the way of a lookup.
  let roles = new Map()
  let lines = []

  const isIn = (one, context) => contextOf(one) === context

  function light() {
    roles = new Map()
    lines = []
    const one = selected()
    const entries = one === null ? [] : one.isContext ? one.entries : [one]
    // For a context, only relations that lead out of the context are shown.
    const counts = other => !other.isOutside && (one.isContext ? !isIn(other, one) : other !== one)
    for (const entry of entries) {
      for (const needed of entry.needs.filter(counts)) {
        roles.set(needed.id, { name: 'needed', text: 'needed', words: 'needed by the selection' })
        lines.push({ from: entry, to: needed, kind: 'needed' })
      }
      for (const user of entry.neededBy.filter(counts)) {
        roles.set(user.id, { name: 'needs', text: 'needs it', words: 'needs the selection' })
        lines.push({ from: user, to: entry, kind: 'needs' })
      }
    }
    if (way !== null) lightWay()
  }

  function lightWay() {
    const contexts = way.steps.map(step => tree.byID.get(idOf(step.path)))
    contexts.forEach((context, index) => {
      if (context === undefined) return
      roles.set(context.id, { name: 'step', text: `${index + 1}`, words: `step ${index + 1} of the lookup` })
      if (contexts[index - 1] !== undefined) lines.push({ from: contexts[index - 1], to: context, kind: 'step' })
    })
    if (way.answer) roles.set(way.answer.id, { name: 'answer', text: 'found', words: 'found by the lookup' })
  }

  // The lines are drawn at the right edge of the tree, from row to row. If a row is folded away, its line ends at the
  // row that contains it.
  function drawLines() {
    const height = treeBox.clientHeight
    linesBox.style.top = `${treeBox.scrollTop}px`
    linesBox.setAttribute('height', height)
    const drawn = new Map()
    for (const { from, to, kind } of lines.slice(0, 200)) {
      const [start, end] = [placeOf(from), placeOf(to)]
      if (start === undefined || end === undefined || start === end) continue
      drawn.set(`${start} ${end} ${kind}`, { start, end, kind })
    }
    const top = rowsBox.offsetTop - treeBox.scrollTop
    const y = place => Math.max(-40, Math.min(height + 40, top + (place + 0.5) * rowHeight))
    linesBox.replaceChildren(...[...drawn.values()].map(({ start, end, kind }) => {
      const [from, to] = [y(start), y(end)]
      const reach = 10 + Math.min(44, 6 + Math.abs(end - start) * 3)
      return drawing('g', { class: kind },
        drawing('path', { class: 'curve', d: `M0 ${from}C${reach} ${from} ${reach} ${to} 4 ${to}` }),
        drawing('path', { class: 'head', d: `M0 ${to}l8 -4v8Z` }))
    }))
    treeBox.classList.toggle('has-lines', lines.length > 0)
  }

  """#
