/// The script for the form that starts a lookup, and for the way that the lookup takes.
let lookupScript = #"""
  // MARK: - Looking something up

  let way = null

  for (const [name, words] of [['', ''], ...Object.entries(searches)]) {
    byID('order').append(element('option', { value: name, textContent: `.${name}: ${words}` }))
  }

  // Offers the keys that contain the typed text. There can be thousands, so only a few are offered.
  function offerKeys() {
    const part = byID('key').value.toLowerCase()
    const offered = [...tree.keys.keys()].filter(key => key.toLowerCase().includes(part)).sort().slice(0, 40)
    byID('keys').replaceChildren(...offered.map(value => element('option', { value })))
  }

  // The key that the typed text stands for: the text is the key, or its end. `Clock` means `Shop.Clock`, if there is
  // no other Clock.
  function meantKey(text) {
    const ends = [...tree.keys.keys()].filter(key => key.toLowerCase().endsWith(`.${text.toLowerCase()}`))
    const known = tree.keys.get(text) ?? (ends.length === 1 ? tree.keys.get(ends[0]) : undefined)
    if (known !== undefined) return known
    const [, type, name] = /^(.*?)(?: named "?(.*?)"?)?$/s.exec(text)
    return { type, name }
  }

  // Asks the program for the way of a lookup.
  async function lookUp(asked) {
    const tags = asked.start.path.slice(tree.path.length).map(tag => ['tag', tag])
    const query = [...tags, ...Object.entries(asked.key), ['search', asked.order]]
      .map(([name, value]) => value === undefined ? '' : `&${name}=${encodeURIComponent(value)}`).join('')
    const found = await request(`way.json${query}`).catch(error => ({ summary: noAnswer(error), steps: [] }))
    // There is no entry for an answer in a context above those that this page shows.
    const entryAt = path => {
      const all = tree.byID.get(idOf(path ?? []))?.entries.filter(({ type, name, kind }) =>
        type === asked.key.type && name === asked.key.name && kind !== 'object' && !kinds[kind].isGone) ?? []
      return all.findLast(entry => entry.kind === 'override') ?? all[0]
    }
    const hit = found.steps.find(step => step.isAnswer)
    return { ...found, asked, isHit: hit !== undefined, answer: entryAt(hit?.path), outside: entryAt(found.outside) }
  }

  function showWay() {
    byID('forget').hidden = way === null
    byID('answer').className = way === null ? '' : way.isHit ? 'hit' : 'miss'
    const text = textContent => element('p', { textContent })
    replace(byID('answer'), ...way === null ? [] : [
      element('p', { className: 'summary' }, sign(way.isHit ? 'live' : 'dead'), way.summary),
      way.advice && text(way.advice),
      way.equallyNear > 0 ? text(`${plural(way.equallyNear, 'other')}${way.listsAll ? '' : ' or more'} equally near: `
        + 'the branch that was added first comes first.') : '',
      way.outside && element('p', {}, link(way.outside, 'Show where it is')),
    ])
    replace(byID('steps'), ...way === null ? [] : [
      ...way.steps.map(stepOf),
      way.omitted > 0 ? element('li', { className: 'more', textContent:
        `${plural(way.omitted, 'more context')}${way.listsAll ? ': nothing' : ''}` }) : '',
    ])
  }

  function stepOf({ path, findings, others, isAnswer }) {
    const context = tree.byID.get(idOf(path))
    const listed = findings.flatMap(finding => [element('br'), ...describe(finding)])
    const found = [...listed, ...others > 0 ? [element('br'), `${others} more with other names`] : []].slice(1)
    return element('li', { className: isAnswer ? 'found' : found.length === 0 ? 'nothing' : '' },
      context === undefined ? span('', spellPath(path)) : link(context, spellPath(path)),
      span('finding', ...found.length === 0 ? ['nothing'] : found), isAnswer ? span('role answer', 'found') : '')
  }

  const describe = ({ kind, name, className, lifetime }) => [sign(kind), ` ${joined(' ', kinds[kind].state,
    kinds[kind].isGone ? '' : className ?? lifetime, name !== way.asked.key.name && spell('', name).trim())}`]

  byID('key').addEventListener('input', offerKeys)
  byID('key').addEventListener('focus', offerKeys)
  byID('lookup').addEventListener('submit', async event => {
    event.preventDefault()
    const text = byID('key').value.trim()
    if (text === '' || tree === null) return
    const key = meantKey(text)
    byID('key').value = spell(key.type, key.name)
    const start = contextOf(selected()) ?? tree.contexts[0]
    way = await lookUp({ key, start, order: byID('order').value || undefined })
    showWay()
    // The contexts above the answer are unfolded, so that the tree shows the answer.
    for (let above = way.answer?.context ?? null; above !== null; above = above.parent) open.add(above.id)
    light()
    relist()
    scrollTo(placeByID.get(way.answer?.id))
    byID('steps').scrollIntoView({ block: 'nearest' })
  })
  byID('forget').addEventListener('click', () => {
    way = null
    showWay()
    light()
    drawRows()
    byID('key').focus()
  })

  """#
