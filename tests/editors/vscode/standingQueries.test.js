'use strict'

// Standing queries without the editor: a daemon that answers when the test says so, and what the view needs of VS Code.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const test = require('node:test')

const { withEditor } = require('./fakeEditor')

class Emitter extends EventEmitter {
  event = () => {}
  fire() {}
}

const { StandingQueries } = withEditor({ EventEmitter: Emitter }, 'standingQueries')

/** A daemon whose requests wait for their answers: `answer(result)` gives one to the oldest. */
class SlowDaemon {
  sent = []
  #waiting = []

  request(method, params, query) {
    this.sent.push([method, params])
    return new Promise((resolve) => this.#waiting.push((result) => resolve(query?.current(result))))
  }

  async answer(result) {
    this.#waiting.shift()(result)
    await new Promise(setImmediate)
  }
}

test('what is subscribed while other folders are opened gets their limits', async () => {
  const daemon = new SlowDaemon()
  const workspace = { paths: ['/old'], indexedPaths: async () => workspace.paths }
  const standing = new StandingQueries(daemon, workspace, { get: () => ['zither'], update: async () => {} })
  const connected = standing.connect()
  await new Promise(setImmediate)
  workspace.paths = ['/new']
  const renewed = standing.renew()
  await daemon.answer({ subscription: 1, hits: [], fresh: true })
  await daemon.answer({})
  await daemon.answer({ subscription: 2, hits: [], fresh: true })
  await Promise.all([connected, renewed])
  const limits = (paths) => ({ query: 'zither', limit: 1000, paths })
  assert.deepEqual(daemon.sent, [
    ['search/subscribe', limits(['/old'])],
    ['search/unsubscribe', { subscription: 1 }],
    ['search/subscribe', limits(['/new'])],
  ])
  assert.deepEqual(standing.getChildren().map(({ subscription, fault }) => [subscription, fault]), [[2, undefined]])
})

test('a lost connection is told, and all is subscribed again', async (t) => {
  const daemon = new SlowDaemon()
  const workspace = { indexedPaths: async () => [] }
  const standing = new StandingQueries(daemon, workspace, { get: () => ['zither'], update: async () => {} })
  const shown = () => standing.getChildren().map(({ hits, fault }) => [hits.count, fault])
  const answer = async (subscription, hits) => {
    await new Promise(setImmediate)
    await daemon.answer({ subscription, hits, fresh: true })
  }
  standing.connect()
  await answer(1, [{ path: '/r/a.md' }])
  assert.deepEqual(shown(), [['1', undefined]])
  let retry
  t.mock.method(globalThis, 'setTimeout', (run) => (retry = run))
  standing.lost()
  assert.deepEqual(shown(), [['1', 'the daemon has ended; connecting again']])
  retry()
  await answer(2, [{ path: '/r/a.md' }, { path: '/r/b.md' }])
  assert.deepEqual(shown(), [['2', undefined]])
})
