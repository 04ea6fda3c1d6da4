'use strict'

// The view of standing queries: each counts and lists its hits, and follows every save.
//
// Invariant: what a query shows is what the daemon reported; while there is no connection it says so. Queries are kept
// with the workspace.

const vscode = require('vscode')

const { DaemonError } = require('./daemon')
const { StandingHits, label, place } = require('./hits')
const { standingParams } = require('./queries')

const KEY = 'standingQueries'
const LIMIT = 1000 // the first hits; the most that the protocol gives
const RETRY_MS = 1000 // at first; then twice as long each time …
const MOST_RETRY_MS = 60_000 // … and never longer
const WAITING = 'waiting for the daemon'

/** One query and its hits. It gets its result and its changes from the connection. */
class StandingQuery {
  hits = new StandingHits()
  subscription // undefined while the daemon does not know of it
  fault = WAITING // why what is shown may be old
  isRefused = false
  #changed

  constructor(text, changed) {
    this.text = text
    this.#changed = () => changed(this)
  }

  current(result) {
    this.subscription = result.subscription
    this.hits.reset(result.hits, LIMIT)
    this.fault = result.fresh ? undefined : `not fresh: ${result.reason}`
    this.#changed()
  }

  changed(change) {
    this.hits.apply(change)
    if (change.fresh) this.fault = undefined
    this.#changed()
  }

  failed(message, isRefused = false) {
    this.subscription = undefined
    this.fault = message
    this.isRefused = isRefused
    this.#changed()
  }
}

class StandingQueries {
  #daemon
  #workspace
  #memory
  #queries
  #emitter = new vscode.EventEmitter()
  #isConnecting = false
  #renewals = 0
  #retry
  #delay = RETRY_MS
  onDidChangeTreeData = this.#emitter.event

  /** `memory`: the editor's store for this workspace. */
  constructor(daemon, workspace, memory) {
    this.#daemon = daemon
    this.#workspace = workspace
    this.#memory = memory
    this.#queries = memory.get(KEY, []).map((text) => this.#made(text))
  }

  /** Follow a query, unless it is followed already. */
  async follow(text) {
    if (this.#queries.some((query) => query.text === text)) return
    this.#queries.push(this.#made(text))
    this.#changed()
    await this.#save()
    await this.connect()
  }

  async unfollow(query) {
    this.#queries = this.#queries.filter((each) => each !== query)
    this.#changed()
    await this.#save()
    await this.#unsubscribe(query)
  }

  /** Other folders are open or indexed than before: limit the queries to them. */
  async renew() {
    this.#renewals += 1
    for (const query of this.#queries.filter(({ subscription }) => subscription !== undefined)) {
      await this.#withdraw(query)
    }
    await this.connect()
  }

  /** Subscribe what is not, after a start or a lost connection; try for as long as the daemon does not answer. */
  async connect() {
    if (this.#isConnecting) return // and that goes on until all are subscribed
    this.#isConnecting = true
    clearTimeout(this.#retry)
    try {
      await this.#subscribeAll()
      this.#delay = RETRY_MS
    } catch (error) {
      this.#failed(error.message)
    } finally {
      this.#isConnecting = false
    }
  }

  /** The connection ended, and with it all subscriptions. */
  lost() {
    this.#failed('the daemon has ended; connecting again')
  }

  dispose() {
    clearTimeout(this.#retry)
    this.#emitter.dispose()
  }

  getChildren(parent) {
    if (parent === undefined) return this.#queries
    return parent.hits.sorted().map((hit) => ({ hit }))
  }

  getTreeItem(node) {
    return node instanceof StandingQuery ? queryItem(node) : hitItem(node.hit, this.#workspace.folders)
  }

  #made(text) {
    return new StandingQuery(text, (query) => this.#changed(query))
  }

  #changed(query) {
    this.#emitter.fire(query)
  }

  #save() {
    return this.#memory.update(KEY, this.#queries.map(({ text }) => text))
  }

  async #subscribeAll() {
    let query
    while ((query = this.#queries.find(({ subscription, isRefused }) => subscription === undefined && !isRefused))) {
      const renewals = this.#renewals
      const params = standingParams(query.text, await this.#workspace.indexedPaths(), LIMIT)
      try {
        await this.#daemon.request('search/subscribe', params, query)
      } catch (error) {
        if (!(error instanceof DaemonError)) throw error
        query.failed(error.message, true)
      }
      if (!this.#queries.includes(query)) await this.#unsubscribe(query)
      else if (renewals !== this.#renewals) await this.#withdraw(query) // it may have the former limits
    }
  }

  async #withdraw(query) {
    await this.#unsubscribe(query)
    query.failed(WAITING)
  }

  async #unsubscribe({ subscription }) {
    if (subscription === undefined) return
    await this.#daemon.request('search/unsubscribe', { subscription }).catch(() => {}) // it ended with its connection
  }

  #failed(message) {
    const open = this.#queries.filter(({ isRefused }) => !isRefused)
    if (open.length === 0) return
    for (const query of open) query.failed(message)
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.connect(), this.#delay)
    this.#delay = Math.min(2 * this.#delay, MOST_RETRY_MS)
  }
}

function queryItem(query) {
  const item = new vscode.TreeItem(query.text, vscode.TreeItemCollapsibleState.Collapsed)
  item.contextValue = 'livedexQuery'
  item.description = query.fault === undefined ? query.hits.count : `${query.hits.count} · ${query.fault}`
  item.iconPath = new vscode.ThemeIcon(query.fault === undefined ? 'pinned' : 'sync-ignored')
  item.tooltip = `hits of “${query.text}”: ${item.description}`
  return item
}

function hitItem(hit, folders) {
  const item = new vscode.TreeItem(label(hit))
  item.description = place(hit, folders)
  item.tooltip = hit.snippet
  item.command = { command: 'livedex.openHit', title: 'Open', arguments: [hit] }
  return item
}

module.exports = { StandingQueries }
