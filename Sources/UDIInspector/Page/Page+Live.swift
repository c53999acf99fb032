extension Page {
  /// The script that gets the data and shows it with the functions of the other scripts. On a page that a server sent,
  /// the script does this again and again, unless the page is paused or hidden. It also handles the search field.
  static let liveScript = #"""
    // MARK: - Getting the data

    // A page that was written to a file contains its data. Any other page requests the data from the program. All
    // requests go to the page's own address, and differ only in the query.
    const written = byID('data')
    const isServed = written === null
    const period = 1000
    let version = null, isPaused = false

    const request = async query => {
      const response = await fetch(`?${query}`, { cache: 'no-store' })
      if (!response.ok) throw new Error(`it answers with status ${response.status}`)
      return response.json()
    }

    function say(text, state) {
      if (byID('status').textContent !== text) byID('status').textContent = text
      byID('live').className = state
    }

    async function refresh() {
      const started = performance.now()
      try {
        const data = await request(`data.json${version === null ? '' : `&version=${version}`}`)
        if (data.contexts !== undefined) await show(data)
        say(isPaused ? 'Paused' : 'Live', isPaused ? 'paused' : 'on')
      } catch (error) {
        say(`The program does not answer: ${error.message}`, 'off')
      }
      return performance.now() - started
    }

    async function show(data) {
      const before = selected()
      const isFirst = tree === null
      const top = rows[Math.floor(treeBox.scrollTop / rowHeight)]?.of.id
      tree = readTree(data)
      version = data.version
      byID('title').textContent = tree.contexts[0].title
      document.title = `${tree.contexts[0].title} – contexts`
      const { contexts, live, dead, providers, made } = tree.counts
      byID('counts').textContent = [plural(contexts, 'context'), live > 0 ? `${live.toLocaleString('en')} bound` : '',
        dead > 0 ? `${dead.toLocaleString('en')} dead` : '', providers > 0 ? plural(providers, 'provider') : '',
        providers > 0 ? `${made.toLocaleString('en')} made` : ''].filter(text => text !== '').join(' · ')
      const present = new Set(tree.contexts.flatMap(context => context.entries.map(entry => entry.kind)))
      byID('legend').replaceChildren(...Object.keys(kinds).filter(kind => present.has(kind)).map(kind =>
        element('span', { className: `entry ${kind}` }, sign(kinds[kind].shape), kinds[kind].state)))
      if (isFirst) openAtFirst()
      // If the selected context or entry is gone, the context that contained it is selected instead.
      for (let next = before; next !== null && selected() === null; next = outer(next)) {
        selectedID = next.id
      }
      if (way !== null) {
        const start = tree.byID.get(way.request.start.id)
        way = start === undefined ? null : await lookUp({ ...way.request, start })
      }
      showWay()
      showSelection()
      listRows()
      // The row at the top of the view stays there, even if rows above it have been added or removed.
      const place = placeByID.get(top)
      if (place !== undefined) treeBox.scrollTop = place * rowHeight + treeBox.scrollTop % rowHeight
      drawRows()
    }

    // Asks the program for the way of a lookup. Returns null if the program cannot be asked or does not know the key.
    async function ask(key, start, order) {
      if (!isServed) return null
      const tags = []
      for (let next = start; next.parent !== null; next = next.parent) tags.unshift(encodeURIComponent(next.tag))
      const query = [`way.json&path=${tags.map(tag => `/${tag}`).join('')}&type=${encodeURIComponent(key.type)}`,
        key.name === null ? '' : `&name=${encodeURIComponent(key.name)}`, order === null ? '' : `&search=${order}`]
      const given = await request(query.join('')).catch(() => null)
      if (given?.steps === undefined) return null
      const inTree = path => {
        const tags = path.slice(tree.path.length)
        const isBelow = tree.path.every((tag, index) => tag === path[index])
        return isBelow ? tree.byID.get(contextAt(tags)) ?? null : null
      }
      const found = { ...given, key, start, answer: null, outside: null }
      found.steps = given.steps.map(step => ({ ...step, context: inTree(step.path) }))
      const entryAt = path => {
        const context = inTree(path)
        return context === null ? null : findings(context, key).find(entry => !kinds[entry.kind].isGone) ?? null
      }
      const step = found.steps.find(one => one.isAnswer)
      // The answer might be in a context above those that this page shows. In that case, there is no entry for it.
      if (step !== undefined) found.answer = entryAt(step.path) ?? { ...step.findings[0], id: null, context: null }
      const place = given.outside ? entryAt(given.outside) : null
      if (place !== null) found.outside = { entry: place }
      return found
    }

    const contextAt = tags => tags.reduce((id, tag) => contextID({ id }, tag), tree.contexts[0].id)

    // MARK: - Search

    function setSearch(text) {
      byID('search').value = text
      openInSearch.clear()
      words = text.toLowerCase().split(/\s+/).filter(word => word !== '')
      if (tree === null) return
      listRows()
      treeBox.scrollTop = 0
      drawRows()
    }

    byID('search').addEventListener('input', event => setSearch(event.target.value))
    byID('search').addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        const one = selected()
        setSearch('')
        if (one !== null) reveal(one)
        treeBox.focus()
      } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
        const first = rows.find(row => isMatch(row.of))
        if (first !== undefined) select(first.of.id)
        treeBox.focus()
      } else return
      event.preventDefault()
    })
    document.addEventListener('keydown', event => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target.closest('input, select, textarea') !== null) return
      byID('search').focus()
      byID('search').select()
      event.preventDefault()
    })

    // MARK: - The start

    byID('pause').addEventListener('click', () => {
      isPaused = !isPaused
      byID('pause').setAttribute('aria-pressed', isPaused)
      byID('pause').textContent = isPaused ? 'Resume' : 'Pause'
      refresh()
    })

    async function follow() {
      const took = isPaused || document.hidden ? 0 : await refresh()
      // The data of a large tree is requested less often, so that the program has time for its own work.
      setTimeout(follow, Math.max(period, took * 10))
    }

    if (isServed) {
      byID('pause').hidden = false
      follow()
    } else {
      show(JSON.parse(written.textContent))
      say('A file, not live', 'paused')
    }

    """#
}
