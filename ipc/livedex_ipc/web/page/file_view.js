// A file as it is indexed, with the matches of the search that led to it, and why it is in the index.

import { call, follow } from './daemon.js'
import { codeLine, element, markedLines, notes, one, pathText, visible } from './dom.js'
import { Actions } from './hit_actions.js'

const AROUND = 400 // lines before and after the one that is shown first
const MOST_MARKED = 200 // hits
const RULES = { 'built-in': 'the built-in rules' }

export class FileView {
  section = one('file')
  #following = null
  #last = 0 // the number of the load that began last
  #isNew = true // nothing of the file is shown yet

  constructor(actions) {
    this.actions = actions
  }

  show(values) {
    const line = Math.max(1, Number.parseInt(values.get('line') ?? '1', 10) || 1)
    this.place = { path: values.get('path') ?? '', line }
    if (values.get('path_b64')) this.place.path_b64 = values.get('path_b64')
    this.from = new URLSearchParams([...values].filter(([name]) => !['path', 'path_b64', 'line'].includes(name)))
    this.range = { start_line: Math.max(1, line - AROUND), end_line: line + AROUND }
    document.title = `${visible(this.place.path.slice(this.place.path.lastIndexOf('/') + 1))} · livedex`
    this.#isNew = true
    this.#load()
    this.resume()
  }

  // Follow the file: it is loaded again at once.
  resume() {
    this.#following?.abort()
    this.#following = new AbortController()
    follow([{ query: '', group: 'file', ...this.#filter() }], () => this.#load(), this.#following.signal)
  }

  hide() {
    this.#following?.abort()
  }

  key(event, isTyping) {
    if (event.key === 'Escape') location.hash = this.#back()
    else return !isTyping && Actions.press(event.key, this.section.querySelector('.head'))
    return true
  }

  #back() {
    return this.from.size ? `#/?${this.from}` : '#/'
  }

  #named() {
    const { path, path_b64 } = this.place
    return path_b64 ? { path, path_b64 } : { path }
  }

  #filter() {
    const { path, path_b64 } = this.place
    return path_b64 ? { paths_b64: [path_b64] } : { paths: [path] }
  }

  async #load() {
    const number = ++this.#last
    const [why, file, found] = await Promise.allSettled([
      call('files/explain', this.#named()),
      call('files/retrieve', { ...this.#named(), ...this.range }),
      this.#search(),
    ])
    if (number !== this.#last) return
    const parts = [this.#head()]
    if (file.status === 'fulfilled') parts.push(...notes({ warnings: [], ...file.value }))
    parts.push(this.#why(why, found.value))
    if (file.status === 'fulfilled') parts.push(...this.#text(file.value, found.value?.hits ?? []))
    else parts.push(element('p', { class: 'note' }, visible(file.reason.message)))
    if (this.#isNew) {
      this.#isNew = false
      this.section.replaceChildren(...parts)
      this.#showLine()
    } else this.#replace(parts)
  }

  // Show the file as it is now, with the same line in the same place, and the focus where it was.
  #replace(parts) {
    const isOpen = this.section.querySelector('details').open
    const focused = this.section.contains(document.activeElement) ? document.activeElement : null
    const line = [...this.section.querySelectorAll('.line')].find((each) => each.getBoundingClientRect().top >= 0)
    const top = line?.getBoundingClientRect().top
    this.section.replaceChildren(...parts)
    this.section.querySelector('details').open = isOpen
    if (focused) {
      const all = [...this.section.querySelectorAll('a, button, summary, [aria-current]')]
      const same = all.find((each) => each.textContent === focused.textContent)
      ;(same ?? this.section.querySelector('.whole, .back')).focus({ preventScroll: true })
    }
    const sameLine = line && this.section.querySelector(`.line[data-line="${line.dataset.line}"]`)
    if (sameLine) scrollBy(0, sameLine.getBoundingClientRect().top - top)
  }

  // The same search in this file alone, with what its score is made of; null where nothing was searched for.
  async #search() {
    const query = this.from.get('q')
    if (!query) return null
    const mode = this.from.get('mode') ?? 'auto'
    return call('search', {
      query,
      mode,
      ...this.#filter(),
      limit: MOST_MARKED,
      explain: true,
      max_snippet_chars: 4000,
    })
  }

  #head() {
    return element(
      'div',
      { class: 'head' },
      element('a', { class: 'back', href: this.#back() }, '← Hits'),
      element('h1', {}, pathText(this.place.path)),
      this.actions.buttons(this.place),
    )
  }

  #why(why, found) {
    const rows = []
    const row = (name, ...value) =>
      rows.push(element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, ...value)))
    if (why.status === 'rejected') row('Error', visible(why.reason.message))
    else {
      const { status, reason, rule } = why.value
      row('Status', reason ? `${status}: ${visible(reason)}` : status)
      if (rule)
        row(
          'Rule',
          element('code', {}, visible(rule.pattern)),
          ` in ${visible(RULES[rule.file] ?? rule.file)}${rule.line ? `, line ${rule.line}` : ''}`,
        )
    }
    const best = found?.hits?.[0]
    if (best?.explain) {
      const parts = best.explain.parts.map(({ name, value }) =>
        element('span', { class: 'part' }, `${visible(name)} `, element('b', {}, value.toFixed(2))),
      )
      row('Score', element('span', { class: 'part' }, element('b', {}, best.explain.total.toFixed(2))), ...parts)
    }
    return element(
      'details',
      { class: 'why', open: why.value?.status !== 'indexed' },
      element('summary', {}, 'Why this file is found'),
      element('table', {}, element('tbody', {}, ...rows)),
    )
  }

  #text({ chunks }, hits) {
    if (!chunks.length) return [element('p', { class: 'note' }, 'There is nothing in these lines.')]
    const marked = new Map()
    for (const hit of hits)
      markedLines(hit.snippet, hit.highlights).forEach((parts, index) => {
        if (parts.some(([, isMatch]) => isMatch)) marked.set(hit.snippet_line + index, parts)
      })
    const first = chunks[0].start_line
    const lines = chunks
      .map(({ text }) => text)
      .join('')
      .replace(/\r?\n$/, '')
      .split('\n')
    const shown = lines.map((text, index) => {
      const number = first + index
      const parts = marked.get(number)
      const isWhole =
        parts
          ?.map(([part]) => part)
          .join('')
          .replace(/\r$/, '') === text.replace(/\r$/, '')
      return codeLine(
        number,
        isWhole ? parts : [[text.replace(/\r$/, ''), false]],
        number === this.place.line ? { 'aria-current': 'location', 'tabindex': '-1' } : {},
      )
    })
    const last = chunks.at(-1).end_line
    return [
      this.range.start_line > 1
        ? this.#further('Earlier lines', { start_line: Math.max(1, this.range.start_line - 2 * AROUND) })
        : '',
      element('div', { 'class': 'code whole', 'tabindex': '-1', 'role': 'region', 'aria-label': 'Text' }, ...shown),
      last >= this.range.end_line ? this.#further('Later lines', { end_line: this.range.end_line + 2 * AROUND }) : '',
    ]
  }

  #further(label, range) {
    return element(
      'button',
      {
        type: 'button',
        click: () => {
          Object.assign(this.range, range)
          this.#load()
        },
      },
      label,
    )
  }

  #showLine() {
    const line = this.section.querySelector('[aria-current]')
    line?.focus({ preventScroll: true })
    if (this.place.line > 1) line?.scrollIntoView({ block: 'center' })
    else scrollTo(0, 0)
  }
}
