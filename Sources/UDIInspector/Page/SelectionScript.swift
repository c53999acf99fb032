/// The script that selects, folds and unfolds rows, with the keyboard and the mouse.
let selectionScript = #"""
  // MARK: - Selection

  const selected = () => tree?.byID.get(selectedID) ?? null
  const contextOf = one => one === null || one.isContext ? one : one.context

  function select(id, { scroll = true } = {}) {
    selectedID = id
    showSelection()
    if (scroll) scrollTo(placeByID.get(id))
    drawRows()
  }

  // Unfolds all contexts around a context or entry, and selects it.
  function reveal(one) {
    if (words.length > 0 && placeByID.get(one.id) === undefined) setSearch('')
    for (let above = outer(one); above !== null; above = above.parent) open.add(above.id)
    listRows()
    select(one.id)
  }

  function scrollTo(place) {
    if (place === undefined) return
    const top = place * rowHeight
    if (top < treeBox.scrollTop) treeBox.scrollTop = top
    const bottom = top + rowHeight - treeBox.clientHeight
    if (bottom > treeBox.scrollTop) treeBox.scrollTop = bottom
  }

  function setOpen(context, isOpen) {
    if (isOpen) open.add(context.id)
    else open.delete(context.id)
    relist()
  }

  // Unfolds the tree from the top, as far as it fits on a page.
  function openAtFirst() {
    let count = 1
    for (const context of tree.contexts) {
      count += context.entries.length + context.children.length
      if (count > 40 && context.parent !== null) return
      open.add(context.id)
    }
  }

  // MARK: Keys and the mouse

  let typed = '', typedAt = 0

  // Selects the next context or entry whose name begins with the typed text.
  function typeAhead(character, time) {
    typed = time - typedAt < 700 ? typed + character.toLowerCase() : character.toLowerCase()
    typedAt = time
    // Typing the same letter again selects the next match.
    if ([...typed].every(one => one === typed[0])) typed = typed[0]
    const from = (placeByID.get(selectedID) ?? -1) + (typed.length === 1 ? 1 : 0)
    const names = row => row.of.isContext ? [row.of.title] : [row.of.type, row.of.type.split('.').at(-1)]
    const isMeant = row => names(row).some(name => name.toLowerCase().startsWith(typed))
    const found = [...rows.slice(from), ...rows.slice(0, from)].find(isMeant)
    if (found !== undefined) select(found.of.id)
  }

  treeBox.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return
    if (event.key.length > 1) typed = ''
    const place = placeByID.get(selectedID) ?? -1
    const row = rows[place]
    const page = Math.max(1, Math.floor(treeBox.clientHeight / rowHeight) - 1)
    const go = to => select(rows[Math.max(0, Math.min(rows.length - 1, to))].of.id)
    switch (event.key) {
      case 'ArrowDown': go(place + 1); break
      case 'ArrowUp': go(place - 1); break
      case 'PageDown': go(place + page); break
      case 'PageUp': go(place - page); break
      case 'Home': go(0); break
      case 'End': go(rows.length - 1); break
      case 'ArrowRight':
        if (row?.isOpen) go(place + 1)
        else if (row?.hasInside) setOpen(row.of, true)
        break
      case 'ArrowLeft':
        if (row?.isOpen && words.length === 0) setOpen(row.of, false)
        else if (row !== undefined) select((outer(row.of) ?? row.of).id)
        break
      case 'Enter': case ' ':
        if (row?.hasInside) setOpen(row.of, !row.isOpen)
        else if (row === undefined) go(0)
        break
      case '*':
        for (const one of row === undefined ? [] : outer(row.of)?.children ?? []) open.add(one.id)
        relist()
        break
      default:
        if (event.key.length !== 1 || event.key === '/') return
        typeAhead(event.key, event.timeStamp)
    }
    event.preventDefault()
  })
  treeBox.addEventListener('focus', () => {
    if (selectedID === null && rows.length > 0) select(rows[0].of.id)
  })
  treeBox.addEventListener('click', event => {
    const one = tree?.byID.get(event.target.closest('.row')?.rowID)
    if (one === undefined) return
    if (event.target.closest('.twist') !== null) setOpen(one, !rows[placeByID.get(one.id)].isOpen)
    select(one.id, { scroll: false })
  })
  treeBox.addEventListener('scroll', drawRows, { passive: true })
  new ResizeObserver(drawRows).observe(treeBox)

  """#
