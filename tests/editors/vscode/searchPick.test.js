'use strict'

// The list without the editor: a daemon that answers when the test says so, and what the list needs of VS Code.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const test = require('node:test')

const { withEditor } = require('./fakeEditor')

/** The list of VS Code: what it was given, and `emit` for what a user does. */
class QuickPick extends EventEmitter {
  items = []
  activeItems = []
  onDidChangeValue = (listener) => this.on('value', listener)
  onDidChangeActive = (listener) => this.on('active', listener)
  onDidAccept = (listener) => this.on('accept', listener)
  onDidTriggerItemButton = (listener) => this.on('itemButton', listener)
  onDidTriggerButton = (listener) => this.on('button', listener)
  onDidHide = (listener) => this.on('hide', listener)
  show() {}
  hide() {}
}

const shown = new QuickPick()
const opened = []
const vscode = {
  ThemeColor: class {},
  ThemeIcon: class {},
  Uri: { file: (path) => path },
  ViewColumn: {},
  commands: { executeCommand: async (_, path) => opened.push(path) },
  window: {
    createQuickPick: () => shown,
    createTextEditorDecorationType: () => ({ dispose() {} }),
    tabGroups: { activeTabGroup: {} },
  },
  workspace: {
    getConfiguration: () => ({ get: (name) => ({ maxResults: 30, preview: true })[name] }),
    openTextDocument: () => Promise.reject(new Error('there is no editor here')),
  },
}
const { SearchPick } = withEditor(vscode, 'searchPick')

const hitIn = (name) => {
  return { path: `/r/${name}`, root: '/r', relative_path: name, line: 1, column: 1, text: name, snippet: name, highlights: [] }
}
const answerOf = (...names) => ({
  hits: names.map(hitIn),
  next_offset: null,
  fresh: true,
  warnings: [],
})

test('an answer to what was typed before is not shown, nor opened by Enter', async () => {
  const answers = new Map()
  const daemon = { request: (_, { query }) => new Promise((resolve) => answers.set(query, resolve)) }
  const workspace = { folders: [], indexedPaths: async () => [] }
  const type = async (query) => {
    shown.value = query
    shown.emit('value')
    await new Promise(setImmediate)
  }
  const answer = async (query) => {
    answers.get(query)(answerOf(`${query}.md`))
    await new Promise(setImmediate)
    return shown.items.map(({ label }) => label)
  }
  new SearchPick(daemon, workspace, { mode: 'auto', everywhere: false }, () => {}).open('')
  await type('first')
  assert.deepEqual(await answer('first'), ['first.md'])
  await type('second')
  await type('third')
  assert.deepEqual(await answer('second'), ['first.md'])
  shown.emit('accept')
  assert.deepEqual(opened, [])
  assert.deepEqual(await answer('third'), ['third.md'])
  assert.deepEqual(opened, ['/r/third.md'])
})

test('no file is previewed between two keys, and each one that is moved to', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  opened.length = 0
  let answer // of a slow daemon
  const daemon = {
    request: (_, { query }) =>
      query === 'walr' ? new Promise((resolve) => (answer = resolve)) : answerOf(`${query}.md`, 'second.md'),
  }
  const workspace = { folders: [], indexedPaths: async () => [] }
  const pass = async (milliseconds) => {
    mock.timers.tick(milliseconds)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
  const list = new QuickPick()
  vscode.window.createQuickPick = () => list
  new SearchPick(daemon, workspace, { mode: 'auto', everywhere: false }, () => {}).open('')
  const type = async (query) => {
    list.value = query
    list.emit('value')
    await pass(0)
  }
  for (const query of ['w', 'wa', 'wal']) {
    await type(query)
    list.emit('active', [list.items[0]])
    await pass(150) // as people type
  }
  await type('walr')
  await pass(300)
  assert.deepEqual(opened, [])
  answer(answerOf('walr.md', 'second.md'))
  await pass(0)
  list.emit('active', [list.items[0]])
  await pass(300)
  assert.deepEqual(opened, ['/r/walr.md'])
  list.emit('active', [list.items[1]])
  await pass(100)
  assert.deepEqual(opened, ['/r/walr.md', '/r/second.md'])
})

test('the rest of a list comes in a pause, and the hit that was moved to stays active', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const names = Array.from({ length: 20 }, (_, number) => `${number}.md`)
  const daemon = { request: async () => answerOf(...names) }
  const workspace = { folders: [], indexedPaths: async () => [] }
  const list = new QuickPick()
  vscode.window.createQuickPick = () => list
  await new SearchPick(daemon, workspace, { mode: 'auto', everywhere: false }, () => {}).open('')
  const move = (place) => {
    list.activeItems = [list.items[place]]
    list.emit('active', list.activeItems)
  }
  const listed = () => list.items.map(({ label }) => label)
  for (const place of [0, 1, 2]) {
    move(place)
    mock.timers.tick(150)
    assert.deepEqual(listed(), names.slice(0, 16))
  }
  assert.deepEqual(list.items.flatMap(({ buttons = [] }) => buttons), [])
  mock.timers.tick(100)
  assert.deepEqual(listed(), names)
  assert.equal(list.items.flatMap(({ buttons }) => buttons).length, 20)
  assert.deepEqual(list.activeItems, [list.items[2]])
})
