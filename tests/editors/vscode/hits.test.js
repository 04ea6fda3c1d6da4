'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')

const { StandingHits, columnOf, isWithin, label, matchLength, place, withoutIcons } = require(
  `${process.env.EXTENSION}/hits`,
)

/** A hit of a line with one match. */
function hitOf(line, match, more = {}) {
  const index = line.indexOf(match)
  const before = Array.from(line.slice(0, index)).length
  const column = Buffer.byteLength(line.slice(0, index)) + 1
  const highlights = [[before, before + Array.from(match).length]]
  const root = '/home/ada/notes'
  const hit = { path: `${root}/a.md`, root, relative_path: 'a.md', line: 1, column, text: line, snippet: line, highlights }
  return { ...hit, ...more }
}

test('a column counts code units of UTF-16', () => {
  for (const before of ['', 'abc ', '\t', 'é', '東京', '😀', '👩‍👩‍👧 e\u0301 ']) {
    const line = `${before}lease`
    assert.equal(line.slice(columnOf(hitOf(line, 'lease'))), 'lease')
  }
})

test('a column in a long line is that of the line in the editor', () => {
  const line = '東'.repeat(3000) + 'lease'
  const hit = { ...hitOf(line, 'lease'), text: line.slice(-300), snippet: line.slice(-300) }
  assert.equal(columnOf(hit, line), 3000)
})

test('a match is as long as its code units, and ends with its line', () => {
  assert.equal(matchLength(hitOf('a 😀é b', '😀é')), 3)
  const of = { line: 1, snippet_line: 1, column: 1 }
  assert.equal(matchLength({ ...of, text: 'a b', snippet: 'a b\r\nc', highlights: [[0, 6]] }), 3)
  assert.equal(matchLength({ ...of, text: 'a', snippet: 'a', highlights: [] }), 0)
})

test('a match is that of the line to which a hit points', () => {
  const snippet = 'a 😀 lease\n#define lease_max 3\n'
  const highlights = [[4, 9], [18, 27]]
  const hit = { snippet, highlights, snippet_line: 4, line: 5, column: 1, text: '#define lease_max 3' }
  assert.equal(matchLength(hit), 9)
  assert.equal(matchLength({ ...hit, line: 4, column: 8, text: 'a 😀 lease' }), 5)
})

test('a match is that at the place of a hit, which need not be the first of its line', () => {
  const line = '😀 lease of a lamp lease'
  const highlights = [[2, 7], [13, 17], [18, 23]]
  const hit = { ...hitOf(line, 'lamp lease'), snippet_line: 1, highlights }
  assert.equal(line.substr(columnOf(hit), matchLength(hit)), 'lamp')
})

test('a label is the line without its indentation', () => {
  assert.equal(label(hitOf('\t  return lease  ', 'lease')), 'return lease')
})

test('a label of a line without text is the path', () => {
  assert.equal(label({ ...hitOf('', ''), relative_path: 'src/empty.py', highlights: [] }), 'src/empty.py')
})

test('a label of a long line shows the match, also where its text is only a part', () => {
  const line = 'x '.repeat(800) + 'lease' + ' y'.repeat(800)
  for (const text of [line, line.slice(1400, 1800)]) {
    const snippet = line.slice(1400, 1800)
    const shown = label({ ...hitOf(line, 'lease'), text, snippet, highlights: [[200, 205]] })
    assert.ok(shown.startsWith('…') && shown.includes('lease') && shown.length <= 201, shown)
  }
})

test('a label is not cut inside a character', () => {
  for (let indent = 0; indent < 3; indent += 1) {
    const line = 'x'.repeat(indent) + '😀'.repeat(300)
    for (const match of ['x', '😀']) assert.ok(label(hitOf(line + match, match)).isWellFormed())
    assert.ok(label(hitOf(line + 'lease', 'lease')).isWellFormed())
  }
})

test('a label has no character that acts on the list', () => {
  assert.equal(label(hitOf('a\tb \u0007\u001b[31m c\u202ed\u0085', 'a')), 'a b ␇␛[31m c\ufffdd\ufffd')
})

test('text is no icon', () => {
  assert.equal(withoutIcons('$(check) \\$(sync~spin) $(this, 1) $()'), '\\$(check) \\\\$(sync~spin) $(this, 1) $()')
})

test('a place is relative to the folder of the workspace, else to its root', () => {
  const hit = hitOf('lease', 'lease', { line: 7 })
  assert.equal(place(hit, ['/home/ada']), 'notes/a.md:7')
  assert.equal(place(hit, ['/home/ad']), 'notes/a.md:7')
  assert.equal(place(hit, ['/home/ada/notes']), 'a.md:7')
  assert.equal(place(hit, ['/']), 'home/ada/notes/a.md:7')
})

test('a place in one of several folders has the name of the innermost', () => {
  const hit = hitOf('lease', 'lease', { line: 7 })
  assert.equal(place(hit, ['/srv', '/home/ada']), 'ada/notes/a.md:7')
  assert.equal(place(hit, ['/home/ada', '/home/ada/notes']), 'notes/a.md:7')
  assert.equal(place(hit, ['/home', '/srv']), 'home/ada/notes/a.md:7')
})

test('a folder contains itself and what is below it', () => {
  assert.ok(isWithin('/a', '/a') && isWithin('/a/b', '/a') && isWithin('/a', '/'))
  assert.ok(!isWithin('/ab', '/a') && !isWithin('/', '/a'))
})

const stateOf = (name, hash, line = 1) => ({
  path: `/r/${name}`,
  kind: 'plain',
  start_line: line,
  end_line: line,
  line,
  content_hash: hash,
})

test('a standing query adds up to what was reported', () => {
  const hits = new StandingHits()
  hits.reset([stateOf('b', '1', 9), stateOf('b', '1', 2), stateOf('a', '1')], 1000)
  assert.equal(hits.count, '3')
  hits.apply({ added: [stateOf('b', '2', 5)], removed: [stateOf('b', '1', 9), stateOf('b', '1', 2)] })
  assert.deepEqual(hits.sorted(), [stateOf('a', '1'), stateOf('b', '2', 5)])
  assert.equal(hits.count, '2')
  hits.apply({ added: [], removed: [stateOf('a', '1'), stateOf('b', '2', 5)] })
  assert.equal(hits.count, '0')
})

test('hits of one line count one by one', () => {
  const hits = new StandingHits()
  hits.reset([stateOf('min.js', '1'), stateOf('min.js', '1')], 1000)
  assert.equal(hits.count, '2')
  hits.apply({ added: [], removed: [stateOf('min.js', '1')] })
  assert.equal(hits.count, '1')
})

test('the count of a part says so, and takes no hit away that was never shown', () => {
  const hits = new StandingHits()
  hits.reset([stateOf('a', '1'), stateOf('b', '1')], 2)
  hits.apply({ added: [], removed: [stateOf('z', '1')] })
  assert.equal(hits.count, '2+')
})
