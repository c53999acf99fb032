extension Page {
  /// The script that reads the program's data, and builds the tree that all other scripts use.
  static let dataScript = #"""
    // MARK: - The data

    // The data contains a number in place of each text: the text's index in the table `texts`.
    const kinds = {
      live: { state: 'alive', shape: 'full', isGone: false },
      dead: { state: 'dead', shape: 'cross', isGone: true },
      kept: { state: 'made', shape: 'ringed', isGone: false },
      provider: { state: 'not made', shape: 'ring', isGone: false },
      override: { state: 'override', shape: 'square', isGone: false },
      replaced: { state: 'replaced', shape: 'over', isGone: true },
      withdrawn: { state: 'moved', shape: 'out', isGone: true },
      object: { state: 'object', shape: 'triangle', isGone: false },
    }

    const spell = (type, name) => name === null ? type : `${type} named "${name}"`
    const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`

    // A tag may contain any characters. Invisible characters, and those that change the direction of the text, are
    // spelled out.
    const visible = tag => tag === '' ? '(empty)' : tag.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
      character => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`)
    const spellPath = path => path.map(visible).join(' / ')

    // Ids are stable: a context keeps its id in all versions of the data. Siblings never have the same tag.
    const contextID = (parent, tag) => `${parent === null ? '' : parent.id}/${encodeURIComponent(tag)}`

    // The parent of a context, or the context of an entry.
    const outer = one => one.isContext ? one.parent : one.context

    function readTree(data) {
      const text = index => index === undefined ? null : data.texts[index]
      const tree = { path: data.path, contexts: [], byID: new Map(), keys: new Map(), counts: data.counts }
      for (const given of data.contexts) {
        const parent = given.parent === undefined ? null : tree.contexts[given.parent]
        const context = {
          isContext: true, id: contextID(parent, given.tag), tag: given.tag, title: visible(given.tag), parent,
          level: parent === null ? 1 : parent.level + 1, children: [], below: 0,
          isScope: given.scope === true, search: given.search ?? 'lineage',
          entries: [],
        }
        context.path = parent === null ? data.path : [...parent.path, given.tag]
        for (const entry of given.entries ?? []) context.entries.push(readEntry(context, entry, text))
        tree.contexts.push(context)
        tree.byID.set(context.id, context)
        if (parent !== null) parent.children.push(context)
        for (const entry of context.entries) {
          tree.byID.set(entry.id, entry)
          const { type, name } = entry
          if (entry.kind !== 'object') tree.keys.set(spell(type, name), { type, name })
        }
      }
      for (const context of tree.contexts.toReversed()) {
        if (context.parent !== null) context.parent.below += context.below + 1
      }
      relate(tree, data, text)
      return tree
    }

    function readEntry(context, given, text) {
      const entry = {
        isContext: false, context, kind: given.kind, type: text(given.type), name: text(given.name),
        className: text(given.class), site: text(given.site), lifetime: text(given.lifetime),
        wants: (given.arguments ?? []).map(text), failure: text(given.failure),
        nanoseconds: given.nanoseconds ?? null,
        isRemoved: given.removed === true, isAlive: given.alive === true, end: text(given.end), needs: [], neededBy: [],
      }
      const group = {
        live: 'binding', dead: 'binding', kept: 'provider', provider: 'provider', override: `override ${entry.site}`,
        object: `object ${context.entries.filter(one => one.type === entry.type).length}`,
      }[entry.isRemoved ? 'removed' : given.kind] ?? `removed ${entry.site} ${entry.end}`
      entry.id = `${context.id} ${group} ${encodeURIComponent(spell(entry.type, entry.name))}`
      // One line of code can have replaced several bindings of one dependency.
      const twins = entry.isRemoved ? context.entries.filter(one => one.base === entry.id).length : 0
      entry.base = entry.id
      if (twins > 0) entry.id += ` ${twins}`
      return entry
    }

    // Connects each object or provider with the dependencies that it needs. Both may be outside the tree, or gone.
    function relate(tree, data, text) {
      const end = given => Array.isArray(given) ? tree.contexts[given[0]].entries[given[1]]
        : { isOutside: true, type: text(given.type), name: text(given.name), path: given.path ?? null }
      for (const given of data.uses ?? []) {
        const [user, used] = [end(given.from), end(given.to)]
        if (!user.isOutside) user.needs.push(used)
        if (!used.isOutside) used.neededBy.push(user)
      }
    }

    """#
}
