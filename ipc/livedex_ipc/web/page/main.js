// The page: which view is shown, and the keys that work in all of them. The address' fragment says what is shown.

import { call, findToken, takeToken } from './daemon.js'
import { one } from './dom.js'
import { FileView } from './file_view.js'
import { Actions } from './hit_actions.js'
import { SearchView } from './search_view.js'
import { StatusView } from './status_view.js'

const MODE_KEYS = { KeyR: 'regex', KeyX: 'exact' }

function route() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  return [views.get(path) ?? search, new URLSearchParams(query)]
}

let shown = null
function show() {
  const [view, values] = route()
  if (shown !== view) shown?.hide()
  shown = view
  for (const each of views.values()) each.section.hidden = each !== view
  one('to-status').setAttribute('aria-current', view === views.get('status') ? 'page' : 'false')
  view.show(values)
}

await findToken()
const page = await call('page').catch(() => ({ editor: '' }))
const actions = new Actions(page.editor)
const search = new SearchView(actions)
const views = new Map([
  ['', search],
  ['file', new FileView(actions)],
  ['status', new StatusView()],
])

addEventListener('hashchange', () => (takeToken() ? location.reload() : show()))
document.addEventListener('visibilitychange', () => (document.hidden ? shown.hide() : shown.resume()))
one('to-help').addEventListener('click', () => one('help').showModal())

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || one('help').open) return
  const isQuery = event.target.matches('input[type=search]')
  const isTyping = isQuery || event.target.matches('select')
  if (event.altKey) {
    const mode = MODE_KEYS[event.code]
    if (mode) search.toggleMode(mode)
    if (mode) event.preventDefault()
  } else if (event.key === '/' && !isQuery) {
    search.focusQuery()
    event.preventDefault()
  } else if (event.key === '?' && !isQuery) {
    one('help').showModal()
  } else if (shown.key(event, isTyping)) {
    event.preventDefault()
  }
})
show()
