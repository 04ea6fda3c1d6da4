'use strict'

// Opening a hit without the editor, with what that needs of VS Code.

const assert = require('node:assert/strict')
const test = require('node:test')

const { withEditor } = require('./fakeEditor')

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character })
  }

  translate(lines, characters) {
    return new Position(this.line + lines, this.character + characters)
  }
}

class Range {
  constructor(start, end) {
    this.start = start
    this.places = [start.line, start.character, end.line, end.character]
  }
}

const LINES = ['first', 'let s = "😀é"; celesta = 2', 'last']
const selected = []
const marked = []
const vscode = {
  Position,
  Range,
  ThemeColor: class {},
  Uri: { file: (path) => path },
  window: {
    activeTextEditor: undefined,
    tabGroups: { activeTabGroup: {} },
    createTextEditorDecorationType: () => ({ dispose: () => marked.splice(0) }),
    showTextDocument: async (document, { selection }) => {
      selected.push(selection.places)
      return { document, setDecorations: (_, ranges) => marked.push(...ranges.map(({ places }) => places)) }
    },
  },
  workspace: {
    openTextDocument: async () => ({ lineCount: LINES.length, lineAt: (line) => ({ text: LINES[line] }) }),
  },
}
const { Preview, openHit } = withEditor(vscode, 'openHit')

const HIT = { path: '/r/a.js', line: 2, column: 19, text: LINES[1], snippet: LINES[1], highlights: [[14, 21]] }

test('a hit opens at its match', async () => {
  await openHit(HIT, {})
  assert.deepEqual(selected.splice(0), [[1, 15, 1, 15]])
  assert.deepEqual(marked, [])
})

test('a preview marks the match until its end, and selects nothing', async () => {
  const preview = new Preview()
  preview.show(HIT, true)
  while (marked.length === 0) await new Promise(setImmediate)
  assert.deepEqual(selected.splice(0), [[1, 15, 1, 15]])
  assert.deepEqual(marked, [[1, 15, 1, 22]])
  await preview.end()
  assert.deepEqual(marked, [])
})

test('a hit opens in the last line of a file that has become shorter', async () => {
  await openHit({ ...HIT, line: 9, column: 1 }, {})
  assert.deepEqual(selected.splice(0), [[2, 0, 2, 0]])
})
