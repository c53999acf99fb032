'use strict'
// Shows the tree as it is now, and updates it once a second. Open contexts stay open, and the focus stays where it is.

const period = 1000, remembered = 120
const history = { contexts: [], bindings: [], providers: [] }
const open = new Set([''])
let paused = false, latest = null

const byID = id => document.getElementById(id)
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

async function refresh() {
  try {
    const response = await fetch('/debug/contexts.json', { cache: 'no-store' })
    if (!response.ok) throw new Error(`status ${response.status}`)
    latest = await response.json()
    showCounts(latest.counts)
    showTree(latest)
    showChoices(latest)
    byID('status').textContent = `${paused ? 'Paused' : 'Live'}, as of ${new Date().toLocaleTimeString()}`
  } catch (error) {
    byID('status').textContent = `The server does not answer: ${error.message}`
  }
}

function showCounts(counts) {
  byID('counts').replaceChildren(...Object.keys(history).map(name => {
    const values = history[name]
    values.push(counts[name])
    if (values.length > remembered) values.shift()
    const most = Math.max(1, ...values)
    const points = values.map((value, index) => `${index},${(1 - value / most) * 30 + 1}`)
    const chart = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
    chart.setAttribute('viewBox', `0 0 ${remembered} 32`)
    chart.setAttribute('preserveAspectRatio', 'none')
    chart.setAttribute('role', 'img')
    chart.setAttribute('aria-label', `${name} in the last ${values.length} seconds: now ${counts[name]}, at most ${most}`)
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path')
    line.setAttribute('d', 'M' + points.join('L'))
    chart.append(line)
    return element('div', {}, element('dt', { textContent: name }),
      element('dd', {}, element('b', { textContent: counts[name] }), chart))
  }))
}

function showTree({ contexts, omitted }) {
  const focused = document.activeElement?.dataset?.path
  const boxes = contexts.map((context, index) => {
    const parent = index === 0 ? null : contexts[context.parent]
    context.path = parent === null ? '' : `${parent.path}/${encodeURIComponent(context.tag)}`
    const summary = element('summary', {}, context.tag,
      element('span', { className: 'count', textContent: describe(context) }))
    summary.dataset.path = context.path
    const box = element('details', { open: open.has(context.path) }, summary, entries(context))
    box.addEventListener('toggle', () => box.open ? open.add(context.path) : open.delete(context.path))
    return box
  })
  contexts.forEach((context, index) => { if (index > 0) boxes[context.parent].append(boxes[index]) })
  byID('tree').replaceChildren(boxes[0])
  if (focused !== undefined) document.querySelector(`summary[data-path="${CSS.escape(focused)}"]`)?.focus()
  byID('omitted').hidden = omitted === 0
  byID('omitted').textContent = `${omitted} more contexts are not shown.`
}

const describe = ({ bindings, providers }) =>
  [[bindings.length, 'bound'], [providers.length, 'provided']].filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`).join(', ')

function entries({ bindings, providers }) {
  const item = (state, style, entry) => element('li', {},
    element('span', { className: `state ${style}`, textContent: state }),
    entry.name ? `${entry.typeName} named ${entry.name}` : entry.typeName,
    entry.className ? `: ${entry.className}` : '', entry.lifetime ? ` (${entry.lifetime})` : '',
    element('span', { className: 'site', textContent: `${entry.fileID}:${entry.line}` }))
  return element('ul', {},
    ...bindings.map(binding => binding.className ? item('alive', 'live', binding) : item('dead', 'dead', binding)),
    ...providers.map(provider => provider.isMade ? item('made', 'live', provider) : item('not made', 'idle', provider)))
}

function showChoices({ contexts, keys }) {
  const update = (select, options) => {
    const chosen = select.value
    const texts = options.map(([value, text]) => value + text).join('\n')
    if (select.dataset.texts === texts || document.activeElement === select) return
    select.dataset.texts = texts
    select.replaceChildren(...options.map(([value, textContent]) => element('option', { value, textContent })))
    if (options.some(([value]) => value === chosen)) select.value = chosen
  }
  update(byID('key'), keys.map(key => [key, key]))
  update(byID('place'), contexts.map(context => [context.path, '  '.repeat(context.path.split('/').length - 1) + context.tag]))
}

byID('explain').addEventListener('submit', async event => {
  event.preventDefault()
  const query = new URLSearchParams({ key: byID('key').value, path: byID('place').value })
  const response = await fetch(`/debug/explain?${query}`)
  const answer = await response.json()
  byID('explanation').hidden = false
  byID('explanation').textContent = answer.explanation ?? answer.error.message
})

byID('pause').addEventListener('click', () => {
  paused = !paused
  byID('pause').setAttribute('aria-pressed', paused)
  byID('pause').textContent = paused ? 'Resume' : 'Pause'
  refresh()
})

refresh()
setInterval(() => { if (!paused && !document.hidden) refresh() }, period)
