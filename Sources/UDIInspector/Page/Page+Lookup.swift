extension Page {
  /// The script for the form that starts a lookup, and for the way that the lookup takes.
  static let lookupScript = #"""
    // MARK: - Looking something up

    let way = null

    for (const [name, { words }] of [['', { words: '' }], ...Object.entries(searches)]) {
      byID('order').append(element('option', { value: name, textContent: `.${name}: ${words}` }))
    }

    // Offers the keys that contain the typed text. There can be thousands, so only a few are offered.
    function offerKeys() {
      const part = byID('key').value.toLowerCase()
      const offered = []
      for (const key of tree.keys.keys()) {
        if (offered.length < 40 && key.toLowerCase().includes(part)) offered.push(key)
      }
      byID('keys').replaceChildren(...offered.sort().map(value => element('option', { value })))
    }

    // The key that the typed text stands for: the text is the key, or its end. `Clock` means `Shop.Clock`, if there is
    // no other Clock.
    function meantKey(text) {
      const known = tree.keys.get(text)
      if (known !== undefined) return known
      const lower = text.toLowerCase()
      const keys = [...tree.keys.keys()]
      for (const fits of [key => key.endsWith(`.${text}`), key => key.toLowerCase().endsWith(`.${lower}`)]) {
        const found = keys.filter(fits)
        if (found.length === 1) return tree.keys.get(found[0])
      }
      const [, type, name] = /^(.*?)(?: named "?(.*?)"?)?$/s.exec(text)
      return { type, name: name ?? null }
    }

    async function lookUp({ key, start, order }) {
      const found = await ask(key, start, order) ?? wayOf(start, key, order)
      found.request = { key, start, order }
      found.summary ??= summarize(found)
      return found
    }

    function showWay() {
      byID('forget').hidden = way === null
      byID('answer').className = way === null ? '' : way.answer === null ? 'miss' : 'hit'
      const steps = way === null ? [] : way.steps.map((step, index) => element('li',
        { className: step.isAnswer ? 'found' : step.findings.length === 0 ? 'nothing' : '' },
        step.context === null ? element('span', { textContent: spellPath(step.path) })
          : link(step.context, spellPath(step.path)),
        element('span', { className: 'finding', textContent: step.findings.length === 0 ? 'nothing' : '' },
          ...step.findings.flatMap((finding, place) => [place > 0 ? element('br') : '', describe(finding)])),
        step.isAnswer ? element('span', { className: 'role answer', textContent: 'found' }) : ''))
      const more = text => steps.push(element('li', { className: 'more', textContent: text }))
      // Until enough contexts are listed, all that have something are.
      if (way !== null && way.omittedCount > 0) {
        more(`${plural(way.omittedCount, 'more context')}${way.steps.length < listed ? ': nothing' : ''}`)
      }
      // Unchanged elements are not replaced, so that readers do not lose their place.
      replace(byID('steps'), steps)
      const text = way === null ? [] : [
        element('p', { className: 'summary' }, sign(way.answer === null ? 'cross' : 'full'), way.summary),
        way.advice ? element('p', { textContent: way.advice }) : '',
        way.answer !== null && way.equallyNearCount > 0 ? element('p', { textContent:
          `${plural(way.equallyNearCount, 'other')}${way.steps.length < listed ? '' : ' or more'} equally near: `
            + 'the branch that was added first comes first.' }) : '',
        way.outside ? element('p', {}, link(way.outside.entry, 'Show where it is')) : '',
        way.goesBeyond ? element('p', { textContent: 'The lookup goes on above what this page shows.' }) : '',
      ].filter(part => part !== '')
      replace(byID('answer'), text)
    }

    function replace(box, children) {
      const text = children.map(child => child.textContent).join('|')
      if (box.content === text) return
      box.content = text
      box.replaceChildren(...children)
    }

    function describe(finding) {
      const text = finding.kind === 'live' || finding.kind === 'kept' || finding.kind === 'override'
        ? finding.className ?? '' : finding.kind === 'provider' ? finding.lifetime ?? '' : ''
      return element('span', {}, sign((kinds[finding.kind] ?? kinds.dead).shape),
        ` ${(kinds[finding.kind] ?? { state: finding.kind }).state} `, text,
        finding.name !== null && finding.name !== way.key.name ? ` named "${finding.name}"` : '')
    }

    byID('key').addEventListener('input', offerKeys)
    byID('key').addEventListener('focus', offerKeys)
    byID('lookup').addEventListener('submit', async event => {
      event.preventDefault()
      const text = byID('key').value.trim()
      if (text === '' || tree === null) return
      const key = meantKey(text)
      byID('key').value = spell(key.type, key.name)
      way = await lookUp({ key, start: contextOf(selected()) ?? tree.contexts[0], order: byID('order').value || null })
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
}
