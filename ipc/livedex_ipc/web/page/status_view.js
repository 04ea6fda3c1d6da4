// What the daemon does: its state, warnings with remedies, and the roots. Asked for again while it is looked at.

import { call } from './daemon.js'
import { counted, element, one, visible } from './dom.js'

const EVERY_MS = 2000
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export class StatusView {
  section = one('status')
  #timer = 0

  show() {
    document.title = 'Status · livedex'
    clearTimeout(this.#timer)
    this.#draw([element('p', { class: 'note' }, 'The daemon is asked…')])
    this.#load()
  }

  resume() {
    this.#load()
  }

  hide() {
    clearTimeout(this.#timer)
  }

  key(event) {
    if (event.key !== 'Escape') return false
    location.hash = '#/'
    return true
  }

  async #load() {
    const shown = await call('status').then(
      (status) => this.#shown(status),
      (error) => [element('p', { class: 'note' }, visible(error.message))],
    )
    if (this.section.hidden) return
    this.#draw(shown)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#load(), EVERY_MS)
  }

  #draw(shown) {
    this.section.replaceChildren(element('h1', {}, 'Status'), ...shown)
  }

  #shown(status) {
    const facts = {
      State: element('span', { class: `state ${status.state}` }, status.state),
      Files:
        counted(status.files, 'file') +
        `, ${status.skipped.toLocaleString('en')} skipped, ${status.failed.toLocaleString('en')} failed`,
      Chunks: status.chunks.toLocaleString('en'),
      Pending: status.pending.toLocaleString('en'),
      Freshness: freshness(status.freshness),
      Index: `${size(status.db_bytes)} in ${visible(status.db_path ?? '')}`,
      Daemon: `livedex ${status.version}, pid ${status.pid}, up ${duration(status.uptime_s)}`,
    }
    return [
      ...status.warnings.map(({ code, message, remedy }) =>
        element(
          'div',
          { class: 'warning' },
          element('strong', {}, code),
          ` ${visible(message)}`,
          remedy ? element('p', { class: 'remedy' }, visible(remedy)) : null,
        ),
      ),
      element(
        'table',
        { class: 'facts' },
        element(
          'tbody',
          {},
          ...Object.entries(facts).map(([name, value]) =>
            element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value)),
          ),
        ),
      ),
      element('h2', {}, 'Roots'),
      status.roots.length
        ? this.#roots(status.roots)
        : element('p', {}, 'None yet: add one with ', element('code', {}, 'livedex up FOLDER')),
    ]
  }

  #roots(roots) {
    const heads = ['Root', 'State', 'Watching', 'Files', 'Pending']
    return element(
      'table',
      { class: 'roots' },
      element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
      element(
        'tbody',
        {},
        ...roots.map((root) =>
          element(
            'tr',
            {},
            element('td', {}, element('bdi', {}, visible(root.path))),
            element('td', {}, element('span', { class: `state ${root.state}` }, root.state)),
            element('td', {}, root.watching),
            element('td', { class: 'number' }, root.files.toLocaleString('en')),
            element('td', { class: 'number' }, root.pending.toLocaleString('en')),
          ),
        ),
      ),
    )
  }
}

const rounded = (value) => (value < 10 ? value.toFixed(1) : Math.round(value))

function freshness({ samples, p50_ms: half, p99_ms: most }) {
  if (!samples) return 'no changes yet'
  return `${rounded(half)} ms for half of the changes, ${rounded(most)} ms for 99 of 100`
}

function size(bytes) {
  let unit = 0
  for (; bytes >= 1024 && unit < UNITS.length - 1; unit++) bytes /= 1024
  return `${unit ? bytes.toFixed(1) : bytes} ${UNITS[unit]}`
}

function duration(seconds) {
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ])
    if (seconds >= length) return `${Math.round(seconds / length)} ${unit}`
  return `${Math.round(seconds)} s`
}
