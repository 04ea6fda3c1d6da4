'use strict'

// The connection, to a real daemon in the home that LIVEDEX_HOME names. EXTENSION: the folder of the extension. LIVEDEX:
// the command. TREE: an indexed folder.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')

const { CommandMissing, Daemon, DaemonError } = require(`${process.env.EXTENSION}/daemon`)

const { LIVEDEX, TREE } = process.env

/** A connection that is closed at the end of the test. */
function connected(t, onLost = undefined, command = LIVEDEX) {
  const daemon = new Daemon(() => command, onLost)
  t.after(() => daemon.close())
  return daemon
}

test('a request gets its result', async (t) => {
  const daemon = connected(t)
  const [answer, { roots }] = await Promise.all([
    daemon.request('search', { query: 'xylophone 東京 😀' }),
    daemon.request('roots/list'),
  ])
  assert.deepEqual(roots.map((root) => root.path), [TREE])
  assert.equal(answer.hits[0].text, 'A xylophone in 東京 😀')
})

test('an error has its code', async (t) => {
  const daemon = connected(t)
  await assert.rejects(daemon.request('search', { quary: 'x' }), (error) => {
    return error instanceof DaemonError && error.code === -32602 && error.message.includes('query')
  })
})

test('a later search ends the former one', async (t) => {
  const daemon = connected(t)
  const params = { query: 'xylophone', supersedes: 'search' }
  const settled = await Promise.allSettled(Array.from({ length: 20 }, () => daemon.request('search', params)))
  assert.equal(settled.at(-1).status, 'fulfilled')
  for (const { reason } of settled) assert.ok(reason === undefined || reason.code === -32800)
})

test('a killed daemon is started again by the next request', async (t) => {
  let daemon
  const lost = new Promise((resolve) => (daemon = connected(t, resolve)))
  const { pid } = await daemon.request('server/info')
  process.kill(pid, 'SIGKILL')
  await lost
  const again = await Promise.all([daemon.request('server/info'), daemon.request('server/info')])
  assert.notEqual(again[0].pid, pid)
  assert.equal(again[0].pid, again[1].pid)
})

test('a request that the daemon takes with it is repeated', async (t) => {
  const daemon = connected(t)
  const { pid } = await daemon.request('server/info')
  process.kill(pid, 'SIGSTOP') // so that the request is not answered before the end
  const answer = daemon.request('search', { query: 'xylophone', timeout_ms: 10_000 })
  process.kill(pid, 'SIGKILL')
  assert.equal((await answer).hits.length, 1)
})

test('a standing query hears the result first and then each change', async (t) => {
  const daemon = connected(t)
  const heard = []
  const standing = new EventEmitter()
  standing.current = (result) => heard.push(['current', result.hits.length])
  standing.changed = (change) => {
    heard.push(['changed', change.added.length - change.removed.length])
    standing.emit('changed')
  }
  const file = path.join(TREE, 'new.md')
  t.after(() => fs.rmSync(file))
  const changed = once(standing, 'changed')
  await daemon.request('search/subscribe', { query: 'xylophone' }, standing)
  fs.writeFileSync(file, 'a new xylophone\n')
  await changed
  assert.deepEqual(heard, [['current', 1], ['changed', 1]])
})

test('a command that is not there is named', async (t) => {
  const missing = path.join(os.tmpdir(), 'no-such-livedex')
  await assert.rejects(connected(t, undefined, missing).request('status'), (error) => {
    return error instanceof CommandMissing && error.message.includes(missing)
  })
})

test('a daemon that cannot be started says why', async (t) => {
  const daemon = connected(t)
  const home = process.env.LIVEDEX_HOME
  t.after(() => (process.env.LIVEDEX_HOME = home))
  process.env.LIVEDEX_HOME = '/dev/null/nowhere'
  await assert.rejects(daemon.request('status'), (error) => error.message.includes('/dev/null'))
})

test('messages arrive whole, however they are cut', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ldx-'))
  const command = path.join(folder, 'livedex')
  const socket = path.join(folder, 's')
  fs.writeFileSync(command, `#!/bin/sh\necho ${socket}\n`, { mode: 0o700 })
  const server = net.createServer((peer) => {
    peer.setNoDelay(true)
    peer.once('data', async () => {
      const answer = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: '東京 😀' } }) + '\n')
      for (const byte of answer) {
        peer.write(Buffer.of(byte))
        await new Promise(setImmediate) // each byte in a read of its own
      }
    })
  })
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => fs.rmSync(folder, { recursive: true }))
  assert.deepEqual(await connected(t, undefined, command).request('status'), { text: '東京 😀' })
})
