extension Page {
  /// The script that shows all facts about the selected context or entry.
  static let detailsScript = #"""
    // MARK: - The selection

    const byID = id => document.getElementById(id)
    const longestList = 16
    let shownFacts = null

    // A button that selects a context or entry.
    const link = (one, ...children) => {
      const made = element('button', { type: 'button', className: 'link' }, ...children)
      made.addEventListener('click', () => reveal(one))
      return made
    }

    function keyOf(one) {
      return element('span', { className: 'key' }, typeName(one.type),
        one.name === null ? '' : element('span', { className: 'name', textContent: one.name }))
    }

    // The path of a context, in which each part is a button that selects a context.
    function pathOf(context) {
      const parts = []
      for (let next = context; next !== null; next = next.parent) parts.unshift(next)
      const above = tree.path.slice(0, -1)
      return element('span', { className: 'path' }, above.length > 0 ? `${spellPath(above)} / ` : '',
        ...parts.flatMap((part, index) => [index > 0 ? ' / ' : '', link(part, part.title)]))
    }

    const relation = one => element('li', { className: 'relation' }, one.isOutside
      ? element('span', { className: 'gone' }, keyOf(one), element('span', { className: 'faint', textContent:
        one.path === null ? 'gone' : `in ${quote(one.path)}` }))
      : link(one, sign(kinds[one.kind].shape), keyOf(one),
        element('span', { className: 'faint', textContent: contextOf(one).title })))

    function duration(nanoseconds) {
      const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns']]
      const [size, unit] = units.find(([size]) => nanoseconds >= size)
      return `${Number((nanoseconds / (size || 1)).toPrecision(3))} ${unit}`
    }

    const entryFacts = one => [
      ['State', element('span', { className: `fact ${one.kind}` }, sign(kinds[one.kind].shape), stateOf(one))],
      ['Class', one.kind === 'object' ? one.type : one.className],
      ['Lifetime', one.lifetime],
      ['Making took', one.nanoseconds === null ? null : duration(one.nanoseconds)],
      ['Wants', one.wants.length === 0 ? null : one.wants.join(', ')],
      ['Failed', one.failure],
      ['In', pathOf(one.context)],
      ['Written at', one.site === null ? null : code(one.site)],
      [one.kind === 'replaced' ? 'Replaced at' : 'Withdrawn at', one.end === null ? null : code(one.end)],
      ['Needs', list(one.needs, relation)],
      ['Needed by', list(one.neededBy, relation)],
    ]

    // A place in the source. It may be broken after the folder.
    const code = site => element('code', {}, ...site.split(/(?<=\/)/).flatMap((part, index) =>
      index > 0 ? [element('wbr'), part] : [part]))

    const stateOf = one => ({
      live: 'bound, and alive', dead: one.isRemoved ? 'died: nothing held it' : 'bound, but dead: nothing held it',
      replaced: `replaced by another instance, and ${one.isAlive ? 'still alive' : 'dead by now'}`,
      withdrawn: (one.end === null ? 'the context of its object has ended' : 'bound in another context')
        + `, and ${one.isAlive ? 'still alive' : 'dead by now'}`,
      kept: 'made, and kept by the provider',
      provider: one.lifetime === 'unique' || one.lifetime === 'graph' ? 'a provider, which keeps nothing that it makes'
        : 'a provider, which keeps nothing yet',
      override: 'put there by a test', object: 'attached here; it only looks things up',
    })[one.kind]

    const contextFacts = one => [
      ['Path', pathOf(one)],
      ['Kind', one.isScope ? 'a scope: nobody outside sees what is in it' : 'a context'],
      ['Search', `.${one.search}: ${searches[one.search].words}`],
      ['Has', list(one.entries, content) ?? 'nothing'],
      ['Below', one.below === 0 ? 'nothing' : plural(one.below, 'context')],
    ]

    const content = entry => element('li', { className: 'relation' }, link(entry, sign(kinds[entry.kind].shape),
      element('span', { className: 'state', textContent: kinds[entry.kind].state }), keyOf(entry)))

    function list(all, item) {
      if (all.length === 0) return null
      const unique = [...new Set(all)]
      return element('ul', {}, ...unique.slice(0, longestList).map(item),
        unique.length <= longestList ? ''
          : element('li', { className: 'faint', textContent: `${unique.length - longestList} more` }))
    }

    function showSelection() {
      light()
      const one = selected()
      const context = contextOf(one)
      byID('from').textContent = context === null ? 'the root' : spellPath(context.path)
      byID('order').options[0].textContent = `the context’s own: .${(context ?? tree.contexts[0]).search}`
      const facts = one === null ? [] : one.isContext ? contextFacts(one) : entryFacts(one)
      const box = element('dl', {}, ...facts.filter(([, value]) => value !== null).flatMap(([name, value]) =>
        [element('dt', { textContent: name }), element('dd', {}, value)]))
      // If nothing has changed, the details are not rebuilt, so that readers do not lose their place.
      const signature = `${one?.id} ${box.textContent}`
      if (signature === shownFacts) return
      shownFacts = signature
      byID('details-title').replaceChildren(one === null ? 'Nothing selected' : one.isContext ? one.title : keyOf(one))
      byID('facts').replaceChildren(one === null
        ? element('p', { className: 'faint', textContent: 'Select a context, or something that it has.' }) : box)
    }

    """#
}
