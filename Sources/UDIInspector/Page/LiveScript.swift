/// The script that gets the data and shows it with the functions of the other scripts. On a page that a server sent,
/// the script does this again and again, unless the page is paused or hidden. It also handles the search field.
let liveScript = #"""
  // MARK: - Getting the data

  // A page that was written to a file contains its data. Any other page requests the data from the program. All
  // requests go to the page's own address, and differ only in the query.
  const written = byID('data')
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

  const noAnswer = error => `The program does not answer: ${error.message}`

  async function refresh() {
    const started = performance.now()
    try {
      const data = await request(`data.json${version === null ? '' : `&version=${version}`}`)
      if (data.tree !== undefined) await show(data)
      say(isPaused ? 'Paused' : 'Live', isPaused ? 'paused' : 'on')
    } catch (error) {
      say(noAnswer(error), 'off')
    }
    return performance.now() - started
  }

  async function show(data) {
    const before = selected()
    const isFirst = tree === null
    const top = rows[Math.floor(treeBox.scrollTop / rowHeight)]?.of.id
    tree = readTree(data.tree)
    version = data.version
    byID('title').textContent = tree.contexts[0].title
    document.title = `${tree.contexts[0].title} – contexts`
    const all = tree.contexts.flatMap(context => context.entries.map(entry => entry.kind))
    const present = Object.keys(kinds).filter(kind => all.includes(kind))
    byID('counts').textContent = joined(' · ', plural(tree.contexts.length, 'context'),
      ...present.map(kind => `${all.filter(one => one === kind).length.toLocaleString('en')} ${kinds[kind].state}`))
    byID('legend').replaceChildren(...present.map(kind => span(`entry ${kind}`, sign(kind), kinds[kind].state)))
    if (isFirst) openAtFirst()
    // If the selected context or entry is gone, the context that contained it is selected instead.
    for (let next = before; next !== null && selected() === null; next = outer(next)) selectedID = next.id
    if (way !== null) {
      const start = tree.byID.get(way.asked.start.id)
      way = start === undefined ? null : await lookUp({ ...way.asked, start })
    }
    showWay()
    showSelection()
    listRows()
    // The row at the top of the view stays there, even if rows above it have been added or removed.
    const place = placeByID.get(top)
    if (place !== undefined) treeBox.scrollTop = place * rowHeight + treeBox.scrollTop % rowHeight
    drawRows()
  }

  // MARK: - Search

  function setSearch(text) {
    byID('search').value = text
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

  if (written === null) {
    byID('pause').hidden = false
    byID('way').hidden = false
    follow()
  } else {
    show(JSON.parse(written.textContent))
    say('A file, not live', 'paused')
  }

  """#
