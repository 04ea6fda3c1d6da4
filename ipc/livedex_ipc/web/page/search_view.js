// Search as you type: a search for each key, then, after a pause, the counts of the filters and a standing query.

import { call, CANCELLED, follow } from './daemon.js'
import { arrange, codeLine, counted, element, markedLines, notes, one, pathText, shownPath, visible } from './dom.js'
import { Actions } from './hit_actions.js'

const HITS = 20
const MOST_HITS = 1000
const PAUSE_MS = 250
const PATIENCE_MS = 5000 // for the newest changes; the next key ends the search anyway
const SLOW_MS = 500 // from then on the page says that it waits for the daemon
const REST_MS = 100 // between two searches for changes
const CLOCK_MS = 1000 // a file system's clock may be a little behind
const MOST_VALUES = 12
const FILTERS = { languages: 'Language', kinds: 'Kind', roots: 'Root' }
const AGES = { '': 'Any time', '1': 'Last day', '7': 'Last week', '31': 'Last month', '365': 'Last year' }
const DAY_MS = 86_400_000
const PAGE = crypto.randomUUID()
const PASSED_OVER = ['files_failed', 'query_as_lines', 'query_no_words']

export class SearchView {
  section = one('search')
  #input = one('query')
  #mode = one('mode')
  #limit = HITS
  #last = 0 // the number of the search that was sent last
  #known = new Map() // the elements of the hits shown, by place
  #shownFor = null // the search that they are of
  #left = { scrolled: 0, place: null } // where the user was when another view was shown
  #timer = 0
  #following = null
  #isRefreshing = false
  #isStale = false

  constructor(actions) {
    this.actions = actions
    this.since = ''
    this.chosen = { languages: new Set(), kinds: new Set(), roots: new Set() }
    this.#input.addEventListener('input', () => this.#edited())
    this.#mode.addEventListener('change', () => this.#switched())
    one('form').addEventListener('submit', (event) => {
      event.preventDefault()
      this.#openFirst()
    })
    one('hits').addEventListener('click', () => this.#note())
    one('more').addEventListener('click', () => this.#showMore())
    // What was typed before this script ran.
    if (this.#input.value && location.hash.length < 3) this.#note()
    if (matchMedia('(max-width: 50rem)').matches) one('filters').open = false
  }

  show(values) {
    document.title = 'livedex'
    const isSame = this.#values().toString() === values.toString()
    this.#take(values)
    const opened = isSame ? this.#known.get(this.#left.place)?.item.querySelector('.open') : null
    // What has the focus may be in the view that has just been hidden.
    if (document.activeElement.matches('body, [hidden] *')) (opened ?? this.#input).focus({ preventScroll: true })
    scrollTo(0, isSame ? this.#left.scrolled : 0)
    opened?.scrollIntoView({ block: 'nearest' })
    this.#search()
  }

  resume() {
    this.#search()
  }

  hide() {
    this.#left = { scrolled: scrollY, place: this.#focused() }
    this.#stopFollowing()
  }

  #stopFollowing() {
    clearTimeout(this.#timer)
    this.#following?.abort()
    one('live').hidden = true
  }

  focusQuery() {
    this.#input.focus()
    this.#input.select()
  }

  toggleMode(mode) {
    this.#mode.value = this.#mode.value === mode ? 'auto' : mode
    this.#switched()
  }

  key(event, isTyping) {
    const links = [...one('hits').querySelectorAll('.open')]
    const hit = event.target.closest('#hits > li')
    const at = links.indexOf(hit?.querySelector('.open'))
    if (event.key === 'ArrowDown' && (at >= 0 || event.target === this.#input)) links[at + 1]?.focus()
    else if (event.key === 'ArrowUp' && at > 0) links[at - 1].focus()
    else if (event.key === 'ArrowUp' && at === 0) this.#input.focus()
    else if (event.key === 'Escape' && hit) this.#input.focus()
    else return !isTyping && Actions.press(event.key, hit)
    return true
  }

  // The search as values of the address.
  #values() {
    const values = new URLSearchParams()
    if (this.#input.value) values.set('q', this.#input.value)
    if (this.#mode.value !== 'auto') values.set('mode', this.#mode.value)
    if (this.since) values.set('since', this.since)
    for (const name of Object.keys(FILTERS)) for (const value of this.chosen[name]) values.append(name, value)
    return values
  }

  #take(values) {
    if (this.#input.value !== (values.get('q') ?? '')) this.#input.value = values.get('q') ?? ''
    this.#mode.value = ['exact', 'regex'].includes(values.get('mode')) ? values.get('mode') : 'auto'
    this.since = Object.hasOwn(AGES, values.get('since')) ? values.get('since') : ''
    for (const name of Object.keys(FILTERS)) this.chosen[name] = new Set(values.getAll(name))
  }

  #edited() {
    this.#limit = HITS
    if (this.section.hidden) location.hash = `#/?${this.#values()}`
    else this.#search()
  }

  #switched() {
    this.#edited()
    this.#note()
  }

  // Put the search into the address. Not at each key: browsers refuse a page that changes its address that often.
  #note() {
    const values = this.#values().toString()
    const fragment = `#/${values && '?'}${values}`
    if (!this.section.hidden && location.hash !== fragment) history.replaceState(null, '', fragment)
  }

  #filters() {
    const filters = this.since ? { modified_after: new Date(Date.now() - this.since * DAY_MS).toISOString() } : {}
    for (const name of Object.keys(FILTERS)) if (this.chosen[name].size) filters[name] = [...this.chosen[name]]
    return filters
  }

  // A pattern may not be empty: then the newest files are listed, as without words.
  #what() {
    const query = this.#input.value
    const mode = query ? this.#mode.value : 'auto'
    return { query, mode, ...(mode === 'auto' ? { typing: true } : {}) }
  }

  // Search now; once nothing is typed for a moment, follow what was found. So it is after a fault: it may pass. Return
  // whether no other search was sent meanwhile.
  async #search() {
    this.#stopFollowing()
    const number = ++this.#last
    await this.#list(number, {})
    const isLast = number === this.#last
    if (isLast) this.#timer = setTimeout(() => this.#follow(), PAUSE_MS)
    return isLast
  }

  // Show the hits of a search, unless another one was sent meanwhile.
  async #list(number, more) {
    const params = {
      ...this.#what(),
      ...this.#filters(),
      ...more,
      timeout_ms: PATIENCE_MS,
      limit: this.#limit,
      supersedes: PAGE,
    }
    const slow = setTimeout(() => number === this.#last && this.#say('Searching…'), SLOW_MS)
    try {
      const answer = await call('search', params)
      if (number === this.#last) this.#show(answer)
    } catch (error) {
      if (number === this.#last && error.code !== CANCELLED) this.#say(visible(error.message), 'fault')
    } finally {
      clearTimeout(slow)
    }
  }

  // Follow what may change the list: files saved from now on, the files in it, and, if the words are so rare that all
  // of their hits are in the list, the words: a file that is moved in may be old.
  #follow() {
    this.#note()
    this.#following = new AbortController()
    const filters = this.#filters()
    const now = new Date(Date.now() - CLOCK_MS).toISOString()
    const listed = [...this.#known.values()].map(({ hit }) => hit).slice(0, HITS)
    const words = this.#what().mode === 'auto' && one('more').hidden ? followed(this.#input.value) : ''
    const searches = [{ query: '', ...filters, modified_after: now, group: 'file' }]
    if (listed.length) searches.push({ query: '', group: 'file', ...paths(listed) })
    if (words) searches.push({ query: words, ...filters })
    const onLive = (isLive) => (one('live').hidden = !isLive)
    follow(searches, () => this.#refresh(), this.#following.signal, onLive)
  }

  // Search again; if something changes meanwhile, once more. Then count.
  async #refresh() {
    this.#isStale = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    while (this.#isStale && !this.section.hidden) {
      this.#isStale = false
      const number = this.#last
      await this.#list(number, this.#what().mode === 'auto' ? { total: true } : {})
      await new Promise((resolve) => setTimeout(resolve, REST_MS))
      if (!this.#isStale && number === this.#last) await this.#count(number)
    }
    this.#isRefreshing = false
  }

  // Count what the filters would leave, as if none of them were chosen.
  async #count(number) {
    const { modified_after } = this.#filters()
    const params = {
      ...this.#what(),
      timeout_ms: PATIENCE_MS,
      limit: 1,
      facets: Object.keys(FILTERS),
      supersedes: `${PAGE} counts`,
      ...(modified_after ? { modified_after } : {}),
    }
    const { facets } = await call('search', params).catch(() => ({}))
    if (facets) this.#showFacetsWhenReleased(number, facets)
  }

  // A filter that is pressed is not replaced before it is released: its click would be lost.
  #showFacetsWhenReleased(number, facets) {
    if (number !== this.#last) return
    if (one('facets').querySelector(':active')) setTimeout(() => this.#showFacetsWhenReleased(number, facets), REST_MS)
    else this.#showFacets(facets)
  }

  #say(text, kind = '') {
    const said = one('said')
    if (said.textContent !== text) said.textContent = text
    said.className = kind
  }

  #show(answer) {
    const isSameSearch = this.#shownFor === this.#values().toString()
    this.#shownFor = this.#values().toString()
    const known = this.#known
    this.#known = new Map()
    for (const hit of answer.hits) {
      const place = `${hit.path_b64 ?? hit.path}\n${hit.start_line}\n${hit.start_column}`
      const before = known.get(place)
      const isNew = isSameSearch && before?.hit.content_hash !== hit.content_hash
      const isKept =
        isSameSearch && before && JSON.stringify(before.hit.highlights) === JSON.stringify(hit.highlights) && !isNew
      this.#known.set(place, { hit, item: isKept ? before.item : this.#item(hit, isNew) })
    }
    const focused = this.#focused(known)
    arrange(one('hits'), [...this.#known.values()].map(({ item }) => item))
    if (focused) (this.#known.get(focused)?.item.querySelector('.open') ?? this.#input).focus({ preventScroll: true })
    one('notes').replaceChildren(...notes(answer, PASSED_OVER), ...this.#spelling(answer))
    one('more').hidden = answer.next_offset == null || this.#limit >= MOST_HITS
    this.#say(summary(answer, !this.#input.value))
  }

  // The place of the hit that has the focus, if one has.
  #focused(known = this.#known) {
    const focused = document.activeElement?.closest('#hits > li')
    return focused && [...known].find(([, { item }]) => item === focused)?.[0]
  }

  #item(hit, isNew) {
    const lines = markedLines(hit.snippet.replace(/\r?\n$/, ''), hit.highlights)
    const href = Actions.fileHref(hit, this.#values())
    const about = hit.symbol ?? hit.heading
    return element(
      'li',
      { class: isNew ? 'new' : null },
      element(
        'div',
        { class: 'head' },
        element('a', { class: 'open', href }, pathText(shownPath(hit), hit.line)),
        about ? element('bdi', { class: 'about' }, visible(about)) : null,
        this.actions.buttons(hit),
      ),
      element('div', { class: 'code' }, ...lines.map((parts, index) => codeLine(hit.snippet_line + index, parts))),
      hit.also_at_total
        ? element('p', { class: 'also' }, `The same in ${counted(hit.also_at_total, 'other file')}`)
        : null,
    )
  }

  #spelling({ did_you_mean: meant, warnings }) {
    const asLines = warnings.some(({ code }) => code === 'query_as_lines')
    if (asLines) return [element('p', { class: 'note' }, 'No words were found as typed: these lines have the text.')]
    if (!meant) return []
    const use = () => {
      this.#input.value = meant.query
      this.#edited()
      this.#input.focus()
    }
    return [
      element(
        'p',
        { class: 'note' },
        meant.applied ? 'Showing hits for ' : 'Did you mean ',
        element('button', { type: 'button', class: 'link', click: use }, visible(meant.query)),
      ),
    ]
  }

  #showFacets(facets) {
    const focused = document.activeElement.closest('#facets *')
    const groups = Object.entries(FILTERS).map(([name, label]) => this.#facet(name, label, facets[name] ?? {}))
    const pick = element(
      'select',
      {
        name: 'since',
        change: () => {
          this.since = pick.value
          this.#switched()
        },
      },
      ...Object.entries(AGES).map(([value, label]) =>
        element('option', { value, selected: value === this.since }, label),
      ),
    )
    pick.value = this.since
    one('facets').replaceChildren(element('label', { class: 'since' }, 'Modified ', pick), ...groups.filter(Boolean))
    if (!focused) return
    const all = [...one('facets').querySelectorAll('input, select')]
    const same = all.find(({ name, type, value }) => {
      return name === focused.name && (type !== 'checkbox' || value === focused.value)
    })
    same?.focus({ preventScroll: true })
  }

  #facet(name, label, counts) {
    const chosen = this.chosen[name]
    const values = Object.entries(counts)
      .sort(([, count], [, other]) => other - count)
      .filter(([value], place) => place < MOST_VALUES || chosen.has(value))
    for (const value of chosen) if (!Object.hasOwn(counts, value)) values.push([value, 0])
    if (values.length < 2 && !chosen.size) return null
    return element(
      'fieldset',
      {},
      element('legend', {}, label),
      ...values.map(([value, count]) => {
        const tick = () => {
          this.chosen[name][box.checked ? 'add' : 'delete'](value)
          this.#switched()
        }
        const box = element('input', {
          type: 'checkbox',
          name,
          value,
          checked: chosen.has(value),
          change: tick,
        })
        const shown = name === 'roots' ? value.slice(value.lastIndexOf('/') + 1) : value
        return element(
          'label',
          { title: name === 'roots' ? visible(value) : null },
          box,
          element('bdi', { class: 'value' }, visible(shown)),
          element('span', { class: 'count' }, count.toLocaleString('en')),
        )
      }),
    )
  }

  async #showMore() {
    const first = this.#known.size
    this.#limit = Math.min(this.#limit + 2 * HITS, MOST_HITS)
    await this.#search()
    one('hits').children[first]?.querySelector('.open').focus()
  }

  // A search that fails, or is passed by the next one, leaves the hits of another one in the list.
  async #openFirst() {
    const isLast = await this.#search()
    if (isLast && this.#shownFor === this.#values().toString()) one('hits').querySelector('.open')?.click()
  }
}

// What a standing query is to contain: the words as typed, the last one as a beginning. Empty if nothing is typed.
function followed(typed) {
  const isWord = /(^|\s)[\p{L}\p{N}_]{2,}$/u.test(typed) && typed.split('"').length % 2
  return typed.trim() && (isWord ? `${typed}*` : typed)
}

function paths(hits) {
  const named = hits.filter((hit) => !hit.path_b64).map(({ path }) => path)
  const encoded = hits.filter((hit) => hit.path_b64).map((hit) => hit.path_b64)
  return {
    ...(named.length ? { paths: [...new Set(named)] } : {}),
    ...(encoded.length ? { paths_b64: [...new Set(encoded)] } : {}),
  }
}

function summary({ hits, total, next_offset, took_ms }, isNewest) {
  if (!hits.length) return 'Nothing found'
  const time = `${took_ms < 1 ? '<1' : Math.round(took_ms)} ms`
  if (isNewest && total) return `${counted(total.files, 'file')}, the last modified first, ${time}`
  if (total) return `${counted(total.hits, 'hit')} in ${counted(total.files, 'file')}, ${time}`
  return `${hits.length}${next_offset == null ? '' : '+'} ${hits.length === 1 ? 'hit' : 'hits'}, ${time}`
}
