'use strict'

// The list that searches as you type.
//
// Invariant: it shows the daemon's hits in the daemon's order, and Enter never takes a hit of an earlier query.

const vscode = require('vscode')

const { label, place, withoutIcons } = require('./hits')
const { Preview, openHit } = require('./openHit')
const { outcomeOf, searchParams, title } = require('./queries')
const settings = require('./settings')

const PLACEHOLDER = 'Words, "a phrase", pre*, -without, path:src, lang:python'
const CODE_CANCELLED = -32800
const BUSY_AFTER_MS = 200 // each change of the list costs the editor some milliseconds
// What a key waits for is drawn at once: the rows that an ordinary window shows. The others, and the buttons, follow.
const ROWS_AT_ONCE = 16
const REST_AFTER_MS = 200 // without a key

/** Beside what the user had before the list. */
const BESIDE = { viewColumn: vscode.ViewColumn.Beside, preview: false }

const TO_SIDE = { iconPath: new vscode.ThemeIcon('split-horizontal'), tooltip: 'Open to the Side' }
const EXACT = { iconPath: new vscode.ThemeIcon('quote'), tooltip: 'Exact Text, or Words' }
const REGEX = { iconPath: new vscode.ThemeIcon('regex'), tooltip: 'Regular Expression, or Words' }
const WHERE = { iconPath: new vscode.ThemeIcon('globe'), tooltip: 'Search Everywhere, or This Workspace' }
const FOLLOW = { iconPath: new vscode.ThemeIcon('pinned'), tooltip: 'Follow This Query' }

class SearchPick {
  #daemon
  #workspace
  #choices
  #follow
  #pick = vscode.window.createQuickPick()
  #preview = new Preview()
  #number = 0 // of the last search
  #isWaiting = false // for the answer to what is typed
  #timer // until the list says so
  #items = [] // for the hits of the last answer
  #restTimer // until the list has all of them
  #accepted // the options to open the first hit with, once it is known
  #paths // a promise: what is indexed of the workspace
  #isOpening = false // a hit, so that what was shown before the list does not come back
  #tellClosed
  #closed = new Promise((resolve) => (this.#tellClosed = resolve))

  /** `choices`: `{ mode, everywhere }`, kept from one list to the next. `follow(query)` makes a standing query. */
  constructor(daemon, workspace, choices, follow) {
    this.#daemon = daemon
    this.#workspace = workspace
    this.#choices = choices
    this.#follow = follow
  }

  open(query) {
    const pick = this.#pick
    pick.sortByLabel = false // else the editor puts the hits into an order of its own
    pick.placeholder = PLACEHOLDER
    pick.value = query
    this.#offerButtons()
    pick.onDidChangeValue(() => this.#search())
    pick.onDidChangeActive(([item]) => item && this.#moved(item))
    pick.onDidAccept(() => this.#accept({ preview: false }))
    pick.onDidTriggerItemButton(({ item }) => this.#open(item.hit, BESIDE))
    pick.onDidTriggerButton((button) => this.#press(button))
    pick.onDidHide(() => this.#end())
    pick.show()
    return this.#search()
  }

  /** Resolves once what was shown before the list is back, or its hit is open: that would close the next list. */
  close() {
    this.#pick.hide()
    return this.#closed
  }

  async #search() {
    const number = ++this.#number
    this.#preview.postpone()
    clearTimeout(this.#restTimer)
    this.#wait()
    try {
      this.#paths ??= this.#workspace.indexedPaths()
      const paths = this.#choices.everywhere ? [] : await this.#paths
      if (number === this.#number) await this.#ask(number, paths)
    } catch (error) {
      if (number === this.#number && error.code !== CODE_CANCELLED) this.#fail(error)
    }
  }

  async #ask(number, paths) {
    const { mode } = this.#choices
    const query = this.#pick.value
    if (mode !== 'auto' && query === '') return this.#show([], paths) // a pattern is not empty
    const params = searchParams(query, mode, paths, settings.maxResults())
    const answer = await this.#daemon.request('search', params)
    if (number === this.#number) this.#show(answer.hits, paths, outcomeOf(answer))
    return undefined
  }

  #wait() {
    this.#isWaiting = true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => (this.#pick.busy = true), BUSY_AFTER_MS)
  }

  #waitNoMore() {
    this.#isWaiting = false
    clearTimeout(this.#timer)
    if (this.#pick.busy) this.#pick.busy = false
  }

  #show(hits, paths, outcome) {
    this.#waitNoMore()
    this.#items = hits.map((hit) => this.#item(hit))
    this.#pick.items = this.#items.slice(0, ROWS_AT_ONCE)
    this.#describe(paths, outcome)
    if (this.#accepted && hits.length > 0) this.#open(hits[0], this.#accepted)
    this.#accepted = undefined
  }

  #showRest() {
    const active = this.#active()
    for (const item of this.#items) item.buttons = [TO_SIDE]
    this.#pick.items = this.#items
    this.#pick.activeItems = active ? [active] : []
  }

  #describe(paths, outcome) {
    const where = paths.length > 0 ? 'this workspace' : 'all indexed folders'
    this.#pick.title = title(this.#choices.mode, where, outcome)
  }

  /** The editor has drawn a list, whose first item is active, or the user has moved. */
  #moved(item) {
    const isPart = !this.#isWaiting && item.buttons === undefined && this.#items.includes(item)
    clearTimeout(this.#restTimer)
    if (isPart) this.#restTimer = setTimeout(() => this.#showRest(), REST_AFTER_MS)
    const isMove = item !== this.#items[0] // a new list begins with its first
    if (settings.showsPreview()) this.#preview.show(item.hit, isMove)
  }

  #offerButtons() {
    this.#pick.buttons = this.#choices.mode === 'auto' ? [EXACT, REGEX, WHERE, FOLLOW] : [EXACT, REGEX, WHERE]
  }

  #item(hit) {
    return {
      label: withoutIcons(label(hit)),
      description: withoutIcons(place(hit, this.#workspace.folders)),
      alwaysShow: true, // else the editor hides what does not look like the query
      buttons: undefined,
      hit,
    }
  }

  #fail(error) {
    this.#paths = undefined
    this.#waitNoMore()
    this.#accepted = undefined
    this.#items = this.#pick.items = []
    this.#pick.title = error.message
    if (!settings.canMend(error)) return
    this.#pick.hide()
    settings.tell(error)
  }

  /** The hit to take. What is active is told a little later: it may be of the former answer. */
  #active() {
    const [item] = this.#pick.activeItems
    return this.#items.includes(item) ? item : this.#items[0]
  }

  #accept(options) {
    const item = this.#active()
    if (this.#isWaiting) this.#accepted = options
    else if (item) this.#open(item.hit, options)
  }

  async #open(hit, options) {
    this.#isOpening = true
    this.#pick.hide()
    try {
      await (options === BESIDE ? this.#preview.restore() : this.#preview.end())
      await openHit(hit, options)
    } finally {
      this.#tellClosed()
    }
  }

  #press(button) {
    const { mode, everywhere } = this.#choices
    if (button === EXACT) this.#choices.mode = mode === 'exact' ? 'auto' : 'exact'
    else if (button === REGEX) this.#choices.mode = mode === 'regex' ? 'auto' : 'regex'
    else if (button === WHERE) this.#choices.everywhere = !everywhere
    else return this.#followIt()
    this.#offerButtons()
    return this.#search()
  }

  #followIt() {
    const query = this.#pick.value.trim()
    this.#pick.hide()
    return query && this.#follow(query)
  }

  async #end() {
    this.#number += 1 // an answer that is still to come is not shown
    clearTimeout(this.#timer)
    clearTimeout(this.#restTimer)
    this.#pick.dispose()
    if (this.#isOpening) return
    await this.#preview.restore()
    this.#tellClosed()
  }
}

module.exports = { SearchPick }
