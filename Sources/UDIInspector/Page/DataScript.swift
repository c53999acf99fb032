/// The script that reads the program's data, and builds the tree that all other scripts use.
let dataScript = #"""
  // MARK: - The data

  const byID = id => document.getElementById(id)

  // The kinds of entries. `fill` and `line` draw a kind's sign, which can be recognised by its shape alone.
  const circle = r => `M${7 - r} 7a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 -${2 * r} 0`
  const kinds = {
    live: { state: 'alive', fill: circle(4.5) },
    dead: { state: 'dead', line: 'M3.5 3.5 10.5 10.5M10.5 3.5 3.5 10.5', isGone: true },
    kept: { state: 'made', line: circle(5.5), fill: circle(2.75) },
    provider: { state: 'not made', line: circle(4) },
    override: { state: 'override', fill: 'M4 2.5h6q1.5 0 1.5 1.5v6q0 1.5-1.5 1.5h-6q-1.5 0-1.5-1.5v-6q0-1.5 1.5-1.5Z' },
    replaced: { state: 'replaced', line: `${circle(5)}M4 7h6`, isGone: true },
    withdrawn: { state: 'moved', line: 'M2.5 7h8M7.5 3.5 11 7l-3.5 3.5', isGone: true },
    object: { state: 'object', line: 'M7 3 11.5 11h-9Z' },
  }

  const spell = (type, name) => name === undefined ? type : `${type} named "${name}"`
  const scopeOf = ({scope: s, tag}) => s === tag ? 'scope' : s !== undefined ? `scope “${visible(s)}”` : undefined
  const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`

  // A tag may contain any characters. Invisible characters, and those that change the direction of the text, are
  // spelled out.
  const visible = tag => tag === '' ? '(empty)' : tag.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    character => `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`)
  const spellPath = path => path.map(visible).join(' / ')

  // Ids are stable: a context keeps its id in all versions of the data. Siblings never have the same tag.
  const idOf = path => path.map(tag => `/${encodeURIComponent(tag)}`).join('')

  // The parent of a context, or the context of an entry.
  const outer = one => one.isContext ? one.parent : one.context

  function readTree({ path, contexts, dependents, uses, texts }) {
    const read = given => Object.fromEntries(Object.entries(given).map(([name, index]) => [name, texts[index]]))
    const tree = { path, contexts: [], byID: new Map(), keys: new Map() }
    for (const given of contexts) {
      const parent = tree.contexts[given.parent] ?? null
      const context = {
        isContext: true, id: parent === null ? idOf(path) : parent.id + idOf([given.tag]), tag: given.tag, parent,
        path: parent === null ? path : [...parent.path, given.tag], title: visible(given.tag), children: [], below: 0,
        scope: given.scope, search: given.search ?? 'lineage', entries: [],
      }
      tree.contexts.push(context)
      tree.byID.set(context.id, context)
      parent?.children.push(context)
      for (const entry of given.entries ?? []) addEntry(tree, context, read(entry))
      for (const entry of given.removed ?? []) addEntry(tree, context, { ...read(entry), isRemoved: true })
      for (const { type, name } of context.entries) tree.keys.set(spell(type, name), { type, name })
    }
    for (const context of tree.contexts.toReversed()) {
      if (context.parent !== null) context.parent.below += context.below + 1
    }
    // Each object or provider and the dependencies that it needs may be outside the tree, or gone.
    const end = ({ entry, type, name, path }) => entry === undefined
      ? { isOutside: true, type: texts[type], name: texts[name], path } : tree.contexts[entry[0]].entries[entry[1]]
    const users = dependents.map(given => given.entry !== undefined || given.context === undefined ? end(given)
      : addEntry(tree, tree.contexts[given.context], { kind: 'object', type: texts[given.type] }))
    for (const given of uses) {
      const [user, used] = [users[given.dependent], end(given)]
      if (!user.isOutside) user.needs.push(used)
      if (!used.isOutside) used.neededBy.push(user)
    }
    return tree
  }

  // Ids are stable here, too: an entry keeps its id while its state changes.
  function addEntry(tree, context, given) {
    const group = given.isRemoved ? `removed ${given.site} ${given.end}`
      : { dead: 'live', kept: 'provider', override: `override ${given.site}` }[given.kind] ?? given.kind
    const id = `${context.id} ${group} ${encodeURIComponent(spell(given.type, given.name))}`
    const entry = { ...given, id, isContext: false, context, needs: [], neededBy: [] }
    // One line of code can have replaced several bindings of one dependency.
    for (let twins = 1; tree.byID.has(entry.id); twins += 1) entry.id = `${id} ${twins}`
    tree.byID.set(entry.id, entry)
    context.entries.push(entry)
    return entry
  }

  """#
