'use strict'

// The connection to the daemon: JSON-RPC 2.0, one message a line, on the socket whose path `livedex socket` prints.
//
// Invariant: each request ends in a result or an error, and a standing query hears of its changes in their order, the
// result first. After a lost connection the next request connects again, and starts the daemon if none runs.

const { execFile } = require('node:child_process')
const net = require('node:net')

const ANSWER_MS = 15_000 // more than any request here lets the daemon work
const START_MS = 20_000

/** An error that the daemon answered. `code`: see docs/protocol.md. */
class DaemonError extends Error {
  constructor({ code, message }) {
    super(message)
    this.code = code
  }
}

/** There is no daemon, or it ended before it answered. */
class ConnectionError extends Error {}

/** One connection, until it is lost. */
class Connection {
  #socket
  #onClose
  #received = ''
  #lastId = 0
  #pending = new Map() // id → { resolve, reject, standing }
  #standing = new Map() // subscription → { current(result), changed(change) }

  constructor(socket, onClose) {
    this.#socket = socket
    this.#onClose = onClose
    socket.setEncoding('utf8')
    socket.on('data', (text) => this.#receive(text))
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.#closed())
  }

  get isOpen() {
    return !this.#socket.destroyed
  }

  /** Resolves to the result. `standing`, for a `search/subscribe`: gets the result and each change, at once. */
  request(method, params, standing) {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const timer = setTimeout(() => this.#late(id), ANSWER_MS)
      this.#pending.set(id, { resolve, reject, standing, timer })
      this.#socket.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
    })
  }

  close() {
    this.#socket.destroy()
  }

  #receive(text) {
    const lines = text.split('\n')
    lines[0] = this.#received + lines[0]
    this.#received = lines.pop()
    for (const line of lines) this.#take(JSON.parse(line))
  }

  #take(message) {
    if (message.method === 'search/changed') {
      this.#standing.get(message.params.subscription)?.changed(message.params)
      return
    }
    const waiting = this.#forget(message.id)
    if (!waiting) return
    if (message.error) {
      waiting.reject(new DaemonError(message.error))
      return
    }
    if (waiting.standing) {
      this.#standing.set(message.result.subscription, waiting.standing)
      waiting.standing.current(message.result)
    }
    waiting.resolve(message.result)
  }

  #forget(id) {
    const waiting = this.#pending.get(id)
    this.#pending.delete(id)
    clearTimeout(waiting?.timer)
    return waiting
  }

  #late(id) {
    this.#forget(id).reject(new Error('the daemon does not answer'))
  }

  #closed() {
    for (const id of [...this.#pending.keys()]) this.#forget(id).reject(new ConnectionError('the daemon has ended'))
    this.#onClose()
  }
}

class Daemon {
  #command
  #onLost
  #connection
  #connecting

  /** `command()`: the livedex command. `onLost()`: called when an open connection ends, but not by `close`. */
  constructor(command, onLost = () => {}) {
    this.#command = command
    this.#onLost = onLost
  }

  /** Resolves to the result. A connection that is lost meanwhile is made again, and the request repeated, once. */
  async request(method, params = {}, standing = undefined) {
    try {
      return await (await this.#connected()).request(method, params, standing)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      return (await this.#connected()).request(method, params, standing)
    }
  }

  close() {
    this.#onLost = () => {}
    this.#connection?.close()
  }

  async #connected() {
    if (this.#connection?.isOpen) return this.#connection
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined))
    return this.#connecting
  }

  /** Always by the command: a daemon that is being killed may still accept connections, and never answers. */
  async #connect() {
    const path = await socketPath(this.#command())
    const socket = await open(path)
    this.#connection = new Connection(socket, () => this.#onLost())
    return this.#connection
  }
}

/** Resolves to a connected socket. */
function open(path) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => reject(new ConnectionError(`no daemon answers at ${path}`)))
  })
}

/** Start the daemon if none runs; resolves to the path of its socket. */
function socketPath(command) {
  return new Promise((resolve, reject) => {
    execFile(command, ['socket'], { timeout: START_MS }, (error, stdout, stderr) => {
      if (!error) resolve(stdout.trimEnd())
      else if (error.code === 'ENOENT') reject(new CommandMissing(command))
      else reject(new Error(stderr.trim() || error.message))
    })
  })
}

/** The livedex command is not where the setting says. */
class CommandMissing extends Error {
  constructor(command) {
    super(`the command ${command} was not found: install livedex, or set livedex.path`)
  }
}

module.exports = { CommandMissing, Daemon, DaemonError }
