/// The script that shows all facts about the selected context or entry.
let detailsScript = #"""
  // MARK: - The selection

  const longestList = 16

  // A button that selects a context or entry.
  const link = (one, ...children) =>
    element('button', { type: 'button', className: 'link', value: one.id }, ...children)
  document.addEventListener('click', event => {
    const one = tree?.byID.get(event.target.closest('button.link')?.value)
    if (one !== undefined) reveal(one)
  })

  const keyOf = one => span('key', typeName(one.type), span('name', one.name))

  // The path of a context, in which each part is a button that selects a context.
  function pathOf(context) {
    const parts = []
    for (let next = context; next !== null; next = next.parent) parts.unshift(' / ', link(next, next.title))
    const above = tree.path.slice(0, -1)
    return span('path', above.length > 0 ? `${spellPath(above)} / ` : '', ...parts.slice(1))
  }

  const relation = one => element('li', { className: 'relation' }, one.isOutside
    ? span('gone', keyOf(one), span('faint', one.path === undefined ? 'gone' : `in “${spellPath(one.path)}”`))
    : link(one, sign(one.kind), keyOf(one), span('faint', one.context.title)))

  const entryFacts = one => [
    ['State', span('fact', sign(one.kind), stateOf(one))],
    ['Class', one.kind === 'object' ? one.type : one.className],
    ['Lifetime', one.lifetime],
    ['Making took', one.nanoseconds && `${Number((one.nanoseconds / 1e6).toPrecision(3))} ms`],
    ['Wants', one.wants],
    ['Failed', one.failure],
    ['In', pathOf(one.context)],
    ['Written at', code(one.site)],
    [one.kind === 'replaced' ? 'Replaced at' : 'Withdrawn at', code(one.end)],
    ['Needs', list(one.needs, relation)],
    ['Needed by', list(one.neededBy, relation)],
  ]

  // A place in the source.
  const code = textContent => textContent && element('code', { textContent })

  const stateOf = one => ({
    live: 'bound, and alive', dead: one.isRemoved ? 'died: nothing held it' : 'bound, but dead: nothing held it',
    replaced: `replaced by another instance, and ${one.isAlive ? 'still alive' : 'dead by now'}`,
    withdrawn: (one.end === undefined ? 'the context of its object has ended' : 'bound in another context')
      + `, and ${one.isAlive ? 'still alive' : 'dead by now'}`,
    kept: 'made, and kept by the provider',
    provider: one.lifetime === 'unique' || one.lifetime === 'graph' ? 'a provider, which keeps nothing that it makes'
      : 'a provider, which keeps nothing yet',
    override: 'put there by a test', object: 'attached here; it only looks things up',
  })[one.kind]

  const searches = {
    lineage: 'here, then below, then above',
    descendants: 'here, then below',
    local: 'here alone',
    ancestors: 'here, then above',
  }

  const contextFacts = one => [
    ['Path', pathOf(one)],
    ['Kind', scopeOf(one) ? `a ${scopeOf(one)}: nobody outside sees what is in it` : 'a context'],
    ['Search', `.${one.search}: ${searches[one.search]}`],
    ['Has', list(one.entries, content) ?? 'nothing'],
    ['Below', one.below === 0 ? 'nothing' : plural(one.below, 'context')],
  ]

  const content = entry => element('li', { className: 'relation' },
    link(entry, sign(entry.kind), span('state', kinds[entry.kind].state), keyOf(entry)))

  function list(all, item) {
    const unique = [...new Set(all)]
    const rest = unique.splice(longestList).length
    if (unique.length === 0) return undefined
    return element('ul', {}, ...unique.map(item),
      rest === 0 ? '' : element('li', { className: 'faint', textContent: `${rest} more` }))
  }

  function showSelection() {
    light()
    const one = selected()
    const context = contextOf(one)
    byID('from').textContent = context === null ? 'the root' : spellPath(context.path)
    byID('order').options[0].textContent = `the context’s own: .${(context ?? tree.contexts[0]).search}`
    const facts = one === null ? [] : one.isContext ? contextFacts(one) : entryFacts(one)
    replace(byID('details-title'), one === null ? 'Nothing selected' : one.isContext ? one.title : keyOf(one))
    replace(byID('facts'), one !== null
      ? element('dl', {}, ...facts.filter(([, value]) => value !== undefined).flatMap(([name, value]) =>
        [element('dt', { textContent: name }), element('dd', {}, value)]))
      : element('p', { className: 'faint', textContent: 'Select a context, or something that it has.' }))
  }

  // Replaces what is in an element, if it has changed. Otherwise, readers would lose their place.
  function replace(box, ...children) {
    const next = element('div', {}, ...children)
    if (next.isEqualNode(box.content)) return
    box.content = next.cloneNode(true)
    box.replaceChildren(...next.childNodes)
  }

  """#
