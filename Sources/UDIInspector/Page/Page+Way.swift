extension Page {
  /// The script that computes the way of a lookup from the data, as `UDIContext.explain` does. A page that was written
  /// to a file always uses this script. A page that a server sent asks the program, and uses this script only if the
  /// program does not answer or does not know the way.
  static let wayScript = #"""
    // MARK: - The way of a lookup

    const searches = {
      lineage: { below: true, above: true, words: 'here, then below, then above' },
      descendants: { below: true, above: false, words: 'here, then below' },
      local: { below: false, above: false, words: 'here alone' },
      ancestors: { below: false, above: true, words: 'here, then above' },
    }
    // An explanation lists at most `listed` contexts. It lists a context that has nothing only while fewer than
    // `listedInOrder` contexts are listed.
    const listedInOrder = 12, listed = 100

    // Yields the given context and those below it, level by level. Skips scopes below it, and everything in them.
    function* levels(first) {
      for (let level = [first]; level.length > 0;) {
        yield level
        level = level.flatMap(context => context.children.filter(child => !child.isScope))
      }
    }

    function* ancestors(context) {
      for (let next = context.parent; next !== null; next = next.parent) yield next
    }

    // An explanation lists this many of the removed bindings of a context.
    const shownRecords = 3

    // The entries of a context under a key, in the order of precedence; then the removed bindings, the latest first.
    function findings(context, { type, name }) {
      const all = context.entries.filter(entry => entry.type === type && entry.name === name && entry.kind !== 'object')
      const own = all.filter(entry => !entry.isRemoved)
      const records = all.filter(entry => entry.isRemoved).reverse().slice(0, shownRecords)
      const order = ['override', 'live', 'dead', 'kept', 'provider']
      const inForce = own.findLast(entry => entry.kind === 'override')
      return [...own.filter(entry => entry.kind !== 'override' || entry === inForce)
        .sort((left, right) => order.indexOf(left.kind) - order.indexOf(right.kind)), ...records]
    }

    const answering = (context, key) => findings(context, key).find(entry => !kinds[entry.kind].isGone) ?? null

    function nearest(first, key) {
      for (const level of levels(first)) {
        for (const context of level) {
          const entry = answering(context, key)
          if (entry !== null) return entry
        }
      }
      return null
    }

    // For a lookup without an answer: finds the nearest place that has the dependency, and the scope, if any, that
    // hides it.
    function outside(start, key, search) {
      let visited = null
      for (const context of [start, ...ancestors(start)]) {
        const entry = context === start && searches[search].below ? null : nearest(context, key)
        if (entry !== null) return { entry, scope: null }
        for (let level = [context]; level.length > 0;) {
          for (const scope of level) {
            const hidden = scope !== context && scope.isScope ? nearest(scope, key) : null
            if (hidden !== null) return { entry: hidden, scope }
          }
          level = level.flatMap(one => one.children.filter(child => child !== visited))
        }
        visited = context
      }
      return null
    }

    // The removed binding that explains why nothing is found in a context: the latest one, unless its object has died
    // and the object of an earlier, replaced binding is still alive.
    function decisive(gone) {
      const [last = null] = gone
      if (last === null || last.isAlive) return last
      return gone.find(one => one.kind === 'replaced' && one.isAlive) ?? last
    }

    function wayOf(start, key, givenSearch) {
      const search = givenSearch ?? start.search
      const way = {
        key, start, search, steps: [], answer: null, omittedCount: 0, equallyNearCount: 0,
        outside: null, cause: 'found', gone: null,
      }
      const seen = []
      function look(context) {
        const own = findings(context, key)
        const others = context.entries.filter(entry =>
          entry.type === key.type && entry.name !== key.name && entry.kind !== 'object' && !entry.isRemoved)
        seen.push(...own, ...others)
        way.gone ??= decisive(own.filter(one => kinds[one.kind].isGone))
        const step = { context, path: context.path, findings: [...own, ...others], isAnswer: false }
        const isListed = way.steps.length < (step.findings.length === 0 ? listedInOrder : listed)
        if (isListed) way.steps.push(step)
        else way.omittedCount += 1
        const entry = own.find(one => !kinds[one.kind].isGone)
        if (entry === undefined) return
        if (way.answer !== null) { way.equallyNearCount += isListed ? 1 : 0; return }
        way.answer = entry
        step.isAnswer = true
      }
      const alone = [...(searches[search].below ? [] : [start]), ...(searches[search].above ? ancestors(start) : [])]
      if (searches[search].below) {
        for (const level of levels(start)) {
          level.forEach(look)
          if (way.answer !== null) return way
        }
      }
      for (const context of alone) {
        look(context)
        if (way.answer !== null) return way
      }
      way.others = seen.filter(entry => entry.name !== key.name && !kinds[entry.kind].isGone)
      way.outside = outside(start, key, search)
      way.cause = way.gone !== null ? way.gone.kind
        : way.outside !== null ? (way.outside.scope === null ? 'outOfReach' : 'inScope')
        : way.others.length > 0 ? 'otherNames' : 'notRegistered'
      way.goesBeyond = searches[search].above && tree.path.length > 1
      return way
    }

    const quote = path => `“${spellPath(path)}”`

    // The answer in words. The program gives a better text, but a page in a file cannot ask the program.
    function summarize(way) {
      const key = spell(way.key.type, way.key.name)
      const entry = way.answer
      const where = one => `${quote(one.context.path)}, registered at ${one.site}`
      switch (way.cause) {
        case 'found': return `${key} is there: ` + (entry.kind === 'provider'
          ? `the provider in ${where(entry)}, makes one.` : `the ${entry.className} in ${where(entry)}.`)
        case 'dead': return `${key} has died: it was bound in ${where(way.gone)}, and nothing held it.`
        case 'replaced': return `${key} is no longer there: it was bound in ${where(way.gone)}. It was replaced at `
          + `${way.gone.end}, and what was bound then is gone.`
        case 'withdrawn': return `${key} is no longer there: it was bound in ${where(way.gone)}. `
          + (way.gone.end === null
            ? 'The context of its object has ended.' : `The bind at ${way.gone.end} withdrew it.`)
        case 'otherNames': return `No ${key} is registered where the lookup looks, only `
          + `${[...new Set(way.others.map(one => one.name === null ? 'one without a name' : `one named "${one.name}"`))]
            .sort().join(' and ')}.`
        case 'outOfReach': return `${key} is out of reach: it is in ${where(way.outside.entry)}.`
        case 'inScope': return `${key} is in the scope ${quote(way.outside.scope.path)}, which is closed to lookups `
          + `from outside: it is in ${where(way.outside.entry)}.`
        default: return `No ${key} is registered ${tree.path.length > 1 ? 'here' : 'in this tree'}.`
      }
    }

    """#
}
